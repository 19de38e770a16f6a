// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, parseJson, type JsonNode } from '../src/json/parse';

function back(node: JsonNode): string {
  if (node.type === 'object') return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${back(value)}`).join(',')}}`;
  if (node.type === 'array') return `[${node.items.map(back).join(',')}]`;
  return node.type === 'string' ? JSON.stringify(node.value) : node.text;
}

describe('parseJson', () => {
  it.each([
    '{"big":12345678901234567890123,"exp":1.10e+5,"neg":-0.0}',
    '[NaN,Infinity,-Infinity,true,false,null]',
    '{"a":{"b":[1,[2,[]],{}]},"":"empty key","a":"twice"}',
    '"quote \\" backslash \\\\ newline \\n"',
    '0', '""', '[]', '{}'
  ])('keeps %s as it is written', text => {
    expect(back(parseJson(text))).toBe(text);
  });

  it('reads escapes, also of half a surrogate pair', () => {
    expect(parseJson('"\\u00e9\\ud83d"')).toEqual({ type: 'string', value: 'é\ud83d' });
    expect(parseJson(' { "a" : [ 1 , 2 ] } ')).toMatchObject({ type: 'object' });
  });

  it.each(['', '{', '[1,]', '{"a" 1}', '"open', 'undefined', '1 2', '{"a":1,}', '01x'])('refuses %j', text => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('survives nesting and length', () => {
    const deep = parseJson('['.repeat(100_000) + ']'.repeat(100_000));
    let node: JsonNode = deep;
    for (let depth = 0; depth < MAX_DEPTH; depth++) node = (node as Extract<JsonNode, { type: 'array' }>).items[0] as JsonNode;
    expect(node).toMatchObject({ type: 'text' });
    expect(parseJson(JSON.stringify('x"\\'.repeat(2_000_000)))).toMatchObject({ type: 'string' });
  });
});
