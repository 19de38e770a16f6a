"""The named policies, with calls as an agent describes them: honest, sloppy, and spoofed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.session.policy import ALLOWING, POLICIES, check_policy, decide
from acp_jupyter.session.roots import Roots

if TYPE_CHECKING:
    from acp_jupyter.model.tool_call import Permission, ToolCall

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
]


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """Two roots with a file each, beside what is nobody's business; links lead out and back in."""
    for folder in ("root", "more", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("x")
    (tmp_path / "root" / "sub").mkdir()
    (tmp_path / "root" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "out.py").symlink_to(tmp_path / "outside" / "a.py")
    (tmp_path / "root" / "sub" / "sub").mkdir()
    (tmp_path / "root" / "deep").symlink_to(tmp_path / "root" / "sub" / "sub")
    (tmp_path / "more" / "there").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "in").symlink_to(tmp_path / "root")
    return Roots.of(str(tmp_path / "root"), [str(tmp_path / "more")])


def request(call: dict[str, Any], options: Any = OPTIONS) -> tuple[Permission, ToolCall]:
    """What the model makes of a permission request."""
    state = SessionState(session_id="s")
    reduce(state, events.TurnStarted(Turn("t", 1, AgentInfo("a", "A"), "/", [])), 0)
    asked = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "title": "Read a file", **call},
        "options": options,
    }
    reduce(state, events.PermissionAsked("p1", asked), 0)
    turn = state.turns[0]
    return turn.permissions["p1"], turn.tool_calls["c"]


def answer(policy: str, roots: Roots, call: dict[str, Any], options: Any = OPTIONS) -> str | None:
    """The option that a policy selects; `None` where a person is asked."""
    decision = decide(policy, *request(call, options), roots)
    return decision and decision.option_id


def located(roots: Roots, path: str = "a.py", **more: Any) -> dict[str, Any]:
    return {"kind": "read", "locations": [{"path": str(Path(roots.cwd, path))}], **more}


def diff(path: Any, new_text: str = "y") -> dict[str, Any]:
    return {"type": "diff", "path": str(path), "oldText": "x", "newText": new_text}


def edit(*paths: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "edit", "locations": [], "content": [diff(path) for path in paths], **more}


def test_there_are_these_policies_and_no_others() -> None:
    assert list(POLICIES) == ["ask", "reject", "read", "edits", "allow-once-all"]
    for name in POLICIES:
        assert check_policy(name) == name
    with pytest.raises(UsageError, match="allow-once-all"):
        check_policy("allow-all")


# --- what each of them allows


@pytest.mark.parametrize("kind", ["read", "search"])
@pytest.mark.parametrize("policy", ["read", "edits", "allow-once-all"])
def test_reading_and_searching_within_the_roots_is_allowed_once(roots: Roots, policy: str, kind: str) -> None:
    assert answer(policy, roots, located(roots, kind=kind)) == "yes"


@pytest.mark.parametrize(
    "raw_input",
    [
        None,
        {},
        {"path": "a.py"},
        {"file_path": "sub/../a.py", "offset": 10, "limit": 5, "recursive": True},
        {"abs_path": "ROOT/sub/new.py"},
        {"uri": "file://ROOT/a.py"},
        {"uri": "file://localhostROOT/a%20b.py"},
        {"pattern": "def .*main", "path": "ROOT", "glob": "**/*.py", "encoding": "utf-8"},
        {"description": "Read the file", "query": "how does it work?", "limit": None, "glob": None},
        {"paths": ["a.py", "MORE/a.py", "sub"], "exclude": ["*.pyc", "**/*.{ts,tsx}", "./sub/*"]},
        {"filePath": "a.py", "view_range": [1, -1], "include": "*.py", "case_sensitive": False},
        {"pattern": r"\bfoo\(.*\)$", "-i": True, "-A": 2, "output_mode": "content", "type": "py"},
        {"path": "a b/c (1)+.py"},
    ],
)
def test_raw_inputs_of_honest_reads(roots: Roots, raw_input: Any) -> None:
    assert answer("read", roots, located(roots, rawInput=placed(raw_input, roots))) == "yes"


def placed(value: Any, roots: Roots) -> Any:
    """A value with the names of directories replaced by what they are here."""
    if isinstance(value, str):
        value = value.replace("MORE", roots.additional[0]).replace(
            "OUTSIDE", str(Path(roots.cwd).parent / "outside")
        )
        return value.replace("ROOT", roots.cwd)
    if isinstance(value, list):
        return [placed(item, roots) for item in value]
    if isinstance(value, dict):
        return {placed(key, roots): placed(item, roots) for key, item in value.items()}
    return value


