"""Every error that acp_jupyter raises.

    AcpError
    ├── UsageError               the call itself is wrong: an option, an empty task, an unknown name
    │   ├── AgentUnknown         no agent of that name
    │   └── ValuesRefused        values that a form does not take
    ├── AgentError               something between us and the agent's process
    │   ├── AgentNotFound        its command is not on PATH
    │   ├── AgentStartFailed     it did not get through `initialize` and `session/new`
    │   ├── AgentTimeout         it did not answer within the time given
    │   ├── AgentExited          it ended, or closed its output, while we needed it
    │   ├── VersionMismatch      it speaks another version of the protocol
    │   └── ConnectionClosed     we closed the connection while a request was open
    ├── RequestFailed            it answered a request with a JSON-RPC error
    │   └── AuthenticationRequired   code -32000: log in first
    ├── SessionBusy              a second prompt came while the first turn ran on
    ├── TurnNotClean             `--check`: the turn ended otherwise than by itself, or something was rejected
    ├── OutsideRoots             a path outside the session's directories
    ├── PermissionClosed         the permission request was answered before, or expired
    └── ElicitationClosed        the form or address was answered before, or expired

A message says what happened; ``advice`` says what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class AcpError(Exception):
    """The root of the tree.

    What is shown of an error, and its ``str``, goes through ``redact``, which a session sets: it stands in
    the notebook. Its members are whole.

    Args:
        message: What happened, in one line.
        advice: What to do next, in one line; empty where nothing can be done.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.redact: Callable[[str], str] = str

    def __str__(self) -> str:
        return self.redact(self._told())

    def _told(self) -> str:
        return f"{self.message}\n{self.advice}" if self.advice else self.message

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it: what happened and what to do, not our own code."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(AcpError):
    """The call itself is wrong."""


class AgentUnknown(UsageError):
    """No agent of that name is known."""


class ValuesRefused(UsageError):
    """A form does not take these values.

    Args:
        faults: What is wrong, a sentence for each field.
    """

    def __init__(self, faults: dict[str, str]) -> None:
        told = "; ".join(f"{name}: {fault}" for name, fault in faults.items())
        super().__init__(f"the form does not take these values: {told}", advice="It is still open.")
        self.faults = faults


class AgentError(AcpError):
    """Something went wrong between us and the agent's process.

    Args:
        message: What happened, in one line.
        advice: What to do next, in one line.
        stderr: The last lines of the agent's error output.
        exit_code: Its exit code, negative for a signal; ``None`` while it runs.
    """

    def __init__(
        self, message: str, *, advice: str = "", stderr: str = "", exit_code: int | None = None
    ) -> None:
        super().__init__(message, advice=advice)
        self.stderr = stderr
        self.exit_code = exit_code

    def _told(self) -> str:
        tail = f"\nlast lines of its error output:\n{self.stderr.rstrip()}" if self.stderr.strip() else ""
        return super()._told() + tail


class AgentNotFound(AgentError):
    """The agent's command is not on PATH."""


class AgentStartFailed(AgentError):
    """The agent did not get through `initialize` and `session/new`."""


class AgentTimeout(AgentError):
    """The agent did not answer within the time given."""


class AgentExited(AgentError):
    """The agent ended, or closed its output, while we needed it."""


class VersionMismatch(AgentError):
    """The agent speaks another version of the protocol."""


class ConnectionClosed(AgentError):
    """We closed the connection while a request was open."""


class RequestFailed(AcpError):
    """The agent answered a request with a JSON-RPC error.

    Args:
        method: The method that was called.
        code: The JSON-RPC error code.
        reason: The agent's own message.
        data: The error's ``data``, any JSON value.
    """

    def __init__(self, method: str, code: int, reason: str, data: Any = None, *, advice: str = "") -> None:
        detail = f" ({data})" if data is not None else ""
        super().__init__(f"the agent refused {method}: {reason} [{code}]{detail}", advice=advice)
        self.method = method
        self.code = code
        self.reason = reason
        self.data = data


class AuthenticationRequired(RequestFailed):
    """The agent wants a log-in first (code -32000)."""


class SessionBusy(AcpError):
    """A second prompt came while the first turn ran on."""


class TurnNotClean(AcpError):
    """With `--check`: the turn ended otherwise than by itself, or something was rejected."""


class OutsideRoots(AcpError):
    """A path lies outside the session's directories."""


class PermissionClosed(AcpError):
    """The permission request was answered before, or has expired."""


class ElicitationClosed(AcpError):
    """The form or address was answered before, or has expired."""
