"""Which agents there are: the built-in table, the user's own file, and those added in this kernel."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import platformdirs

from acp_jupyter.errors import AgentNotFound, AgentUnknown, UsageError
from acp_jupyter.session.agent_files import Found, read_agents, read_registry
from acp_jupyter.session.agent_spec import AgentSpec, checked_spec
from acp_jupyter.session.agent_table import BUILT_IN
from acp_jupyter.session.files import replace
from acp_jupyter.session.settings import settings
from acp_jupyter.session.small_file import read_small, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AgentSpec", "Agents", "not_found"]


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
        table = {spec.name: spec for spec in (*BUILT_IN, *saved, *self._added.values())}
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
        names = [spec.name for spec in self.all()]
        close = difflib.get_close_matches(name.lower(), names, n=1)
        raise AgentUnknown(
            f"no agent is called {name!r}" + (f"; did you mean {close[0]}?" if close else ""),
            advice=f"Known: {', '.join(names)}. "
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
        spec = checked_spec(
            {"name": name, "command": command, "args": tuple(args), "needs": tuple(needs)}, name
        )
        if save:
            self._write({**self._saved_whole(), name: spec})
        self._added[name] = spec
        return spec

    def read_file(self, path: str | Path) -> list[AgentSpec]:
        """Return the agents in another client's file; `take` makes them known.

        Raises:
            UsageError: The file cannot be read, or none in it can be used; the message says why.
        """
        found = self.find_file(path)
        if not found.specs:
            raise UsageError(f"no agent in {path} can be used: {'; '.join(found.left_out)}")
        return found.specs

    def read_registry(self, source: str | Path | None = None) -> list[AgentSpec]:
        """Return those of a registry that can be started here.

        Args:
            source: A file, or an address that begins with ``https://``, which is fetched now; by default the
                setting ``registry``.

        Raises:
            UsageError: It cannot be read, or is no registry.
        """
        return self.find_registry(source).specs

    def find_file(self, path: str | Path) -> Found:
        """As `read_file`, with what was left out of it and why."""
        return read_agents(Path(path))

    def find_registry(self, source: str | Path | None = None) -> Found:
        """As `read_registry`, with what was left out of it and why."""
        return read_registry(str(source or settings().registry))

    def take(self, specs: Iterable[AgentSpec], *, save: bool = False) -> list[AgentSpec]:
        """Make agents known to this kernel, and with ``save`` to later ones; a known one keeps its place.

        Returns:
            Those that were taken.

        Raises:
            UsageError: The user's file cannot be read or written.
        """
        given = list(specs)
        known = {spec.name for spec in self.all()}
        new = {spec.name: spec for spec in given if spec.name not in known}
        if save:  # what was taken earlier, and only for this kernel, is to be kept now
            saved = self._saved_whole()
            kept = [spec for spec in given if spec.name not in saved and self._added.get(spec.name) == spec]
            new.update({spec.name: spec for spec in kept})
            if new:
                self._write({**saved, **new})
        self._added.update(new)
        return list(new.values())

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
            # another client's agents may have brought their keys along
            mode = file.stat().st_mode if file.exists() else 0o600
            replace(file, (json.dumps(shape, indent=2) + "\n").encode(), mode)
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round, before Python 3.13
            raise UsageError(
                f"cannot write {self.file}: {error}", advice="Make it writable, or leave out --save."
            ) from error


def _read(file: Path) -> dict[str, Any]:
    try:
        table = json.loads(text_of(read_small(file)))
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
    return checked_spec({**cast("dict[str, object]", fields), "name": name}, str(file))


def not_found(spec: AgentSpec, error: AgentNotFound) -> AgentNotFound:
    """Return ``error`` with the way to install that agent, where it is known."""
    if not spec.install:
        return error
    return AgentNotFound(error.message, advice=f"Install it with: {spec.install}. {error.advice}")