def test_edits_within_the_roots_are_allowed_by_edits_alone(roots: Roots) -> None:
    honest = edit(
        f"{roots.cwd}/a.py",
        f"{roots.additional[0]}/new/b.py",
        rawInput={
            "file_path": f"{roots.cwd}/a.py",
            "old_string": "/etc/passwd",
            "new_string": "// ../x",
            "content": "{",
        },
    )
    assert answer("edits", roots, honest) == "yes"
    assert answer("allow-once-all", roots, honest) == "yes"
    assert answer("read", roots, honest) is None


@pytest.mark.parametrize(
    "kind", ["execute", "delete", "move", "fetch", "think", "switch_mode", "other", "deploy"]
)
def test_other_kinds_are_asked_except_by_allow_once_all(roots: Roots, kind: str) -> None:
    call = located(roots, kind=kind)
    assert [answer(policy, roots, call) for policy in ("ask", "read", "edits")] == [None, None, None]
    assert answer("allow-once-all", roots, call) == "yes"


def test_ask_asks_everything(roots: Roots) -> None:
    assert answer("ask", roots, located(roots)) is None


# --- the kind is the agent's word


@pytest.mark.parametrize(
    "raw_input",
    [
        {"command": "rm -rf ."},
        {"command": ["rm", "-rf", "."]},
        {"Command": {"program": "rm"}},
        {"args": {"shellCommand": "rm"}},
        {"steps": [{"run": [{"cmd": "rm"}]}]},
        {"script": "import os"},
        {"argv": ["rm"]},
        {"code": "1"},
        {"bash": "rm"},
        {"patchText": "*** Update File: /etc/passwd"},
        "rm -rf .",
        ["rm", "-rf", "."],
        '{"command": "rm"}',
        {"arguments": '{"command": "rm"}'},
        {"arguments": ' ["rm"]'},
        {"args": ["rm", "-rf", "x"]},
        {"run": "rm"},
        {"nodeScript": "1"},
        {"python": "1"},
        {"task": "rm"},
        {"expression": "1"},
        {"statement": "1"},
        {"flags": "-exec rm {} ;"},
        {"find": "-delete"},
        {"\uff43\uff4f\uff4d\uff4d\uff41\uff4e\uff44": "rm"},
        {"\uff50\uff41\uff54\uff48": "a.py"},
        {"delete": True, "path": "a.py"},
        {"options": "--output=/etc/x"},
        {"options": {"exclude": ["*.pyc"]}},
        {"command": ""},
        {"cmd": None},
        {"path": ["a.py"]},
        {"path": 7},
        {"path": "--output=x"},
        {"paths": "a.py"},
        {"paths": {"a.py": 1}},
        {"paths": ["a.py", ["sub"]]},
        {"paths": ["a.py", None]},
        {"limit": "5; rm"},
        {"limit": True},
        {"view_range": [1, "2"]},
        {"recursive": "rm"},
        {"encoding": "utf-8; rm"},
        {"encoding": "--pre=rm"},
        {"pattern": ["rm"]},
        {"pattern": "--pre=rm"},
        {"query": "a\nb"},
        {"query": "$(rm)"},
        {"query": "`rm`"},
        {"exclude": [{"rm": 1}]},
        {"": "rm"},
        7,
        False,
    ],
)
def test_a_read_with_a_command_is_asked(roots: Roots, raw_input: Any) -> None:
    call = located(roots, rawInput=raw_input)
    assert answer("read", roots, call) is None
    assert answer("edits", roots, call) is None
    assert answer("edits", roots, edit(f"{roots.cwd}/a.py", rawInput=raw_input)) is None


