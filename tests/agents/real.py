"""The real agents under test: how each is set up for the scripted model, in a throw-away home."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acp_jupyter.session.sessions import Sessions

from . import install
from .model_server import MODEL

if TYPE_CHECKING:
    import pytest

AGENTS = ("opencode", "fast-agent", "agentao")


def set_up(agent: str, url: str, monkeypatch: pytest.MonkeyPatch, *, careful: bool = True) -> Sessions:
    """Write the settings that ``agent`` needs, and return sessions that know it.

    Args:
        agent: Its name, one of `AGENTS`.
        url: The model server's.
        monkeypatch: Sets the environment.
        careful: Make it ask before it writes and runs, where that is a setting of its own; without, it is as
            it comes.
    """
    monkeypatch.setenv("PATH", f"{install.PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    sessions = Sessions()
    _SET_UP[agent](_Place(Path(os.environ["HOME"]), url, monkeypatch, sessions, careful))
    return sessions


class _Place(NamedTuple):
    home: Path
    url: str
    monkeypatch: pytest.MonkeyPatch
    sessions: Sessions
    careful: bool


def _opencode(place: _Place) -> None:
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"):
        place.monkeypatch.setenv(f"OPENCODE_DISABLE_{name}", "1")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": place.url, "apiKey": "none"},
        "models": {MODEL: {"name": "Scripted", "tool_call": True}},
    }
    settings = {
        "model": f"here/{MODEL}",
        "small_model": f"here/{MODEL}",
        "autoupdate": False,
        "provider": {"here": provider},
        **({"permission": {"edit": "ask", "bash": "ask"}} if place.careful else {}),
    }
    _write(place.home / ".config/opencode/opencode.json", settings)


def _fast_agent(place: _Place) -> None:
    place.monkeypatch.setenv("GENERIC_API_KEY", "none")
    place.monkeypatch.setenv("GENERIC_BASE_URL", place.url)
    # -x gives it its tools for files and commands.
    place.sessions.agents.add("fast-agent", "fast-agent-acp", ["--model", f"generic.{MODEL}", "-x"])


def _agentao(place: _Place) -> None:
    for name, value in {"BASE_URL": place.url, "API_KEY": "none", "MODEL": MODEL}.items():
        place.monkeypatch.setenv(f"OPENAI_{name}", value)
    if place.careful:
        _write(place.home / ".agentao/permissions.json", {"rules": [{"tool": "write_file", "action": "ask"}]})


def _write(path: Path, settings: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), "utf-8")


_SET_UP: dict[str, Callable[[_Place], None]] = {
    "opencode": _opencode,
    "fast-agent": _fast_agent,
    "agentao": _agentao,
}
