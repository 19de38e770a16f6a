"""What a client may not send: each function lists the faults of one message, as sentences.

Spec: https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_TYPES = ("text", "image", "audio", "resource", "resource_link")
# content that a client may send only where `promptCapabilities` says so
GATED_BLOCKS = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def frame_faults(frame: Any) -> list[str]:
    """Faults of any message as JSON-RPC."""
    if not is_object(frame):
        return [f"a message is an object, not {frame!r}"[:200]]
    faults: list[str] = []
    if frame.get("jsonrpc") != "2.0":
        faults.append('a message without `"jsonrpc": "2.0"`')
    if isinstance(frame.get("id"), (list, dict, bool)):
        faults.append(f"`id` is a number, a string or null, not {frame['id']!r}")
    if "method" in frame:
        if not isinstance(frame["method"], str):
            faults.append(f"`method` is a string, not {frame['method']!r}")
    elif "id" not in frame or ("result" in frame) == ("error" in frame):
        faults.append("a message is a request, a notification, or has `id` and one of `result` and `error`")
    return faults


def request_faults(method: str, params: Any) -> list[str]:
    """Faults in the parameters of a request or notification to the agent."""
    if not is_object(params):
        return [f"{method}: `params` is an object, not {params!r}"[:200]]
    check = _REQUEST_CHECKS.get(method)
    return [f"{method}: {fault}" for fault in check(params)] if check else []


def answer_faults(method: str, params: dict[str, Any], result: Any) -> list[str]:
    """Faults in the client's result for a request of ours."""
    if method not in _ANSWER_CHECKS:
        return []
    if not is_object(result):
        return [f"the answer to {method} is an object, not {result!r}"[:200]]
    return [f"the answer to {method}: {fault}" for fault in _ANSWER_CHECKS[method](params, result)]


def is_selection(result: Any) -> bool:
    """Whether an answer to a permission request selects an option."""
    return _lookup(result, "outcome", "outcome") == "selected"


def ungranted_blocks(prompt: list[Any], capabilities: Any) -> list[str]:
    """Faults of a prompt that holds content the agent never said it takes."""
    kinds = {kind for block in prompt if isinstance(kind := _lookup(block, "type"), str)}
    return [
        f"session/prompt: a block of type {kind!r} without the capability `{gate}`"
        for kind, gate in GATED_BLOCKS.items()
        if kind in kinds and _lookup(capabilities, gate) is not True
    ]


def _lookup(value: Any, *keys: str) -> Any:
    for key in keys:
        if not is_object(value):
            return None
        value = value.get(key)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _must(condition: bool, fault: str) -> list[str]:  # noqa: FBT001 - reads as a sentence at its calls
    return [] if condition else [fault]


def _strings(owner: dict[str, Any], *keys: str) -> list[str]:
    return [
        f"`{key}` is a string, not {owner.get(key)!r}" for key in keys if not isinstance(owner.get(key), str)
    ]


def _absolute(value: Any, what: str) -> list[str]:
    absolute = isinstance(value, str) and Path(value).is_absolute()
    return _must(absolute, f"{what} is an absolute path, not {value!r}")


def _initialize(params: dict[str, Any]) -> list[str]:
    faults = _must(_is_number(params.get("protocolVersion")), "`protocolVersion` is an integer")
    if params.get("clientInfo") is not None:
        faults += _strings(params["clientInfo"], "name", "version")
    capabilities = params.get("clientCapabilities", {})
    return faults + _must(is_object(capabilities), "`clientCapabilities` is an object")


def _new_session(params: dict[str, Any]) -> list[str]:
    faults = _absolute(params.get("cwd"), "`cwd`")
    directories: list[Any] = params.get("additionalDirectories") or []
    for each in directories:
        faults += _absolute(each, "an additional directory")
    servers = params.get("mcpServers")
    if not is_array(servers):
        return [*faults, f"`mcpServers` is an array, also where there are none, not {servers!r}"]
    return faults + [fault for server in servers for fault in _mcp_server(server)]


def _session_again(params: dict[str, Any]) -> list[str]:
    return _strings(params, "sessionId") + _new_session(params)


def _config_option(params: dict[str, Any]) -> list[str]:
    faults = _strings(params, "sessionId", "configId")
    if params.get("type") == "boolean":
        return faults + _must(isinstance(params.get("value"), bool), "a boolean's `value` is a boolean")
    return faults + _strings(params, "value")


