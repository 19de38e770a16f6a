import { Fragment, type ComponentChildren, type JSX, type TargetedKeyboardEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { findIn, jsonText, nodeAt, stepsOf } from '../json/inspect';
import { parseJson, type JsonNode } from '../json/parse';
import { plural } from '../text/format';
import { useUi } from './context';
import { Copy } from './copy';
import { Icon } from './icons';
import { useScroll } from './scroll';
import { Seen } from './seen';

const LONG_STRING = 2000;
/** So many characters of a long text come with each click: a megabyte at once would hold the page up. */
const MORE_TEXT = 20_000;
const PAGE = 200;

function read(text: string): JsonNode {
  try {
    return parseJson(text);
  } catch {
    return { type: 'text', text };
  }
}

interface TreeProps {
  text: string;
  /** Where the turn remembers what is open in it. */
  id: string;
}

/** JSON text as a tree: numbers as they were written, branches made when they are opened. */
export function JsonTree({ text, id }: TreeProps): JSX.Element {
  const node = useMemo(() => read(text), [text]);
  return <Tree id={id}><Node node={node} id={id} path="" open /></Tree>;
}

function Tree({ id, children }: { id: string; children: ComponentChildren }): JSX.Element {
  return <div class="acp-json" dir="ltr" {...useScroll(`json:${id}`, false)} role="group" aria-label="JSON">{children}</div>;
}

interface InspectorProps extends TreeProps {
  /** The Python expression that yields it. */
  root: string;
  /** How many values are left out in its middle. */
  gap?: number;
}

/** The same to look into: to search, to copy from, and with the expression that yields what has the focus. */
export function Inspector({ text, id, root, gap = 0 }: InspectorProps): JSX.Element {
  const node = useMemo(() => {
    const whole = read(text);
    return gap > 0 && whole.type === 'array' ? { ...whole, gap: { at: whole.items.length >> 1, count: gap } } : whole;
  }, [text, gap]);
  const [words, setWords] = useUi<string>(`find:${id}`, '');
  const [path, setPath] = useUi<string>(`at:${id}`, '');
  const hits = useMemo(() => (words ? findIn(node, words, PAGE) : null), [node, words]);
  const pick = (event: Event): void => {
    const row = rowOf(event);
    if (row) setPath(row.dataset.path ?? '');
  };
  return (
    <div onFocusIn={pick} onClick={pick} onKeyDown={walk}>
      <div class="acp-inspect">
        <input
          type="search"
          placeholder="Find"
          aria-label="Find in keys and values"
          autocomplete="off"
          spellcheck={false}
          value={words}
          onInput={event => setWords(event.currentTarget.value)}
        />
        <span class="acp-quiet" role="status">{hits ? plural(hits.count, 'hit') + (hits.count > PAGE ? `, the first ${PAGE}` : '') : ''}</span>
        <Copy class="acp-more" text={() => (path ? jsonText(nodeAt(node, path)) : text)}>Copy value</Copy>
        <Copy class="acp-expression" title="Copy this Python expression" text={() => root + path}><Seen text={root + path} /></Copy>
      </div>
      <Tree id={id}>
        {hits
          ? hits.shown.map(([at, found]) => <Node key={at} node={found} id={`${id}?`} path={at} name={<span class="acp-json-key"><Seen text={at || 'value'} />: </span>} />)
          : <Node node={node} id={id} path="" open />}
      </Tree>
    </div>
  );
}

function rowOf({ target }: Event): HTMLElement | null {
  return (target as Element).closest<HTMLElement>('[data-path]');
}

/** Arrows go from row to row, open and close. */
function walk(event: TargetedKeyboardEvent<HTMLElement>): void {
  const row = rowOf(event);
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-path]')];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const folds = { ArrowRight: 'false', ArrowLeft: 'true' }[event.key];
  const next = by && (row || by > 0) ? rows[rows.indexOf(row as HTMLElement) + by] : undefined;
  if (by) event.preventDefault();
  next?.focus();
  if (folds && row?.getAttribute('aria-expanded') === folds) row?.click();
}

