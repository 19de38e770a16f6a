"""Which setting counts, where it is from, and what a project's file can never do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.session import settings as module
from acp_jupyter.session.policy import POLICIES
from acp_jupyter.session.settings import PREFIX, STRICTNESS, Settings, settings

if TYPE_CHECKING:
    from collections.abc import Callable


class Places(NamedTuple):
    """The three places that settings are read from, all of them a test's own."""

    monkeypatch: pytest.MonkeyPatch
    user: Path
    project: Path

    def env(self, **values: str) -> None:
        for name, value in values.items():
            self.monkeypatch.setenv(PREFIX + name.upper(), value)

    def own(self, **values: Any) -> None:
        self.user.write_text(json.dumps(values), "utf-8")

    def cloned(self, *lines: str) -> None:
        text = '[project]\nname = "x"\n\n[tool.acp-jupyter]\n' + "\n".join(lines)
        self.project.write_text(text, "utf-8")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    user = tmp_path / "config" / "settings.json"
    work = tmp_path / "project" / "notebooks"
    work.mkdir(parents=True)
    user.parent.mkdir()
    monkeypatch.setattr(module, "user_file", lambda: user)
    monkeypatch.chdir(work)
    return Places(monkeypatch, user, work.parent / "pyproject.toml")


def test_build5_without_a_word_the_defaults_count(places: Places) -> None:
    found = settings()
    assert found == Settings()
    assert (found.policy, found.agent, found.described("policy")) == ("ask", None, "ask")
    assert not places.user.exists()


def test_build5_the_nearest_place_counts_and_says_so(places: Places) -> None:
    order: list[tuple[str, str, Callable[[], object]]] = [
        ("pyproject.toml", "p", lambda: places.cloned('agent = "p"')),
        ("settings.json", "u", lambda: places.own(agent="u")),
        ("ACP_JUPYTER_AGENT", "e", lambda: places.env(agent="e")),
    ]
    for where, agent, write in order:
        write()
        assert settings().described("agent") == f"{agent}, by {where}"
    option = {"agent": "m", "policy": None}
    assert settings(option=option).described("agent") == "m, by the magic"
    assert settings(call={"agent": "c"}, option=option).described("agent") == "c, by the call"
    assert settings(call={"agent": None}).agent == "e"


def test_build5_every_kind_of_value_can_be_a_variable(places: Places) -> None:
    places.monkeypatch.setenv("ACP_JUPYTER_SECRET_PATTERNS", "*.key")
    places.env(
        ask_client_requests="true",
        save="none",
        save_limit="100",
        redact="A, B,",
        start_timeout_s="2.5",
        agent="",
    )
    found = settings()
    assert (found.ask_client_requests, found.save, found.save_limit) == (True, "none", 100)
    assert (found.redact, found.secret_patterns, found.start_timeout_s) == (("A", "B"), ("*.key",), 2.5)
    assert (found.agent, found.by("agent")) == (None, "")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("policy", "maybe", "ACP_JUPYTER_POLICY.*no policy 'maybe'"),
        ("ask", "mail", "ACP_JUPYTER_ASK"),
        ("save_limit", "much", "ACP_JUPYTER_SAVE_LIMIT"),
        ("save_limit", "0", "ACP_JUPYTER_SAVE_LIMIT"),
        ("start_timeout_s", "inf", "ACP_JUPYTER_START_TIMEOUT_S"),
        (
            "polcy",
            "reject",
            "unknown setting ACP_JUPYTER_POLCY in the environment; did you mean ACP_JUPYTER_POLICY",
        ),
    ],
)
def test_build5_a_wrong_variable_is_named(places: Places, name: str, value: str, words: str) -> None:
    places.env(**{name: value})
    with pytest.raises(UsageError, match=words):
        settings()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"polcy": "ask"}, "unknown setting polcy.*did you mean policy"),
        ({"policy": 1}, "policy: it is not a text"),
        ({"ask_client_requests": "yes"}, "ask_client_requests: it is neither true nor false"),
        ({"save_limit": "64"}, "save_limit: it is not a whole number"),
        ({"save": "all"}, "save: "),
        ({"redact": "A"}, "redact: "),
        ({"redact": ["A", 1]}, r"redact\.1: "),
    ],
)
def test_build5_a_wrong_setting_of_the_users_file_is_named_with_it(
    places: Places, values: dict[str, Any], words: str
) -> None:
    places.own(**values)
    with pytest.raises(UsageError, match=words) as caught:
        settings()
    assert str(places.user) in caught.value.message


