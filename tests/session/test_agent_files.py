"""Agents out of other clients' files and out of a registry, and the environment that an agent gets."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import AgentUnknown, UsageError
from acp_jupyter.magics import commands
from acp_jupyter.session import agent_files
from acp_jupyter.session.agents import Agents, AgentSpec
from acp_jupyter.session.sessions import Sessions
from acp_jupyter.wire.process import AgentProcess

from .bench import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ZED = """// my editor
{
  "theme": "One // Light", /* not
  ours */
  "agent_servers": {
    "My Agent": {"type": "custom", "command": "my-agent", "args": ["--acp", "a, ]"], "env": {"A": "1"},
                 "default_mode": "plan", "favorite_models": [],},
    "pi-acp": {"type": "registry"},
  },
}
"""
REGISTRY = {
    "version": "1.0.0",
    "agents": [
        {"id": "npm", "name": "In npm", "distribution": {"npx": {"package": "a@1.2", "args": ["--acp"]}}},
        {
            "id": "inner",
            "distribution": {"npx": {"package": "@x/a@1", "cmd": "b", "env": {"NO_UPDATE": "1"}}},
        },
        {"id": "pypi", "distribution": {"uvx": {"package": "c==2", "args": ["serve"]}}},
        {"id": "from", "distribution": {"uvx": {"package": "d[acp]==2", "cmd": "d-acp"}}},
        {
            "id": "binary",
            "distribution": {
                "binary": {
                    "linux-x86_64": {"archive": "https://x.example/e.zip", "cmd": "./dist/e", "args": ["acp"]}
                }
            },
        },
        {"id": "elsewhere", "distribution": {"binary": {"plan9-mips": {"archive": "x", "cmd": "y"}}}},
        {"id": "nothing"},
        {"id": "wrong", "distribution": {"npx": {"package": "f", "env": {"A": 1}}}},
        7,
    ],
}


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path / "config" / "agents.json")


@pytest.fixture
def line(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Runs ``%acp`` with these agents."""
    sessions = Sessions()
    sessions.agents = agents
    monkeypatch.setattr(commands, "sessions", lambda: sessions)
    yield lambda text: commands.run_line(None, text)
    sessions.close()


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_files, "_platform", lambda: "linux-x86_64")


def written(folder: Path, content: Any) -> Path:
    file = folder / "theirs.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


# --- other clients' files


def test_build5_an_editors_settings_are_read_with_their_comments(agents: Agents, tmp_path: Path) -> None:
    file = written(tmp_path, ZED)
    (spec,) = agents.read_file(file)
    assert (spec.name, spec.shown, spec.command) == ("my-agent", "My Agent", "my-agent")
    assert (spec.args, spec.env, spec.default_mode) == (("--acp", "a, ]"), {"A": "1"}, "plan")
    (why,) = agents.find_file(str(file)).left_out
    assert "pi-acp" in why
    assert "registry" in why


@pytest.mark.parametrize(
    "table",
    [
        {"one": {"command": "c", "args": ["x"], "env": {"A": "1"}}, "unrelated": {"x": 1}, "version": 1},
        {"agents": {"one": {"command": "c", "args": ["x"], "env": {"A": "1"}}}},
        {"agents": {"one": {"argv": ["c", "x"], "env": {"A": "1"}}}},
        {"agents": [{"id": "one", "command": "c", "args": ["x"], "env": {"A": "1"}, "label": "one"}]},
        {"acp.agents": {"one": {"command": "c", "args": ["x"], "env": {"A": "1"}}}, "editor.fontSize": 12},
        {"agent_servers": {"one": {"command": "c", "args": ["x"], "env": {"A": "1"}, "use_idea_mcp": True}}},
    ],
)
def test_build5_every_known_shape_of_an_agents_file_is_read(
    agents: Agents, tmp_path: Path, table: dict[str, Any]
) -> None:
    specs = agents.read_file(written(tmp_path, table))
    assert specs == [AgentSpec(name="one", title="one", command="c", args=("x",), env={"A": "1"})]