@pytest.mark.parametrize(
    "raw_input",
    [
        {"path": "/etc/passwd"},
        {"PATH": "/etc/passwd"},
        {"path": "OUTSIDE/a.py"},
        {"path": "../outside/a.py"},
        {"path": "sub/../../outside/a.py"},
        {"path": "ROOT/../outside/a.py"},
        {"path": "out/a.py"},
        {"path": "out.py"},
        {"path": "there/a.py"},
        {"path": "~/.ssh/id_rsa"},
        {"path": "~root"},
        {"path": "$HOME/.ssh"},
        {"path": "`pwd`/.."},
        {"path": " /etc/passwd"},
        {"path": "C:\\Users"},
        {"path": "..\\outside"},
        {"path": "\\\\host\\share"},
        {"path": "/etc/pass\0wd"},
        {"path": "ROOT-and-more/x"},
        {"uri": "file:///etc/passwd"},
        {"uri": "FILE:///etc/passwd"},
        {"uri": "file:/etc/passwd"},
        {"uri": "file:etc/passwd"},
        {"uri": "file://hostROOT/a.py"},
        {"uri": "file://localhost/etc/passwd"},
        {"uri": "file://ROOT/%2e%2e/outside/a.py"},
        {"uri": "file://ROOT/a?/../../outside/a.py"},
        {"uri": "file://["},
        {"url": "http://127.0.0.1ROOT"},
        {"url": "vscode-remote://ssh/etc/passwd"},
        {"paths": ["a.py", "/etc/passwd"]},
        {"paths": [["/etc/passwd"]]},
        {"files": [{"name": "/etc/passwd"}]},
        {"files": {"/etc/passwd": {"lines": 3}}},
        {"changes": {"../outside/a.py": 1}},
        {"what": "/etc/passwd"},
        {"what": "~/x"},
        {"what": "see ../outside/a.py"},
        {"pattern": "{../outside,sub}/*"},
        {"pattern": "/etc/*"},
        {"pattern": "a /etc/passwd"},
        {"glob": "{/etc,x}/passwd"},
        {"glob": "{.,x}./outside/*"},
        {"glob": ".{,x}./outside/*"},
        {"glob": ".?/outside/*"},
        {"glob": "[.][.]/outside/*"},
        {"exclude": ["*.pyc", "../outside/*"]},
        {"files": "a.py /etc/passwd"},
        {"paths": "a.py, /etc/shadow"},
        {"path": "a.py\n/etc/passwd"},
        {"path": "a.py /etc/passwd"},
        {"path": "a.py, /etc/passwd"},
        {"path": "a.py,../outside/a.py"},
        {"path": "\u202egp.a"},
        {"path": "{a,/etc/passwd}"},
        {"path": "o*/a.py"},
        {"path": "file:///etc/passwd"},
        {"path": "deep/../../outside/a.py"},
        {"uri": "ROOT/a.py"},
        {"uri": "file://ROOT/a.py%0A/etc/passwd"},
        {"name": "${HOME}/.ssh/id_rsa"},
        {"text": "/etc/passwd"},
        {"description": "/etc/passwd"},
        {"include": "https://example.org/x"},
    ],
)
def test_a_read_whose_raw_input_leads_out_is_asked(roots: Roots, raw_input: Any) -> None:
    raw_input = placed(raw_input, roots)
    assert answer("read", roots, located(roots, rawInput=raw_input)) is None
    assert answer("edits", roots, edit(f"{roots.cwd}/a.py", rawInput=raw_input)) is None


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "diff", "path": "ROOT/a.py", "oldText": None, "newText": "y"}],
        [{"type": "diff", "path": "/etc/passwd", "deleted": True}],
        [{"type": "terminal", "terminalId": "t1"}],
        [{"type": "terminal"}],
        [{"type": "chart"}],
        ["odd"],
    ],
)
def test_a_read_with_more_than_text_is_asked(roots: Roots, content: list[Any]) -> None:
    content = placed(content, roots)
    assert answer("read", roots, located(roots, content=content)) is None
    assert answer("edits", roots, located(roots, content=content)) is None


@pytest.mark.parametrize(
    "content", [[{"type": "terminal", "terminalId": "t1"}], [{"type": "diff", "path": "/etc/x"}]]
)
def test_an_edit_with_more_than_its_diff_is_asked(roots: Roots, content: list[Any]) -> None:
    inside = diff(f"{roots.cwd}/a.py")
    assert answer("edits", roots, {"kind": "edit", "content": [inside, *content]}) is None


@pytest.mark.parametrize(
    "path",
    [
        "OUTSIDE/a.py",
        "ROOT/../outside/a.py",
        "ROOT/out.py",
        "ROOT/out/new.py",
        "ROOT/sub/../out/a.py",
        "MORE/there/a.py",
        "ROOTandmore/x",
        "a.py",
        "sub/../a.py",
        "file://ROOT/a.py",
        "~/a.py",
        "ROOT/\0",
        "",
    ],
)
def test_locations_and_diffs_outside_or_relative_are_asked(roots: Roots, path: str) -> None:
    path = placed(path, roots)
    inside = f"{roots.cwd}/a.py"
    assert answer("read", roots, {"kind": "read", "locations": [{"path": path}]}) is None
    both = [{"path": inside}, {"path": path or "x"}]
    assert answer("read", roots, {"kind": "search", "locations": both}) is None
    assert answer("edits", roots, edit(inside, path)) is None
    assert answer("edits", roots, edit(inside, locations=[{"path": path or "x"}])) is None


def test_a_path_outside_that_leads_in_is_within(roots: Roots) -> None:
    path = placed("OUTSIDE/in/a.py", roots)
    assert answer("read", roots, {"kind": "read", "locations": [{"path": path}]}) == "yes"


