"""The live card: a small anywidget whose renderer is sent once per kernel.

The card's own script is a loader of a few kB; it fetches the renderer from one `RendererAsset`. State goes as
custom messages, see ``docs/turn-format.md``.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anywidget
import ipywidgets  # pyright: ignore[reportMissingTypeStubs]  # it ships none
import traitlets

if TYPE_CHECKING:
    from collections.abc import Callable

STATIC = Path(__file__).parent.parent / "static"


@cache
def _static(name: str) -> str:
    path = STATIC / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: build it with `npm run build` in labextension/")
    return path.read_text("utf-8")


class RendererAsset(ipywidgets.Widget):
    """Holds the renderer's source; one per kernel, fetched by its id, left out of saved widget state."""

    source = traitlets.Unicode().tag(sync=True)

    def _get_embed_state(self, drop_defaults: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002  # ipywidgets' signature
        state: dict[str, Any] = super()._get_embed_state(drop_defaults)
        state["state"].pop("source", None)
        return state


class CardWidget(anywidget.AnyWidget):
    """One turn's live card.

    Args:
        asset: The renderer.
        turn_id: Names the turn on the page.
        on_message: Called with every message of the card's, in whatever thread serves it.
        part: What of the turn it draws: ``diff``, ``permission``, or all of it.
    """

    _asset = traitlets.Unicode().tag(sync=True)
    _asset_hash = traitlets.Unicode().tag(sync=True)
    turn_id = traitlets.Unicode().tag(sync=True)
    part = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, asset: RendererAsset, turn_id: str, on_message: Callable[[dict[str, Any]], None], part: str = ""
    ) -> None:
        super().__init__(
            _esm=_static("loader.js"),
            _asset=f"IPY_MODEL_{asset.model_id}",
            _asset_hash=hashlib.sha256(asset.source.encode()).hexdigest()[:16],
            turn_id=turn_id,
            part=part,
        )
        self._on_message = on_message
        self.on_msg(self._serve)  # pyright: ignore[reportUnknownMemberType]  # ipywidgets is not typed

    def end(self) -> None:
        """Close it, and the layout that every widget brings."""
        layout = cast("Any", self.layout)  # pyright: ignore[reportUnknownMemberType]  # ipywidgets is not typed
        layout.close()
        self.close()

    def tell(self, message: dict[str, Any]) -> None:
        """Send the card a message."""
        self.send(message)  # pyright: ignore[reportUnknownMemberType]  # ipywidgets is not typed

    def _serve(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        self._on_message(content)


class Cards:
    """Makes cards, and their shared renderer anew where somebody has closed it."""

    def __init__(self) -> None:
        self._asset: RendererAsset | None = None

    @property
    def asset(self) -> RendererAsset:
        """The renderer that cards share."""
        if self._asset is None or self._asset.comm is None:
            self._asset = RendererAsset(source=_static("renderer.js"))
        return self._asset

    def make(self, turn_id: str, on_message: Callable[[dict[str, Any]], None]) -> CardWidget:
        """Return a card for the turn of that id."""
        return CardWidget(self.asset, turn_id, on_message)
