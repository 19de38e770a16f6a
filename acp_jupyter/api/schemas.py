"""What goes into a tool and comes out of it: attributes in snake_case, JSON and JSON Schema in camelCase.

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel


class _Model(BaseModel):
    """Both spellings are taken; what is not known is an error that names it."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class ToolInput(_Model):
    """What a tool takes."""

    task: str = Field(min_length=1, description="The task to send to the ACP agent.")


class ToolOutput(_Model):
    """What a tool gives."""

    output: str = Field(description="The final text output returned by the ACP agent.")


class OfferedOption(_Model):
    """An answer that the agent offers, in its own words."""

    option_id: str
    name: str


class PermissionShown(_Model):
    """What a request is called, and how it can be answered."""

    title: str
    options: tuple[OfferedOption, ...]


class SuspendPayload(_Model):
    """What is to be decided. Title and names are the agent's words: ``request`` has the whole of it."""

    permission_request: PermissionShown
    request: dict[str, Any] = Field(description="The request as the protocol spells it.")


class ResumePayload(_Model):
    """The decision: ``selected`` with an option, or ``cancelled``."""

    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None

    @model_validator(mode="after")
    def _selects_one(self) -> ResumePayload:
        if self.outcome == "selected" and self.option_id is None:
            raise ValueError("optionId is missing: the outcome is selected")
        if self.outcome == "cancelled" and self.option_id is not None:
            raise ValueError("optionId is given, but the outcome is cancelled")
        return self


class PermissionRequest(_Model):
    """A ``session/request_permission`` of an agent: its call and its options, as the protocol spells them."""

    model_config = ConfigDict(extra="ignore")

    session_id: str
    tool_call: dict[str, Any]
    options: tuple[dict[str, Any], ...]