def test_t11_null_fields_of_an_agent_are_as_if_left_out(agents: Agents, tmp_path: Path) -> None:
    file = written(tmp_path, {"one": {"command": "c", "args": None, "env": None}})
    (spec,) = agents.read_file(file)
    assert (spec.args, spec.env) == ((), {})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot read"),
        ("[" * 100_000, "cannot read"),
        ("[]", "no agent is in"),
        ("{}", "no agent is in"),
        ({"agents": {"a": {"command": 7}}}, "no agent in .* can be used: .*'a'.*command"),
        ({"agents": {"a": {"command": "c", "args": "x"}}}, "'a'.*args"),
        ({"agents": {"a": {"command": "c", "env": [{"name": "A", "value": "1"}]}}}, "'a'.*env"),
        ({"agents": {"a": 7}}, "a: not an object"),
        ({"agents": {"!": {"command": "c"}}}, "name: "),
        ({"agents": [7]}, "not an object"),
    ],
)
def test_build5_a_file_without_an_agent_is_named_with_what_is_wrong(
    agents: Agents, tmp_path: Path, content: Any, words: str
) -> None:
    file = written(tmp_path, content)
    with pytest.raises(UsageError, match=words) as caught:
        agents.read_file(file)
    assert str(file) in caught.value.message


