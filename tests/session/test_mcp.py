"""MCP servers: how they are named, read from a project's file, and told to the agent."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.session.mcp import read_servers, remote_server, stdio_server, variables

if TYPE_CHECKING:
    from .bench import Bench

OFFERS = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"resume": {}, "fork": {}},
}


def written(folder: Path, servers: Any) -> Path:
    file = folder / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


def test_s3_a_server_that_the_agent_starts_has_an_absolute_command_and_no_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "files-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert stdio_server("files", "files-server", ["-v"], {"A": "b"}) == {
        "name": "files",
        "command": str(program),
        "args": ["-v"],
        "env": [{"name": "A", "value": "b"}],
    }
    with pytest.raises(UsageError, match="'gone' was not found: 'no-such-server'"):
        stdio_server("gone", "no-such-server", [])


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_s3_a_server_over_the_network_has_its_type_and_headers(kind: str) -> None:
    assert remote_server("web", "https://x.test/mcp", kind, {"Authorization": "Bearer k"}) == {
        "type": kind,
        "name": "web",
        "url": "https://x.test/mcp",
        "headers": [{"name": "Authorization", "value": "Bearer k"}],
    }
    assert remote_server("web", "https://x.test/mcp", kind)["headers"] == []


@pytest.mark.parametrize(
    ("url", "kind"), [("file:///etc/x", "http"), ("x.test", "http"), ("https://x", "ws")]
)
def test_s3_what_is_no_address_of_a_server_is_refused(url: str, kind: str) -> None:
    with pytest.raises(UsageError, match="no usable address"):
        remote_server("web", url, kind)


def test_s3_a_projects_file_is_read_with_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_KEY", "planted")
    monkeypatch.delenv("WEB_HOST", raising=False)
    servers = {
        "files": {"command": sys.executable, "args": ["-m", "files"], "env": {"KEY": "${WEB_KEY}"}},
        "web": {
            "type": "streamable-http",
            "url": "https://${WEB_HOST:-x.test}/",
            "headers": {"K": "${WEB_KEY}"},
        },
        "old": {"type": "sse", "url": "https://x.test/sse"},
    }
    files, web, old = read_servers(written(tmp_path, servers))
    assert files == {
        "name": "files",
        "command": os.path.abspath(sys.executable),  # noqa: PTH100 - no link is followed
        "args": ["-m", "files"],
        "env": [{"name": "KEY", "value": "planted"}],
    }
    assert (web["type"], web["url"], web["headers"]) == (
        "http",
        "https://x.test/",
        [{"name": "K", "value": "planted"}],
    )
    assert (old["type"], old["headers"]) == ("sse", [])


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ({"web": {"url": "https://x.test/", "headers": {"K": "${NOT_SET_HERE}"}}}, "'web' .* NOT_SET_HERE"),
        ({"none": {"args": []}}, "'none' .* neither a command nor a url"),
        ({"odd": "text"}, "'odd' .* neither a command nor a url"),
        (["files"], "holds no mcpServers"),
        (None, "holds no mcpServers"),
    ],
)
def test_s3_what_is_wrong_in_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, servers: Any, words: str
) -> None:
    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    with pytest.raises(UsageError, match=words):
        read_servers(written(tmp_path, servers))


def test_s3_a_file_that_cannot_be_read_and_a_variable_that_is_not_set(tmp_path: Path) -> None:
    for text in (None, "{", "[" * 100_000):
        file = tmp_path / "servers.json"
        if text is not None:
            file.write_text(text)
        with pytest.raises(UsageError, match=r"cannot read .*servers\.json"):
            read_servers(file)
    with pytest.raises(UsageError, match="not set in the environment: NO_SUCH_ONE"):
        variables(["PATH", "NO_SUCH_ONE"])


@pytest.mark.parametrize("how", ["new", "load", "resume", "fork"])
def test_s3_every_session_is_opened_with_the_servers_and_their_secrets_are_not_logged(
    bench: Bench, how: str
) -> None:
    answers = {f"session/{one}": {"result": {"sessionId": "copy"}} for one in ("load", "resume", "fork")}
    session = bench.session(
        {"initialize": {"agentCapabilities": OFFERS}, "methods": answers, "turns": [[{"text": "ok"}]]}
    )
    session.mcp_servers.append(remote_server("web", "https://x.test/", "sse", {"K": "planted-secret"}))
    session.mcp_servers.append(stdio_server("files", sys.executable, [], {"KEY": "other-secret"}))
    if how != "new":
        getattr(session, how)("old")
    assert session.run("go").text == "ok"
    (opened,) = [one for one in bench.recorded() if one.get("method") == f"session/{how}"]
    assert opened["params"]["mcpServers"] == session.mcp_servers
    told = session.redactor.text(json.dumps(opened))
    assert "planted-secret" not in told
    assert "other-secret" not in told


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_s3_no_server_of_a_kind_that_the_agent_does_not_take(bench: Bench, kind: str) -> None:
    session = bench.session([])
    session.mcp_servers.append(remote_server("web", "https://x.test/", kind))
    with pytest.raises(UsageError, match=f"MCP servers over {kind}"):
        session.run("go")
    assert session.session_id is None
