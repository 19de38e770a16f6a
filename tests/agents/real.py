"""The real agents under test: how each is set up for the scripted model, in a throw-away home."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_jupyter.session.sessions import Sessions
from tests.agents import install
from tests.agents.model_server import MODEL

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
    _SET_UP[agent](Path(os.environ["HOME"]), url, monkeypatch, sessions, careful)
    return sessions


def _opencode(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch, _sessions: Sessions, careful: bool
) -> None:
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"):
        monkeypatch.setenv(f"OPENCODE_DISABLE_{name}", "1")
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": url, "apiKey": "none"},
        "models": {MODEL: {"name": "Scripted", "tool_call": True}},
    }
    settings = {
        "model": f"here/{MODEL}",
        "small_model": f"here/{MODEL}",
        "autoupdate": False,
        "provider": {"here": provider},
        **({"permission": {"edit": "ask", "bash": "ask"}} if careful else {}),
    }
    _write(home / ".config/opencode/opencode.json", settings)


def _fast_agent(
    _home: Path, url: str, monkeypatch: pytest.MonkeyPatch, sessions: Sessions, _careful: bool
) -> None:
    monkeypatch.setenv("GENERIC_API_KEY", "none")
    monkeypatch.setenv("GENERIC_BASE_URL", url)
    # -x gives it its tools for files and commands.
    sessions.agents.add("fast-agent", "fast-agent-acp", ["--model", f"generic.{MODEL}", "-x"])


def _agentao(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch, _sessions: Sessions, careful: bool
) -> None:
    for name, value in {"BASE_URL": url, "API_KEY": "none", "MODEL": MODEL}.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    if careful:
        _write(home / ".agentao/permissions.json", {"rules": [{"tool": "write_file", "action": "ask"}]})


def _write(path: Path, settings: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), "utf-8")


_SET_UP: dict[str, Callable[[Path, str, pytest.MonkeyPatch, Sessions, bool], None]] = {
    "opencode": _opencode,
    "fast-agent": _fast_agent,
    "agentao": _agentao,
}
