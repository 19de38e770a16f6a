"""What the agent's requests must look like before anybody acts on them; used by `v1`.

https://agentclientprotocol.com/protocol/schema
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Shape:
    """A test and the words for what it wants."""

    wanted: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Params:
    """The shapes of a request's parameters; what is not named may be anything."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict[str, Shape])

    def fault(self, params: Any) -> str | None:
        """Say what is wrong with ``params``, or ``None``."""
        if not isinstance(params, dict):
            return "params must be an object"
        given = cast("dict[str, Any]", params)
        for name, shape in self.required.items():
            if not shape.fits(given.get(name)):
                return f"{name} must be {shape.wanted}"
        for name, shape in self.optional.items():
            if given.get(name) is not None and not shape.fits(given[name]):
                return f"{name} must be {shape.wanted}"
        return None


def _objects(value: Any, *keys: str) -> bool:
    """Say whether it is a list of objects, each with a string under every key."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and all(isinstance(cast("dict[str, Any]", item).get(key), str) for key in keys)
        for item in cast("list[Any]", value)
    )


def well_formed_options(options: list[Any]) -> list[dict[str, Any]]:
    """Leave out the permission options that have no id: a malformed one costs only itself."""
    return [option for option in options if _objects([option], "optionId")]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_TEXT = Shape("a string", lambda value: isinstance(value, str))
_TEXTS = Shape(
    "a list of strings",
    lambda value: isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value)),
)
_OBJECT = Shape("an object", lambda value: isinstance(value, dict))
_COUNT = Shape("a whole number, not negative", _is_count)
_PATH = Shape("an absolute path", lambda value: isinstance(value, str) and Path(value).is_absolute())
_OPTIONS = Shape(
    "a list of objects with an optionId",
    lambda value: (
        isinstance(value, list) and (not value or bool(well_formed_options(cast("list[Any]", value))))
    ),
)
_VARIABLES = Shape("a list of objects with name and value", lambda value: _objects(value, "name", "value"))

_TERMINAL = Params({"sessionId": _TEXT, "terminalId": _TEXT})

REQUEST_PARAMS: Mapping[str, Params] = {
    "session/request_permission": Params({"sessionId": _TEXT, "toolCall": _OBJECT, "options": _OPTIONS}),
    "fs/read_text_file": Params({"sessionId": _TEXT, "path": _PATH}, {"line": _COUNT, "limit": _COUNT}),
    "fs/write_text_file": Params({"sessionId": _TEXT, "path": _PATH, "content": _TEXT}),
    "terminal/create": Params(
        {"sessionId": _TEXT, "command": _TEXT},
        {"args": _TEXTS, "env": _VARIABLES, "cwd": _PATH, "outputByteLimit": _COUNT},
    ),
    "elicitation/create": Params({"mode": _TEXT, "message": _TEXT}),
    "terminal/output": _TERMINAL,
    "terminal/wait_for_exit": _TERMINAL,
    "terminal/kill": _TERMINAL,
    "terminal/release": _TERMINAL,
}
