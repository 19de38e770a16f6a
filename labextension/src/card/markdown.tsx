import { Component, type ComponentChildren } from 'preact';
import { MarkdownText, type MarkdownBlock } from '../markdown/blocks';

/** One finished block; its HTML comes out of the sanitiser. */
class BlockView extends Component<{ block: MarkdownBlock }> {
  override shouldComponentUpdate(next: { block: MarkdownBlock }): boolean {
    return next.block.html !== this.props.block.html;
  }

  override render(): ComponentChildren {
    return <div class="acp-md-block" dangerouslySetInnerHTML={{ __html: this.props.block.html }} />;
  }
}

/** An agent's Markdown, which may grow. */
export class Markdown extends Component<{ text: string }> {
  private readonly blocks = new MarkdownText();

  override render(): ComponentChildren {
    const blocks = this.blocks.update(this.props.text);
    return (
      <div class="acp-md" dir="auto">
        {blocks.map((block, index) => <BlockView key={index} block={block} />)}
      </div>
    );
  }
}
