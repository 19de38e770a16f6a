"""What stands before files and commands: answers of the turn, a person's yes, the running notebook."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_jupyter.model import events
from acp_jupyter.model.reduce import reduce
from acp_jupyter.model.state import SessionState
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.session import files, notebook
from acp_jupyter.session.client_files import ClientFiles
from acp_jupyter.session.covered import covered
from acp_jupyter.session.gate import ClientRequest, Gate, Rules
from acp_jupyter.session.roots import Roots
from acp_jupyter.session.secret_files import SECRET_PATTERNS, is_secret
from acp_jupyter.session.terminals import Terminals
from acp_jupyter.wire.answers import INVALID_REQUEST, RequestError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .bench import Bench

CWD = "/home/user/project"
KINDS = ("allow_once", "allow_always", "reject_once")


class Answered:
    """A turn in which calls were asked about and answered."""

    def __init__(self, cwd: str = CWD) -> None:
        self.state = SessionState()
        self.turn = Turn("t1", 1, AgentInfo("fake", "Fake"), cwd, [], ["/home/user/more"])
        self.now = 0.0
        self.apply(events.TurnStarted(self.turn))
        self.apply(events.PromptSent())

    def apply(self, event: events.Event) -> None:
        self.now += 1
        reduce(self.state, event, self.now)

    def ask(self, answer: str | None = "allow_once", by: str = "you", key: str = "p1", **call: Any) -> None:
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in KINDS]
        call = {"toolCallId": f"call-{key}", "title": "harmless", "kind": "edit", **call}
        self.apply(events.PermissionAsked(key, {"toolCall": call, "options": options}))
        if answer == "cancelled":
            self.apply(events.PermissionClosed(key, "cancelled", by))
        elif answer:
            self.apply(events.PermissionClosed(key, "selected", by, answer))

    def update(self, **update: Any) -> None:
        self.apply(events.SessionUpdate({"sessionUpdate": "tool_call_update", **update}))


class Person:
    """Gives the answers that it was told, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self.shown: list[tuple[Any, ...]] = []

    async def __call__(self, request: ClientRequest) -> bool:
        self.asked.append((request.kind, request.title))
        self.shown.append((request.path, request.command, request.new_text))
        assert request.secret is ("may hold secrets" in request.title)
        answer = self.answers.pop(0)
        if callable(answer):
            return await answer()
        return {"yes": True, "no": False}.get(answer, answer)


def refused(what: Awaitable[Any]) -> RequestError:
    with pytest.raises(RequestError) as caught:
        run(what)
    assert caught.value.data["reason"] in files.REASONS
    return caught.value


def run(what: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await what

    return asyncio.run(wait())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


class Served:
    """The files of a session in ``root``."""

    def __init__(self, root: Path, person: Person | None = None, **more: Any) -> None:
        self.answered = Answered(str(root))
        self.unasked: list[ClientRequest] = []
        self.over = False
        rules = Rules(more.pop("ask", False), more.pop("patterns", SECRET_PATTERNS))
        self.gate = Gate(
            lambda: self.answered.turn, person, rules=lambda: rules, on_unasked=self.unasked.append
        )
        self.root = root
        self.files = ClientFiles(lambda: Roots.of(str(root)), self.check, self.gate, **more)

    def check(self) -> None:
        if self.over:
            raise RequestError(INVALID_REQUEST, "the turn is over", {"reason": "denied"})

    def read(self, name: str) -> Awaitable[Any]:
        return self.files.read_text_file({"path": str(self.root / name)})

    def write(self, name: str, content: str = "new") -> Awaitable[Any]:
        return self.files.write_text_file({"path": str(self.root / name), "content": content})


# --- covered


@pytest.mark.parametrize(
    "call",
    [
        {"locations": [{"path": f"{CWD}/a.py"}]},
        {"content": [{"type": "diff", "path": f"{CWD}/a.py", "newText": "x"}]},
        {"rawInput": {"file_path": f"{CWD}/a.py"}},
        {"rawInput": {"path": "a.py"}},
        {"rawInput": {"path": "./a.py"}},
        {"rawInput": {"filePath": f"{CWD}//a.py"}, "kind": "other"},
    ],
)
def test_u16_an_allowed_call_covers_the_path_that_it_names(call: dict[str, Any]) -> None:
    answered = Answered()
    answered.ask(**call)
    assert covered(answered.turn, path=f"{CWD}/a.py") is answered.turn.tool_calls["call-p1"]
    assert covered(answered.turn, path=f"{CWD}/b.py") is None
    assert covered(answered.turn, path=f"{CWD}/sub/../a.py") is None
    assert covered(answered.turn, command=f"{CWD}/a.py") is None


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ("reject_once", "you"),
        ("reject_once", "policy"),
        ("cancelled", "you"),
        ("cancelled", "turn"),
        ("cancelled", "agent"),
        (None, ""),
    ],
)
def test_u16_selected_is_not_allowed(answer: str | None, by: str) -> None:
    answered = Answered()
    answered.ask(answer, by, locations=[{"path": f"{CWD}/a.py"}])
    assert covered(answered.turn, path=f"{CWD}/a.py") is None


