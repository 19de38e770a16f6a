"""What a table of rows is: its tests, the agent that each was run with, and its page `docs/protocol.md`."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .methods import BY_THE_FAKE_AGENT, BY_THE_SDK, UPDATES_BY_THE_FAKE_AGENT, UPDATES_BY_THE_SDK

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "protocol.md"
FRONT_END = "labextension/test/"
SDK, FAKE, REAL, SCRIPT, TEST, NONE = COUNTERPARTS = (
    "Python SDK",
    "fake agent",
    "real agents",
    "a script",
    "the test",
    "none",
)
WHERE = {  # the first that fits
    "tests/agents/test_real_agents.py": REAL,
    "tests/agents/test_lasting_agents.py": REAL,
    "tests/protocol/test_counterpart.py": SDK,
    "tests/protocol/test_schema.py": TEST,
    "tests/protocol/test_fuzz.py": TEST,
    "tests/wire/test_frames.py": NONE,
    "tests/wire/test_process.py": SCRIPT,
    "tests/wire/test_watcher.py": SCRIPT,
    "tests/wire/": TEST,
    "tests/notebook/": FAKE,
    "tests/browser/": FAKE,
}


class Row(NamedTuple):
    """A row of the protocol, or a case.

    ``does`` says what the client does, ``tests`` show it: `FILE::NAME` below `tests/`, or
    `labextension/test/FILE: NAME`. ``left_out`` says what of it is not done, and why.
    """

    id: str
    does: str
    tests: tuple[str, ...] = ()
    left_out: str = ""


class Section(NamedTuple):
    """Rows that belong together; their ids are ``prefix`` and a number, without a gap."""

    title: str
    prefix: str
    rows: tuple[Row, ...]


# --- tests


def exists(test: str) -> bool:
    """Whether there is such a test; it is looked for in the text, and not run."""
    if test.startswith(FRONT_END):
        file, _, name = test.partition(": ")
        path = ROOT / file
        return path.exists() and f"('{name}'" in path.read_text("utf-8")
    file, _, name = test.partition("::")
    return name in _functions(f"tests/{file}")


def counterpart(test: str) -> str:
    """Which agent a test was run with."""
    if test.startswith(FRONT_END):
        return NONE
    file, _, name = test.partition("::")
    given, text = _functions(f"tests/{file}").get(name, ((), ""))
    if "counterpart" in given:
        return SDK
    if "bench" in given or name.endswith("with_the_fake_agent"):
        return SCRIPT if "bench.of(" in text else FAKE
    return next((who for where, who in WHERE.items() if f"tests/{file}".startswith(where)), NONE)


@lru_cache
def _functions(file: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """The test functions of a file: what each is given, and its text."""
    path = ROOT / file
    tree = ast.parse(path.read_text("utf-8")) if path.exists() else ast.Module([], [])
    return {
        node.name: (
            tuple(arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)),
            ast.unparse(node),
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


# --- the page

HEAD = f"""\
# The protocol, row by row

Generated from the tests' own table: `python -m tests.protocol.rows --write`. Which behaviour of the protocol
is shown by which test, and with which agent at the other end:

- {SDK}: an agent written with the official Python SDK
- {FAKE}: the scripted agent of `acp_jupyter.testing`, a real subprocess
- {REAL}: agents as their makers ship them (`make test-agents`)
- {SCRIPT}: a few lines of Python, as a subprocess
- {TEST}: the test itself plays the agent, over a transport in memory
- {NONE}: what is shown needs no agent

The stable protocol is that of the schema in the npm package `@agentclientprotocol/sdk` 2.4.0, which every
message that a test has us send is checked against.
"""


def page(sections: tuple[Section, ...], drafts: tuple[Row, ...], cases: tuple[Section, ...]) -> str:
    """The whole document."""
    done = [_section(section, "what the client does") for section in sections]
    left_out = [row for section in (*sections, *cases) for row in section.rows if row.left_out]
    return (
        "\n".join(
            [
                HEAD,
                *done,
                "## Not done\n",
                *_table(("row", "what, and why"), [(row.id, row.left_out) for row in left_out]),
                "## Drafts of the protocol\n",
                *_table(
                    ("row", "what it is", "here"),
                    [(row.id, row.does, row.left_out + _shown(row)) for row in drafts],
                ),
                "## Methods and updates\n",
                *_table(("run with", "methods", "updates"), _methods()),
                "# Faults from the wild, case by case\n",
                *(_section(section, "what happens") for section in cases),
            ]
        ).rstrip()
        + "\n"
    )


def _section(section: Section, does: str) -> str:
    lines = [(row.id, row.does, _tests(row), _counterparts(row)) for row in section.rows]
    return "\n".join([f"## {section.title}\n", *_table(("row", does, "shown by", "run with"), lines)])


def _table(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> list[str]:
    ruled = [head, tuple("---" for _ in head), *lines]
    return [*(f"| {' | '.join(line)} |" for line in ruled), ""]


def _tests(row: Row) -> str:
    return "<br>".join(f"`{test}`" for test in row.tests)


def _shown(row: Row) -> str:
    return f"; shown by {_tests(row)}" if row.tests else ""


def _counterparts(row: Row) -> str:
    found = {counterpart(test) for test in row.tests}
    return ", ".join(who for who in COUNTERPARTS if who in found)


def _methods() -> list[tuple[str, ...]]:
    return [
        (
            who,
            ", ".join(f"`{one}`" for one in sorted(methods)),
            ", ".join(f"`{one}`" for one in sorted(kinds)),
        )
        for who, methods, kinds in (
            (SDK, BY_THE_SDK, UPDATES_BY_THE_SDK),
            (FAKE, BY_THE_FAKE_AGENT, UPDATES_BY_THE_FAKE_AGENT),
        )
    ]
