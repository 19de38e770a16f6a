"""A session with one agent: prompts in, turns out, from cell to cell.

See https://agentclientprotocol.com/protocol/overview. This is its face, for any thread; what changes anything
is handed over to the loop, where `acp_jupyter.session.conversation` does it.
"""

from __future__ import annotations

import contextlib
import itertools
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from acp_jupyter import errors
from acp_jupyter.model.shown import Shown
from acp_jupyter.model.tool_call import ToolCalls
from acp_jupyter.model.turn import AgentInfo, Turn
from acp_jupyter.session.choices import Choices, offers
from acp_jupyter.session.conversation import Conversation
from acp_jupyter.session.elicitation import PendingElicitation
from acp_jupyter.session.memory import Remembered
from acp_jupyter.session.opening import way_back
from acp_jupyter.session.permissions import PendingPermission
from acp_jupyter.session.policy import check_policy
from acp_jupyter.session.roots import Roots
from acp_jupyter.session.run import Limits, TurnRun
from acp_jupyter.session.settings import settings

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Coroutine, Generator, Sequence
    from concurrent.futures import Future

    from acp_jupyter.model.log import Log
    from acp_jupyter.model.redact import Redactor
    from acp_jupyter.model.state import Change
    from acp_jupyter.session.agents import AgentSpec
    from acp_jupyter.session.frames import Frames
    from acp_jupyter.session.host import Host
    from acp_jupyter.session.loop import LoopThread
    from acp_jupyter.session.memory import Chosen
    from acp_jupyter.session.opening import How
    from acp_jupyter.session.store import TextStore
    from acp_jupyter.wire.watcher import Watcher


T = TypeVar("T")

_IGNORED_CHARACTERS = 500
_IGNORED_SHOWN = 5

# The `with session.attended()` that surround a caller, each with the ids of the turns started in it.
_ATTENDING: ContextVar[tuple[tuple[Session, set[str]], ...]] = ContextVar("attending", default=())