@pytest.mark.parametrize("text", ["{", "[]", "\xff", "[" * 100_000])
def test_build5_a_users_file_that_cannot_be_read_is_an_error(places: Places, text: str) -> None:
    places.user.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        settings()
    assert str(places.user) in caught.value.message


# --- the project's file


def test_build5_a_project_makes_the_policy_stricter_over_every_place_that_stands(places: Places) -> None:
    places.own(policy="edits")
    places.cloned('policy = "ask"')
    assert settings().described("policy") == "ask, by pyproject.toml"
    assert settings().by("policy") == str(places.project)
    places.env(policy="allow-once-all")
    assert settings().described("policy") == "ask, by pyproject.toml"


@pytest.mark.parametrize("own", STRICTNESS)
@pytest.mark.parametrize("project", [name for name in STRICTNESS if name != "allow-once-all"])
def test_build5_a_project_never_makes_the_policy_looser(places: Places, own: str, project: str) -> None:
    places.own(policy=own)
    places.cloned(f'policy = "{project}"')
    found = settings()
    assert found.policy == min(own, project, key=STRICTNESS.index)
    assert found.by("policy") == str(places.project if found.policy != own else places.user)


def test_build5_a_project_never_makes_the_default_looser(places: Places) -> None:
    places.cloned('policy = "edits"')
    assert settings().described("policy") == "ask"


def test_build5_what_is_said_in_the_notebook_outdoes_the_project(places: Places) -> None:
    places.cloned('policy = "reject"')
    assert settings(call={"policy": "edits"}).policy == "edits"
    assert settings(option={"policy": "edits"}).policy == "edits"


def test_build5_every_policy_has_its_place_in_the_order() -> None:
    assert set(STRICTNESS) == set(POLICIES)


@pytest.mark.parametrize(
    "line",
    [
        'command = "evil"',
        'agents = {claude = {command = "evil"}}',
        'env = {PATH = "."}',
        'mcp_servers = [{command = "evil"}]',
        "ask_client_requests = false",
        'save = "full"',
        "save_limit = 1",
        'redact = ["A"]',
        "secret_patterns = []",
        'registry = "https://evil.example/registry.json"',
        "start_timeout_s = 1",
        'ask = "text"',
        'policy = "allow-once-all"',
        'policy = "everything"',
        "policy = 1",
        "agent = 1",
        'agent = {command = "evil"}',
        "agent = 2026-11-30",
    ],
)
def test_build5_a_cloned_project_can_set_nothing_else(places: Places, line: str) -> None:
    places.cloned(line)
    with pytest.raises(UsageError) as caught:
        settings()
    assert line.split(maxsplit=1)[0] in caught.value.message
    assert str(places.project) in caught.value.message


def test_build5_a_projects_file_about_something_else_is_let_be(places: Places) -> None:
    places.project.write_text("[tool.other]\nacp-jupyter = 1\n")
    assert settings() == Settings()
    places.project.write_text("not TOML [")
    assert settings() == Settings()
    places.project.write_text("# acp-jupyter\nnot TOML [")
    with pytest.raises(UsageError, match="cannot read") as caught:
        settings()
    assert str(places.project) in caught.value.message
    places.project.write_text('tool.acp-jupyter = "x"')
    with pytest.raises(UsageError, match="not a table"):
        settings()


def test_build5_the_nearest_project_counts_also_for_another_directory(places: Places, tmp_path: Path) -> None:
    places.cloned('agent = "outer"')
    inner = places.project.parent / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[tool.acp-jupyter]\nagent = "inner"\n')
    assert settings().agent == "outer"
    assert settings(inner).agent == "inner"
    assert settings(inner / "gone" / "deeper").agent == "inner"
    assert settings(tmp_path).agent is None


def test_build5_in_a_directory_that_is_gone_no_project_counts(places: Places) -> None:
    here = Path.cwd()
    places.cloned('agent = "p"')
    here.rmdir()
    assert settings().agent is None


# --- its page


def test_build5_every_setting_is_explained() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "settings.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert {row.split("`")[1] for row in rows} == set(Settings.model_fields)
