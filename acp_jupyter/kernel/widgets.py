"""A turn, a diff and a permission request as ipywidgets of their own, to be nested in a box and observed.

They draw what a card draws, by the same renderer. A turn that runs is followed, and its requests can be
answered, while no cell runs and while ``%%acp`` blocks one.
"""

from __future__ import annotations

import contextlib
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import traitlets

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.front_end import front_end, when_idle
from acp_jupyter.kernel.keep import part_to_keep
from acp_jupyter.kernel.line import Line
from acp_jupyter.kernel.pump import follow_front_end_subshell
from acp_jupyter.kernel.sessions import redactor, sessions
from acp_jupyter.model.diff import Diff
from acp_jupyter.model.excerpt import excerpt
from acp_jupyter.model.turn import Turn
from acp_jupyter.session.permissions import PendingPermission
from acp_jupyter.session.run import TurnRun
from acp_jupyter.session.settings import settings
from acp_jupyter.views.bundle import MIME, widget_view
from acp_jupyter.views.widget import CardWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.model.excerpt import Part
    from acp_jupyter.model.state import Change
    from acp_jupyter.session.session import Session

__all__ = ["DiffWidget", "PermissionWidget", "TurnWidget"]

_FRAME_S = 0.04
_T = TypeVar("_T")


class _PartWidget(CardWidget):
    """Draws a turn, or a part of one in a turn of its own.

    Args:
        turn: What is drawn.
        part: As `CardWidget` has it.
        value: What stands beside the widget where no widget works.
        session: Whose turn it is, if it is somebody's.
        home: The turn that is followed, by default ``turn``.
    """

    def __init__(
        self, turn: Turn, part: str, value: Part, *, session: Session | None = None, home: Turn | None = None
    ) -> None:
        home = home or turn
        # the page knows by it which turn this is, and that it is not the card of its cell
        name = f"{home.turn_id}#{uuid.uuid4().hex}"
        self._shown = turn
        self._whole = home is turn
        self._value = value
        self._session = session
        self._scheduled = False
        self._line = Line(turn, session, self.tell, turn_id=name)
        super().__init__(front_end().cards.asset, name, self._line.serve, part)
        follow_front_end_subshell(self.comm)
        self._unlisten: Callable[[], None] | None = None
        if session is not None:
            self._unlisten = session.listen(self._changed, home)
            front_end().following.add(self)

    def close(self) -> None:
        """Close the widget; the turn goes on."""
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None
        front_end().following.discard(self)
        super().close()

    def flush(self) -> None:
        """Show what is new, on the kernel's main thread."""
        self._scheduled = False
        self._line.tell()
        self._observe()

    def _observe(self) -> None:
        """Set the traits that tell how it stands."""

    def _changed(self, changes: list[Change]) -> None:
        """Called on the loop's thread, with the session's lock held."""
        for change in changes:
            if self._has(change.node):
                self._line.mark(change.node)
        if not self._scheduled:
            self._scheduled = True
            when_idle(_FRAME_S, self.flush)

    def _has(self, node: tuple[Any, ...]) -> bool:
        """Whether a node of the turn that is followed is part of what is drawn."""
        if self._whole:
            return True
        if len(node) != 2:  # noqa: PLR2004  # kind and key
            return False
        kind, key = node
        if kind == "tool_calls":
            return str(key) in self._shown.tool_calls
        return key in {"permissions": self._shown.permissions, "terminals": self._shown.terminals}.get(
            kind, {}
        )

    def _repr_mimebundle_(self, **_kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and beside it what it shows now, for a page or a file that has no widget."""
        with contextlib.nullcontext() if self._session is None else self._session.lock:
            kept = part_to_keep(self._value, redactor(), settings())
        if MIME in kept:
            kept[MIME] = {**kept[MIME], "turn_id": self.turn_id}
        return {**widget_view(str(self.model_id), self.turn_id), **kept}, {}


class TurnWidget(_PartWidget):
    """A turn's card.

    Args:
        turn: The turn, or the run of one that was started.
        session: Whose turn it is; by default it is looked for among the kernel's sessions. Where it has none
            the card shows the turn as it is.

    Attributes:
        state: ``turn.state``: ``running``, ``waiting``, ``done`` and so on; can be observed.
        pending: How many requests wait for an answer; can be observed.
    """

    state = traitlets.Unicode(read_only=True)
    pending = traitlets.Int(read_only=True)

    def __init__(self, turn: Turn | TurnRun, session: Session | None = None) -> None:
        if isinstance(turn, TurnRun):
            turn, session = turn.turn, turn.session
        turn = _expected(turn, Turn)
        super().__init__(turn, "", turn, session=session or _session_of(turn))
        self._observe()

    def _observe(self) -> None:
        self.set_trait("state", self._shown.state)
        self.set_trait("pending", len(self._shown.pending) + len(self._shown.pending_elicitations))


class DiffWidget(_PartWidget):
    """A file's change.

    Args:
        diff: Such as ``turn.tool_calls[0].diffs[0]``, or a ``Diff(path, old_text, new_text)``.
    """

    def __init__(self, diff: Diff) -> None:
        super().__init__(excerpt(_expected(diff, Diff)), "diff", diff)


class PermissionWidget(_PartWidget):
    """A permission request with its tool call and its buttons, and later what was decided.

    Args:
        pending: One of ``session.pending``.
        session: Whose request it is; by default it is looked for among the kernel's sessions.

    Attributes:
        state: ``open``, ``selected`` or ``cancelled``; can be observed.
        option_id: The selected option's, else ``None``; can be observed.
    """

    state = traitlets.Unicode(read_only=True)
    option_id = traitlets.Unicode(None, allow_none=True, read_only=True)

    def __init__(self, pending: PendingPermission, session: Session | None = None) -> None:
        call = _expected(pending, PendingPermission).tool_call
        home = call.home()
        session = session or (_session_of(home) if home is not None else None)
        if home is None or session is None:
            raise UsageError("no session of this kernel has this request", advice="Name its session.")
        self._permission = pending.permission
        self._home = home
        turn = excerpt(call)
        turn.permissions = {pending.key: pending.permission}
        super().__init__(turn, "permission", call, session=session, home=home)
        self._observe()

    def _changed(self, changes: list[Change]) -> None:
        # what was allowed may start them
        embedded = {key for call in self._shown.tool_calls for key in call.terminal_ids}
        self._shown.terminals |= {key: one for key, one in self._home.terminals.items() if key in embedded}
        super()._changed(changes)

    def _observe(self) -> None:
        self.set_trait("option_id", self._permission.option_id)
        self.set_trait("state", self._permission.state)


def _session_of(turn: Turn) -> Session | None:
    found = (one for one in sessions().all() if any(known is turn for known in one.turns))
    return next(found, None)


def _expected(value: object, kind: type[_T]) -> _T:
    if not isinstance(value, kind):
        raise UsageError(f"this widget shows a {kind.__name__}, not a {type(value).__name__}")
    return value
