"""docs/agents.md against the code: its example is read, its table is about the versions under test."""

from __future__ import annotations

import re
from pathlib import Path

from acp_jupyter.session.agents import Agents, AgentSpec

from .install import VERSIONS
from .outcomes import TABLE, documented


def test_the_example_of_an_agents_file_is_one(tmp_path: Path) -> None:
    example = re.search(r"```json\n(.*?)```", TABLE.read_text("utf-8"), re.DOTALL)
    assert example
    file = tmp_path / "agents.json"
    file.write_text(example[1], "utf-8")
    spec = Agents(file).get("mine")
    assert (spec.command, spec.args, spec.needs) == ("my-agent", ("--acp", "--model", "small"), ("MY_KEY",))
    assert (spec.client_fs, spec.client_terminal) == (False, True)


def test_every_field_of_an_agent_is_explained() -> None:
    explained = "\n".join(line.split("|")[1] for line in documented() if line.startswith("| `"))
    assert all(f"`{field}`" in explained for field in set(AgentSpec.model_fields) - {"name"})


def test_the_table_is_about_the_installed_versions() -> None:
    rows = [line for line in documented() if line.startswith("| ") and "`end_turn`" in line]
    assert {row.split(" | ")[0] for row in rows} == {
        f"| {name} {number}" for name, number in VERSIONS.items()
    }
