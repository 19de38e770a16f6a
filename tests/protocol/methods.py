"""Which method and which update of the protocol is run with which counterpart."""

from __future__ import annotations

BY_THE_SDK = {
    "initialize",
    "authenticate",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/close",
    "session/set_mode",
    "session/set_config_option",
    "session/prompt",
    "session/cancel",
    "session/update",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/complete",
}
BY_THE_FAKE_AGENT = {"logout", "session/delete", "$/cancel_request", "session/set_model"}
# kinds of session/update; the drafts (plan_update, plan_removed) are kept raw by us
UPDATES_BY_THE_SDK = {
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "plan_update",
    "plan_removed",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
}
UPDATES_BY_THE_FAKE_AGENT = {"notice", "compaction_update", "compaction_summary_chunk"}