@pytest.mark.parametrize(
    "kind", ["read", "search", "think", "delete", "execute", "fetch", "switch_mode", "new_kind"]
)
def test_u16_a_yes_to_something_else_covers_no_write(kind: str) -> None:
    answered = Answered()
    answered.ask(kind=kind, locations=[{"path": f"{CWD}/a.py"}])
    assert covered(answered.turn, path=f"{CWD}/a.py") is None


def test_u16_the_latest_answer_counts_and_what_was_asked_not_what_the_call_became() -> None:
    answered = Answered()
    here = [{"path": f"{CWD}/a.py"}]
    answered.ask(locations=here)
    answered.update(toolCallId="call-p1", locations=[{"path": f"{CWD}/b.py"}])
    assert covered(answered.turn, path=f"{CWD}/b.py") is None
    assert covered(answered.turn, path=f"{CWD}/a.py") is not None
    answered.ask("reject_once", key="p2", locations=here)
    assert covered(answered.turn, path=f"{CWD}/a.py") is None
    answered.ask("allow_always", key="p3", locations=here)
    assert covered(answered.turn, path=f"{CWD}/a.py") is answered.turn.tool_calls["call-p3"]
    assert covered(Turn("t2", 2, AgentInfo("fake", "Fake"), CWD, []), path=f"{CWD}/a.py") is None


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ({"rawInput": {"command": "npm test"}}, "npm test"),
        ({"rawInput": {"command": ["npm", "test"]}}, "npm test"),
        ({"rawInput": {"command": "npm", "args": ["test"]}}, "npm test"),
        ({"rawInput": {"cmd": "npm test"}}, "bash -lc 'npm test'"),
        ({"rawInput": {"command": ["bash", "-lc", "npm test"]}}, "npm test"),
        ({"rawInput": {"command": "echo 'a  b'"}}, "echo 'a  b'"),
        ({"title": "`npm test`"}, "npm test"),
    ],
)
def test_u16_an_allowed_call_covers_the_command_that_it_names(call: dict[str, Any], command: str) -> None:
    answered = Answered()
    answered.ask(**{"kind": "execute", **call})
    assert covered(answered.turn, command=command) is not None
    for other in (f"{command} --force", "npm", "npm test; rm -rf x", "", "rm 'npm test"):
        assert covered(answered.turn, command=other) is None


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "read", "title": "npm test"},
        {"kind": "other", "title": "npm test"},
        {"kind": "read", "rawInput": {"command": "npm test"}},
        {"kind": "execute", "title": "npm test", "rawInput": {"command": "ls"}},
        {"kind": "execute", "title": "", "rawInput": {"command": ""}},
    ],
)
def test_u16_a_title_or_another_kind_covers_no_command(call: dict[str, Any]) -> None:
    answered = Answered()
    answered.ask(**call)
    assert covered(answered.turn, command="npm test") is None


# --- the gate


def test_u16_what_was_rejected_in_the_turn_is_not_done(root: Path) -> None:
    served = Served(root, Person())
    (root / "read.me").write_text("text")
    path = str(root / "a")
    served.answered.ask("reject_once", locations=[{"path": path}])
    assert refused(served.write("a")).data["reason"] == "rejected"
    assert not (root / "a").exists()
    served.answered.ask("reject_once", "nobody", "p2", kind="execute", rawInput={"command": "ls"})
    assert refused(served.gate.running("ls")).data["reason"] == "rejected"
    served.answered.ask("cancelled", "you", "p3", kind="read", rawInput={"path": "read.me"})
    assert refused(served.read("read.me")).data["reason"] == "rejected"
    served.answered.ask("reject_once", key="p4", kind="edit", rawInput={"path": "read.me"})
    served.answered.ask("allow_once", key="p5", kind="read", rawInput={"path": "read.me"})
    assert run(served.read("read.me")) == {"content": "text"}
    assert served.unasked == []


