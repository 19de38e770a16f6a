"""What a caller may want otherwise of the requests that begin: parts of them, over what we send by default.

See https://agentclientprotocol.com/protocol/initialization and /protocol/session-setup.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_text
from acp_jupyter.session.link import Offer, offer_to
from acp_jupyter.wire.v1 import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_jupyter.session.agents import AgentSpec

_META = "_meta"
_NOT_OURS = {_META, "env", "headers"}
_SNAKE = re.compile(r"[a-z]+(_[a-z]+)+")


def camel(value: Any) -> Any:
    """Return a request with its names as the protocol spells them; variables and ``_meta`` are not its."""
    if isinstance(value, list | tuple):
        return [camel(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("dict[Any, Any]", value)
    return {
        key: one if key in _NOT_OURS else camel(one)
        for name, one in given.items()
        for key in [to_camel(name) if isinstance(name, str) and _SNAKE.fullmatch(name) else name]
    }


def merged(default: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``given`` over ``default``: dicts merge, everything else replaces."""
    both = dict(default)
    for key, value in given.items():
        under = both.get(key)
        both[key] = merged(as_dict(under), as_dict(value)) if _both_dicts(under, value) else value
    return both


def _both_dicts(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and isinstance(other, dict)


class _Partial(BaseModel):
    """A part of a request, in either spelling; what the request does not have is an error that names it."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    meta: dict[str, Any] | None = Field(default=None, alias=_META)

    @model_validator(mode="before")
    @classmethod
    def _in_the_protocols_spelling(cls, value: Any) -> Any:
        return camel(value)


class SessionRequest(_Partial):
    """A part of ``session/new``: where the session works, and with which MCP servers."""

    cwd: str | None = Field(default=None, min_length=1)
    additional_directories: tuple[str, ...] = ()
    mcp_servers: tuple[dict[str, Any], ...] = ()

    @field_validator("mcp_servers")
    @classmethod
    def _complete(cls, servers: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        return tuple(_server(one) for one in servers)


class InitializeRequest(_Partial):
    """A part of ``initialize``: what we say of ourselves."""

    protocol_version: int = Field(default=PROTOCOL_VERSION, strict=True)
    client_capabilities: dict[str, Any] = Field(default_factory=dict)
    client_info: dict[str, str] = Field(default_factory=dict)

    @field_validator("protocol_version")
    @classmethod
    def _spoken(cls, version: int) -> int:
        if version != PROTOCOL_VERSION:
            raise ValueError(f"we do not speak version {version} of the protocol, only {PROTOCOL_VERSION}")
        return version

    @field_validator("client_info")
    @classmethod
    def _known(cls, info: dict[str, str]) -> dict[str, str]:
        unknown = info.keys() - {"name", "title", "version"}
        if unknown:
            raise ValueError(f"there is no such field: {', '.join(sorted(unknown))}")
        return info


def _server(given: dict[str, Any]) -> dict[str, Any]:
    """Return a server with what the protocol wants and a caller leaves out; variables may be a dict."""
    name = as_text(given.get("name"))
    if not name:
        raise ValueError("a server has no name")
    if as_text(given.get("url")):
        return {"type": "http", **given, "headers": _pairs(given.get("headers"))}
    if not as_text(given.get("command")):
        raise ValueError(f"server {name!r} has neither a command nor a url")
    return {"args": [], **given, "env": _pairs(given.get("env"))}


def _pairs(given: Any) -> Any:
    if isinstance(given, dict):
        return [{"name": name, "value": value} for name, value in cast("dict[str, Any]", given).items()]
    return given or []


def offer_of(spec: AgentSpec, asked: InitializeRequest, *, terminals: bool) -> Offer:
    """Return what an agent is told of us.

    Args:
        spec: The agent.
        asked: What the caller wants otherwise.
        terminals: Whether commands can be run where the agent's files are.

    Raises:
        UsageError: A capability that we do not implement; the message names it.
    """
    capabilities, info, _ = offer_to(spec)
    _check_implemented(asked.client_capabilities, capabilities, "initialize.clientCapabilities")
    told = merged(capabilities, asked.client_capabilities)
    told["terminal"] = told["terminal"] and terminals
    return Offer(told, merged(info, asked.client_info), asked.meta)


def _check_implemented(asked: Mapping[str, Any], ours: Mapping[str, Any], where: str) -> None:
    for name, value in asked.items():
        if name == _META or value is None or value is False:  # what is not offered need not be there
            continue
        place = f"{where}.{name}"
        if name not in ours:
            raise UsageError(
                f"{place}: acp_jupyter does not have this capability",
                advice=f"It has, there: {', '.join(one for one in ours if one != _META)}.",
            )
        if isinstance(ours[name], dict) is not isinstance(value, dict):
            raise UsageError(f"{place}: {value!r} is not what the protocol has there")
        _check_implemented(as_dict(value), as_dict(ours[name]), place)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as absolute, ``~`` written out; links are kept, as the user knows them."""
    return str(Path(os.path.abspath(Path(path).expanduser())))  # noqa: PTH100  # not Path.resolve: it follows links
