"""What real agents remember and let be chosen, each method where they offer it, as docs/agents.md has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_jupyter.errors import UsageError
from acp_jupyter.session.choices import Choices

from .model_server import ANSWER, MODEL
from .outcomes import NOTHING, TABLE, documented
from .real import AGENTS
from .support import TIMEOUT_S, sent
from .test_real_agents import start

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_jupyter.session.session import Session

pytestmark = [pytest.mark.agents, pytest.mark.parametrize("agent", AGENTS)]


def ends_well(session: Session) -> None:
    turn = start(session, "text").result(TIMEOUT_S)
    assert (turn.text, turn.stop_reason) == (ANSWER, "end_turn")


def offers(session: Session, what: str) -> bool:
    capabilities = session.capabilities
    return bool(capabilities.get("loadSession")) if what == "load" else what in _sessions(capabilities)


def _sessions(capabilities: dict[str, dict[str, object]]) -> dict[str, object]:
    return capabilities.get("sessionCapabilities", {})


def refused(session: Session, what: str, call: Callable[[], object]) -> None:
    """What an agent does not offer is an error of ours, and nothing of it is sent."""
    with pytest.raises(UsageError):
        call()
    assert sent(session, f"session/{what}") == 0


def listed(session: Session) -> list[str]:
    return [one["sessionId"] for one in session.sessions(session.cwd)]


def test_what_it_offers(session: Session, agent: str) -> None:
    ends_well(session)
    methods = " · ".join(
        what for what in "load list resume fork close delete".split() if offers(session, what)
    )
    modes = ", ".join(f"`{mode}`" for mode in session.modes)
    options = ", ".join(f"`{option['id']}`" for option in session.options)
    cells = (methods, modes, options, len(session.commands))
    name = f"{agent} {session.agent_info.version}"
    row = f"| {' | '.join(map(str, (name, *(cell or NOTHING for cell in cells))))} |"
    assert row in documented(), f"{TABLE} says otherwise; seen was:\n{row}"


def test_a_session_is_listed_loaded_and_resumed_by_later_processes(session: Session) -> None:
    ends_well(session)
    first, pid = session.session_id, session.pid
    assert first
    resumes = offers(session, "resume")
    if offers(session, "list"):
        assert listed(session) == [first]
    else:
        refused(session, "list", session.sessions)

    session.restart()
    (past,) = session.load(first)
    assert past.text == ANSWER
    assert session.pid != pid
    ends_well(session)
    assert session.session_id == first

    session.restart()
    if resumes:
        session.resume(first)
        ends_well(session)
        assert session.session_id == first
    else:
        refused(session, "resume", lambda: session.resume(first))


def test_a_session_is_forked_closed_and_deleted(session: Session) -> None:
    ends_well(session)
    first = session.session_id
    assert first
    if offers(session, "fork"):
        second = session.fork()
        assert second != first
        ends_well(session)
        assert session.session_id == second
        assert set(listed(session)) == {first, second}
    else:
        refused(session, "fork", session.fork)
    if offers(session, "close"):
        session.close()
        assert session.session_id is None
        ends_well(session)
        assert session.session_id not in {None, first}
    else:
        refused(session, "close", session.close)
    if offers(session, "delete"):
        session.delete(first)
        assert first not in listed(session)
    else:
        refused(session, "delete", lambda: session.delete(first))


def test_modes_options_and_commands(session: Session) -> None:
    ends_well(session)
    for mode in session.modes:
        session.choose(mode=mode)
        assert (session.mode or {})["id"] == mode
    for option in session.options:
        value = option["currentValue"]
        session.choose(options={option["id"]: value})
        (now,) = [one for one in session.options if one["id"] == option["id"]]
        assert now["currentValue"] == value
        if option.get("category") == "model":
            assert MODEL in value
            session.choose(model=value)
    assert sent(session, "session/set_mode") == len(session.modes)
    ends_well(session)
    if session.commands:
        names = [command["name"] for command in session.commands]
        assert all(names)
        assert len(set(names)) == len(names)


@pytest.mark.usefixtures("made")
def test_a_mode_is_in_force_before_the_first_prompt(session: Session, agent: str) -> None:
    mode = {"opencode": "plan", "fast-agent": "agent", "agentao": "read-only"}[agent]
    run = session.start("Play the scene: text.", choices=Choices(mode=mode))
    assert run.result(TIMEOUT_S).text == ANSWER
    methods = [frame.message.get("method") for frame in session.frames if frame.direction == "out"]
    setting = "session/set_config_option" if agent == "opencode" else "session/set_mode"
    assert methods.index(setting) < methods.index("session/prompt")
    assert run.turn.notes == []