class Session(Shown):
    """A session with an agent. Its process starts at the first prompt and stays until it is stopped.

    Args:
        spec: The agent.
        loop: Where everything asynchronous runs.
        watcher: Ends the agent when the kernel dies.
        keep: Remembers the session for a later kernel; returns what there is to say about those before it.
        recall: Gives a session that is to be gone on with as an earlier kernel has remembered it.
        present: Shows a turn while it runs, asks what is to be asked, and returns it at its end. Without it
            nobody is asked, and what no policy answers is rejected.
        limits: How long it waits for the agent.
        chosen: The options, ``None`` for the mode, and their values that the user has chosen before.
        host: A running agent that it shares with other sessions, where `stop` ends the session alone; by
            default it has one for itself.
        store: Where the agent's files are; by default on the disk, in the session's directories.
    """

    def __init__(  # noqa: PLR0913  # each is named at the call
        self,
        spec: AgentSpec,
        *,
        loop: LoopThread,
        watcher: Watcher | None = None,
        present: Callable[[TurnRun], Turn] | None = None,
        keep: Callable[[Remembered], str | None] | None = None,
        recall: Callable[[str], Remembered | None] = lambda _session_id: None,
        limits: Limits = Limits(),  # noqa: B008  # it never changes
        chosen: Chosen = (),
        host: Host | None = None,
        store: TextStore | None = None,
    ) -> None:
        self.loop = loop
        self._policy: str | None = None
        self._present = present
        self._numbers = itertools.count(1)
        self._attended: set[str] = set()
        self.keep = keep
        self._recall = recall
        self._conversation = Conversation(
            spec,
            watcher,
            limits,
            lambda turn: turn.turn_id in self._attended,
            self._opened,
            host=host,
            store=store,
        )
        if chosen:
            self._conversation.agent.chosen = dict(chosen)
            listed = ", ".join(f"{option_id or 'mode'} = {value}" for option_id, value in chosen)
            self._conversation.to_tell.append(f"As you last chose with {spec.name}: {listed}.")

    # --- what it looks like from outside

    @property
    def spec(self) -> AgentSpec:
        """The agent's entry."""
        return self._conversation.agent.spec

    @property
    def lock(self) -> threading.RLock:
        """Held while the state changes."""
        return self._conversation.lock

    @property
    def redactor(self) -> Redactor:
        """Takes out of texts what the agent's environment and MCP servers have of secrets."""
        return self._conversation.agent.redactor

    @property
    def roots(self) -> Roots | None:
        """The directories it works in; ``None`` before the first prompt."""
        return self._conversation.agent.roots

    @property
    def frames(self) -> Frames:
        """The latest messages on the wire, as they were: secrets are in them."""
        return self._conversation.frames

    @property
    def log(self) -> Log:
        """The same as a table, without secrets; what was ignored is said above it."""
        count, latest = self._conversation.agent.ignored, self.ignored[-_IGNORED_SHOWN:]
        head = [f"{count:,} of the agent's lines and messages could not be used: ignored."] if count else []
        return self.frames.log([*head, *latest])

    @property
    def ignored(self) -> list[str]:
        """What the agent's latest process wrote that was ignored or repaired, each with why; no secrets."""
        # cut after the secrets went: a part of one is not known for one
        return [
            f"{reason}: {self.redactor.text(text)[:_IGNORED_CHARACTERS]}"
            for reason, text in self._conversation.agent.noise
        ]

    @property
    def name(self) -> str:
        """The agent's name, as its user calls it."""
        return self.spec.name

    @property
    def policy(self) -> str:
        """The permission policy of turns that name none; by default the one in ``ACP_JUPYTER_POLICY``.

        Raises:
            UsageError: On setting one that does not exist; or the environment names one that does not.
        """
        return self._policy or settings(self.cwd).policy

    @property
    def policy_told(self) -> str:
        """The same with where it is from: ``ask, by pyproject.toml``."""
        return (
            f"{self._policy}, by session.policy" if self._policy else settings(self.cwd).described("policy")
        )

    @policy.setter
    def policy(self, name: str) -> None:
        self._policy = check_policy(name)

    @property
    def session_id(self) -> str | None:
        """The agent's own id of the session; ``None`` before the first prompt."""
        return self._conversation.state.session_id

    @property
    def begun(self) -> set[str]:
        """The ids of the sessions that were begun here, and not gone on with."""
        return self._conversation.agent.begun

    @property
    def way_back(self) -> How | None:
        """How the running agent takes up a session of before; ``None`` where it cannot."""
        link = self._conversation.agent.link
        return way_back(link.connection) if link is not None else None

    @property
    def cwd(self) -> str | None:
        """The directory it works in; ``None`` before the first prompt."""
        return self.roots.cwd if self.roots else None

    @property
    def turns(self) -> list[Turn]:
        """The turns so far, the latest 100 of them."""
        return list(self._conversation.state.turns)

    @property
    def turn(self) -> Turn | None:
        """The latest turn."""
        return self._conversation.state.turn

    @property
    def tool_calls(self) -> ToolCalls:
        """The tool calls of these turns: ids are unique within the session."""
        return ToolCalls(call for turn in self.turns for call in turn.tool_calls)

    @property
    def pending(self) -> list[PendingPermission]:
        """The permission requests that wait for an answer."""
        broker = self._conversation.broker
        return [
            PendingPermission(permission, turn.asked_about(permission), broker, self.loop)
            for turn in self.turns
            for permission in turn.pending
        ]

    @property
    def pending_elicitations(self) -> list[PendingElicitation]:
        """The forms and addresses that wait for an answer, also those outside of any turn."""
        broker = self._conversation.elicitations
        return [PendingElicitation(node, turn, broker, self.loop) for turn, node in broker.open_ones()]

    @property
    def pid(self) -> int | None:
        """The agent's process id, while it runs."""
        process = self._conversation.agent.process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self.turn is not None and not self.turn.ended

    @property
    def stderr(self) -> str:
        """The last lines of the agent's error output."""
        return self._conversation.agent.stderr

    def __repr__(self) -> str:
        where = f" in {self.cwd}" if self.cwd else ""
        return f"<Session with {self.name}{where}: {len(self.turns)} turns, id {self.session_id}>"

    # --- prompts

    def run(
        self,
        task: str,
        *,
        policy: str | None = None,
        timeout_s: float | None = None,
        choices: Choices = Choices(),  # noqa: B008  # it never changes
    ) -> Turn:
        """Run one turn with ``task``, show it, and return it at its end.

        Args:
            task: The prompt, Markdown, sent as it stands.
            policy: The permission policy of this turn only; by default the session's.
            timeout_s: Cancel the turn after so many seconds.
            choices: The mode, model and options to be in force before the prompt; they stay.

        Raises:
            AcpError: The turn could not be brought to its end; what was received stays in `turn`.
        """
        more: Any = {"policy": policy, "timeout_s": timeout_s, "choices": choices}
        if self._present is None:
            return self.start(task, **more).result()
        with self.attended():
            return self._present(self.start(task, **more))

    def start(
        self,
        task: str | Sequence[dict[str, Any]],
        *,
        policy: str | None = None,
        timeout_s: float | None = None,
        choices: Choices = Choices(),  # noqa: B008  # it never changes
        attended: bool = False,
    ) -> TurnRun:
        """Start a turn and return at once. One turn runs at a time; others wait for theirs.

        Args:
            task: The prompt, as text or as the protocol's content blocks.
            policy: The permission policy of this turn only; by default the session's.
            timeout_s: Cancel the turn after so many seconds.
            choices: The mode, model and options to be in force before the prompt; they stay.
            attended: Whether somebody can be asked about it to its end, as within `attended`.

        Raises:
            UsageError: The task is empty, there is no such policy, or the environment holds a wrong setting.
        """
        prompt = [{"type": "text", "text": task}] if isinstance(task, str) else [dict(one) for one in task]
        if not prompt or not any(one.get("type") != "text" or str(one.get("text")).strip() for one in prompt):
            raise errors.UsageError("the task is empty", advice="Write what the agent is to do.")
        roots = self._conversation.agent.the_roots()
        standing = settings(roots.cwd, call={"policy": policy}, option={"policy": self._policy})
        turn = Turn(
            turn_id=uuid.uuid4().hex,
            number=next(self._numbers),
            agent=self._conversation.agent.info,
            cwd=roots.cwd,
            additional_directories=list(roots.additional),
            prompt=prompt,
            policy=standing.policy,
            session_id=self.session_id,
        )
        for session, turn_ids in _ATTENDING.get():
            if session is self:
                turn_ids.add(turn.turn_id)
                self._attended.add(turn.turn_id)
        if attended:
            self._attended.add(turn.turn_id)
        playing = self._conversation.play(turn, standing, timeout_s, choices)
        run = TurnRun(self, turn, self.loop.submit(playing), standing)
        run.on_done(lambda: self._attended.discard(turn.turn_id))
        return run

    @contextlib.contextmanager
    def attended(self) -> Generator[None]:
        """While this lasts somebody can be asked about the turns that are started within it.

        Without, a request that no policy answers is rejected. It counts for the caller's thread or task only.
        """
        turn_ids: set[str] = set()
        token = _ATTENDING.set((*_ATTENDING.get(), (self, turn_ids)))
        try:
            yield
        finally:
            _ATTENDING.reset(token)
            self._attended -= turn_ids

    def listen(
        self, listener: Callable[[list[Change]], None], turn: Turn | None = None
    ) -> Callable[[], None]:
        """Call ``listener`` with what changes, on the loop with `lock` held; returns how to end that.

        Args:
            listener: Takes the changes of one event.
            turn: Of which turn; by default of all.
        """
        return self._conversation.listen(listener, turn)

    def decide(self, key: str, option_id: str | None) -> None:
        """Answer a request for the person at the card, by ``None`` with none of its options.

        Safe from any thread; a late answer is ignored.
        """
        self.loop.call(self._decide, key, option_id)

    def reject_unasked(self, key: str) -> None:
        """Reject a request because nobody can be asked; safe from any thread."""

        def on_loop() -> None:
            with contextlib.suppress(errors.PermissionClosed):
                self._conversation.broker.reject_unasked(key)

        self.loop.call(on_loop)

    def elicit(self, key: Any, action: Any, content: Any) -> None:
        """Answer a form or an address for the person at the card.

        Safe from any thread; what is late or malformed is ignored, values that do not fit leave it open.
        """
        self.loop.call(self._conversation.elicitations.answer, key, action, content)

    @property
    def offers(self) -> list[dict[str, Any]]:
        """What may be chosen at a card, see `acp_jupyter.session.choices.offers`."""
        return offers(self._conversation.state)

    def choose_at_card(self, option_id: str | None, value: str) -> None:
        """Choose a mode (``option_id`` ``None``) or an option's value; safe from any thread."""
        self.loop.submit(self._conversation.choose_at_card(option_id, value))

    def stop_terminal(self, terminal_id: str) -> None:
        """Kill a command that runs for the agent, and all that it started; the turn goes on.

        Safe from any thread. One that has ended, or is not ours to end, is left alone.
        """
        self.loop.call(self._conversation.stop_terminal, terminal_id)

    def decline_unasked(self, key: str) -> None:
        """Decline a form or an address because nobody can be asked; safe from any thread."""

        def on_loop() -> None:
            with contextlib.suppress(errors.ElicitationClosed):
                self._conversation.elicitations.decline_unasked(key)

        self.loop.call(on_loop)

    def _decide(self, key: str, option_id: str | None) -> None:
        with contextlib.suppress(errors.PermissionClosed, errors.UsageError):
            self._conversation.broker.decide(key, option_id)

    # --- life

    def set_roots(self, cwd: str | None, additional: Sequence[str]) -> None:
        """Set the session's directories, before its agent is started.

        Raises:
            UsageError: It runs already, in other directories.
        """
        roots = Roots.of(cwd or self.cwd, additional or (self.roots.additional if self.roots else ()))
        if self.session_id is not None and roots != self.roots:
            raise errors.UsageError(
                f"the session with {self.name} runs in {self.cwd} already",
                advice="`%acp new` begins a session that may have other directories.",
            )
        self._conversation.agent.roots = roots

    def use(self, spec: AgentSpec) -> None:
        """Take another entry for the agent, unless its process runs or starts; earlier turns are kept."""
        if self.pid is None and not self.running:
            self._conversation.agent.spec = spec

    def cancel(self, turn: Turn | None = None) -> None:
        """Ask the agent to end a turn, by default the latest; safe from any thread."""
        turn = turn or self.turn
        if turn is not None and not turn.ended:
            self.loop.call(self._conversation.cancel, turn)

    def new(self) -> None:
        """Forget the agent-side session: the next prompt begins one afresh, in the kernel's directory."""
        self.stop()
        with self.lock:
            self._conversation.state.session_id = None
            self._conversation.state.history = []
            self._conversation.agent.roots = None

    def restart(self) -> None:
        """End the agent's process; the next prompt starts another, in the same directories."""
        self.stop()

    # --- the sessions that the agent remembers

    @property
    def history(self) -> list[Turn]:
        """The turns that the agent told from its memory when it loaded this session."""
        return list(self._conversation.state.history)

    def sessions(self, cwd: str | None = None) -> list[dict[str, Any]]:
        """Return what the agent remembers, as the protocol spells it; it is started where it does not run.

        Args:
            cwd: Of this directory only.

        Raises:
            UsageError: It keeps no list.
        """
        return self._on_loop(self._conversation.agent.list_sessions(cwd))

    def load(self, session_id: str, cwd: str | None = None) -> list[Turn]:
        """Go on with a session that the agent remembers, and return the history that it tells.

        Args:
            session_id: The agent's own id of it.
            cwd: Its working directory; by default that of this session, or the kernel's.

        Raises:
            UsageError: The agent cannot do that, or a turn is running.
            RequestFailed: It does not know the session, or refuses.
        """
        self._switch("load", session_id, cwd)
        return self.history

    def resume(self, session_id: str, cwd: str | None = None) -> None:
        """Go on with a session that the agent remembers, without its history; otherwise as `load`."""
        self._switch("resume", session_id, cwd)

    async def take_up(self, session_id: str) -> None:
        """As `resume` or `load`, whichever the agent can, without its history; for those on the loop.

        Raises:
            UsageError: It can neither.
        """
        link = await self._conversation.agent.connected()
        how = way_back(link.connection)
        if how is None:
            raise errors.UsageError(
                "the agent cannot go on with a session of before",
                advice="It offers neither sessionCapabilities.resume nor loadSession.",
            )
        await self._conversation.switch(how, session_id)

    def fork(self, session_id: str | None = None, cwd: str | None = None) -> str:
        """Go on with a copy of a session, by default of this one, and return its id; otherwise as `load`."""
        source = session_id or self.session_id
        if source is None:
            raise errors.UsageError("there is no session to fork yet")
        self._switch("fork", source, cwd)
        return str(self.session_id)

    def close(self) -> None:
        """Let the agent close the session; it may still remember it, and the next prompt begins another.

        Raises:
            UsageError: It cannot close sessions, none is open, or a turn is running.
        """
        self._on_loop(self._conversation.leave())

    def delete(self, session_id: str) -> None:
        """Let the agent forget a session.

        Raises:
            UsageError: It cannot.
        """
        self._on_loop(self._conversation.agent.delete_session(session_id))

    def _switch(self, how: How, session_id: str, cwd: str | None) -> None:
        roots = Roots.of(cwd, self.roots.additional if self.roots else ()) if cwd is not None else None
        recalled = self._recall(session_id)
        if recalled is not None:  # what was chosen in this kernel counts over it
            agent = self._conversation.agent
            agent.chosen = {**dict(recalled.chosen), **agent.chosen}
        self._on_loop(self._conversation.switch(how, session_id, roots))

    def _opened(self) -> None:
        """Called on the loop: the session has an id, and will have it in a later kernel."""
        if self.keep is None or self.session_id is None or self.cwd is None:
            return
        chosen = tuple(self._conversation.agent.chosen.items())
        text = self.keep(Remembered(self.session_id, self.cwd, chosen))
        if text:
            self._conversation.to_tell.append(text)

    @contextlib.contextmanager
    def redacting(self) -> Generator[None]:
        """See that what is shown of an error that leaves this block has no secrets in it."""
        try:
            yield
        except errors.AcpError as error:
            error.redact = self.redactor.text
            raise

    def _on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self.redacting():
            return self.loop.run(coroutine)

    # --- what it lets be chosen, and log-in

    @property
    def modes(self) -> dict[str, str]:
        """The agent's modes, id to name, where it has any besides its options."""
        return dict(self._conversation.state.modes)

    @property
    def mode(self) -> dict[str, Any] | None:
        """The agent's current mode, ``{id, name}``."""
        return self._conversation.state.mode

    @property
    def options(self) -> list[dict[str, Any]]:
        """The agent's options, as the protocol spells them."""
        return [dict(option) for option in self._conversation.state.config_options]

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The agent's slash commands: ``{name, description}``, and ``hint`` where it gives one."""
        return list(self._conversation.state.commands)

    def choose(
        self, *, mode: str | None = None, model: str | None = None, options: dict[str, Any] | None = None
    ) -> None:
        """Set mode, model and options, by id or by name, now; the session is opened where it is not.

        Raises:
            UsageError: The agent offers no such thing; the advice says what it offers.
            RequestFailed: It refuses.
        """
        self._on_loop(self._conversation.agent.choose(Choices(mode, model, options or {})))

    @property
    def mcp_servers(self) -> list[dict[str, Any]]:
        """The MCP servers that a session is opened with, as the protocol spells them; change it in place."""
        return self._conversation.agent.mcp_servers

    @property
    def meta(self) -> dict[str, Any] | None:
        """What the agent is told with a new session as ``_meta``."""
        return self._conversation.agent.meta

    @meta.setter
    def meta(self, meta: dict[str, Any] | None) -> None:
        self._conversation.agent.meta = meta

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the agent said it can do; empty while it does not run."""
        link = self._conversation.agent.link
        return link.connection.agent_capabilities if link else {}

    @property
    def agent_info(self) -> AgentInfo:
        """What the agent has told of itself: title and version."""
        return self._conversation.agent.info

    @property
    def auth_methods(self) -> list[dict[str, Any]]:
        """The agent's log-ins, as the protocol spells them; the agent is started where it does not run."""
        return self._on_loop(self._conversation.agent.auth_methods())

    def login(self, method_id: str) -> None:
        """Log in by one of the agent's own methods; it may open a browser, and takes as long as that takes.

        What the agent asks for meanwhile waits in `pending_elicitations` where the caller is `attended`;
        otherwise it is declined.

        Raises:
            UsageError: No such method, or one that runs in a terminal.
            RequestFailed: It refuses.
        """
        if all(session is not self for session, _turn_ids in _ATTENDING.get()):
            self._on_loop(self._conversation.agent.login(method_id))
        else:
            self.start_login(method_id).result()

    def start_login(self, method_id: str) -> Future[None]:
        """Begin to log in where somebody can be asked, and return at once; otherwise as `login`."""
        return self.loop.submit(self._attended_login(method_id))

    async def _attended_login(self, method_id: str) -> None:
        elicitations = self._conversation.elicitations
        try:
            with elicitations.attending():
                await self._conversation.agent.login(method_id)
        finally:
            elicitations.close_outside()

    def logout(self) -> None:
        """Log out.

        Raises:
            UsageError: The agent offers no such thing.
        """
        self._on_loop(self._conversation.agent.logout())

    # --- its end

    def stop(self) -> None:
        """End the agent's process and all that it started, within 5 s; a running turn fails."""
        self.loop.run(self.end(), timeout_s=15)

    async def end(self) -> None:
        """As `stop`, for those who are on the loop."""
        await self._conversation.end()
