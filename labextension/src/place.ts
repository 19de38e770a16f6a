/** Where a live view stands in JupyterLab or Notebook 7, so that it knows why it went away; elsewhere it knows nothing. */

export class Place {
  private host: Element | null = null;
  private output: Element | null = null;
  private notebook: Element | null = null;

  constructor(private readonly el: Element) {}

  /** Remember the place, once the view stands in the page. */
  look(): void {
    if (this.host || !this.el.isConnected) return;
    this.host = this.el.closest('.jp-OutputArea-output');
    this.output = this.el.closest('.jp-OutputArea-child');
    this.notebook = this.el.closest('.jp-Notebook');
  }

  /**
   * Whether the output has made another view in this one's place. A notebook that draws only the cells in sight
   * takes the whole cell away: then the view still stands where it stood.
   */
  get replaced(): boolean {
    return this.host !== null && !this.host.contains(this.el);
  }

  /** Whether the output was cleared, or the cell deleted, in a notebook that is still open. */
  get cleared(): boolean {
    return this.notebook?.isConnected === true && this.output?.isConnected === false;
  }
}
