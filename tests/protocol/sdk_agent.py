"""An agent written with the official Python SDK: it has every method that the SDK offers to an agent.

It remembers what it was asked (`_calls` tells) and, prompted with "everything", asks the client for all that
a client may be asked; what came back is the JSON of its last message.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import acp
from acp import schema
from pydantic import BaseModel

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODEL = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "small",
    "options": [
        {"group": "g", "name": "All", "options": [{"value": v, "name": v} for v in ("small", "large")]}
    ],
}
FAST = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": False}
INITIALIZE = {
    "protocolVersion": 1,
    "agentInfo": {"name": "counterpart", "title": "Counterpart", "version": "1"},
    "agentCapabilities": {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {
            name: {} for name in ("list", "resume", "close", "fork", "additionalDirectories")
        },
    },
    "authMethods": [{"id": "key", "name": "Key"}],
}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "again": {"type": "boolean"}},
    "required": ["name"],
}


def said(text: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


UPDATES: list[dict[str, Any]] = [
    said("earlier", "user_message_chunk"),
    said("hm", "agent_thought_chunk"),
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "Edit",
        "kind": "edit",
        "rawInput": {"path": "/a"},
    },
    {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c1",
        "status": "completed",
        "content": [{"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}],
    },
    {"sessionUpdate": "plan", "entries": [{"content": "Do it", "priority": "high", "status": "pending"}]},
    {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "# Do"}},
    {"sessionUpdate": "plan_removed", "planId": "p"},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "web", "description": "Search", "input": {"hint": "what"}}],
    },
    {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
    {"sessionUpdate": "config_option_update", "configOptions": [MODEL, FAST]},
    {"sessionUpdate": "session_info_update", "title": "A title"},
    {
        "sessionUpdate": "usage_update",
        "used": 10,
        "size": 100,
        "cost": {"amount": 0.5, "currency": "USD"},
    },
    said("said"),
]


def plain(value: Any) -> Any:
    """JSON of what the SDK has made of JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [plain(one) for one in value] if isinstance(value, list) else value


