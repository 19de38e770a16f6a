"""The documentation says what is true."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from acp_jupyter import errors
from acp_jupyter.magics import parser
from acp_jupyter.magics.commands import COMMANDS
from acp_jupyter.session.policy import POLICIES
from acp_jupyter.testing import scratch

from .help import FILE, TESTING, help_markdown, with_steps

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_help_page_is_what_the_code_prints() -> None:
    assert FILE.read_text("utf-8") == help_markdown(), "write it anew: python -m tests.docs.help"


def test_every_command_has_its_function_and_its_help() -> None:
    assert sorted(COMMANDS) == sorted(parser.commands())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_policy_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in POLICIES if f"`{name}`" not in readme] == []


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = re.findall(r"(?:├──|└──) (\w+)", errors.__doc__ or "")
    real = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value is not errors.AcpError
    ]
    assert sorted(drawn) == sorted(name for name in real if name != "Any")


def test_every_make_target_of_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {one for page in PAGES for one in re.findall(r"`?make ([a-z-]+)`", page.read_text("utf-8"))}
    assert named - targets == set()


def test_python_that_a_message_advises_can_be_typed_as_it_stands() -> None:
    """`get_session` is in nobody's notebook before it is imported."""
    messages: list[str] = []
    for file in (ROOT / "acp_jupyter").rglob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text("utf-8")))
        messages += [
            one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
    advised = [text for text in messages if "get_session()." in text]
    assert len(advised) > 2
    assert [text for text in advised if "from acp_jupyter import get_session;" not in text] == []


def test_the_steps_of_a_script_are_those_of_the_code() -> None:
    page = TESTING.read_text("utf-8")
    assert page == with_steps(page), "write it anew: python -m tests.docs.help"
    assert "| `until_cancel` |" in page


def test_the_example_of_a_scripted_agent_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    Path("notes.txt").write_text("buy milk")
    example = "\n".join(re.findall(r"```python\n(.*?)```", TESTING.read_text("utf-8"), re.DOTALL))
    done: dict[str, Any] = {}
    exec(example, done)  # noqa: S102  # the page's own
    assert done["turn"].text == "It says: buy milk"


def test_the_readme_says_where_the_demo_works_and_what_it_offers() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"the folder `{scratch.FOLDER}`" in readme
    assert "It offers prompts only" in readme
