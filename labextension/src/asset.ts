/** Fetch the renderer's text from the kernel's asset widget, once per page and version, and make it a module. */

import type { Model } from './types';

export interface Renderer {
  mountLive(model: Model, el: Element): () => void;
}

interface Asset {
  get(name: string): unknown;
  /** What the widget manager saves of it. */
  get_state?: (dropDefaults?: boolean) => Record<string, unknown>;
}

export interface HostModel extends Model {
  widget_manager: { get_model(id: string): Promise<Asset> };
}

type Importer = (source: string) => Promise<Renderer>;

const CACHE = Symbol.for('acp-jupyter.renderers');
const PREFIX = 'IPY_MODEL_';
/** After a reload of the page, widgets come back one after the other: the asset may be later than its card. */
const TRIES = 25;
const PAUSE_MS = 200;

function cache(): Map<string, Promise<Renderer>> {
  const holder = globalThis as unknown as Record<symbol, Map<string, Promise<Renderer>> | undefined>;
  return (holder[CACHE] ??= new Map());
}

async function importBlob(source: string): Promise<Renderer> {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  try {
    return (await import(/* webpackIgnore: true */ url)) as Renderer;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Keep the renderer's text out of the widget state that a notebook may be saved with. */
function leaveOut(asset: Asset): void {
  const whole = asset.get_state?.bind(asset);
  if (!whole) return;
  asset.get_state = dropDefaults => {
    const { source: _source, ...rest } = whole(dropDefaults);
    return rest;
  };
}

async function sourceOf(model: HostModel, id: string): Promise<string> {
  for (let left = TRIES; ; left--) {
    try {
      const asset = await model.widget_manager.get_model(id);
      leaveOut(asset);
      const source = asset.get('source');
      if (typeof source === 'string' && source !== '') return source;
    } catch (error) {
      if (left <= 1) throw error;
    }
    if (left <= 1) throw new Error('the renderer is empty');
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
}

/** The renderer that `model` names in `_asset` and `_asset_hash`. */
export function loadRenderer(model: HostModel, importer: Importer = importBlob): Promise<Renderer> {
  const id = String(model.get('_asset') ?? '').replace(PREFIX, '');
  const key = String(model.get('_asset_hash') || id);
  const renderers = cache();
  let renderer = renderers.get(key);
  if (!renderer) {
    renderer = sourceOf(model, id).then(importer);
    renderers.set(key, renderer);
    renderer.catch(() => renderers.delete(key)); // the next card tries again
  }
  return renderer;
}