def test_build5_a_file_that_is_not_there_is_an_error(agents: Agents, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*gone\.json"):
        agents.read_file(tmp_path / "gone.json")


def test_build5_a_wrong_value_is_never_quoted_for_it_may_be_a_key(agents: Agents, tmp_path: Path) -> None:
    file = written(tmp_path, {"agents": {"a": {"command": "c", "env": {"KEY": ["sk-secret"]}}}})
    with pytest.raises(UsageError, match=r"env\.KEY") as caught:
        agents.read_file(file)
    assert "sk-secret" not in str(caught.value)


def test_build5_a_known_agent_keeps_its_place_and_saved_ones_are_the_users_alone(
    agents: Agents, tmp_path: Path
) -> None:
    file = written(tmp_path, {"claude": {"command": "theirs"}, "new": {"command": "n", "env": {"K": "v"}}})
    specs = agents.read_file(file)
    assert [spec.name for spec in agents.take(specs, save=True)] == ["new"]
    assert agents.take(specs, save=True) == []
    other = Agents(agents.file)
    assert (other.get("new").env, other.get("claude").command) == ({"K": "v"}, "claude-agent-acp")
    if sys.platform != "win32":
        assert agents.file.stat().st_mode & 0o077 == 0


# --- the registry


@pytest.mark.usefixtures("linux")
def test_build5_a_registry_says_how_each_of_its_agents_is_started(agents: Agents, tmp_path: Path) -> None:
    file = written(tmp_path, REGISTRY)
    found = {spec.name: [spec.command, *spec.args] for spec in agents.read_registry(file)}
    assert found == {
        "npm": ["npx", "-y", "a@1.2", "--acp"],
        "inner": ["npx", "-y", "--package", "@x/a@1", "b"],
        "pypi": ["uvx", "c==2", "serve"],
        "from": ["uvx", "--from", "d[acp]==2", "d-acp"],
        "binary": ["e", "acp"],
    }
    left_out = "\n".join(agents.find_registry(str(file)).left_out)
    assert all(name in left_out for name in ("elsewhere", "nothing", "wrong", "?"))
    specs = {spec.name: spec for spec in agents.read_registry(file)}
    assert specs["npm"].shown == "In npm"
    assert specs["inner"].env == {"NO_UPDATE": "1"}
    assert "https://x.example/e.zip" in specs["binary"].install


@pytest.mark.parametrize("content", ["{", "[]", "{}", {"agents": {}}])
def test_build5_what_is_no_registry_is_an_error(agents: Agents, tmp_path: Path, content: Any) -> None:
    file = written(tmp_path, content)
    with pytest.raises(UsageError) as caught:
        agents.read_registry(file)
    assert str(file) in caught.value.message


@pytest.mark.parametrize("source", ["http://x.example/r.json", "ftp://x.example/r.json", "data:,x"])
def test_build5_only_https_is_fetched(agents: Agents, source: str) -> None:
    with pytest.raises(UsageError, match="https://"):
        agents.read_registry(source)


def test_build5_a_registry_that_cannot_be_reached_is_an_error(agents: Agents) -> None:
    with pytest.raises(UsageError, match=r"cannot read https://127\.0\.0\.1"):
        agents.read_registry("https://127.0.0.1:1/registry.json")  # nothing listens there


def test_build5_the_address_of_the_settings_is_read_by_default(
    agents: Agents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACP_JUPYTER_REGISTRY", str(written(tmp_path, REGISTRY)))
    assert "npm" in [spec.name for spec in agents.read_registry()]


# --- the magic


def test_build5_acp_agents_from_takes_a_whole_file_over(
    agents: Agents, line: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line(f"agents --from {written(tmp_path, ZED)} --save")
    told = capsys.readouterr().out
    assert "+ my-agent" in told
    assert "left out: pi-acp" in told
    assert f"1 of 1 added (+), and saved in {agents.file}" in told
    assert Agents(agents.file).get("my-agent").command == "my-agent"


def test_build5_acp_agents_registry_adds_only_what_is_named(
    agents: Agents, line: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, REGISTRY)
    line(f"agents --registry {file}")
    assert "0 of" in capsys.readouterr().out
    with pytest.raises(AgentUnknown):
        agents.get("pypi")
    line(f"agents --registry {file} --take pypi")
    assert "+ pypi" in capsys.readouterr().out
    assert agents.get("pypi").command == "uvx"
    assert not agents.file.exists()
    with pytest.raises(UsageError, match="did you mean pypi"):
        line(f"agents --registry {file} --take pypy")
    with pytest.raises(UsageError, match="--from"):
        line("agents --save")


@pytest.mark.parametrize(
    ("typed", "meant"), [("cluade", "claude"), ("Gemini", "gemini"), ("opncode", "opencode")]
)
def test_build5_a_misspelt_agent_is_guessed(agents: Agents, typed: str, meant: str) -> None:
    with pytest.raises(AgentUnknown, match=f"did you mean {meant}"):
        agents.get(typed)


def test_build5_nothing_is_guessed_where_nothing_is_close(agents: Agents) -> None:
    with pytest.raises(AgentUnknown) as caught:
        agents.get("zzzzzz")
    assert "did you mean" not in caught.value.message


# --- the environment

OURS = {"PATH": "/bin", "HOME": "/h", "MY_KEY": "k", "PROXY": "p", "OTHER": "o"}


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize(
    ("fields", "passed"),
    [
        ({}, set(OURS)),
        ({"inherit_env": True}, set(OURS)),
        ({"inherit_env": False}, {"PATH", "HOME"}),
        ({"inherit_env": ("PROXY",)}, {"PATH", "HOME", "PROXY"}),
        ({"inherit_env": False, "needs": ("MY_KEY",)}, {"PATH", "HOME", "MY_KEY"}),
    ],
)
def test_p13_an_agent_gets_the_whole_environment_or_what_its_list_names(
    fields: dict[str, Any], passed: set[str]
) -> None:
    spec = AgentSpec(name="a", command="c", env={"SET": "1"}, **fields)
    assert spec.environment(OURS) == {**{name: OURS[name] for name in passed}, "SET": "1"}


@pytest.mark.usefixtures("ours")
def test_p13_a_key_that_the_list_keeps_back_is_told() -> None:
    spec = AgentSpec(name="a", command="c", keys=("MY_KEY", "UNSET_KEY"), inherit_env=("PROXY",))
    assert spec.withheld() == ["MY_KEY"]
    assert spec.model_copy(update={"inherit_env": True}).withheld() == []


@pytest.mark.usefixtures("ours")
def test_build5_env_may_name_a_variable_so_that_no_key_is_written_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = AgentSpec(name="a", command="c", env={"API_KEY": "${MY_KEY}", "B": "x${MY_KEY}", "C": "$MY_KEY"})
    found = spec.environment()
    assert (found["API_KEY"], found["B"], found["C"]) == ("k", "x${MY_KEY}", "$MY_KEY")
    assert '"k"' not in spec.model_dump_json()
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(UsageError, match="MY_KEY"):
        spec.environment()


def test_p13_a_process_gets_no_more_than_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "s")
    spec = AgentSpec(name="a", command=sys.executable, inherit_env=False, env={"MINE": "1"})
    code = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"

    async def first_line() -> bytes | None:
        process = await AgentProcess.spawn(
            spec.command, ["-c", code], cwd=str(tmp_path), env=spec.environment(), inherit=False
        )
        try:
            return await asyncio.wait_for(process.receive(), TIMEOUT_S)
        finally:
            await process.stop()

    environment = json.loads(asyncio.run(first_line()) or b"{}")
    assert environment["MINE"] == "1"
    assert "PATH" in environment
    assert "SECRET_OF_OURS" not in environment
