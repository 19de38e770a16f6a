"""The kernel's own sessions: those of `acp_jupyter.session`, shown by `acp_jupyter.kernel.show`."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from typing import TYPE_CHECKING

from acp_jupyter.errors import AcpError
from acp_jupyter.kernel.notebook import notebook_path
from acp_jupyter.kernel.show import show
from acp_jupyter.model.redact import Redactor
from acp_jupyter.session.sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Generator

    from acp_jupyter.session.session import Session


@cache
def sessions() -> Sessions:
    """Return the one `Sessions` of this process; nothing starts before the first prompt."""
    return Sessions(present=show, notebook=notebook_path)


def get_session(agent: str | None = None) -> Session:
    """Return the kernel's session: the same object, and the same agent-side session, from cell to cell.

    Args:
        agent: The agent's name; its session becomes the current one. By default the current session.

    Raises:
        AgentUnknown: There is no agent of that name.
        UsageError: None was named, and none is current.
    """
    return sessions().get(agent)


def redactor() -> Redactor:
    """Return what takes secrets out of whatever the magics show: those of every session here."""
    known = [session.redactor for session in sessions().all()]
    return Redactor.joined([Redactor.of(dict(os.environ)), *known])


@contextlib.contextmanager
def redacted() -> Generator[None]:
    """See that what is shown of an error that leaves this block has no secrets in it."""
    try:
        yield
    except AcpError as error:
        error.redact = redactor().text
        raise
