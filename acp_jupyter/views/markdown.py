"""The agent's Markdown as HTML that can do nothing: no raw HTML, no images, links to the web and mail only.

The text is the content of https://agentclientprotocol.com/protocol/content#text-content.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from acp_jupyter.views import look, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

# Rendering costs about a second a megabyte; what is longer stands as it was written.
_LIMIT = 200_000
_SCHEMES = frozenset({"http", "https", "mailto"})


def markdown_html(text: str) -> str:
    """Return Markdown as inert HTML; beyond 200,000 characters as preformatted text."""
    text = words.prose(text)
    if len(text) > _LIMIT:
        return f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'
    return _parser().render(text)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = _is_allowed  # type: ignore[method-assign]  # the library's own way to set it
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    return parser


def _is_allowed(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _link(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    if not tokens[index].attrGet("href"):  # `[]()`: an empty address is never validated
        tokens[index].attrs.pop("href", None)
    tokens[index].attrSet("rel", "noopener noreferrer")
    tokens[index].attrSet("style", f"color:{look.BLUE}")
    return str(renderer.renderToken(tokens, index, options, env))


def _image(_renderer: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    # A picture from elsewhere would tell its server who reads: it is named and linked, never fetched.
    token = tokens[index]
    url = str(token.attrGet("src") or "")
    if index and tokens[index - 1].type == "link_open":
        return f"image: {escape(token.content or url)}"
    style = f'rel="noopener noreferrer" style="color:{look.BLUE}"'
    return f'<a href="{escape(url)}" {style}>image: {escape(token.content or url)}</a>'
