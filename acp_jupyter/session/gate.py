"""What stands before the client's files and terminals: earlier answers, and a person's yes.

See https://agentclientprotocol.com/protocol/overview#client. By the protocol a request for a file or a
terminal needs no permission. Here a no of the same turn stands, files that hold secrets need a person's yes,
and with ``ask_client_requests`` so does all that no allowed call of the turn covers; else it is told as done
without asking.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from acp_jupyter.session.covered import Answer, latest_answer
from acp_jupyter.session.files import refusal
from acp_jupyter.session.secret_files import SECRET_PATTERNS, is_secret

if TYPE_CHECKING:
    from pathlib import Path

    from acp_jupyter.model.turn import Turn


class ClientRequest(NamedTuple):
    """What an agent asks us to do.

    Args:
        kind: ``read``, ``edit`` or ``execute``.
        title: It in words.
        path: The file, as the agent named it.
        command: The command and its arguments, as one line.
        new_text: What the file is to hold.
        secret: Whether the file may hold secrets: then only a person's yes counts, and no policy's.
        terminal_id: The terminal, once the command runs.
    """

    kind: str
    title: str
    path: str | None = None
    command: str | None = None
    new_text: str | None = None
    secret: bool = False
    terminal_id: str | None = None


Consent: TypeAlias = Callable[[ClientRequest], Awaitable[bool]]
"""Asks for a yes, and waits for the answer; nothing but ``True`` is one."""


class Rules(NamedTuple):
    """The settings that hold now."""

    ask_client_requests: bool = False
    secret_patterns: tuple[str, ...] = SECRET_PATTERNS


class Gate:
    """Lets the agent's requests for files and terminals through, or not.

    Args:
        turn: The turn now; without one nothing was ever asked.
        consent: Asks. Without it files that hold secrets stay closed, and nothing else is asked.
        rules: The settings now.
        on_unasked: Told of what was done without asking, when it was done.
    """

    def __init__(
        self,
        turn: Callable[[], Turn | None] = lambda: None,
        consent: Consent | None = None,
        *,
        rules: Callable[[], Rules] = Rules,
        on_unasked: Callable[[ClientRequest], None] = lambda _request: None,
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
        _check_rejected(answer, named)
        request = self._about_file(ClientRequest("read", f"Read {named}", named), real)
        if request.secret and not _persons_yes(answer):
            await self._need_yes(request)

    async def editing(self, named: str, real: Path, new_text: str) -> Callable[[], None]:
        """Let a file be written.

        Returns:
            What to call when that is done: it tells where it was done without asking.

        Raises:
            RequestError: It was rejected in this turn, or a yes was needed and did not come.
        """
        request = ClientRequest("edit", f"Write {named}", named, new_text=new_text)
        request = self._about_file(request, real)
        asked = await self._asked(request, self._answer(path=named))
        return lambda: None if asked else self.on_unasked(request)

    async def running(self, command: str) -> Callable[[str], None]:
        """Let a command run.

        Returns:
            What to call with its terminal's id when it runs: it tells where it runs without asking.

        Raises:
            RequestError: As `editing`.
        """
        request = ClientRequest("execute", f"Run {command}", command=command)
        asked = await self._asked(request, self._answer(command=command))
        return lambda key: None if asked else self.on_unasked(request._replace(terminal_id=key))

    def _answer(
        self, *, path: str | None = None, command: str | None = None, reading: bool = False
    ) -> Answer | None:
        turn = self._turn()
        if turn is None:
            return None
        return latest_answer(turn, path=path, command=command, reading=reading)

    def _about_file(self, request: ClientRequest, real: Path) -> ClientRequest:
        patterns = self._rules().secret_patterns
        if not any(is_secret(path, patterns) for path in (request.path or "", str(real))):
            return request
        return request._replace(secret=True, title=f"{request.title}, which may hold secrets")

    async def _asked(self, request: ClientRequest, answer: Answer | None) -> bool:
        """Say whether it was asked, by an earlier call or now."""
        _check_rejected(answer, request.path or request.command or "")
        if _persons_yes(answer) or (answer is not None and not request.secret):
            return True
        if not request.secret and (self._consent is None or not self._rules().ask_client_requests):
            return False
        await self._need_yes(request)
        return True

    async def _need_yes(self, request: ClientRequest) -> None:
        if self._consent is None:
            raise refusal("denied", f"refused, because nobody can be asked: {request.title}")
        if await self._consent(request) is not True:
            raise refusal("denied", f"refused, because the answer was not yes: {request.title}")


def _check_rejected(answer: Answer | None, what: str) -> None:
    if answer is not None and not answer.allowed:
        raise refusal("rejected", f"refused, because it was rejected in this turn: {what}")


def _persons_yes(answer: Answer | None) -> bool:
    return answer is not None and answer.allowed and answer.by_person
