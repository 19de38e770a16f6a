"""Sees every message of every peer that is made in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acp_jupyter.wire.peer import Peer


@contextlib.contextmanager
def recorded() -> Iterator[list[tuple[Any, str, Any]]]:
    """While this lasts, a list of the peers' messages: which peer, ``in`` or ``out``, the message."""
    frames: list[tuple[Any, str, Any]] = []
    make = Peer.__init__

    def make_recorded(
        peer: Peer, transport: Any, *, on_frame: Callable[[Any, bytes, Any], None] | None = None, **more: Any
    ) -> None:
        def see(direction: Any, line: bytes, message: Any) -> None:
            kept = message
            if direction == "in":  # what is answered is all that matters, and some are huge
                kept = {key: message[key] for key in ("id", "method") if key in message}
            frames.append((peer, direction, kept))
            if on_frame is not None:
                on_frame(direction, line, message)

        make(peer, transport, on_frame=see, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Peer, "__init__", make_recorded)
        yield frames


def by_peer(frames: list[tuple[Any, str, Any]]) -> list[list[tuple[str, Any]]]:
    """The messages of each peer, in their order."""
    peers: dict[int, list[tuple[str, Any]]] = {}
    for peer, direction, message in frames:
        peers.setdefault(id(peer), []).append((direction, message))  # the list keeps it alive
    return list(peers.values())
