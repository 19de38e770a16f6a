"""What shows itself where it is a cell's value, and where a part of a turn belongs.

How it looks the model does not know: the package's root, which knows every floor, sets `Shown.draw`. The
method is https://ipython.readthedocs.io/en/stable/config/integrating.html#MyObject._repr_mimebundle_.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.turn import Turn


class Shown:
    """A value that a notebook shows as more than its ``repr``: without secrets, and bounded."""

    __slots__ = ("__weakref__",)

    draw: ClassVar[Callable[[Any], dict[str, Any]]]
    """Returns the MIME bundle of a value."""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Return the MIME bundle; which of it is wanted, IPython picks."""
        del include, exclude
        return Shown.draw(self)


class Home:
    """The turn that something is part of, for as long as somebody holds it; a copy knows of none.

    It is a weak reference: what is dropped with its turn is freed at once, and not by the next collection.
    """

    __slots__ = ("_turn",)

    def __init__(self, turn: Turn | None = None) -> None:
        self._turn = None if turn is None else weakref.ref(turn)

    def __call__(self) -> Turn | None:
        """Return the turn."""
        return None if self._turn is None else self._turn()

    def __reduce__(self) -> tuple[type[Home], tuple[()]]:
        return Home, ()  # a weak reference can be neither copied with what it leads to, nor pickled
