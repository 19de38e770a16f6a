"""``%acp doctor``: looks at the whole set-up and says what to mend."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from acp_jupyter.errors import AcpError
from acp_jupyter.kernel.front_end import front_end, input_allowed
from acp_jupyter.kernel.notebook import notebook_path
from acp_jupyter.kernel.pump import ShellPump
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.session.settings import settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from acp_jupyter.session.session import Session

_PACKAGES = ("acp_jupyter", "ipykernel", "IPython", "ipywidgets", "anywidget", "jupyterlab", "notebook")


def doctor(options: argparse.Namespace) -> str:
    """Return a line for each thing looked at, ``!`` where something is to be mended."""
    lines = [*_environment(), *_front_end(), *_settings()]
    try:
        session = sessions().look_up(options.agent) if options.agent else sessions().get()
    except AcpError as error:
        told = any(_sentences(error) in line for line in lines)  # wrong settings: told above
        return "\n".join(lines if told else [*lines, f"! agent       {_sentences(error)}"])
    return "\n".join([*lines, *_agent(session)])


def _sentences(error: AcpError) -> str:
    return " ".join([error.message.rstrip(".") + ".", error.advice]).rstrip()


def _environment() -> Iterator[str]:
    yield f"  python      {platform.python_version()} on {platform.system()}"
    yield "  packages    " + ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    yield f"  notebook    {notebook_path() or 'not known: sessions are remembered by directory'}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not in this environment"


def _front_end() -> Iterator[str]:
    known = front_end()
    if known.ready:
        yield "  card        live"
    elif not input_allowed():
        yield "  card        none: this cell was run by something that takes no input, so nobody can be asked"
    else:
        yield "  card        no live card has answered yet (run a cell with %%acp demo to see)"
    if ShellPump.detect() is None:
        yield "! clicks      not served while a cell runs in this kernel: %acp ask text"


def _settings() -> Iterator[str]:
    try:
        yield f"  asking      {front_end().ask}"
        settings()
    except AcpError as error:
        yield f"! settings    {_sentences(error)}"
    agents = sessions().agents
    yield f"  agents file {agents.file}{'' if agents.file.exists() else ', not there yet: --save makes it'}"
    if agents.problem:
        yield f"! agents      left out: {agents.problem}"


def _agent(session: Session) -> Iterator[str]:
    spec = session.spec
    found = shutil.which(spec.command)
    where = "not found" if found is None else "found" if found == spec.command else f"is {found}"
    yield f"{' ' if found else '!'} command     {spec.command} {where}"
    if not found:
        yield (
            f"              install it with: {spec.install}"
            if spec.install
            else "              give its full path"
        )
        yield f"              looked for in {os.environ.get('PATH', '')}"
        return
    try:
        methods = session.auth_methods  # starts it, and shakes hands
    except AcpError as error:
        yield f"! handshake   {_sentences(error)}"
        yield from (f"              {line}" for line in session.stderr.splitlines()[-5:])
        return
    told = session.agent_info
    yield f"  handshake   {told.title} {told.version or ''}".rstrip()
    yield f"  it offers   {', '.join(_offers(session.capabilities)) or 'prompts only'}"
    if methods:
        yield f"  log-ins     {', '.join(str(method.get('id')) for method in methods)}"
    servers = ", ".join(server["name"] for server in session.mcp_servers)
    yield f"  MCP servers {servers or 'none set'}"
    yield f"  session     {session.session_id or 'not begun'}"


def _offers(value: object, path: str = "") -> Iterator[str]:
    """Return the names of what is on, as the protocol spells them."""
    if isinstance(value, dict) and value:
        for key, one in value.items():  # pyright: ignore[reportUnknownVariableType]  # any JSON
            if key != "_meta":
                yield from _offers(one, f"{path}.{key}" if path else str(key))  # pyright: ignore[reportUnknownArgumentType]  # as above
    elif value is not None and value is not False and path:
        yield path
