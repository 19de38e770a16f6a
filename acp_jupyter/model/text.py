"""Text that grows by chunks, kept as parts so that appending stays cheap."""

from __future__ import annotations

import json
from typing import Any


class Text:
    """A growing text. ``str()`` gives the whole of it, `since` what came after an offset.

    Its owner appends; any thread may read meanwhile, for parts are only ever added.
    """

    __slots__ = ("_joined", "_length", "_parts")

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []
        self._length = len(text)
        self._joined = (0, "")  # how many parts have been joined, and what they make

    def append(self, text: str) -> None:
        """Add ``text`` at the end."""
        if text:
            self._parts.append(text)
            self._length += len(text)

    def since(self, offset: int) -> str:
        """Return what follows the first ``offset`` characters; costs no more than what it returns."""
        wanted = self._length - offset
        tail: list[str] = []
        for part in reversed(self._parts):
            if wanted <= 0:
                break
            tail.append(part[-wanted:] if wanted < len(part) else part)
            wanted -= len(part)
        return "".join(reversed(tail))

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        count, joined = self._joined
        later = self._parts[count:]
        if later:
            joined = "".join([joined, *later])
            # The parts stay as they are: the owner may be appending to them at this moment.
            self._joined = (count + len(later), joined)
        return joined

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"


def json_text(value: Any) -> str:
    """Return ``value`` as compact JSON text; NaN and infinities as JavaScript writes them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
