"""What a tool and an agent are made of: the caller's arguments, checked.

See https://agentclientprotocol.com/protocol/initialization.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, field_validator

from acp_jupyter.api.requests import InitializeRequest, SessionRequest, absolute, offer_of
from acp_jupyter.api.workspace import Workspace, is_local
from acp_jupyter.errors import UsageError
from acp_jupyter.session.agent_spec import AgentSpec, checked_spec
from acp_jupyter.session.faults import in_our_words
from acp_jupyter.session.roots import Roots

if TYPE_CHECKING:
    from acp_jupyter.session.link import Offer


class Setup(BaseModel):
    """The arguments of `create_acp_tool` and `AcpAgent`, as they are described there."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    id: str
    description: str = ""
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = Field(default=None, min_length=1)
    session: SessionRequest = Field(default_factory=SessionRequest)
    initialize: InitializeRequest = Field(default_factory=InitializeRequest)
    auth_method_id: str | None = None
    persist_session: StrictBool = True
    on_permission_request: Callable[..., Any] | None = None
    workspace: Any = None
    model: str | None = None
    instructions: str | None = None
    permission_timeout_s: float = Field(gt=0, allow_inf_nan=False)
    start_timeout_s: float = Field(gt=0, allow_inf_nan=False)

    @field_validator("workspace")
    @classmethod
    def _is_one(cls, workspace: Any) -> Any:
        if workspace is not None and not isinstance(workspace, Workspace):
            raise ValueError("it needs read_text, write_text and exists")
        return workspace

    @property
    def spec(self) -> AgentSpec:
        """How the agent is started."""
        fields = {"name": self.id, "command": self.command, "args": self.args, "env": self.env}
        return checked_spec(fields, "its arguments")

    def roots(self) -> Roots:
        """Where a session works: ``session.cwd``, ``cwd``, or the current directory as it is now.

        Raises:
            UsageError: One of the directories is none.
        """
        further = [absolute(path) for path in self.session.additional_directories]
        return Roots.of(self.session.cwd or self.cwd, further)

    def process_cwd(self) -> str | None:
        """Where the process is started; ``None`` where the session works."""
        return Roots.of(self.cwd).cwd if self.session.cwd is not None else None

    def offer(self, workspace: Workspace | None) -> Offer:
        """Return what the agent is told of us, with its files in a workspace."""
        return offer_of(self.spec, self.initialize, terminals=is_local(workspace))


def checked_setup(where: str, given: Mapping[str, Any]) -> Setup:
    """Return the arguments, checked.

    Args:
        where: What was called.
        given: They, as they were given; ``None`` for those left out.

    Raises:
        UsageError: One is not as it should be; the message names it.
    """
    fields = {name: value for name, value in given.items() if value is not None}
    if isinstance(fields.get("cwd"), os.PathLike):
        fields["cwd"] = os.fspath(fields["cwd"])
    try:
        setup = Setup.model_validate(fields)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {in_our_words(one)}" for one in error.errors())
        raise UsageError(f"{where}: {told}", advice="Mend the named field.") from error
    setup.offer(setup.workspace)  # what cannot be offered is told now
    return setup