def test_c4_a_write_that_nothing_covers_is_told_and_a_covered_one_not(root: Path) -> None:
    served = Served(root, Person())
    run(served.write("a"))
    assert served.unasked == [ClientRequest("edit", f"Write {root}/a", str(root / "a"), new_text="new")]
    served.answered.ask(locations=[{"path": str(root / "b")}])
    run(served.write("b"))
    assert len(served.unasked) == 1
    with pytest.raises(RequestError):
        run(served.write("a/below"))  # nothing was done
    assert len(served.unasked) == 1


def test_c4_c5_with_ask_client_requests_a_person_is_asked(root: Path) -> None:
    person = Person("yes", "no", "yes")
    served = Served(root, person, ask=True)
    run(served.write("a", "text"))
    assert refused(served.write("b")).data["reason"] == "denied"
    run(served.gate.running("make test"))("t1")
    assert person.asked == [
        ("edit", f"Write {root}/a"),
        ("edit", f"Write {root}/b"),
        ("execute", "Run make test"),
    ]
    assert person.shown == [
        (f"{root}/a", None, "text"),
        (f"{root}/b", None, "new"),
        (None, "make test", None),
    ]
    served.answered.ask(locations=[{"path": str(root / "c")}])
    run(served.write("c"))
    assert len(person.asked) == 3
    assert not (root / "b").exists()
    assert served.unasked == []


@pytest.mark.parametrize("answer", [None, "maybe", 1, False])
def test_u16_only_true_is_a_yes(root: Path, answer: Any) -> None:
    served = Served(root, Person(answer), ask=True)
    assert refused(served.write("a")).data["reason"] == "denied"
    assert not (root / "a").exists()


def test_c4_a_turn_that_ended_while_a_person_was_asked_changes_nothing(root: Path) -> None:
    async def too_late() -> bool:
        served.over = True
        return True

    served = Served(root, Person(too_late), ask=True)
    assert refused(served.write("a")).code == INVALID_REQUEST
    assert not (root / "a").exists()


def test_s01_a_path_that_leads_elsewhere_after_the_yes_is_not_written(root: Path) -> None:
    async def meanwhile() -> bool:
        (root / "a").unlink()
        (root / "a").symlink_to(root / ".env")
        return True

    (root / "a").write_text("old")
    (root / ".env").write_text("KEY=1")
    served = Served(root, Person(meanwhile), ask=True)
    assert refused(served.write("a")).data["reason"] == "changed"
    assert (root / ".env").read_text() == "KEY=1"


def test_c4_writes_of_one_file_end_in_the_order_in_which_they_came(root: Path) -> None:
    served = Served(root)

    async def many() -> None:
        await asyncio.gather(*(served.write("a", str(number)) for number in range(30)))

    asyncio.run(many())
    assert (root / "a").read_text() == "29"


# --- secrets


@pytest.mark.parametrize(
    "path",
    "/w/.env /w/.ENV /w/.env.local /w/.envrc /w/prod.env /h/.ssh/config /h/.ssh/id_rsa /w/server.pem"
    " /w/tls/My.Key /h/.aws/config /h/.netrc /h/.pypirc /w/credentials.json /w/gcp-credentials.json"
    " /w/.env.bak /w/server.pem~ /h/.ssh/id_rsa.old.1 /w/Credentials.json.ORIG"
    " /w/secrets.toml /h/.docker/config.json /h/.config/gcloud/a/b /w/terraform.tfstate C:\\w\\.env".split(),
)
def test_s06_files_that_hold_secrets_are_known_by_name(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    "/w/a.py /w/.env/lib/site.py /w/environment.yml /w/id_rsa.pub /w/keys.py /w/monkey /w/docker/config.json"
    " /w/a.py.bak /w/notes~ /w/secrets/__init__.py /w/.github/x.yml /w/credentials_test.py".split(),
)
def test_s06_other_files_are_not_asked_about(path: str) -> None:
    assert not is_secret(path)


def test_s06_a_secret_needs_a_persons_yes(root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / "plain").symlink_to(root / ".env")
    alone = Served(root)
    for name in (".env", "plain"):
        assert refused(alone.read(name)).data["reason"] == "denied"
        assert refused(alone.write(name)).data["reason"] == "denied"
    person = Person("yes", "no", "yes", "no")
    served = Served(root, person)
    assert run(served.read(".env")) == {"content": "KEY=1"}
    assert "KEY" not in refused(served.read("plain")).message
    run(served.write(".env", "KEY=2"))
    assert refused(served.write("plain")).data["reason"] == "denied"
    assert (root / ".env").read_text() == "KEY=2"
    assert person.asked == [
        ("read", f"Read {root}/.env, which may hold secrets"),
        ("read", f"Read {root}/plain, which may hold secrets"),
        ("edit", f"Write {root}/.env, which may hold secrets"),
        ("edit", f"Write {root}/plain, which may hold secrets"),
    ]


