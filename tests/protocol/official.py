"""The official schema, read from the npm dev dependency, as a check of every message that we send."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[2] / "labextension/node_modules/acp-sdk-schema/schema/v1/schema.json"
UNSTABLE = SCHEMA.with_name("schema.unstable.json")

# What we send that the stable schema does not know. Drafts are checked by the unstable one; the others are
# not, and neither are extensions, whose names begin with an underscore. Any further one is a fault.
DRAFTS = {"session/fork"}
LEGACY = {"session/set_model"}
_JSON_RPC = [
    {"jsonrpc", "id", "method", "params"},
    {"jsonrpc", "method", "params"},
    {"jsonrpc", "id", "result"},
    {"jsonrpc", "id", "error"},
]
_PATHS = {"cwd", "path", "additionalDirectories", "command"}


@cache
def definitions() -> dict[str, Any]:
    """The stable definitions, and those of the drafts that we speak."""
    stable, unstable = (json.loads(file.read_text())["$defs"] for file in (SCHEMA, UNSTABLE))
    drafts = {name: each for name, each in unstable.items() if each.get("x-method") in DRAFTS}
    return {**stable, **drafts}


@cache
def names() -> dict[tuple[str, str], str]:
    """The definition of each method's parameters, and of its result."""
    return {
        (each["x-method"], "result" if name.endswith("Response") else "params"): name
        for name, each in definitions().items()
        if "x-method" in each
    }


def _closed(schema: Any, *, value: bool = False) -> Any:
    """The same, with every object as it stands in the definition: fields of one's own belong in `_meta`."""
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    for key in ("properties", "$defs"):
        if key in schema:
            closed[key] = {
                name: _closed(each, value=key == "properties") for name, each in schema[key].items()
            }
    for key in ("allOf", "anyOf", "oneOf"):
        if key in schema:
            closed[key] = [_closed(each) for each in schema[key]]
    for key in ("items", "additionalProperties"):
        if key in schema:
            closed[key] = _closed(schema[key], value=True)
    if value and schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "properties"}:
        closed["unevaluatedProperties"] = False
    return closed


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = {"$defs": definitions(), "properties": {"value": {"$ref": f"#/$defs/{name}"}}}
    return jsonschema.Draft202012Validator(_closed(schema))


def faults(frames: list[tuple[str, Any]]) -> list[str]:
    """What the schema has against the messages that went ``out`` among ``frames``, in wire order."""
    found: list[str] = []
    asked: dict[Any, set[str]] = {}
    for direction, message in frames:
        if direction == "in":
            if isinstance(message, dict) and isinstance(message.get("method"), str) and "id" in message:
                asked.setdefault(json.dumps(message["id"]), set()).add(message["method"])
            continue
        methods = asked.get(json.dumps(message.get("id")), set())
        found += [f"{fault}: {json.dumps(message)[:300]}" for fault in message_faults(message, methods)]
    return found


def message_faults(message: dict[str, Any], asked: set[str]) -> list[str]:
    """What is wrong with one message; ``asked``: what it may be the answer to."""
    if message.get("jsonrpc") != "2.0" or set(message) not in _JSON_RPC:
        return ["not JSON-RPC 2.0"]
    if "method" in message:
        method = message["method"]
        if method in LEGACY or method.startswith("_"):
            return []
        if (method, "params") not in names():
            return [f"no method of the protocol: {method}"]
        return _value_faults(names()[method, "params"], message["params"]) + _relative(message["params"])
    if "error" in message:
        return _value_faults("Error", message["error"])
    by_method = {
        method: _value_faults(names()[method, "result"], message["result"])
        for method in asked
        if (method, "result") in names()
    }
    if not by_method:
        return ["an answer to nothing"]
    found = list(by_method.values())
    return [] if [] in found else [fault for faults_of_one in found for fault in faults_of_one]


@lru_cache(maxsize=10_000)
def _faults_of(definition: str, text: str) -> tuple[str, ...]:
    value = {"value": json.loads(text)}
    return tuple(error.message[:300] for error in _validator(definition).iter_errors(value))


def _value_faults(definition: str, value: Any) -> list[str]:
    return list(_faults_of(definition, json.dumps(value)))


def _relative(value: Any, key: str = "") -> list[str]:
    """The paths in parameters of ours that are not absolute; `_meta` is anybody's."""
    if isinstance(value, dict):
        return [fault for name, one in value.items() if name != "_meta" for fault in _relative(one, name)]
    if isinstance(value, list):
        return [fault for one in value for fault in _relative(one, key)]
    if key in _PATHS and isinstance(value, str) and not Path(value).is_absolute():
        return [f"{key} is not absolute: {value!r}"]
    return []