@pytest.mark.parametrize("locations", [None, [], [{}], [{"path": None}], "odd"])
def test_without_a_location_it_is_asked(roots: Roots, locations: Any) -> None:
    call = {"kind": "read", "locations": locations, "rawInput": {"path": f"{roots.cwd}/a.py"}}
    assert answer("read", roots, call) is None


def test_an_edit_without_a_diff_is_asked(roots: Roots) -> None:
    assert answer("edits", roots, located(roots, kind="edit")) is None


def test_titles_names_and_option_names_decide_nothing(roots: Roots) -> None:
    options = [{"optionId": "x", "name": "Allow once", "kind": "reject_once"}]
    spoofed = {"title": "Read README.md", "name": "read_file", "kind": "execute"}
    assert answer("read", roots, located(roots, **spoofed), OPTIONS) is None
    assert answer("allow-once-all", roots, located(roots), options) is None
    honest = located(roots, title="rm -rf /", name="bash")
    assert answer("read", roots, honest) == "yes"


@pytest.mark.parametrize(
    "raw_input",
    [
        {"path": "a.py", "old_str": "x", "new_str": "y"},
        {"new_text": "y"},
        {"path": "a.py", "content": "y"},
        {"path": "a.py", "replace_all": True},
    ],
)
def test_the_texts_of_an_edit_are_no_reading(roots: Roots, raw_input: Any) -> None:
    for policy in ("read", "edits"):
        assert answer(policy, roots, located(roots, rawInput=raw_input)) is None
    assert answer("edits", roots, edit(f"{roots.cwd}/a.py", rawInput=raw_input)) == "yes"


@pytest.mark.parametrize(
    "raw_input",
    [
        {"old_string": ["x"]},
        {"new_string": {"run": "rm"}},
        {"replace_all": "rm"},
        {"path": "/etc/passwd", "old_str": "x", "new_str": "y"},
        {"edits": [{"old_string": "x", "new_string": "y"}]},
    ],
)
def test_an_edit_with_odd_texts_or_outside_is_asked(roots: Roots, raw_input: Any) -> None:
    assert answer("edits", roots, edit(f"{roots.cwd}/a.py", rawInput=raw_input)) is None


# --- which option


@pytest.mark.parametrize(
    "options",
    [
        [],
        [OPTIONS[0], OPTIONS[2]],
        [OPTIONS[1], {"optionId": "b", "name": "B", "kind": "allow_once"}],
        [OPTIONS[1], {"optionId": "yes", "name": "Always", "kind": "allow_always"}],
        [OPTIONS[1], OPTIONS[1]],
        [{"optionId": "yes", "name": "Yes", "kind": "allow_persistent"}],
        [{"optionId": "yes", "name": "Yes", "kind": "ALLOW_ONCE"}],
        [{"optionId": "yes", "name": "Yes"}],
        [{"optionId": "yes", "name": "Yes", "kind": ["allow_once"]}],
    ],
    ids=[
        "none",
        "only-always",
        "two-U03",
        "id-twice-U07",
        "same-twice",
        "U06",
        "spelling",
        "no-kind",
        "odd-kind",
    ],
)
def test_only_one_plain_allow_once_is_picked(roots: Roots, options: list[Any]) -> None:
    for policy in ("read", "edits", "allow-once-all"):
        assert answer(policy, roots, located(roots), options) is None


def test_reject_picks_what_rejects_once_else_cancels(roots: Roots) -> None:
    assert answer("reject", roots, located(roots)) == "no"
    for options in ([], [OPTIONS[3]], [OPTIONS[1]], [OPTIONS[2], {**OPTIONS[1], "optionId": "no"}]):
        decision = decide("reject", *request(located(roots), options), roots)
        assert decision is not None
        assert decision.option_id is None


def test_the_strictest_policy_that_would_allow_it_is_named(roots: Roots) -> None:
    def named(call: dict[str, Any], options: Any = OPTIONS) -> str | None:
        return next((policy for policy in ALLOWING if answer(policy, roots, call, options)), None)

    assert named(located(roots)) == "read"
    assert named(edit(f"{roots.cwd}/a.py")) == "edits"
    assert named(located(roots, kind="execute")) == "allow-once-all"
    assert named(located(roots), [OPTIONS[0]]) is None


def test_the_reason_names_the_policy(roots: Roots) -> None:
    for policy in ("reject", "read", "edits", "allow-once-all"):
        decision = decide(policy, *request(located(roots)), roots)
        assert decision is not None
        assert re.search(rf"policy {policy}\b", decision.reason)
