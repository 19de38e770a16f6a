"""What stands before the client's files and terminals: earlier answers, and a person's yes.

See https://agentclientprotocol.com/protocol/overview#client. By the protocol a request for a file or a
terminal needs no permission. Here a no of the same turn stands, files that hold secrets need a person's yes,
and with ``ask_client_requests`` so does all that no allowed call of the turn covers; else it is told as done
without asking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from acp_jupyter.session.covered import Answer, latest_answer
from acp_jupyter.session.files import refusal
from acp_jupyter.session.secret_files import SECRET_PATTERNS, is_secret

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from acp_jupyter.model.turn import Turn


class Consent(Protocol):
    """Asks. ``kind`` is ``read``, ``edit`` or ``execute``; only ``True`` is a yes.

    Where it is about a ``secret``, only a person may give it; else a policy may too.
    """

    def __call__(
        self,
        kind: str,
        title: str,
        *,
        path: str | None,
        command: str | None,
        new_text: str | None,
        secret: bool,
    ) -> Awaitable[bool]:
        """Ask, and wait for the answer."""
        ...


class Rules(NamedTuple):
    """The settings that hold now."""

    ask_client_requests: bool = False
    secret_patterns: tuple[str, ...] = SECRET_PATTERNS


class Unasked(NamedTuple):
    """Something that was done for the agent and that no allowed call of the turn covers."""

    kind: str
    path: str | None = None
    command: str | None = None
    terminal_id: str | None = None


class Gate:
    """Lets the agent's requests for files and terminals through, or not.

    Args:
        turn: The turn now; without one nothing was ever asked.
        consent: Asks a person. Without it files that hold secrets stay closed, and nothing else is asked.
        rules: The settings now.
        on_unasked: Told of what was done without asking, when it was done.
    """

    def __init__(
        self,
        turn: Callable[[], Turn | None] = lambda: None,
        consent: Consent | None = None,
        *,
        rules: Callable[[], Rules] = Rules,
        on_unasked: Callable[[Unasked], None] = lambda _unasked: None,
    ) -> None:
        self._turn = turn
        self._consent = consent
        self._rules = rules
        self.on_unasked = on_unasked

    async def reading(self, named: str, real: Path) -> None:
        """Let a file be read.

        Raises:
            RequestError: It was rejected in this turn, or holds secrets and no person said yes.
        """
        answer = self._answer(path=named, reading=True)
        self._check_rejected(answer, named)
        if self._secret(named, real) and not _persons_yes(answer):
            await self._ask_for_secret("read", f"Read {named}, which may hold secrets", path=named)

    async def editing(self, named: str, real: Path, new_text: str) -> bool:
        """Let a file be written; returns whether that was asked, here or by an allowed call.

        Raises:
            RequestError: It was rejected in this turn, or a person's yes was needed and did not come.
        """
        answer = self._answer(path=named)
        self._check_rejected(answer, named)
        if self._secret(named, real) and not _persons_yes(answer):
            title = f"Write {named}, which may hold secrets"
            await self._ask_for_secret("edit", title, path=named, new_text=new_text)
            return True
        return answer is not None or await self._ask("edit", f"Write {named}", path=named, new_text=new_text)

    async def running(self, command: str) -> bool:
        """Let a command run; returns whether that was asked, here or by an allowed call.

        Raises:
            RequestError: As `editing`.
        """
        answer = self._answer(command=command)
        self._check_rejected(answer, command)
        return answer is not None or await self._ask("execute", f"Run {command}", command=command)

    def _answer(self, **what: Any) -> Answer | None:
        turn = self._turn()
        return None if turn is None else latest_answer(turn, **what)

    def _secret(self, named: str, real: Path) -> bool:
        patterns = self._rules().secret_patterns
        return is_secret(named, patterns) or is_secret(str(real), patterns)

    def _check_rejected(self, answer: Answer | None, what: str) -> None:
        if answer is not None and not answer.allowed:
            raise refusal("rejected", f"refused: {what} was rejected in this turn")

    async def _ask_for_secret(self, kind: str, title: str, **what: Any) -> None:
        if self._consent is None:
            raise refusal("denied", f"refused: {title}; that needs a person's yes, and nobody can be asked")
        await self._need_yes(self._consent, kind, title, secret=True, **what)

    async def _ask(self, kind: str, title: str, **what: Any) -> bool:
        if self._consent is None or not self._rules().ask_client_requests:
            return False
        await self._need_yes(self._consent, kind, title, **what)
        return True

    async def _need_yes(self, consent: Consent, kind: str, title: str, **what: Any) -> None:
        whole = {"path": None, "command": None, "new_text": None, "secret": False, **what}
        if await consent(kind, title, **whole) is not True:
            raise refusal("denied", f"refused, because the answer was not yes: {title}")


def _persons_yes(answer: Answer | None) -> bool:
    return answer is not None and answer.allowed and answer.by_person
