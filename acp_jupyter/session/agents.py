"""Which agents there are: a small built-in table, the user's own file, and those added in this kernel."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from acp_jupyter.errors import AgentNotFound, AgentUnknown, UsageError
from acp_jupyter.session.files import replace

if TYPE_CHECKING:
    from collections.abc import Iterable


class AgentSpec(BaseModel):
    """How to start an agent.

    ``needs`` names environment variables that it cannot do without: they are looked up when it starts, so
    that no key is ever typed into a notebook. ``client_fs`` and ``client_terminal`` say whether we offer it
    our own file and terminal methods; some agents work better without.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][\w.-]*$")
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    title: str = ""
    env: dict[str, str] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    install: str = ""
    client_fs: bool = True
    client_terminal: bool = True

    @property
    def shown(self) -> str:
        """The name that a card shows until the agent has told its own."""
        return self.title or self.name

    def check_environment(self) -> None:
        """Make sure that the variables it needs are set.

        Raises:
            UsageError: One is not; the message names it.
        """
        missing = [name for name in self.needs if not os.environ.get(name)]
        if missing:
            raise UsageError(
                f"{self.name} needs {', '.join(missing)} in the environment",
                advice="Set it before the kernel starts, or with os.environ in a cell that is not saved.",
            )

    @property
    def on_path(self) -> bool:
        """Whether its command is found."""
        return shutil.which(self.command) is not None


