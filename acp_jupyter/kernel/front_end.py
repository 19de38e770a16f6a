"""What this kernel knows of whoever looks at it: whether a live card works there, how a person is asked."""

from __future__ import annotations

import sys
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast, get_args
from weakref import WeakSet

from IPython.core.getipython import get_ipython

from acp_jupyter.errors import UsageError
from acp_jupyter.session.settings import Ask, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.views.widget import Cards, CardWidget

# The first card of a kernel may need so long to say that it is ready, for its renderer comes with it.
READY_S = 8.0
# Where none ever was ready, a later card is given so long: the page may have been mended and reloaded.
_READY_AGAIN_S = 2.0
_RETIRED = 20
_HINT = (
    "No live card here: nothing has drawn it, so questions come by text. For buttons, `pip install anywidget "
    "ipywidgets` where the Jupyter server runs, then reload the page. `%acp ask text` stops trying. Where "
    "the answer is missing too (jupyter console: it shows no changes), `%%acp -q` prints it."
)
_LACKS = (
    "No live card here, so questions come by text: this kernel's environment has no {module}. For buttons, "
    "`%pip install ipywidgets anywidget` here, then restart the kernel. `%acp ask text` stops trying."
)


class Follower(Protocol):
    """What follows a turn outside of the cell that runs it."""

    def flush(self) -> None:
        """Show what is new, on the kernel's main thread."""
        ...


class FrontEnd:
    """The page, or whatever else runs this kernel's cells.

    ``ready`` says whether its latest card has answered; ``standing``, where a person is asked by the settings
    of the latest turn; ``shown``, the turns that were shown live, and in which execution: those of the latest
    one; ``following``, the widgets of their own that follow a turn.
    """

    def __init__(self) -> None:
        self.ready = False
        self.standing: Ask = "auto"
        self.shown: dict[str, int | None] = {}
        self._ask: Ask | None = None
        self._waited = False
        self._hinted = False
        self._cards: Cards | None = None
        self._retired: deque[Callable[[], None]] = deque()
        self.following: WeakSet[Follower] = WeakSet()

    @property
    def ask(self) -> Ask:
        """Where a person is asked.

        Raises:
            UsageError: On setting what is none of the ways; or the environment holds one that is none.
        """
        return self._ask or settings().ask

    @ask.setter
    def ask(self, way: str) -> None:
        if way not in get_args(Ask):
            raise UsageError(f"no way to ask {way!r}", advice=f"The ways are: {', '.join(get_args(Ask))}.")
        self._ask = cast("Ask", way)

    @property
    def _way(self) -> Ask:
        """As `ask`, for a turn that has begun: a file that went wrong since must not cost it."""
        return self._ask or self.standing

    @property
    def may_draw(self) -> bool:
        """Whether to try a live card: where the request to run the cell takes no input, nobody is there."""
        return self._way != "text" and input_allowed()

    def given_up(self, opened_for_s: float) -> bool:
        """Whether a card that has not answered for so many seconds never will."""
        if self._way == "buttons":
            return False
        return opened_for_s > (_READY_AGAIN_S if self._waited else READY_S)

    @property
    def unlikely(self) -> bool:
        """Whether earlier cards were waited for in vain: a question need not wait for this one."""
        return self._waited and not self.ready and self._way != "buttons"

    def answered(self) -> None:
        """A card has said that it is ready."""
        self.ready, self._waited = True, False

    def not_answered(self) -> None:
        """A card was given up; say once what would make it work, where somebody reads that."""
        self.ready, self._waited = False, True
        if not self._hinted and input_allowed():
            self._hinted = True
            print(_HINT, file=sys.stderr)  # noqa: T201  # to the user

    def lacks(self, module: str) -> None:
        """Say once which package this kernel lacks for a live card."""
        if not self._hinted and input_allowed():
            self._hinted = True
            print(_LACKS.format(module=module), file=sys.stderr)  # noqa: T201  # to the user

    def make(self, turn_id: str, on_message: Any) -> CardWidget:
        """Return a card's widget."""
        return self.cards.make(turn_id, on_message)

    @property
    def cards(self) -> Cards:
        """What makes the kernel's cards; widgets are imported with the first one."""
        if self._cards is None:
            from acp_jupyter.views.widget import Cards  # noqa: PLC0415  # 45 ms that only the first card pays

            self._cards = Cards()
        return self._cards

    def retire(self, end: Callable[[], None]) -> None:
        """Call ``end`` when so many more cards have ended: until then a page may still show this one."""
        self._retired.append(end)
        if len(self._retired) > _RETIRED:
            self._retired.popleft()()

    def showed(self, turn_id: str, execution: int | None) -> None:
        """Note that a turn was shown live in an execution; of earlier ones nobody asks any more."""
        self.shown = {known: its for known, its in self.shown.items() if its == execution}
        self.shown[turn_id] = execution


@cache
def front_end() -> FrontEnd:
    """Return the kernel's one `FrontEnd`."""
    return FrontEnd()


def in_kernel() -> bool:
    """Whether there are cells, whose output is kept; else IPython runs in a terminal."""
    return getattr(get_ipython(), "kernel", None) is not None


def input_allowed() -> bool:
    """Whether the front end takes input; it says so with each request to run a cell."""
    return bool(getattr(getattr(get_ipython(), "kernel", None), "_allow_stdin", True))


def when_idle(delay_s: float, callback: Callable[[], object]) -> None:
    """Call ``callback`` on the kernel's main thread after so many seconds, when no cell runs.

    Safe from any thread.
    """
    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is not None:
        loop.add_callback(loop.call_later, delay_s, callback)
