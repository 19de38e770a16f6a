"""What a cell shows whose value is one of ours; see `acp_jupyter.model.shown`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, cast

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.keep import part_to_keep
from acp_jupyter.kernel.sessions import redactor, sessions
from acp_jupyter.kernel.status import status
from acp_jupyter.model.log import Log
from acp_jupyter.session.session import Session
from acp_jupyter.session.settings import settings
from acp_jupyter.views.log import log_bundle
from acp_jupyter.views.status import session_bundle

if TYPE_CHECKING:
    from collections.abc import Generator

    from acp_jupyter.model.excerpt import Part
    from acp_jupyter.model.shown import Shown


def bundle(value: Shown) -> dict[str, Any]:
    """Return the MIME bundle of a value: without secrets, and bounded, as the settings have it.

    Where they go wrong it says so: IPython would print the value itself instead, secrets and all.
    """
    if isinstance(value, Log):
        return dict(log_bundle(value))
    try:
        wanted = settings()
        with _at_rest():
            if isinstance(value, Session):
                return session_bundle(*status(value), value.turns, redactor().text)
            return part_to_keep(cast("Part", value), redactor(), wanted)
    except UsageError as error:
        return {"text/plain": f"This is not shown: {redactor().text(str(error))}"}


@contextlib.contextmanager
def _at_rest() -> Generator[None]:
    """Hold the state of every session: whose the value is, it does not say."""
    with contextlib.ExitStack() as locks:
        for session in sessions().all():
            locks.enter_context(session.lock)
        yield
