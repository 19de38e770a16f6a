import { beforeEach, describe, expect, it, vi } from 'vitest';
import { loadRenderer, type HostModel, type Renderer } from '../src/asset';
import loader from '../src/loader';

const renderer: Renderer = { mountLive: () => () => undefined };

function host(traits: Record<string, string>, get_model: HostModel['widget_manager']['get_model']): HostModel {
  return { get: name => traits[name], send: () => undefined, on: () => undefined, off: () => undefined, widget_manager: { get_model } };
}

function asset(source: string): { get: (name: string) => unknown } {
  return { get: name => (name === 'source' ? source : undefined) };
}

beforeEach(() => {
  delete (globalThis as unknown as Record<symbol, unknown>)[Symbol.for('acp-jupyter.renderers')];
});

describe('the loader', () => {
  it('fetches the renderer once per version, by either form of the id', async () => {
    const get_model = vi.fn((_id: string) => Promise.resolve(asset('the source')));
    const importer = vi.fn(() => Promise.resolve(renderer));
    await loadRenderer(host({ _asset: 'IPY_MODEL_abc', _asset_hash: 'h1' }, get_model), importer);
    await loadRenderer(host({ _asset: 'abc', _asset_hash: 'h1' }, get_model), importer);
    expect(get_model.mock.calls).toEqual([['abc']]);
    expect(importer.mock.calls).toEqual([['the source']]);
    await loadRenderer(host({ _asset: 'def', _asset_hash: 'h2' }, get_model), importer);
    expect(importer).toHaveBeenCalledTimes(2);
  });

  it('leaves the renderer out of saved widget state', async () => {
    const saved = { ...asset('the source'), get_state: () => ({ source: 'the source', _model_name: 'WidgetModel' }) };
    await loadRenderer(host({ _asset: 'a', _asset_hash: 'saved' }, () => Promise.resolve(saved)), () => Promise.resolve(renderer));
    expect(saved.get_state()).toEqual({ _model_name: 'WidgetModel' });
  });

  it('waits for an asset that comes back later than its card', async () => {
    let tries = 0;
    const get_model = async (): Promise<{ get: (name: string) => unknown }> => {
      tries += 1;
      if (tries < 3) throw new Error('widget model not found');
      return asset('x');
    };
    expect(await loadRenderer(host({ _asset: 'a', _asset_hash: 'late' }, get_model), () => Promise.resolve(renderer))).toBe(renderer);
    expect(tries).toBe(3);
  });

  it('a failure is told in one line, and the next card tries again', async () => {
    vi.useFakeTimers();
    try {
      const el = document.createElement('div');
      const drawn = loader.render({ model: host({ _asset: 'a', _asset_hash: 'gone' }, () => Promise.reject(new Error('widget model not found'))), el });
      await vi.runAllTimersAsync();
      expect(await drawn).toBeUndefined();
      expect(el.textContent).toBe('acp_jupyter: the card could not be drawn (widget model not found). Run the cell again, or reload the page.');
    } finally {
      vi.useRealTimers();
    }
    const importer = vi.fn(() => Promise.resolve(renderer));
    await loadRenderer(host({ _asset: 'a', _asset_hash: 'gone' }, () => Promise.resolve(asset('x'))), importer);
    expect(importer).toHaveBeenCalledOnce();
  });
});
