import type { JSX } from 'preact';
import { bytes } from '../text/format';
import { isRasterData } from '../markdown/links';
import type { Block } from '../types';
import { Fold } from './fold';
import { Icon } from './icons';
import { JsonTree, LongText } from './json-tree';
import { Markdown } from './markdown';
import { useScroll } from './scroll';
import { Code, Seen } from './seen';

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const SOUNDS = /^audio\/(?:aac|flac|mp3|mp4|mpeg|ogg|opus|wav|wave|webm|x-wav)$/;

/** A content block of the protocol; text of more than `foldOver` lines is folded. Nothing is fetched: what is not
 * in the block itself is told in words. */
export function BlockView({ block, id, foldOver = Infinity }: { block: Block; id: string; foldOver?: number }): JSX.Element {
  switch (block.type) {
    case 'text':
      return <TextBlock text={block.text ?? ''} id={id} foldOver={foldOver} />;
    case 'image':
      return <ImageBlock block={block} />;
    case 'audio':
      return <AudioBlock block={block} />;
    case 'resource_link':
      return <ResourceLink block={block} />;
    case 'resource':
      return <Resource block={block} id={id} />;
    default:
      return <Fold id={id} label={`content of an unknown type: ${block.type}`}>{() => <JsonTree text={JSON.stringify(block)} id={id} />}</Fold>;
  }
}

function TextBlock({ text, id, foldOver }: { text: string; id: string; foldOver: number }): JSX.Element {
  const lines = linesShown(text);
  if (lines <= foldOver) return <Markdown text={text} />;
  return <Fold id={id} label={`${lines} lines of text`}>{() => <Markdown text={text} />}</Fold>;
}

/** How many lines a reader gets to see: a fence around the text is none of it. */
function linesShown(text: string): number {
  const lines = text.trimEnd().split('\n');
  const fenced = lines.length > 1 && /^`{3}/.test(lines[0] ?? '') && /^`{3,}$/.test(lines.at(-1) ?? '');
  return fenced ? lines.length - 2 : lines.length;
}

function base64Size(data: string): number {
  return Math.floor((data.length * 3) / 4);
}

function ImageBlock({ block }: { block: Block }): JSX.Element {
  const [type, data] = [block.mimeType ?? 'unknown', block.data ?? ''];
  const source = `data:${type};base64,${data}`;
  if (!IMAGES.includes(type) || !isRasterData(source)) {
    return <NotShown what={`an image of type ${type}, ${bytes(base64Size(data))}`} uri={block.uri} />;
  }
  return <img class="acp-image" src={source} alt="image from the agent" />;
}

function AudioBlock({ block }: { block: Block }): JSX.Element {
  const [type, data] = [block.mimeType ?? 'unknown', block.data ?? ''];
  if (!SOUNDS.test(type) || !/^[A-Za-z0-9+/=\s]+$/.test(data)) {
    return <NotShown what={`a sound of type ${type}, ${bytes(base64Size(data))}`} uri={block.uri} />;
  }
  return <audio class="acp-audio" controls preload="metadata" src={`data:${type};base64,${data}`} />;
}

function NotShown({ what, uri }: { what: string; uri?: string | null }): JSX.Element {
  return (
    <div class="acp-resource">
      <span><Seen text={what} /> (not shown)</span>
      {uri ? <Code text={uri} /> : null}
    </div>
  );
}

function ResourceLink({ block }: { block: Block }): JSX.Element {
  return (
    <div class="acp-resource">
      <Icon name="link" />
      <span><Seen text={block.title || block.name || 'resource'} /></span>
      {block.uri ? <Code text={block.uri} /> : null}
      {typeof block.size === 'number' ? <span class="acp-quiet">{bytes(block.size)}</span> : null}
      {block.description ? <span class="acp-quiet"><Seen text={block.description} /></span> : null}
    </div>
  );
}

function Resource({ block, id }: { block: Block; id: string }): JSX.Element {
  const { uri = '', text, blob, mimeType } = block.resource ?? {};
  if (text === undefined) {
    return <NotShown what={`a resource of type ${mimeType ?? 'unknown'}, ${bytes(base64Size(blob ?? ''))}`} uri={uri} />;
  }
  return <Fold id={id} label={<>embedded <Code text={uri} /></>}>{() => <Embedded text={text} id={id} />}</Fold>;
}

function Embedded({ text, id }: { text: string; id: string }): JSX.Element {
  const scroll = useScroll<HTMLPreElement>(`embedded:${id}`, false);
  return <pre class="acp-pre" {...scroll}><LongText text={text} id={id} /></pre>;
}
