import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { parseJson, type JsonNode } from '../json/parse';
import { useUi } from './context';
import { Icon } from './icons';
import { useScroll } from './scroll';
import { Seen } from './seen';

const LONG_STRING = 2000;
const PAGE = 200;

function tryParse(text: string): JsonNode | null {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** JSON text as a tree: numbers as they were written, branches made when they are opened. */
export function JsonTree({ text, id }: { text: string; id: string }): JSX.Element {
  const node = useMemo(() => tryParse(text), [text]);
  return (
    <div class="acp-json" dir="ltr" {...useScroll(`json:${id}`, false)} role="group" aria-label="JSON">
      {node ? <Node node={node} id={id} open /> : <LongText text={text} id={id} />}
    </div>
  );
}

interface NodeProps {
  node: JsonNode;
  /** Where the turn remembers what is open in it. */
  id: string;
  name?: ComponentChildren;
  open?: boolean;
  comma?: boolean;
}

function Node({ node, id, name, open = false, comma = false }: NodeProps): JSX.Element {
  if (node.type === 'object' || node.type === 'array') return <Branch node={node} id={id} name={name} open={open} comma={comma} />;
  return (
    <div class="acp-json-row">
      {name}
      <Leaf node={node} id={id} />
      {comma ? ',' : null}
    </div>
  );
}

function Leaf({ node, id }: { node: Exclude<JsonNode, { type: 'object' | 'array' }>; id: string }): JSX.Element {
  if (node.type === 'string') {
    return <span class="acp-json-string">"<LongText text={node.value} id={id} />"</span>;
  }
  if (node.type === 'text') return <LongText text={node.text} id={id} />;
  return <span class={`acp-json-${node.type}`}>{node.text}</span>;
}

/** A text in full; a long one behind a button. */
export function LongText({ text, id }: { text: string; id: string }): JSX.Element {
  return text.length > LONG_STRING ? <Shortened text={text} id={id} /> : <Seen text={text} />;
}

function Shortened({ text, id }: { text: string; id: string }): JSX.Element {
  const [all, setAll] = useUi<boolean>(`all:${id}`, false);
  if (all) return <Seen text={text} />;
  return (
    <>
      <Seen text={text.slice(0, LONG_STRING)} />…{' '}
      <button type="button" class="acp-more" onClick={() => setAll(true)}>
        show all {text.length.toLocaleString('en-US')} characters
      </button>
    </>
  );
}

type BranchNode = Extract<JsonNode, { type: 'object' | 'array' }>;

function children(node: BranchNode): [ComponentChildren, JsonNode][] {
  if (node.type === 'array') return node.items.map(item => [null, item]);
  return node.entries.map(([key, value]) => [
    <span class="acp-json-key">"<Seen text={key} />"<span class="acp-json-colon">: </span></span>,
    value
  ]);
}

function Branch({ node, id, name, open, comma }: Required<Omit<NodeProps, 'node' | 'name'>> & { node: BranchNode; name?: ComponentChildren }): JSX.Element {
  const [isOpen, setOpen] = useUi<boolean>(`branch:${id}`, open);
  const [begin, end] = node.type === 'object' ? '{}' : '[]';
  const size = node.type === 'object' ? node.entries.length : node.items.length;
  if (size === 0) return <div class="acp-json-row">{name}{begin}{end}{comma ? ',' : null}</div>;
  return (
    <div class="acp-json-branch">
      <button type="button" class="acp-json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="caret" />
        {name}
        {begin}
        {isOpen ? null : <><span class="acp-json-size">{size}</span>{end}{comma ? ',' : null}</>}
      </button>
      {isOpen ? <Children node={node} id={id} /> : null}
      {isOpen ? <div class="acp-json-row">{end}{comma ? ',' : null}</div> : null}
    </div>
  );
}

function Children({ node, id }: { node: BranchNode; id: string }): JSX.Element {
  const [limit, setLimit] = useUi<number>(`limit:${id}`, PAGE);
  const all = useMemo(() => children(node), [node]);
  const left = all.length - limit;
  return (
    <div class="acp-json-children">
      {all.slice(0, limit).map(([name, child], index) => <Node key={index} node={child} id={`${id}/${index}`} name={name} comma={index < all.length - 1} />)}
      {left > 0 ? (
        <button type="button" class="acp-more" onClick={() => setLimit(limit + PAGE * 5)}>
          show {Math.min(left, PAGE * 5)} more of {left.toLocaleString('en-US')}
        </button>
      ) : null}
    </div>
  );
}
