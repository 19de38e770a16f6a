import { Component, type ComponentChildren } from 'preact';

interface Props {
  /** Changes whenever what is drawn here has to be drawn anew, and only then. */
  rev: string;
  children: ComponentChildren;
}

interface State {
  failed: string | null;
  failedRev: string;
}

/** A part of the card that is drawn again only when its `rev` changes; where drawing fails, it says so in a line. */
export class Part extends Component<Props, State> {
  override state: State = { failed: null, failedRev: '' };

  override shouldComponentUpdate(next: Props, state: State): boolean {
    return next.rev !== this.props.rev || state !== this.state;
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failed: String(error), failedRev: this.props.rev });
  }

  override render(): ComponentChildren {
    const { failed, failedRev } = this.state;
    if (failed !== null && failedRev === this.props.rev) {
      return <div class="acp-notice" data-severity="error">This part could not be drawn: {failed}</div>;
    }
    return this.props.children;
  }
}
