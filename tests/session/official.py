"""The official schema, as a check of every message that we send."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[2] / "labextension/node_modules/acp-sdk-schema/schema/v1/schema.json"
UNSTABLE = SCHEMA.with_name("schema.unstable.json")

# What we send that the stable schema does not know: drafts are checked by the unstable one, the rest not.
DRAFTS = {"session/fork"}
LEGACY = {"session/set_model"}


@cache
def _definitions() -> dict[str, Any]:
    stable, unstable = (json.loads(file.read_text())["$defs"] for file in (SCHEMA, UNSTABLE))
    drafts = {name: each for name, each in unstable.items() if each.get("x-method") in DRAFTS}
    return {**stable, **drafts}


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _definitions()})


@cache
def _names() -> dict[tuple[str, str], str]:
    """The definition of each method's request or notification, and of its response."""
    return {
        (each["x-method"], "Response" if name.endswith("Response") else "Request"): name
        for name, each in _definitions().items()
        if "x-method" in each
    }


def faults(frames: list[tuple[str, Any]]) -> list[str]:
    """What the schema has against the messages that went ``out`` among ``frames``, in wire order."""
    found: list[str] = []
    methods: dict[Any, str] = {}
    for direction, message in frames:
        if direction == "in":
            if "id" in message and "method" in message:
                methods[message["id"]] = message["method"]
            continue
        found += [f"{fault.message}: {str(message)[:300]}" for fault in _errors(message, methods)]
    return found


def _errors(message: dict[str, Any], methods: dict[Any, str]) -> list[jsonschema.ValidationError]:
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        if message["method"] in LEGACY or message["method"].startswith("_"):
            return []
        return list(_validator(_names()[message["method"], "Request"]).iter_errors(message["params"]))
    if "error" in message:
        return list(_validator("Error").iter_errors(message["error"]))
    method = methods[message["id"]]
    return list(_validator(_names()[method, "Response"]).iter_errors(message["result"]))
