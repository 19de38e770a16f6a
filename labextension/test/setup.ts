/** What jsdom lacks. There is no layout, so a size is told once, in the next frame, and never changes. */

globalThis.ResizeObserver = class {
  private frames: number[] = [];

  constructor(private readonly callback: ResizeObserverCallback) {}

  observe(): void {
    this.frames.push(requestAnimationFrame(() => this.callback([], this)));
  }

  unobserve(): void {}

  disconnect(): void {
    this.frames.splice(0).forEach(cancelAnimationFrame);
  }
};
