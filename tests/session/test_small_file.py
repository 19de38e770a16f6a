"""A file of settings that a cloned repository brings is read at once, or refused by name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.session.agent_files import read_agents
from acp_jupyter.session.mcp import read_servers
from acp_jupyter.session.settings import settings
from acp_jupyter.session.small_file import LIMIT_BYTES

if TYPE_CHECKING:
    from pathlib import Path

TABLE = '[tool.acp-jupyter]\npolicy = "reject"\n'


def _device(file: Path) -> None:
    file.symlink_to("/dev/zero")


def _pipe(file: Path) -> None:
    os.mkfifo(file)


def _huge(file: Path) -> None:
    with file.open("wb") as out:
        out.truncate(LIMIT_BYTES + 1)


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices as files")
@pytest.mark.parametrize("make", [_device, _pipe, _huge])
def test_what_has_no_end_is_refused_by_name(tmp_path: Path, make: object) -> None:
    for name, read in (("pyproject.toml", settings), (".mcp.json", read_servers), ("a.json", read_agents)):
        file = tmp_path / name
        make(file)  # type: ignore[operator]  # one of the three above
        with pytest.raises(UsageError, match=name):
            read(str(tmp_path) if read is settings else file)  # type: ignore[operator]  # as above


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_byte_order_mark_is_no_fault(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE, encoding)
    assert settings(str(tmp_path)).policy == "reject"
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {}}', encoding)
    assert read_servers(tmp_path / ".mcp.json") == []


def test_a_stricter_policy_is_not_passed_over_for_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-16")
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        settings(str(tmp_path))
