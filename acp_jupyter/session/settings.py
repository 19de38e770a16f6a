"""What a user has set, once for all turns: in the environment, in the user's file, and in the project's.

The nearest wins: what a call or a magic says, then the environment (``ACP_JUPYTER_POLICY``...), then the
user's ``settings.json``, then ``[tool.acp-jupyter]`` of the project's ``pyproject.toml``, then the default. A
project's file is written by whoever wrote the project, so it can choose among the user's agents and make the
policy stricter, and nothing else; a stricter policy there counts over the environment and the user's file.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from acp_jupyter.errors import UsageError
from acp_jupyter.session.faults import in_our_words
from acp_jupyter.session.policy import check_policy
from acp_jupyter.session.small_file import read_small, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX = "ACP_JUPYTER_"
REGISTRY = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"

# The strictest first.
STRICTNESS = ("reject", "ask", "read", "edits", "allow-once-all")
_SPOKEN = ("the call", "the magic")
_PROJECT_KEYS = ("agent", "policy")

Ask = Literal["auto", "buttons", "text"]
Save = Literal["full", "bounded", "text", "none"]


class Settings(BaseModel):
    """The settings that are in force.

    ``agent`` is used where none is named. ``policy`` answers the permission requests of turns that name none.
    ``ask`` says where a person is asked: ``buttons`` on the card, ``text`` by ``input()``, ``auto`` on the
    card where one works. ``ask_client_requests`` asks before an agent has us write a file or run a command
    that no approved call covers. ``answer_timeout_s`` is how long a person has to answer a permission request
    before it is rejected, ``None`` for ever. ``save`` says how much of a turn the notebook keeps,
    ``save_limit`` how many characters of each value, ``save_total`` how many of all of them.
    ``remember_choices`` has a new session with an agent begin with the mode, model and options last chosen.
    ``secret_patterns`` are further names of files that hold secrets, ``redact`` further names of variables.
    ``start_timeout_s`` is how long an agent may take for each answer while it starts. ``registry`` is where
    the public list of agents is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str | None = Field(default=None, min_length=1)
    policy: str = "ask"
    ask: Ask = "auto"
    ask_client_requests: bool = False
    answer_timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    save: Save = "bounded"
    save_limit: int = Field(default=64_000, gt=0)
    save_total: int = Field(default=2_000_000, gt=0)
    remember_choices: bool = False
    secret_patterns: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    start_timeout_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    registry: str = REGISTRY

    _by: dict[str, str] = PrivateAttr(default_factory=dict)

    @field_validator("policy")
    @classmethod
    def _is_one(cls, name: str) -> str:
        try:
            return check_policy(name)
        except UsageError as error:
            raise ValueError(f"{error.message}; they are {', '.join(STRICTNESS)}") from None

    def placed(self, places: Mapping[str, str]) -> Settings:
        """Note where each value is from, and return the settings."""
        self._by.update(places)
        return self

    def by(self, name: str) -> str:
        """Where the value of a setting is from: a variable, a file, ``the call``; empty for a default."""
        return self._by.get(name, "")

    def described(self, name: str) -> str:
        """The value of a setting with where it is from: ``ask, by pyproject.toml``."""
        value, by = getattr(self, name), self.by(name)
        return f"{value}, by {Path(by).name}" if by else str(value)


class _Layer(NamedTuple):
    """Settings from one place; ``names`` are what the place calls them, where that is not their own name."""

    where: str
    values: Mapping[str, Any]
    names: Mapping[str, str] = {}


def settings(
    directory: str | Path | None = None,
    *,
    call: Mapping[str, Any] | None = None,
    option: Mapping[str, Any] | None = None,
) -> Settings:
    """Read the settings as they are now.

    Args:
        directory: Where the project's file is looked for, and above; by default where the kernel is.
        call: What a call says; ``None`` as a value says nothing.
        option: What a magic says, likewise.

    Raises:
        UsageError: A setting is unknown, or holds what it cannot; the message names it and its place.
    """
    said = [_checked(_Layer(where, _given(one))) for where, one in zip(_SPOKEN, (call, option), strict=True)]
    standing = [_checked(layer) for layer in (_environment(), _user_file())]
    project = _project_file(Path(directory) if directory is not None else _here())
    merged = _merged([*said, *_with_project(standing, project)])
    found = Settings.model_validate({name: layer.values[name] for name, layer in merged.items()})
    return found.placed({name: layer.names.get(name, layer.where) for name, layer in merged.items()})


def user_file() -> Path:
    """Return the user's file, whether it exists or not."""
    return platformdirs.user_config_path("acp-jupyter") / "settings.json"


def _given(values: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (values or {}).items() if value is not None}


def _merged(layers: list[_Layer]) -> dict[str, _Layer]:
    """Which layer each setting is from: the first that has it."""
    return {name: layer for layer in reversed(layers) for name in layer.values}


def _with_project(standing: list[_Layer], project: _Layer) -> list[_Layer]:
    """Lay the project's file below the user's own places, but its policy above them where it is stricter."""
    policies = [layer.values["policy"] for layer in standing if "policy" in layer.values]
    own = policies[0] if policies else Settings.model_fields["policy"].default
    policy = project.values.get("policy", own)
    rest = _Layer(project.where, {name: project.values[name] for name in project.values if name != "policy"})
    if STRICTNESS.index(policy) >= STRICTNESS.index(own):
        return [*standing, rest]
    return [_Layer(project.where, {"policy": policy}), *standing, rest]