def _mcp_server(server: Any) -> list[str]:
    if not is_object(server):
        return [f"an MCP server is an object, not {server!r}"]
    remote = server.get("type") in ("http", "sse")
    strings, arrays = (("name", "url"), ("headers",)) if remote else (("name", "command"), ("args", "env"))
    missing = [key for key in arrays if not is_array(server.get(key))]
    return _strings(server, *strings) + [f"an MCP server's `{key}` is an array" for key in missing]


def _prompt(params: dict[str, Any]) -> list[str]:
    faults = _strings(params, "sessionId")
    blocks = params.get("prompt")
    if not is_array(blocks) or not blocks:
        return [*faults, "`prompt` is an array of content blocks that is not empty"]
    odd = [block for block in blocks if _lookup(block, "type") not in BLOCK_TYPES]
    return faults + [f"no content block: {block!r}"[:200] for block in odd]


def _permission_answer(params: dict[str, Any], result: dict[str, Any]) -> list[str]:
    outcome = _lookup(result, "outcome", "outcome")
    if outcome == "cancelled":
        return []
    if outcome != "selected":
        return [f"`outcome` is `selected` or `cancelled`, not {outcome!r}"]
    offered: list[Any] = [_lookup(option, "optionId") for option in params.get("options", [])]
    chosen = _lookup(result, "outcome", "optionId")
    return _must(chosen in offered, f"`optionId` {chosen!r} was not offered")


def _output_answer(_params: dict[str, Any], result: dict[str, Any]) -> list[str]:
    truncated = _must(isinstance(result.get("truncated"), bool), "`truncated` is a boolean")
    return _strings(result, "output") + truncated


def _exit_answer(_params: dict[str, Any], result: dict[str, Any]) -> list[str]:
    code, signal = result.get("exitCode"), result.get("signal")
    return _must(code is None or _is_number(code), f"`exitCode` is a number or null, not {code!r}") + _must(
        signal is None or isinstance(signal, str), f"`signal` is a name or null, not {signal!r}"
    )


_REQUEST_CHECKS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "initialize": _initialize,
    "authenticate": lambda params: _strings(params, "methodId"),
    "session/new": _new_session,
    "session/prompt": _prompt,
    "session/cancel": lambda params: _strings(params, "sessionId"),
    "session/load": _session_again,
    "session/resume": _session_again,
    "session/fork": _session_again,
    "session/list": lambda params: _absolute(params["cwd"], "`cwd`") if "cwd" in params else [],
    "session/close": lambda params: _strings(params, "sessionId"),
    "session/delete": lambda params: _strings(params, "sessionId"),
    "$/cancel_request": lambda params: _must(
        _is_number(params.get("requestId")) or isinstance(params.get("requestId"), str),
        f"`requestId` is a number or a string, not {params.get('requestId')!r}",
    ),
    "session/set_mode": lambda params: _strings(params, "sessionId", "modeId"),
    "session/set_config_option": _config_option,
}

# what an agent need not have: the path to its capability
GATES: dict[str, tuple[str, ...]] = {
    "logout": ("auth", "logout"),
    "session/load": ("loadSession",),
    **{
        f"session/{name}": ("sessionCapabilities", name)
        for name in ("resume", "fork", "list", "close", "delete")
    },
}


def ungranted_method(method: str, capabilities: Any) -> bool:
    """Whether a request calls what the agent never said it has."""
    return method in GATES and _lookup(capabilities, *GATES[method]) in (None, False)


_ANSWER_CHECKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], list[str]]] = {
    "session/request_permission": _permission_answer,
    "fs/read_text_file": lambda _, result: _strings(result, "content"),
    "fs/write_text_file": lambda _params, _result: [],  # an object; null is the fault
    "terminal/create": lambda _, result: _strings(result, "terminalId"),
    "terminal/output": _output_answer,
    "terminal/wait_for_exit": _exit_answer,
    "terminal/kill": lambda _params, _result: [],
    "terminal/release": lambda _params, _result: [],
    "elicitation/create": lambda _, result: _must(
        result.get("action") in ("accept", "decline", "cancel"), f"`action` is {result.get('action')!r}"
    ),
}