def test_s06_an_earlier_yes_of_a_person_is_enough_and_a_policys_is_not(root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    served = Served(root)
    served.answered.ask(by="policy", kind="read", rawInput={"path": ".env"})
    assert refused(served.read(".env")).data["reason"] == "denied"
    served.answered.ask(by="you", key="p2", kind="read", rawInput={"path": ".env"})
    assert run(served.read(".env")) == {"content": "KEY=1"}
    assert refused(served.write(".env")).data["reason"] == "denied"
    served.answered.ask(by="you", key="p3", rawInput={"path": ".env"})
    run(served.write(".env"))
    assert (root / ".env").read_text() == "new"


def test_s07_a_missing_secret_is_not_found_and_nobody_is_asked(root: Path) -> None:
    assert refused(Served(root, Person()).read(".env")).code == -32002


def test_s06_the_list_is_a_setting(root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / "diary.md").write_text("dear")
    served = Served(root, patterns=("diary*",))
    assert run(served.read(".env")) == {"content": "KEY=1"}
    assert refused(served.read("diary.md")).data["reason"] == "denied"


# --- notebooks

CELL = {
    "cell_type": "code",
    "id": "a1",
    "metadata": {},
    "source": "1",
    "outputs": [],
    "execution_count": None,
}
NOTEBOOK: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL]}


@pytest.mark.parametrize("link", [False, True])
def test_s05_the_notebook_that_is_being_run_is_not_written(root: Path, link: bool) -> None:  # noqa: FBT001  # pytest's
    (root / "run.ipynb").write_text("old")
    (root / "link.ipynb").symlink_to(root / "run.ipynb")
    running = str(root / ("link.ipynb" if link else "run.ipynb"))
    served = Served(root, Person(), notebooks=lambda: [running])
    for name in ("run.ipynb", "link.ipynb"):
        error = refused(served.write(name, json.dumps(NOTEBOOK)))
        assert error.data["reason"] == "running_notebook"
        assert "Write another notebook" in error.message
        assert "paste" in error.message
    assert (root / "run.ipynb").read_text() == "old"
    assert run(served.read("run.ipynb")) == {"content": "old"}
    run(served.write("other.ipynb", json.dumps(NOTEBOOK)))
    assert json.loads((root / "other.ipynb").read_text()) == NOTEBOOK


def test_s05_a_running_notebook_that_was_never_saved_is_not_made(root: Path) -> None:
    served = Served(root, notebooks=lambda: [str(root / "new.ipynb")])
    assert refused(served.write("new.ipynb", json.dumps(NOTEBOOK))).data["reason"] == "running_notebook"
    assert not (root / "new.ipynb").exists()


def test_s05_its_name_comes_from_jupyter_or_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook.running_notebooks(environ={}) == []
    assert notebook.running_notebooks("/v/a.ipynb", {}) == ["/v/a.ipynb"]
    both = notebook.running_notebooks("/v/a.ipynb", {"JPY_SESSION_NAME": "/w/b.ipynb"})
    assert both == ["/w/b.ipynb", "/v/a.ipynb"]
    assert notebook.running_notebooks(environ={"JPY_SESSION_NAME": "console-1"}) == []
    monkeypatch.setenv("JPY_SESSION_NAME", "/w/c.ipynb")
    assert notebook.running_notebooks() == ["/w/c.ipynb"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "not JSON"),
        ("{'cells': []}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({"cells": []}), "nbformat is None"),
        (json.dumps({**NOTEBOOK, "nbformat": 3}), "nbformat is 3"),
        (json.dumps({**NOTEBOOK, "cells": {}}), "cells is not a list"),
        (json.dumps({**NOTEBOOK, "cells": [CELL, 1]}), "cells[1] is not an object"),
        (json.dumps({**NOTEBOOK, "cells": [{**CELL, "cell_type": "cod"}]}), "cells[0].cell_type is 'cod'"),
        (json.dumps({**NOTEBOOK, "cells": [{**CELL, "source": 1}]}), "cells[0].source"),
        (json.dumps({**NOTEBOOK, "nbformat_minor": "5"}), "nbformat_minor is '5'"),
        (json.dumps({**NOTEBOOK, "cells": [{**CELL, "outputs": 1}]}), "1 is not of type 'array'"),
        (json.dumps({**NOTEBOOK, "cells": [{**CELL, "outputs": [{"output_type": "x" * 999}]}]}), "x"),
    ],
)
def test_s05_what_is_no_notebook_is_refused_by_its_fault(root: Path, content: str, fault: str) -> None:
    error = refused(Served(root).write("a.ipynb", content))
    assert error.data["reason"] == "notebook"
    assert fault in error.message
    assert len(error.message) < 600
    assert not (root / "a.ipynb").exists()
    run(Served(root).write("a.ipynb.txt", content))