class Counterpart(acp.Agent):
    """Its methods take keywords: the SDK's signatures change between its patch releases."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.cancelled = asyncio.Event()
        self.client: Any = None
        self.options = [dict(MODEL), dict(FAST)]

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    def took(self, method: str, params: dict[str, Any]) -> None:
        self.calls.append([method, {key: plain(one) for key, one in params.items() if one is not None}])

    async def initialize(self, **given: Any) -> Any:
        self.took("initialize", given)
        return schema.InitializeResponse.model_validate(INITIALIZE)

    async def authenticate(self, **given: Any) -> Any:
        self.took("authenticate", given)

    async def new_session(self, **given: Any) -> Any:
        self.took("session/new", given)
        return schema.NewSessionResponse.model_validate({"sessionId": "new", "modes": MODES})

    async def load_session(self, **given: Any) -> Any:
        self.took("session/load", given)
        for update in (said("Before?", "user_message_chunk"), said("Yes, before.")):
            await self.update(given["session_id"], update)
        return schema.LoadSessionResponse.model_validate({"configOptions": self.options})

    async def resume_session(self, **given: Any) -> Any:
        self.took("session/resume", given)
        return schema.ResumeSessionResponse.model_validate({"modes": MODES})

    async def fork_session(self, **given: Any) -> Any:
        self.took("session/fork", given)
        return schema.ForkSessionResponse.model_validate({"sessionId": "copy", "configOptions": self.options})

    async def list_sessions(self, **given: Any) -> Any:
        self.took("session/list", given)
        later = given.get("cursor") == "more"
        page = {"sessions": [{"sessionId": "second" if later else "first", "cwd": "/", "title": "T"}]}
        return schema.ListSessionsResponse.model_validate(page if later else {**page, "nextCursor": "more"})

    async def close_session(self, **given: Any) -> Any:
        self.took("session/close", given)

    async def set_session_mode(self, **given: Any) -> Any:
        self.took("session/set_mode", given)

    async def set_config_option(self, **given: Any) -> Any:
        self.took("session/set_config_option", given)
        for option in self.options:
            if option["id"] == given["config_id"]:
                option["currentValue"] = given["value"]
        return schema.SetSessionConfigOptionResponse.model_validate({"configOptions": self.options})

    async def cancel(self, **given: Any) -> None:
        self.took("session/cancel", given)
        self.cancelled.set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "calls":
            return {"calls": self.calls}
        self.took(f"_{method}", params)
        if method == "elicit":
            return await self.elicit(params["requestId"])
        return {"got": params}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.took(f"_{method}", params)

    async def prompt(self, **given: Any) -> Any:
        self.took("session/prompt", given)
        session_id, text = given["session_id"], getattr(given["prompt"][0], "text", "")
        if text == "wait":
            await self.update(session_id, said("waiting"))
            await self.cancelled.wait()
            return acp.PromptResponse(stop_reason="cancelled")
        if text == "everything":
            for update in UPDATES:
                await self.update(session_id, update)
            await self.update(session_id, said(json.dumps(await self.ask(session_id))))
        return acp.PromptResponse(stop_reason="end_turn")

    async def update(self, session_id: str, update: dict[str, Any]) -> None:
        told = schema.SessionNotification.model_validate({"sessionId": session_id, "update": update})
        await self.client.session_update(session_id=session_id, update=told.update)

    async def ask(self, session_id: str) -> dict[str, Any]:
        """Call every method that the SDK has for a client's; give what each has answered."""
        cwd = next(call["cwd"] for method, call in self.calls if method in ("session/new", "session/load"))
        call = schema.ToolCallUpdate.model_validate({"toolCallId": "c2", "kind": "edit", "title": "Write"})
        options = [schema.PermissionOption.model_validate(one) for one in OPTIONS]
        client, of = self.client, {"session_id": session_id}
        answers = {
            "session/request_permission": await client.request_permission(
                **of, tool_call=call, options=options
            ),
            "fs/write_text_file": await client.write_text_file(
                **of, path=f"{cwd}/a.txt", content="1\n2\n3\n"
            ),
            "fs/read_text_file": await client.read_text_file(**of, path=f"{cwd}/a.txt", line=2, limit=1),
        }
        env = [schema.EnvVariable(name="WORD", value="ho")]
        args = ["-c", "printf $WORD$WORD"]
        made = await client.create_terminal(
            **of, command="sh", args=args, env=env, cwd=cwd, output_byte_limit=3
        )
        this = {**of, "terminal_id": made.terminal_id}
        answers["terminal/wait_for_exit"] = await client.wait_for_terminal_exit(**this)
        answers["terminal/output"] = await client.terminal_output(**this)
        answers["terminal/release"] = await client.release_terminal(**this)
        this["terminal_id"] = (await client.create_terminal(**of, command="sleep", args=["60"])).terminal_id
        answers["terminal/kill"] = await client.kill_terminal(**this)
        answers["killed"] = await client.wait_for_terminal_exit(**this)
        await client.ext_notification("vendor/y", {})
        told = {method: plain(answer) for method, answer in answers.items()}
        told["_vendor/x"] = await self.refused(client.ext_method("vendor/x", {}))
        missing = client.read_text_file(session_id=session_id, path=f"{cwd}/missing.txt")
        return {**told, "missing": await self.refused(missing)}

    async def elicit(self, request_id: int) -> dict[str, Any]:
        """Ask for a form and an address, about a session and about a request; the SDK hides its id."""
        form = schema.ElicitationSchema.model_validate(FORM)
        modes = {
            "form": schema.ElicitationFormSessionMode(session_id="new", requested_schema=form),
            "url": schema.ElicitationUrlSessionMode(
                session_id="new", tool_call_id="c1", elicitation_id="e1", url="https://x.test/a"
            ),
            "form of a request": schema.ElicitationFormRequestMode(
                request_id=request_id, requested_schema=form
            ),
            "url of a request": schema.ElicitationUrlRequestMode(
                request_id=request_id, elicitation_id="e2", url="https://x.test/b"
            ),
        }
        answers = {
            name: plain(await self.client.create_elicitation(message=name, mode=mode))
            for name, mode in modes.items()
        }
        await self.client.complete_elicitation(elicitation_id="e1")
        late = schema.ElicitationFormRequestMode(request_id=0, requested_schema=form)
        refused = self.client.create_elicitation(message="late", mode=late)
        return {**answers, "late": await self.refused(refused)}

    @staticmethod
    async def refused(call: Any) -> int | None:
        """The code of the error that a call ends in."""
        try:
            await call
        except acp.RequestError as error:
            return error.code
        return None


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Counterpart(), use_unstable_protocol=True))
