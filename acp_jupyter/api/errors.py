"""The errors of the Python API, beside those of `acp_jupyter.errors`.

    AcpError
    ├── PermissionSuspended      a call waits for a decision; `resume` goes on with it
    ├── NotSuspended             there is nothing to resume: resumed before, expired, or never there
    └── PermissionCallbackFailed the caller's own callback gave no answer that can be used

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_jupyter.errors import AcpError

if TYPE_CHECKING:
    from acp_jupyter.api.schemas import SuspendPayload


class PermissionSuspended(AcpError):
    """A call waits for a decision, and the agent with it.

    Args:
        payload: What is to be decided.
        run_id: What `resume` takes; each suspension has its own.
        expires_s: After so many seconds the request is cancelled, and the turn with it.
    """

    def __init__(self, payload: SuspendPayload, run_id: str, expires_s: float) -> None:
        super().__init__(
            f"the agent asks for permission: {payload.permission_request.title}",
            advice=f"Decide within {expires_s:g} s: await tool.resume({run_id!r}, option_id=...).",
        )
        self.payload = payload
        self.run_id = run_id


class NotSuspended(AcpError):
    """There is nothing to resume."""


class PermissionCallbackFailed(AcpError):
    """The caller's ``on_permission_request`` raised, took too long, or gave what was not offered."""