_BUILT_IN = (
    AgentSpec(
        name="demo",
        title="Demo agent",
        command=sys.executable,
        args=("-m", "acp_jupyter.testing.demo"),
        # a json.py in the user's directory is not the standard library's (from Python 3.11 on)
        env={"PYTHONSAFEPATH": "1"},
        install="built in: no key, no network",
    ),
    AgentSpec(
        name="claude",
        title="Claude Code",
        command="claude-agent-acp",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    AgentSpec(
        name="codex",
        title="Codex",
        command="codex-acp",
        install="npm install -g @agentclientprotocol/codex-acp",
    ),
    AgentSpec(
        name="gemini",
        title="Gemini CLI",
        command="gemini",
        args=("--acp",),
        install="npm install -g @google/gemini-cli",
        # 0.61.0 takes our "not found" for a failure and never writes a new file; without, it asks and writes
        client_fs=False,
    ),
    AgentSpec(
        name="opencode",
        title="OpenCode",
        command="opencode",
        args=("acp",),
        install="npm install -g opencode-ai",
    ),
    AgentSpec(
        name="fast-agent", title="fast-agent", command="fast-agent-acp", install="pip install fast-agent-mcp"
    ),
    AgentSpec(
        name="agentao",
        title="agentao",
        command="agentao",
        args=("--acp", "--stdio"),
        install='pip install "agentao[cli]"',
    ),
)


class Agents:
    """The agents that can be named, later ones taking the place of earlier: built in, saved, added.

    Args:
        file: The user's file, JSON of ``{name: {command, args, ...}}``; by default in the user's
            configuration folder.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file or platformdirs.user_config_path("acp-jupyter") / "agents.json"
        self._added: dict[str, AgentSpec] = {}

    def all(self) -> list[AgentSpec]:
        """Return every agent, by name; what cannot be read in the user's file is left out, see `problem`."""
        saved, _ = self._saved()
        table = {spec.name: spec for spec in (*_BUILT_IN, *saved, *self._added.values())}
        return list(table.values())

    @property
    def problem(self) -> str | None:
        """What is wrong with the user's file, naming it and the agent; ``None`` where nothing is."""
        _, errors = self._saved()
        return "; ".join(error.message for error in errors) or None

    def available(self) -> list[AgentSpec]:
        """Return those whose command is found."""
        return [spec for spec in self.all() if spec.on_path]

    def get(self, name: str) -> AgentSpec:
        """Return the agent of that name.

        Raises:
            AgentUnknown: There is none; the advice lists those there are.
        """
        for spec in self.all():
            if spec.name == name:
                return spec
        raise AgentUnknown(
            f"no agent is called {name!r}",
            advice=f"Known: {', '.join(spec.name for spec in self.all())}. "
            "Add one with: %acp add NAME -- COMMAND ARG..."
            + (f" Left out: {self.problem}" if self.problem else ""),
        )

    def add(
        self,
        name: str,
        command: str,
        args: Iterable[str] = (),
        *,
        needs: Iterable[str] = (),
        save: bool = False,
    ) -> AgentSpec:
        """Make an agent known to this kernel, and with ``save`` to later ones.

        Raises:
            UsageError: A field is not as it should be, the message names it; or the user's file cannot be
                read or written.
        """
        spec = _checked({"name": name, "command": command, "args": tuple(args), "needs": tuple(needs)}, name)
        if save:
            self._write({**self._saved_whole(), name: spec})
        self._added[name] = spec
        return spec

    def remove(self, name: str) -> None:
        """Forget an agent that was added or saved.

        Raises:
            UsageError: It is built in, or the user's file cannot be read or written.
            AgentUnknown: There is none of that name.
        """
        saved = self._saved_whole()
        if name not in saved and name not in self._added:
            self.get(name)
            raise UsageError(f"{name} is built in", advice="An agent added under the same name replaces it.")
        self._added.pop(name, None)
        if saved.pop(name, None) is not None:
            self._write(saved)

    def _saved_whole(self) -> dict[str, AgentSpec]:
        """Return the saved agents where every one can be read, so that writing them loses none."""
        saved, errors = self._saved()
        if errors:
            raise errors[0]
        return {spec.name: spec for spec in saved}

    def _saved(self) -> tuple[list[AgentSpec], list[UsageError]]:
        specs: list[AgentSpec] = []
        errors: list[UsageError] = []
        try:
            table = _read(self.file)
        except UsageError as error:
            return [], [error]
        for name, fields in table.items():
            try:
                specs.append(_of_file(name, fields, self.file))
            except UsageError as error:  # noqa: PERF203  # an entry that is wrong costs no other one
                errors.append(error)
        return specs, errors

    def _write(self, table: dict[str, AgentSpec]) -> None:
        shape = {
            name: spec.model_dump(exclude={"name"}, exclude_defaults=True) for name, spec in table.items()
        }
        try:
            file = self.file.resolve()  # where it is a link, it stays one
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = file.stat().st_mode if file.exists() else None
            replace(file, (json.dumps(shape, indent=2) + "\n").encode(), mode)
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round, before Python 3.13
            raise UsageError(
                f"cannot write {self.file}: {error}", advice="Make it writable, or leave out --save."
            ) from error


def _read(file: Path) -> dict[str, Any]:
    try:
        table = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {file}: {error}", advice="Mend the file, or remove it.") from error
    if not isinstance(table, dict):
        raise UsageError(f"{file} is not an object of objects", advice="Its shape: {name: {command, args}}.")
    return cast("dict[str, Any]", table)


def _of_file(name: str, fields: Any, file: Path) -> AgentSpec:
    if not isinstance(fields, dict):
        raise UsageError(f"agent {name!r} in {file}: not an object", advice="Its shape: {command, args}.")
    return _checked({**cast("dict[str, object]", fields), "name": name}, str(file))


def not_found(spec: AgentSpec, error: AgentNotFound) -> AgentNotFound:
    """Return ``error`` with the way to install that agent, where it is known."""
    if not spec.install:
        return error
    return AgentNotFound(error.message, advice=f"Install it with: {spec.install}. {error.advice}")


def _checked(fields: dict[str, object], where: str) -> AgentSpec:
    try:
        return AgentSpec.model_validate(fields)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise UsageError(
            f"agent {fields['name']!r} in {where}: {problems}", advice="Mend the named field."
        ) from error