interface NodeProps {
  node: JsonNode;
  /** Where the turn remembers what is open in the tree. */
  id: string;
  /** What leads from the tree's root to here. */
  path: string;
  name?: ComponentChildren;
  open?: boolean;
  comma?: boolean;
}

function Node(props: NodeProps): JSX.Element {
  const { node, id, path, name, comma } = props;
  if (node.type === 'object' || node.type === 'array') return <Branch {...props} node={node} />;
  return (
    <div class="acp-json-row" data-path={path} tabIndex={-1}>
      {name}
      <Leaf node={node} id={id + path} />
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

/** A text in full; a long one piece by piece, behind a button. */
export function LongText({ text, id }: { text: string; id: string }): JSX.Element {
  return text.length > LONG_STRING ? <Shortened text={text} id={id} /> : <Seen text={text} />;
}

function Shortened({ text, id }: { text: string; id: string }): JSX.Element {
  const [limit, setLimit] = useUi<number>(`chars:${id}`, LONG_STRING);
  const left = text.length - limit;
  if (left <= 0) return <Seen text={text} />;
  return (
    <>
      <Seen text={text.slice(0, limit)} />…{' '}
      <button type="button" class="acp-more" onClick={() => setLimit(limit + MORE_TEXT)}>
        show {Math.min(left, MORE_TEXT).toLocaleString('en-US')} more of {plural(text.length, 'character')}
      </button>
    </>
  );
}

type BranchNode = Extract<JsonNode, { type: 'object' | 'array' }>;

function Branch({ node, id, path, name, open = false, comma }: NodeProps & { node: BranchNode }): JSX.Element {
  const [isOpen, setOpen] = useUi<boolean>(`branch:${id}${path}`, open);
  const [begin, end] = node.type === 'object' ? '{}' : '[]';
  const size = node.type === 'object' ? node.entries.length : node.items.length + (node.gap?.count ?? 0);
  if (size === 0) return <div class="acp-json-row" data-path={path} tabIndex={-1}>{name}{begin}{end}{comma ? ',' : null}</div>;
  return (
    <div class="acp-json-branch">
      <button type="button" class="acp-json-toggle" data-path={path} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="caret" />
        {name}
        {begin}
        {isOpen ? null : <><span class="acp-json-size">{size}</span>{end}{comma ? ',' : null}</>}
      </button>
      {isOpen ? <Children node={node} id={id} path={path} /> : null}
      {isOpen ? <div class="acp-json-row">{end}{comma ? ',' : null}</div> : null}
    </div>
  );
}

function Children({ node, id, path }: { node: BranchNode; id: string; path: string }): JSX.Element {
  const [limit, setLimit] = useUi<number>(`limit:${id}${path}`, PAGE);
  const all = useMemo(() => stepsOf(node), [node]);
  const left = all.length - limit;
  const gap = node.type === 'array' ? node.gap : undefined;
  return (
    <div class="acp-json-children">
      {all.slice(0, limit).map(([step, key, child], index) => (
        <Fragment key={step}>
          {gap?.at === index ? <div class="acp-json-row acp-quiet">… {gap.count.toLocaleString('en-US')} more are not here</div> : null}
          <Node
            node={child}
            id={id}
            path={path + step}
            name={key === null ? null : <span class="acp-json-key">"<Seen text={key} />"<span class="acp-json-colon">: </span></span>}
            comma={index < all.length - 1}
          />
        </Fragment>
      ))}
      {left > 0 ? (
        <button type="button" class="acp-more" onClick={() => setLimit(limit + PAGE * 5)}>
          show {Math.min(left, PAGE * 5)} more of {left.toLocaleString('en-US')}
        </button>
      ) : null}
    </div>
  );
}