# --- the places


def _environment() -> _Layer:
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX) and value}
    names = {name.removeprefix(PREFIX).lower(): name for name in variables}
    return _Layer(
        "the environment", {key: _parsed(key, variables[name]) for key, name in names.items()}, names
    )


def _parsed(key: str, text: str) -> Any:
    """A list is written with commas."""
    if key in Settings.model_fields and isinstance(Settings.model_fields[key].default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _user_file() -> _Layer:
    file = user_file()
    try:
        table = json.loads(text_of(read_small(file)))
    except FileNotFoundError:
        return _Layer(str(file), {})
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {file}: {error}", advice="Mend the file, or remove it.") from error
    if not isinstance(table, dict):
        raise UsageError(f"{file} is not an object", advice='Its shape: {"policy": "ask"}.')
    return _Layer(str(file), cast("dict[str, Any]", table))


def _project_file(directory: Path) -> _Layer:
    """Read the nearest one that says something about us.

    Raises:
        UsageError: It says more than a project may, or something wrong.
    """
    for file in _above(directory):
        table = _table(file)
        if table is None:
            continue
        layer = _Layer(str(file), table)
        if more := [name for name in table if name not in _PROJECT_KEYS]:
            raise UsageError(
                f"{', '.join(map(repr, more))} in [tool.acp-jupyter] of {file}: a project's file may only "
                "choose the agent and make the policy stricter",
                advice=f"It can set agent and policy; your own settings are in {user_file()}.",
            )
        if table.get("policy") == STRICTNESS[-1]:
            raise UsageError(
                f"policy in [tool.acp-jupyter] of {file}: {STRICTNESS[-1]} allows everything, and a "
                "project's file can only make the policy stricter",
                advice="Remove it there. Who wants it says so in the notebook: --approve allow-once-all, for "
                "throw-away copies.",
            )
        return _checked(layer)
    return _Layer("", {})


def _above(directory: Path) -> Iterator[Path]:
    directory = Path(os.path.abspath(directory))  # noqa: PTH100  # no link is followed: the project is where one is
    return (folder / "pyproject.toml" for folder in (directory, *directory.parents))


def _table(file: Path) -> dict[str, Any] | None:
    """Our table in a project's file; ``None`` where the file, or the table in it, is missing."""
    try:
        data = read_small(file)
    except OSError:  # there is none, or it is somebody else's
        return None
    except ValueError as error:
        raise UsageError(f"cannot read {file}: {error}", advice="Mend the file.") from error
    # Also cheap: it is read for every turn. Without NUL, so that one in UTF-16 is not passed over.
    if b"acp-jupyter" not in data.replace(b"\0", b""):
        return None
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415  # few projects have a table for us
    else:
        import tomli as tomllib  # noqa: PLC0415  # as above
    try:
        tool = tomllib.loads(text_of(data)).get("tool", {})
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are the former
        raise UsageError(f"cannot read {file}: {error}", advice="Mend the file.") from error
    table = cast("dict[str, Any]", tool).get("acp-jupyter") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"tool.acp-jupyter in {file} is not a table", advice="Its head: [tool.acp-jupyter].")
    return cast("dict[str, Any] | None", table)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # the directory is gone: no project is there
        return Path(os.path.abspath(os.sep))  # noqa: PTH100  # the root, on any system


# --- checking


def _checked(layer: _Layer) -> _Layer:
    """Return the layer with the values as the model has them.

    Raises:
        UsageError: Something in it is wrong; the message names its key and its place.
    """
    known = tuple(Settings.model_fields)
    for key in layer.values:
        if key not in known:
            close = difflib.get_close_matches(key.lower(), known, n=1)
            raise UsageError(
                f"unknown setting {layer.names.get(key, key)} in {layer.where}"
                + (f"; did you mean {_as_there(close[0], layer)}?" if close else ""),
                advice=f"The settings: {', '.join(known)}.",
            )
    try:
        if layer.names:  # variables: text, which is read as what it is to be
            found = Settings.model_validate(layer.values)
        else:
            # a date of TOML's is none of the types here, and must not pass for a text
            text = json.dumps(dict(layer.values), default=lambda value: [str(value)])
            found = Settings.model_validate_json(text, strict=True)
    except (ValidationError, ValueError) as error:
        if layer.where in _SPOKEN:
            raise UsageError(_problems(error, layer), advice="Nothing was started.") from None
        raise UsageError(
            f"a wrong setting in {layer.where}: {_problems(error, layer)}", advice="Correct it, or remove it."
        ) from None
    return _Layer(layer.where, {name: getattr(found, name) for name in layer.values}, layer.names)


def _as_there(key: str, layer: _Layer) -> str:
    return PREFIX + key.upper() if layer.names else key


def _problems(error: ValueError, layer: _Layer) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(
        f"{layer.names.get(str(one['loc'][0]), '.'.join(map(str, one['loc'])))}: {in_our_words(one)}"
        for one in error.errors()
    )
