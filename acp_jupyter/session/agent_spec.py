"""One agent: how it is started, with which environment, and what is in force before its first prompt.

See https://agentclientprotocol.com/protocol/initialization.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from acp_jupyter.errors import UsageError
from acp_jupyter.session.faults import in_our_words

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a program needs to start at all and to find its own files; nothing of these is a secret.
ESSENTIAL = frozenset(
    "APPDATA COMSPEC HOME HOMEDRIVE HOMEPATH LANG LC_ALL LC_CTYPE LOCALAPPDATA LOGNAME PATH PATHEXT "
    "PROGRAMDATA PROGRAMFILES SHELL SYSTEMDRIVE SYSTEMROOT TEMP TERM TMP TMPDIR TZ USER USERNAME "
    "USERPROFILE WINDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME".split()
)
# What whoever plays a log is told before it is played.
PLAYED_FOR_REAL = (
    "A log that is played does for real what it holds: files are written and commands run, here, with your "
    "account's rights. Play only one that you have looked through, in an empty directory (--cwd DIR), with "
    "ACP_JUPYTER_ASK_CLIENT_REQUESTS=1 in the environment: then each is asked about first."
)
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


class AgentSpec(BaseModel):
    """How to start an agent.

    ``needs`` names environment variables that it cannot do without, ``keys`` those that it can log in with:
    they are looked up when it starts, so that no key is ever typed into a notebook. A value of ``env`` that
    is ``${NAME}`` stands for the variable of that name. ``inherit_env`` says how much of our environment it
    gets: all of it, only these names, or nothing but what any program needs to start. ``client_fs`` and
    ``client_terminal`` say whether we offer it our own file and terminal methods; some agents work better
    without. ``checked`` is the day (ISO 8601) on which its command was seen in the package that ``install``
    installs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][\w.-]*$")
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    title: str = ""
    env: dict[str, str] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    inherit_env: bool | tuple[str, ...] = True
    install: str = ""
    auth: str = ""
    client_fs: bool = True
    client_terminal: bool = True
    default_mode: str | None = None
    default_model: str | None = None
    default_options: dict[str, bool | str] = Field(default_factory=dict)
    checked: str = ""

    @property
    def shown(self) -> str:
        """The name that a card shows until the agent has told its own."""
        return self.title or self.name

    @property
    def plays_a_log(self) -> bool:
        """Whether its command is `acp_jupyter.testing.replayer`."""
        return "acp_jupyter.testing.replayer" in self.args

    @property
    def on_path(self) -> bool:
        """Whether its command is found."""
        return shutil.which(self.command) is not None

    def check_environment(self) -> None:
        """Make sure that the variables it needs are set.

        Raises:
            UsageError: One is not; the message names it.
        """
        references = [match[1] for value in self.env.values() if (match := _REFERENCE.fullmatch(value))]
        missing = [name for name in dict.fromkeys((*self.needs, *references)) if not os.environ.get(name)]
        if missing:
            raise UsageError(
                f"{self.name} needs {', '.join(missing)} in the environment",
                advice="Set it before the kernel starts, or with os.environ in a cell that is not saved.",
            )

    def environment(self, ours: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment that it starts with.

        Args:
            ours: What it may inherit from; by default this process's own.

        Raises:
            UsageError: A variable that it needs, or that ``env`` names, is not set.
        """
        self.check_environment()
        ours = os.environ if ours is None else ours
        return {**{name: value for name, value in ours.items() if self._passes(name)}, **self._set(ours)}

    def withheld(self) -> list[str]:
        """Return those of its ``keys`` that are set here, and that ``inherit_env`` keeps from it."""
        return [name for name in self.keys if os.environ.get(name) and not self._passes(name)]

    def _passes(self, name: str) -> bool:
        if self.inherit_env is True:
            return True
        named = self.inherit_env or ()
        return name.upper() in ESSENTIAL or name in (*named, *self.needs)

    def _set(self, ours: Mapping[str, str]) -> dict[str, str]:
        references = {name: _REFERENCE.fullmatch(value) for name, value in self.env.items()}
        return {
            name: ours.get(match[1], "") if (match := references[name]) else value
            for name, value in self.env.items()
        }


def checked_spec(fields: Mapping[str, object], where: str) -> AgentSpec:
    """Return the agent of these fields.

    Args:
        fields: As `AgentSpec` has them.
        where: What to call their place in an error.

    Raises:
        UsageError: A field is not as it should be; the message names it, and ``where``.
    """
    try:
        return AgentSpec.model_validate(fields)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {in_our_words(one)}" for one in error.errors()
        )
        raise UsageError(
            f"agent {fields.get('name')!r} in {where}: {problems}", advice="Mend the named field."
        ) from error
