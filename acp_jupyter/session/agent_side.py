"""One session with an agent: which of the agent's sessions is open, and what was chosen in it.

See https://agentclientprotocol.com/protocol/session-setup. It lives on the loop; `Host` has the process and
the connection, `Conversation` plays turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

from acp_jupyter import errors
from acp_jupyter.model import events
from acp_jupyter.model.content import as_dict, as_list
from acp_jupyter.model.elicitation import secrets_sent
from acp_jupyter.model.redact import Redactor, secret_values
from acp_jupyter.model.state import LEGACY_MODEL
from acp_jupyter.model.turn import AgentInfo
from acp_jupyter.session.choices import (
    Choices,
    Setting,
    again,
    check_taken,
    current_value,
    is_mode,
    no_such_model,
    settings_of,
)
from acp_jupyter.session.opening import Place, open_session, way_back
from acp_jupyter.session.roots import Roots
from acp_jupyter.wire.answers import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_jupyter.model.state import SessionState
    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.host import Host
    from acp_jupyter.session.link import Link
    from acp_jupyter.session.opening import How
    from acp_jupyter.wire.process import AgentProcess
    from acp_jupyter.wire.v1 import Client

_PAGES = 100
_CLOSE_S = 5.0


class AgentSide:
    """Has the agent started where it does not run, and opens the session where it is not open.

    Args:
        host: The agent's process and our connection to it.
        state: The session's state, for reading.
        apply: Applies an event to it.
        client: Gives what serves the agent's requests.
        on_frame: Sees the session's messages, both ways: its direction, its line, and what that says.
        on_lost: Called where the agent ended the connection, and not we.
        on_opened: Called when a session has been opened, and when something was chosen in it.
        redact: Gives the names of further variables that hold secrets.
    """

    def __init__(  # noqa: PLR0913  # one place makes it
        self,
        host: Host,
        state: SessionState,
        apply: Callable[[events.Event], None],
        *,
        client: Callable[[], Client],
        on_frame: Callable[[str, bytes, Any], None],
        on_lost: Callable[[], None],
        on_opened: Callable[[], None],
        redact: Callable[[], Iterable[str]],
    ) -> None:
        self.host = host
        self.roots: Roots | None = None
        self.mcp_servers: list[dict[str, Any]] = []
        self.meta: dict[str, Any] | None = None  # told the agent with a new session
        self.begun: set[str] = set()  # the sessions that were begun by us, afresh or as a copy
        self.chosen: dict[str | None, Any] = {}  # what the user wants, whichever process and session it is
        self.on_frame = on_frame
        self.on_lost = on_lost
        self._state = state
        self._apply = apply
        self._client = client
        self._on_opened = on_opened
        self._redact = redact
        self._secrets: set[str] = set()
        self._opened_on: Link | None = None
        self._settled = True
        self._ignored_before = host.ignored
        self._starting = asyncio.Lock()
        host.join(self)

    @property
    def spec(self) -> AgentSpec:
        """The agent's entry."""
        return self.host.spec

    @spec.setter
    def spec(self, spec: AgentSpec) -> None:
        self.host.spec = spec

    @property
    def process(self) -> AgentProcess | None:
        """The agent's latest process."""
        return self.host.process

    @property
    def link(self) -> Link | None:
        """The connection to it."""
        return self.host.link

    @property
    def client(self) -> Client:
        """What serves the agent's requests in this session."""
        return self._client()

    @property
    def _open(self) -> bool:
        return self._opened_on is not None and self._opened_on is self.link

    @property
    def info(self) -> AgentInfo:
        """What is known of the agent."""
        told = self.link.connection.agent_info if self.link else {}
        title = told.get("title") or self.spec.title or told.get("name") or self.spec.name
        version = told.get("version")
        return AgentInfo(self.spec.name, str(title), str(version) if version is not None else None)

    @property
    def redactor(self) -> Redactor:
        """Knows the secrets that the agent was ever given: in variables, to MCP servers, in forms."""
        given = [
            pair.get("value")
            for server in self.mcp_servers
            for pair in map(as_dict, (*as_list(server.get("env")), *as_list(server.get("headers"))))
        ]
        environment = {**os.environ, **self.spec.env}
        typed = [text for _turn, one in self._state.all_elicitations() for text in secrets_sent(one)]
        values = secret_values(environment, self._redact())
        # what was removed since may stand in what is shown again
        self._secrets |= {*values, *typed, *(one for one in given if isinstance(one, str))}
        return Redactor(self._secrets)

    @property
    def stderr(self) -> str:
        """The last part of its error output."""
        return self.process.stderr_tail() if self.process else ""

    @property
    def ignored(self) -> int:
        """How many messages and lines of its processes could not be used."""
        return self.host.ignored - self._ignored_before

    @property
    def noise(self) -> list[tuple[str, str]]:
        """What its latest process wrote that was ignored or repaired: why, and how the text begins."""
        return list(self.link.connection.noise) if self.link else []

    @property
    def session_open(self) -> bool:
        """Whether a prompt needs nothing but to be sent."""
        return self._open and self.link is not None and self.link.alive

    def the_roots(self) -> Roots:
        """Return the session's directories; by default the kernel's, from now on."""
        if self.roots is None:
            self.roots = Roots.of()
        return self.roots

    # --- the process

    async def connected(self) -> Link:
        """Return the running agent, initialized; it is started where it does not run.

        Raises:
            AgentError: It cannot start, ends, does not answer in time, or speaks another version.
        """
        async with self._starting:
            return await self._connected()

    async def _connected(self) -> Link:
        self.host.join(self)
        try:
            return await self.host.connected(self.the_roots())
        except BaseException:
            self._free_roots()
            raise

    def _free_roots(self) -> None:
        """Where no session was ever made, the next prompt may choose other directories."""
        if self._state.session_id is None:
            self.roots = None

    async def disconnect(self) -> bool:
        """End the connection, where the session has it for itself; a shared one is left.

        Returns:
            Whether there was one that was ended: then a prompt that is under way has failed.
        """
        if self.host.shared:
            await self._leave_shared()
            return False
        self._opened_on = None
        return await self.host.disconnect()

    async def end_process(self) -> None:
        """End the agent's process and its whole tree, within 5 s, where the session has it for itself."""
        if not self.host.shared:
            await self.host.end_process()

    async def _leave_shared(self) -> None:
        """Close the session where the agent can do that; the process goes on for the others."""
        link, was_open, self._opened_on = self.link, self.session_open, None
        try:
            if link is not None and was_open and link.connection.offers("sessionCapabilities", "close"):
                with contextlib.suppress(errors.AcpError):  # it is over all the same
                    await link.connection.close_session(str(self._state.session_id), timeout_s=_CLOSE_S)
        finally:
            self.host.leave(self)

    # --- the session

    async def opened(self) -> Link:
        """Return the running agent with the session open on it: the one of before where it remembers that.

        Raises:
            AgentError: As `connected`.
            RequestFailed: It refuses; `AuthenticationRequired` where it wants a log-in.
        """
        async with self._starting:
            why = self._why_not_open()
            link = await self._connected()
            if not self._open:
                await self._open_again(link, why)
            await self._settle(link)
            return link

    def _why_not_open(self) -> str:
        """Why a session that was open is no longer; empty where none was."""
        link = self._opened_on or self.link
        if self._state.session_id is None or (link is not None and link.alive and link is self.link):
            return ""
        if link is None:
            return "the agent's process was stopped"
        return f"the agent's process had ended (exit code {link.process.returncode})"

    async def _open_again(self, link: Link, why: str) -> None:
        before = self._state.session_id
        how = way_back(link.connection) if before is not None else None
        self._forget_the_agents_session()
        if how is not None:
            try:
                await self._open_on(link, how, before)
            except errors.AuthenticationRequired:
                raise
            except errors.RequestFailed as error:
                why += f", and the session could not be had again ({error.message})"
            else:
                if why:
                    text = f"A new process was started, because {why}. It has taken up the session again."
                    self._note(text, "info")
                return
        try:
            await self._open_on(link, "new")
            await self._set_defaults(link)
        except errors.AuthenticationRequired:  # a log-in goes on with this process
            self._free_roots()
            raise
        except BaseException:
            await self._give_up(link)
            raise
        if why:
            text = f"A new process was started, because {why}: it does not know what was said before."
            self._note(text, "warning")

    async def _set_defaults(self, link: Link) -> None:
        """Set what the user wants of every session with this agent; a mode that it refuses is an error.

        The mode says what the agent may do unasked. Without the rest the session goes on, and says so.
        """
        spec = self.spec
        one_by_one = [
            Choices(model=spec.default_model),
            *(Choices(options={k: v}) for k, v in spec.default_options.items()),
        ]
        for choices in one_by_one:
            try:
                await self._set(link, choices)
            except (errors.UsageError, errors.RequestFailed) as error:  # noqa: PERF203  # one costs no other
                self._note(f"A default of {spec.name} could not be set: {error.message}.", "warning")
        await self._set(link, Choices(mode=spec.default_mode))

    async def _settle(self, link: Link) -> None:
        """Set again what the user has chosen: the agent may have begun with more rights than that.

        Raises:
            UsageError: It refuses; what it refused is asked for no more.
        """
        if self._settled:
            return
        if self.spec.default_mode and not any(is_mode(self._state, one) for one in self.chosen):
            await self._choose_again(link, Setting(None, self.spec.default_mode))
        refused: list[str] = []
        for setting in [Setting(*chosen) for chosen in self.chosen.items()]:
            try:
                await self._choose_again(link, setting)
            except errors.AuthenticationRequired:  # noqa: PERF203  # one that is refused costs no other
                raise
            except (errors.UsageError, errors.RequestFailed) as error:
                del self.chosen[setting.option_id]
                refused.append(error.message)
        self._settled = True
        if refused:
            self._on_opened()
            raise errors.UsageError(
                f"what you had chosen could not be set again: {'; '.join(refused)}",
                advice="No prompt was sent. Choose anew (%acp mode, model, set), or go on without it.",
            )

    async def _choose_again(self, link: Link, setting: Setting) -> None:
        needed = again(self._state, setting)
        if needed is not None:
            await self._choose(link, needed)

    async def _give_up(self, link: Link) -> None:
        self._opened_on = None
        if not self.host.shared:
            await self.host.give_up(link)
        self._free_roots()

    async def _open_on(self, link: Link, how: How, session_id: str | None = None) -> None:
        router = self.host.router
        router.forget(self)
        if session_id is not None and how in {"load", "resume"}:  # its history comes before the answer
            router.claim(session_id, self)
        router.opening += 1
        try:
            await open_session(
                link.connection,
                self._apply_opening,
                how=how,
                session_id=session_id,
                place=Place(self.the_roots(), self.mcp_servers, self.meta),
                agent=self.info,
                timeout_s=self.host.start_s,
            )
        finally:
            router.opened()
        self._opened_on, self._settled = link, False
        if how in {"new", "fork"}:
            self.begun.add(str(self._state.session_id))
        self._on_opened()

    def _apply_opening(self, event: events.Event) -> None:
        if isinstance(event, events.SessionOpened):  # in wire order: what came before it is told before it
            self.host.router.claim(event.session_id, self)
        self._apply(event)

    def _forget_the_agents_session(self) -> None:
        """What the process before this one has told about itself is over."""
        self._apply(events.SessionLeft())

    def _note(self, text: str, severity: str) -> None:
        self._apply(events.Noted(text, severity))

    async def switch(self, how: How, session_id: str, roots: Roots | None = None) -> None:
        """Go on with another session that the agent remembers.

        Raises:
            UsageError: The agent cannot do that.
            RequestFailed: It does not know the session, or refuses.
        """
        async with self._starting:
            before, self.roots = self.roots, roots or self.roots
            try:
                link = await self._connected()
                self._forget_the_agents_session()
                try:
                    await self._open_on(link, how, session_id)
                except BaseException:
                    self._apply(events.SessionStayed())
                    raise
            except BaseException:
                self.roots = before
                raise
            await self._settle(link)

    async def leave(self) -> None:
        """Let the agent close the session; the next prompt begins another.

        Raises:
            UsageError: It cannot close sessions, or none is open.
        """
        if not self.session_open or self.link is None:
            raise errors.UsageError("no session is open")
        await self.link.connection.close_session(str(self._state.session_id))
        self._opened_on = None
        self._apply(events.SessionLeft(forgotten=True))

    async def list_sessions(self, cwd: str | None) -> list[dict[str, Any]]:
        """Return what the agent remembers, of one directory or of all, in its order.

        Raises:
            UsageError: It keeps no list.
        """
        link = await self.connected()
        sessions: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await link.connection.list_sessions(cwd=cwd, cursor=cursor)
            sessions += page.get("sessions") or []
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return sessions

    async def delete_session(self, session_id: str) -> None:
        """Let the agent forget a session.

        Raises:
            UsageError: It cannot.
        """
        link = await self.connected()
        await link.connection.delete_session(session_id)
        if session_id == self._state.session_id:
            self._opened_on = None
            self._apply(events.SessionLeft(forgotten=True))

    # --- what the agent lets be chosen

    async def choose(self, choices: Choices) -> None:
        """Set options, model and mode now, whether a turn is running or not.

        Raises:
            UsageError: The agent offers no such thing.
            RequestFailed: It refuses.
        """
        if not choices:
            return
        link = await self.opened()
        for setting in settings_of(self._state, choices):
            await self._choose(link, setting)
            self.chosen[setting.option_id] = setting.value
        self._on_opened()

    async def _set(self, link: Link, choices: Choices) -> None:
        for setting in settings_of(self._state, choices):
            await self._choose(link, setting)

    async def _choose(self, link: Link, setting: Setting) -> None:
        connection, session_id = link.connection, str(self._state.session_id)
        option_id, value = setting
        self._apply(events.ChoiceAsked(option_id, value))
        options, done, before = None, False, current_value(self._state, option_id)
        try:
            if option_id is None:
                await connection.set_mode(session_id, value)
            elif option_id == LEGACY_MODEL:
                await connection.set_model(session_id, value)
            else:
                options = await connection.set_config_option(session_id, option_id, value)
            done = True
        except errors.RequestFailed as error:
            if option_id == LEGACY_MODEL and error.code == METHOD_NOT_FOUND:
                raise no_such_model(value) from error
            raise
        finally:
            self._apply(events.ChoiceAnswered(option_id, value, options, done))
        if options is not None:
            check_taken(self._state, setting, before)

    # --- log-in

    async def auth_methods(self) -> list[dict[str, Any]]:
        """Return the agent's log-ins, as the protocol spells them."""
        return (await self.connected()).connection.auth_methods

    async def login(self, method_id: str) -> None:
        """Log in by one of the agent's own methods; a person may be busy in a browser, so without a limit.

        Raises:
            UsageError: No such method, or one that runs in a terminal.
            RequestFailed: It refuses.
        """
        await (await self.connected()).connection.authenticate(method_id)

    async def logout(self) -> None:
        """Log out.

        Raises:
            UsageError: The agent offers no such thing.
        """
        await (await self.connected()).connection.logout()