def test_s05_without_nbformat_the_shape_alone_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> Any:
        raise ImportError

    monkeypatch.setattr(notebook, "import_module", missing)
    run(Served(root).write("a.ipynb", json.dumps({**NOTEBOOK, "cells": [{**CELL, "outputs": 1}]})))
    assert (
        refused(Served(root).write("a.ipynb", json.dumps({**NOTEBOOK, "cells": 1}))).data["reason"]
        == "notebook"
    )


# --- commands


class Commands:
    """The terminals of a session in ``root``."""

    def __init__(self, root: Path, gate: Gate, check: Callable[[], None] = lambda: None, **more: Any) -> None:
        self.events: list[events.Event] = []
        self.terminals = Terminals(
            self.events.append, lambda: Roots.of(str(root)), check, None, gate=gate, **more
        )

    async def run(self, command: str, *args: str) -> str:
        params = {"command": command, "args": list(args)}
        terminal_id = (await self.terminals.create(params))["terminalId"]
        await self.terminals.wait_for_exit({"terminalId": terminal_id})
        await self.terminals.release_all()
        return terminal_id


def test_c5_a_command_that_nothing_covers_is_told_with_its_terminal(root: Path) -> None:
    served = Served(root)
    commands = Commands(root, served.gate)
    served.answered.ask(kind="execute", rawInput={"command": "echo 'a b'"})
    assert run(commands.run("echo", "a b")) == "t1"
    assert run(commands.run("echo a")) == "t2"
    assert served.unasked == [ClientRequest("execute", "Run echo a", command="echo a", terminal_id="t2")]


@pytest.mark.parametrize("answer", [False, True])
def test_c5_u16_without_a_yes_nothing_is_started(root: Path, answer: bool) -> None:  # noqa: FBT001  # pytest's
    person = Person(answer)
    served = Served(root, person, ask=True)
    commands = Commands(root, served.gate)
    if answer:
        run(commands.run("touch", "a"))
    else:
        assert refused(commands.run("touch", "a")).data["reason"] == "denied"
        assert commands.events == []
    assert person.asked == [("execute", "Run touch a")]
    assert (root / "a").exists() is answer


def test_c5_a_turn_that_ended_while_a_person_was_asked_starts_nothing(root: Path) -> None:
    async def too_late() -> bool:
        served.over = True
        return True

    served = Served(root, Person(too_late), ask=True)
    commands = Commands(root, served.gate, served.check)
    assert refused(commands.run("touch", "a")).code == INVALID_REQUEST
    assert not (root / "a").exists()


def test_x6_an_id_that_the_agent_uses_for_its_own_is_not_ours(root: Path) -> None:
    commands = Commands(root, Gate(), taken={"t1", "t2"}.__contains__)
    assert run(commands.run("true")) == "t3"


# --- with an agent


def test_s06_an_agent_hears_why_a_secret_stays_closed(bench: Bench) -> None:
    (bench.work / ".env").write_text("KEY=1")
    step = {"request": "fs/read_text_file", "params": {"path": f"{bench.work}/.env"}, "save": "r"}
    turn = bench.session([step, {"text": "${r.error.data.reason}: ${r.error.message}"}]).run("go")
    assert turn.text.startswith("denied: refused, because ")
    assert "KEY" not in turn.text


# --- the page about it

PAGE = (Path(__file__).parents[2] / "docs" / "files-and-terminals.md").read_text(encoding="utf-8")


def test_s04_s06_every_reason_and_every_pattern_is_documented() -> None:
    for name, meaning in files.REASONS.items():
        assert f"| `{name}` | {meaning} |" in PAGE
    listed = [line.split() for line in PAGE.splitlines() if line.startswith("    ")]
    assert [pattern for line in listed for pattern in line] == list(SECRET_PATTERNS)
