"""Every row of the protocol, what the client does about it, and the tests that show it.

`python -m tests.protocol.rows --write` writes `docs/protocol.md`; `test_rows.py` compares. Who renames a test
names it anew here. https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import sys

from .cases import CASES
from .table import PAGE, Row, Section, page

DRAFT = "draft, not implemented"

TRANSPORT = Section(
    "Transport and JSON-RPC",
    "T",
    (
        Row(
            "T1",
            "starts the agent as a subprocess; one message a line, UTF-8, both ways",
            (
                "wire/test_process.py::test_t1_lines_go_both_ways_and_end",
                "wire/test_frames.py::test_t1_what_we_send_is_one_line_of_utf_8",
                "wire/test_frames.py::test_t1_what_json_cannot_say_is_not_sent",
            ),
        ),
        Row(
            "T2",
            "writes nothing but messages of the protocol to the agent",
            (
                "protocol/test_schema.py::test_every_method_of_ours_is_valid_and_carries_all_that_it_may",
                "protocol/test_schema.py::test_what_tests_have_us_send_is_seen",
            ),
        ),
        Row(
            "T3",
            "drains the error output always, and keeps its end",
            (
                "wire/test_process.py::test_t3_and_p10_a_chatty_stderr_does_not_freeze_the_agent",
                "session/test_session.py::test_t3_a_megabyte_on_stderr_and_t5_a_line_of_60_mb",
            ),
        ),
        Row(
            "T4",
            "junk on the wire costs that line, is counted and kept; no request waits for ever",
            (
                "wire/test_peer.py::test_t4_junk_costs_only_itself",
                "wire/test_peer.py::test_every_answer_ends_its_request",
                "wire/test_peer.py::test_t4_a_request_with_an_impossible_id_is_refused",
                "session/test_session.py::test_r01_t4_junk_and_unknown_updates_cost_only_themselves",
                "protocol/test_fuzz.py::test_t4_t6_t9_t11_r01_whatever_arrives",
            ),
        ),
        Row(
            "T5",
            "lines of 60 MB, in and out",
            (
                "wire/test_process.py::test_t5_and_f01_a_line_of_60_mb",
                "wire/test_process.py::test_t5_a_line_of_60_mb_goes_out_too",
            ),
        ),
        Row(
            "T6",
            "updates in the order of the wire, all of them before the response that follows",
            (
                "wire/test_peer.py::test_t6_and_f13_updates_and_responses_keep_their_order",
                "wire/test_process.py::test_t6_300_chunks_and_the_response_in_one_write",
                "wire/test_v1.py::test_t6_a10_and_a11_a_turn",
            ),
        ),
        Row(
            "T7",
            "the agent's end, by exit or by closed output, fails what waits, with exit code and last words",
            (
                "wire/test_peer.py::test_t7_the_end_fails_requests_and_cancels_handlers",
                "wire/test_process.py::test_t7_a_grandchild_that_holds_stdout_does_not_hide_the_exit",
                "wire/test_process.py::test_t7_an_agent_that_closes_its_output_and_lives",
                "model/test_reduce.py::test_t7_when_the_agent_dies_its_running_calls_are_cut_off",
                "session/test_permissions.py::test_u02_an_agent_that_dies_closes_its_request",
            ),
        ),
        Row(
            "T8",
            "ends the agent and all that it started within 5 s, at the kernel's end too",
            (
                "wire/test_process.py::test_t8_and_p06_stop_ends_a_stubborn_tree",
                "session/test_session.py::test_t8_stop_takes_less_than_5_s_whatever_the_agent_does",
                "wire/test_watcher.py::test_p08_a_clean_end_of_the_kernel_leaves_nothing",
            ),
        ),
        Row(
            "T9",
            "refuses unknown requests, ignores unknown notifications, answers every request",
            (
                "wire/test_v1.py::test_r35_and_t9_unknown_requests_are_refused_and_notifications_ignored",
                "wire/test_peer.py::test_every_answer_ends_its_request",
            ),
        ),
        Row(
            "T10",
            "error codes both ways, known and unknown, with their data",
            (
                "wire/test_peer.py::test_every_answer_ends_its_request",
                "wire/test_peer.py::test_t10_the_code_for_log_in_and_the_data_are_kept",
                "wire/test_peer.py::test_t10_a_handlers_error_is_the_answer",
                "wire/test_v1.py::test_t10_wrong_shapes_are_refused",
            ),
        ),
        Row(
            "T11",
            "the agent's ids come back as they were",
            (
                "wire/test_peer.py::test_t11_and_f18_the_agents_id_comes_back_unchanged",
                "wire/test_peer.py::test_t11_an_id_that_cannot_come_back_is_refused",
            ),
        ),
        Row(
            "T13",
            "another transport carries the same messages, from the first to the last",
            (
                "wire/test_v1.py::test_i1_and_i2_initialize",
                "wire/test_peer.py::test_closing_sends_what_waits_and_fails_the_rest",
            ),
        ),
        Row(
            "T14",
            "absolute paths only, lines from 1",
            (
                "wire/test_calls.py::test_t14_paths_are_absolute",
                "wire/test_v1.py::test_t14_s1_s3_new_session_refuses",
                "session/test_files.py::test_s1_c3_c4_paths_are_absolute",
                "session/test_files.py::test_s07_c3_lines_and_limits",
            ),
        ),
    ),
)

INITIALIZE = Section(
    "Initialize, versions, capabilities",
    "I",
    (
        Row(
            "I1",
            "`initialize` first, with version 1",
            (
                "wire/test_v1.py::test_i1_and_i2_initialize",
                "session/test_session.py::test_i1_i2_r36_what_we_say_at_the_start",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
        ),
        Row(
            "I2",
            "says who we are, and shows the agent's title and version",
            (
                "session/test_session.py::test_i1_i2_r36_what_we_say_at_the_start",
                "views/test_words.py::test_the_head_names_agent_roots_policy_and_length",
            ),
        ),
        Row(
            "I3",
            "another version: closes and tells",
            (
                "wire/test_v1.py::test_i3_and_r27_another_version_closes_the_connection",
                "session/test_failures.py::test_r27_another_version",
            ),
        ),
        Row(
            "I4",
            "what was not offered is not called",
            (
                "wire/test_calls.py::test_i4_nothing_is_called_that_the_agent_did_not_offer",
                "wire/test_v1.py::test_i4_null_capabilities_are_none",
                "session/test_lasting.py::test_a5_a6_a16_i4_not_without_the_capability",
            ),
        ),
        Row(
            "I5",
            "offers only what is built; files and terminals can be switched off for an agent, and are refused then",
            (
                "session/test_stable_rows.py::test_i5_s8_what_is_offered_is_the_users_to_switch_off",
                "session/test_elicitation.py::test_i5_and_c10_both_modes_are_offered",
                "wire/test_v1.py::test_i5_what_is_not_advertised_is_refused",
                "session/test_files.py::test_c3_c4_c5_what_was_not_offered_is_refused",
            ),
        ),
        Row(
            "I6",
            "reads every capability of the agent",
            (
                "wire/test_v1.py::test_i1_and_i2_initialize",
                "wire/test_calls.py::test_a_call",
                "wire/test_v1.py::test_s1_and_s3_new_session_sends_what_the_agent_can_take",
                "protocol/test_schema.py::test_every_method_of_ours_is_valid_and_carries_all_that_it_may",
            ),
        ),
        Row(
            "I7",
            "waits for no answer of the start for ever",
            (
                "wire/test_process.py::test_i7_and_p04_an_agent_that_never_answers",
                "session/test_failures.py::test_i7_an_agent_that_never_answers_session_new",
                "session/test_lasting.py::test_i7_a_load_that_is_never_answered",
                "wire/test_peer.py::test_i7_a_late_answer_is_ignored",
            ),
        ),
    ),
)

AGENT_METHODS = Section(
    "What we ask of an agent",
    "A",
    (
        Row(
            "A1",
            "`initialize`",
            (
                "wire/test_v1.py::test_i1_and_i2_initialize",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
        ),
        Row(
            "A2",
            "`authenticate`, by a listed method that is no terminal's",
            (
                "wire/test_v1.py::test_a2_and_au3_authenticate",
                "session/test_lasting.py::test_a2_and_au5_a_log_in_and_the_next_prompt_goes_on",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
            ),
        ),
        Row(
            "A3",
            "`logout` where it is offered; a session that wants a log-in afterwards goes on after it",
            (
                "wire/test_calls.py::test_a_call",
                "protocol/test_counterpart.py::test_a3_a9_a14_c12_what_the_sdk_lacks_with_the_fake_agent",
                "session/test_stable_rows.py::test_a3_a_session_that_wants_a_log_in_again_goes_on_after_it",
            ),
        ),
        Row(
            "A4",
            "`session/new` with an absolute directory and always a list of MCP servers; updates may come before its answer",
            (
                "wire/test_v1.py::test_a4_new_session_always_sends_mcp_servers",
                "wire/test_v1.py::test_a4_a_session_without_an_id_is_no_session",
                "session/test_stable_rows.py::test_a4_updates_before_the_answer_to_session_new_count",
                "session/test_session.py::test_f13_an_update_right_behind_the_answer_finds_the_session",
            ),
        ),
        Row(
            "A5",
            "`session/load`: what comes before its answer, null or an object, is history and asks nothing",
            (
                "session/test_lasting.py::test_a5_and_r23_a_load_gives_the_history_and_prompts_go_on_in_that_session",
                "session/test_lasting.py::test_a5_a_session_that_the_agent_does_not_know",
                "model/test_replay.py::test_a5_and_r23_a_replay_becomes_history_turn_by_turn_and_touches_nothing_live",
                "session/test_lasting.py::test_r23_a_replayed_permission_request_asks_nobody",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_session_is_listed_loaded_and_resumed_by_later_processes",
            ),
        ),
        Row(
            "A6",
            "`session/resume`, without a history",
            (
                "session/test_lasting.py::test_a6_a_resume_tells_no_history",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_session_is_listed_loaded_and_resumed_by_later_processes",
            ),
        ),
        Row(
            "A7",
            "`session/close`; the next prompt begins another",
            (
                "session/test_lasting.py::test_a7_and_a9_close_and_delete",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_session_is_forked_closed_and_deleted",
            ),
        ),
        Row(
            "A8",
            "`session/list`, page by page, the cursor as it came; it restores nothing",
            (
                "wire/test_calls.py::test_a8_a_list_comes_in_pages_and_the_cursor_goes_back_as_it_came",
                "session/test_lasting.py::test_a8_the_list_is_gathered_over_its_pages",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_session_is_listed_loaded_and_resumed_by_later_processes",
            ),
        ),
        Row(
            "A9",
            "`session/delete`",
            (
                "session/test_lasting.py::test_a7_and_a9_close_and_delete",
                "protocol/test_counterpart.py::test_a3_a9_a14_c12_what_the_sdk_lacks_with_the_fake_agent",
                "agents/test_lasting_agents.py::test_a_session_is_forked_closed_and_deleted",
            ),
        ),
        Row(
            "A10",
            "`session/prompt`, one at a time, with the blocks that the agent takes",
            (
                "wire/test_v1.py::test_t6_a10_and_a11_a_turn",
                "wire/test_v1.py::test_a10_blocks_that_the_agent_does_not_take_are_not_sent",
                "session/test_session.py::test_r18_many_prompts_run_in_the_order_in_which_they_came",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
        ),
        Row(
            "A11",
            "`session/cancel`: calls are shown as cancelled at once, requests answered, the end awaited",
            (
                "session/test_session.py::test_a_cancel_while_it_runs",
                "model/test_reduce.py::test_a11_tc12_a_cancelled_turn_leaves_no_call_running",
                "session/test_permissions.py::test_p1_and_r11_a_cancel_answers_what_is_open_and_r12_what_comes_after_it",
                "agents/test_real_agents.py::test_cancel_while_streaming",
            ),
        ),
        Row(
            "A12",
            "`session/set_mode`, by id or name, to a mode that is there, before the prompt",
            (
                "session/test_lasting.py::test_a12_a_mode_is_in_force_before_the_first_prompt",
                "session/test_lasting.py::test_a12_a_mode_that_is_refused_sends_no_prompt",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_mode_is_in_force_before_the_first_prompt",
            ),
        ),
        Row(
            "A13",
            "`session/set_config_option`; its answer replaces the whole list",
            (
                "session/test_lasting.py::test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_modes_options_and_commands",
            ),
        ),
        Row(
            "A14",
            "`$/cancel_request` for any request that we give up",
            (
                "wire/test_calls.py::test_a14_every_request_of_ours_can_be_withdrawn",
                "wire/test_peer.py::test_a14_giving_up_withdraws_the_request",
                "wire/test_peer.py::test_a14_the_answer_to_a_withdrawn_request_is_no_fault_of_the_agents",
                "protocol/test_counterpart.py::test_a3_a9_a14_c12_what_the_sdk_lacks_with_the_fake_agent",
            ),
        ),
        Row(
            "A15",
            "extension methods, whose names begin with an underscore",
            (
                "wire/test_calls.py::test_a15_an_extension_has_an_underscore",
                "wire/test_calls.py::test_a_call",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
        ),
        Row(
            "A16",
            "`session/fork` (a draft) where it is offered",
            (
                "session/test_lasting.py::test_a16_a_fork_goes_on_under_a_new_id",
                "wire/test_calls.py::test_a16_a_fork_without_an_id_and_an_answer_that_is_no_object",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
                "agents/test_lasting_agents.py::test_a_session_is_forked_closed_and_deleted",
            ),
        ),
    ),
)

CLIENT_METHODS = Section(
    "What an agent may ask of us",
    "C",
    (
        Row(
            "C1",
            "`session/update`, also outside of a turn",
            (
                "session/test_stable_rows.py::test_c1_u7_an_update_outside_of_any_turn_changes_the_session",
                "wire/test_v1.py::test_c1_malformed_updates_cost_only_themselves",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "C2",
            "`session/request_permission`",
            (
                "wire/test_v1.py::test_c2_to_c9_requests_reach_the_client",
                "session/test_permissions.py::test_r09_several_at_once_are_answered_in_any_order",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
                "agents/test_real_agents.py::test_write_allowed",
            ),
        ),
        Row(
            "C3",
            "`fs/read_text_file` within the session's directories, by lines; a missing file is not found",
            (
                "session/test_files.py::test_c3_c4_an_agent_reads_and_writes_and_hears_what_was_wrong",
                "session/test_files.py::test_s07_c3_lines_and_limits",
                "session/test_files.py::test_s07_missing_is_not_found_and_never_empty",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
            left_out="text that an open editor has not saved yet is not served: a kernel cannot see it",
        ),
        Row(
            "C4",
            "`fs/write_text_file`: made where it is missing, with its parents; encoding and line ends as given",
            (
                "session/test_files.py::test_c3_c4_an_agent_reads_and_writes_and_hears_what_was_wrong",
                "session/test_files.py::test_c4_parents_are_made_and_the_users_umask_counts",
                "session/test_files.py::test_d02_s07_bytes_are_kept_there_and_back",
                "session/test_client_consent.py::test_c4_c5_what_nobody_was_asked_about_is_marked",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
            left_out="a write makes no diff of its own on the card: it is told in a note, where no call that was allowed covers it",
        ),
        Row(
            "C5",
            "`terminal/create`: returns at once, runs within the session's directories",
            (
                "session/test_terminals.py::test_c5_c6_tc9_output_status_and_card",
                "session/test_terminals.py::test_t08_and_t11_what_cannot_run_is_an_error_at_once",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
        Row(
            "C6",
            "`terminal/output` without waiting; the status once it has ended",
            (
                "session/test_terminals.py::test_c5_c6_tc9_output_status_and_card",
                "session/test_terminals.py::test_c6_output_while_it_runs_has_no_status",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
        Row(
            "C7",
            "`terminal/wait_for_exit`, for several at once, also after a kill",
            (
                "session/test_terminals.py::test_c7_several_wait_and_one_withdraws",
                "session/test_terminals.py::test_c7_t07_who_waits_hears_of_a_kill_and_of_a_release",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
        Row(
            "C8",
            "`terminal/kill`; the terminal stays",
            (
                "session/test_terminals.py::test_t07_c8_x5_kill_ends_the_tree_and_keeps_the_output",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
        Row(
            "C9",
            "`terminal/release` kills and forgets; the card keeps the output",
            (
                "session/test_terminals.py::test_t10_c9_x6_release_kills_and_forgets_and_the_card_remembers",
                "session/test_terminals.py::test_c9_released_terminals_leave_no_descriptors",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
        Row(
            "C10",
            "`elicitation/create`: forms and addresses",
            (
                "session/test_elicitation.py::test_c10_a_form_is_answered_with_its_values",
                "session/test_elicitation.py::test_e6_and_c11_an_address_is_agreed_to_without_values_and_then_done",
                "protocol/test_counterpart.py::test_c10_c11_e8_elicitation_with_the_sdk",
            ),
        ),
        Row(
            "C11",
            "`elicitation/complete`; what is not known is ignored",
            (
                "session/test_elicitation.py::test_e6_and_c11_an_address_is_agreed_to_without_values_and_then_done",
                "model/test_elicitation.py::test_c11_done_is_said_once_and_unknown_ids_are_ignored",
                "protocol/test_counterpart.py::test_c10_c11_e8_elicitation_with_the_sdk",
            ),
        ),
        Row(
            "C12",
            "`$/cancel_request`: the request is still answered, once",
            (
                "wire/test_calls.py::test_c12_every_request_of_the_agents_can_be_withdrawn",
                "wire/test_peer.py::test_c12_a_second_withdrawal_breaks_nothing_off",
                "protocol/test_counterpart.py::test_a3_a9_a14_c12_what_the_sdk_lacks_with_the_fake_agent",
            ),
        ),
        Row(
            "C13",
            "extension requests are refused, extension notifications ignored",
            (
                "wire/test_v1.py::test_r35_and_t9_unknown_requests_are_refused_and_notifications_ignored",
                "protocol/test_counterpart.py::test_c1_to_c13_every_method_that_the_sdk_asks_of_a_client",
            ),
        ),
    ),
)

UPDATES = Section(
    "Updates",
    "U",
    (
        Row(
            "U1",
            "`user_message_chunk`: a person's words; an echo of the prompt is hidden",
            (
                "model/test_updates.py::test_u1_user_message_chunk",
                "model/test_reduce.py::test_r23_an_echo_of_the_prompt_is_hidden_however_it_is_cut",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U2",
            "`agent_message_chunk`: by message id, without one up to the next other thing",
            (
                "model/test_updates.py::test_u2_agent_message_chunk",
                "model/test_updates.py::test_u2_a_message_with_an_id_goes_on_where_it_began",
                "model/test_updates.py::test_u2_without_ids_anything_in_between_ends_a_message",
                "model/test_updates.py::test_u2_content_other_than_text",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U3",
            "`agent_thought_chunk`: folded",
            (
                "model/test_updates.py::test_u3_agent_thought_chunk",
                "labextension/test/card.test.ts: thoughts are folded, with how long they took",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U4",
            "`tool_call`",
            (
                "model/test_updates.py::test_u4_tool_call",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U5",
            "`tool_call_update`: merges; an unknown id makes a call",
            (
                "model/test_updates.py::test_u5_tool_call_update",
                "model/test_updates.py::test_u5_r03_an_update_of_an_unknown_call_makes_it",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U6",
            "`plan`: replaces the whole plan",
            (
                "model/test_updates.py::test_u6_plan",
                "labextension/test/card.test.ts: a plan, its steps by status",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U7",
            "`available_commands_update`: replaces the list, whenever it comes",
            (
                "model/test_updates.py::test_u7_available_commands_update",
                "session/test_stable_rows.py::test_c1_u7_an_update_outside_of_any_turn_changes_the_session",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
                "agents/test_lasting_agents.py::test_modes_options_and_commands",
            ),
        ),
        Row(
            "U8",
            "`current_mode_update`, under either name of its field",
            (
                "model/test_updates.py::test_u8_current_mode_update",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U9",
            "`config_option_update`: replaces the whole list",
            (
                "model/test_updates.py::test_u9_config_option_update",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U10",
            "`session_info_update`: left out keeps, null clears",
            (
                "model/test_updates.py::test_u10_session_info_update",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U11",
            "`usage_update`: context and cost",
            (
                "model/test_updates.py::test_u11_usage_update",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "U12",
            "`notice`: shown, whatever its severity; changes no state",
            (
                "model/test_updates.py::test_u12_notice",
                "protocol/test_counterpart.py::test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks",
            ),
        ),
        Row(
            "U13",
            "`compaction_update`: by its id, in its first place; left out keeps, null clears",
            (
                "model/test_updates.py::test_u13_compaction_update",
                "protocol/test_counterpart.py::test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks",
            ),
        ),
        Row(
            "U14",
            "`compaction_summary_chunk`: appends",
            (
                "model/test_updates.py::test_u14_compaction_summary_chunk",
                "protocol/test_counterpart.py::test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks",
            ),
        ),
        Row(
            "U17",
            "what is unknown or malformed is kept raw in its place; of a list only the bad item is lost",
            (
                "model/test_updates.py::test_u15_to_u17_what_is_not_understood_is_kept_raw_in_its_place",
                "model/test_updates.py::test_u17_only_the_bad_item_of_a_list_is_lost",
                "session/test_session.py::test_r01_t4_junk_and_unknown_updates_cost_only_themselves",
                "protocol/test_fuzz_state.py::test_u17_a_bad_field_costs_that_field",
            ),
        ),
    ),
)

TOOL_CALLS = Section(
    "Tool calls",
    "TC",
    (
        Row(
            "TC1",
            "every kind has its word; `other` by default, an unknown one as the agent says it",
            (
                "model/test_reduce.py::test_tc2_status_is_pending_and_tc1_kind_other_until_told",
                "views/test_words.py::test_tc1_every_kind_has_its_word",
                "model/test_updates.py::test_r02_unknown_words_and_content_are_kept_and_shown",
            ),
        ),
        Row(
            "TC2",
            "every status; `pending` by default, `cancelled` and cut off are our own words beside the agent's",
            (
                "model/test_reduce.py::test_tc2_status_is_pending_and_tc1_kind_other_until_told",
                "model/test_reduce.py::test_a11_tc12_a_cancelled_turn_leaves_no_call_running",
            ),
        ),
        Row(
            "TC3",
            "`name` is a label: it allows nothing, and only a text replaces it",
            (
                "model/test_reduce.py::test_tc3_to_tc6_merge_rules",
                "session/test_policy.py::test_titles_names_and_option_names_decide_nothing",
                "protocol/test_counterpart.py::test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks",
            ),
        ),
        Row(
            "TC4",
            "raw values are any JSON: null and left out keep, all else replaces",
            (
                "model/test_reduce.py::test_tc3_to_tc6_merge_rules",
                "views/test_text.py::test_tc4_falsy_raw_values_are_shown",
            ),
        ),
        Row(
            "TC5",
            "title, kind and status: null and left out keep",
            ("model/test_reduce.py::test_tc3_to_tc6_merge_rules",),
        ),
        Row(
            "TC6",
            "content and locations: a list replaces, an empty one empties",
            (
                "model/test_reduce.py::test_tc3_to_tc6_merge_rules",
                "model/test_updates.py::test_r32_content_replaces",
            ),
        ),
        Row(
            "TC7",
            "content, diff, terminal; a bare content block too",
            (
                "model/test_updates.py::test_tc7_tc8_diff_and_terminal",
                "model/test_updates.py::test_r02_unknown_words_and_content_are_kept_and_shown",
                "model/test_terminals.py::test_tc7_plain_text_content_needs_no_terminal",
            ),
        ),
        Row(
            "TC8",
            "a diff without an old text is a new file; with an empty new one it is emptied or deleted",
            (
                "model/test_updates.py::test_tc7_tc8_diff_and_terminal",
                "views/test_diff.py::test_tc8_and_d05_a_new_an_emptied_and_an_unchanged_text",
                "labextension/test/diff-rows.test.ts: an emptied file is all removed",
            ),
        ),
        Row(
            "TC9",
            "a terminal's output is live, and stays after its release",
            (
                "session/test_terminals.py::test_c5_c6_tc9_output_status_and_card",
                "model/test_updates.py::test_tc9_x6_a_terminals_output_stays_after_its_release",
            ),
        ),
        Row(
            "TC10",
            "locations are shown, grant nothing, and open nothing",
            (
                "session/test_stable_rows.py::test_tc10_a_location_grants_no_access",
                "views/test_words.py::test_d10_paths_are_relative_inside_and_whole_outside",
            ),
        ),
        Row(
            "TC11",
            "`raw_input` and `raw_output` in Python are the values of the wire",
            (
                "model/test_reduce.py::test_tc3_to_tc6_merge_rules",
                "session/test_session.py::test_an_update_to_an_earlier_turns_call_changes_that_call",
            ),
        ),
        Row(
            "TC12",
            "updates after a cancel still count",
            ("model/test_reduce.py::test_a11_tc12_a_cancelled_turn_leaves_no_call_running",),
        ),
    ),
)

PERMISSIONS = Section(
    "Permission requests",
    "P",
    (
        Row(
            "P1",
            "a cancelled turn answers every open request, and those that come after it",
            (
                "session/test_permissions.py::test_p1_and_r11_a_cancel_answers_what_is_open_and_r12_what_comes_after_it",
                "agents/test_real_agents.py::test_cancel_while_asked",
            ),
        ),
        Row(
            "P2",
            "a withdrawn request is answered and closed",
            (
                "session/test_permissions.py::test_p2_a_withdrawn_request_is_answered_and_closed",
                "wire/test_peer.py::test_p2_and_a14_a_withdrawn_request_is_answered_once",
            ),
        ),
        Row(
            "P3",
            "policies answer by kind, places, diffs and raw input, never by titles or names",
            (
                "session/test_policy.py::test_titles_names_and_option_names_decide_nothing",
                "session/test_policy.py::test_reading_and_searching_within_the_roots_is_allowed_once",
                "session/test_policy.py::test_without_a_location_it_is_asked",
                "session/test_policy.py::test_a_read_with_a_command_is_asked",
                "session/test_permissions.py::test_a_policy_answers_without_a_person",
                "protocol/test_fuzz_requests.py::test_p3_p5_p8_no_lie_is_allowed",
            ),
        ),
        Row(
            "P4",
            "the question tells the operation in our words, commands and paths in full, the agent's title as its own",
            (
                "views/test_text.py::test_p4_a_question_tells_the_operation_in_full_and_quotes_the_agent",
                "views/test_text.py::test_p4_a_question_shows_the_diff_and_an_unfamiliar_raw_input_whole",
                "views/test_words.py::test_hidden_characters_are_spelled_out",
                "labextension/test/permission.test.ts: is told in our words, with the whole path, and the agent’s title as such",
                "labextension/test/permission.test.ts: U12: shows hidden characters in paths, titles and names of options, and warns",
            ),
        ),
        Row(
            "P5",
            "a button for each option, in the agent's order; an unknown kind is neutral, and no policy picks it",
            (
                "labextension/test/permission.test.ts: has a button per option, in the agent’s order, with its name and our word for its kind",
                "labextension/test/permission.test.ts: U03, U05, U06: three of a kind stay three; without a no there is one of ours; an unknown kind is neutral",
                "session/test_permissions.py::test_u06_an_unknown_kind_and_malformed_options_cost_only_themselves",
                "session/test_policy.py::test_only_one_plain_allow_once_is_picked",
            ),
        ),
        Row(
            "P6",
            "what 'always' means is the agent's to remember: we keep nothing",
            ("session/test_stable_rows.py::test_p6_what_always_means_is_the_agents_to_remember",),
        ),
        Row(
            "P7",
            "a request's call is merged into what is known of it, or makes its card",
            (
                "model/test_reduce.py::test_p7_r07_a_request_for_a_call_never_announced_makes_its_card",
                "model/test_reduce.py::test_p7_a_request_with_only_an_id_shows_what_was_known",
                "session/test_permissions.py::test_p7_a_bare_request_is_judged_by_what_the_call_said_before",
            ),
        ),
        Row(
            "P8",
            "several are open at once; only an offered option leaves us; where nobody can be asked it is rejected",
            (
                "session/test_permissions.py::test_r09_several_at_once_are_answered_in_any_order",
                "wire/test_v1.py::test_p8_only_an_offered_option_leaves_us",
                "session/test_permissions.py::test_n12_where_nobody_can_be_asked_it_is_rejected_and_says_what_would_allow_it",
            ),
        ),
        Row(
            "P9",
            "nothing of a request is taken from `_meta`",
            ("wire/test_v1.py::test_c2_to_c9_requests_reach_the_client",),
        ),
        Row(
            "P10",
            "a mode or option that the agent changed by itself is marked as its own doing, and warned of",
            (
                "model/test_request_warnings.py::test_p10_an_option_that_the_agent_changes_itself",
                "model/test_choices.py::test_p10_an_option_that_changed_by_itself_is_the_agents_doing",
                "model/test_choices.py::test_p10_a_mode_that_we_set_is_ours_and_one_that_was_refused_is_not",
                "labextension/test/page.test.ts: say who made them",
            ),
        ),
    ),
)

TERMINALS = Section(
    "Terminals",
    "X",
    (
        Row(
            "X1",
            "a byte limit drops the beginning, at a character's boundary",
            (
                "session/test_terminals.py::test_t03_x1_the_limit_cuts_at_a_character",
                "session/test_terminals.py::test_x1_unreadable_bytes_count_as_what_they_become",
            ),
        ),
        Row(
            "X2",
            "characters split between reads are whole; one stream of both outputs",
            (
                "session/test_terminals.py::test_x2_a_character_split_between_reads_is_whole",
                "session/test_terminals.py::test_c5_c6_tc9_output_status_and_card",
            ),
        ),
        Row(
            "X3",
            "with arguments no shell; a line without any that is no program is the shell's",
            (
                "session/test_terminals.py::test_t01_and_t08_a_line_without_arguments_is_the_shells",
                "session/test_terminals.py::test_t13_the_shell_is_posix_sh_whatever_the_environment_says",
            ),
        ),
        Row(
            "X4",
            "an end by a signal has its name and no code",
            ("session/test_terminals.py::test_x4_an_end_by_a_signal_has_its_name",),
        ),
        Row(
            "X5",
            "a kill ends the whole tree, and is no release",
            (
                "session/test_terminals.py::test_t07_c8_x5_kill_ends_the_tree_and_keeps_the_output",
                "session/test_terminals.py::test_t07_a_command_and_a_grandchild_that_ignore_term_are_killed",
            ),
        ),
        Row(
            "X6",
            "a call may name a terminal at any time, and keeps its output after the release",
            (
                "session/test_terminals.py::test_t10_c9_x6_release_kills_and_forgets_and_the_card_remembers",
                "model/test_terminals.py::test_tc9_x6_output_stays_after_release_whenever_the_call_names_it",
                "model/test_terminals.py::test_x6_a_call_whose_content_is_replaced_keeps_its_terminal",
            ),
        ),
        Row(
            "X7",
            "terminals end with their session, their agent, or the kernel",
            (
                "session/test_terminals.py::test_x7_the_end_of_the_agent_ends_its_terminals",
                "session/test_terminals.py::test_x7_stop_ends_many_stubborn_terminals",
                "session/test_terminals.py::test_t07_x7_a_child_that_an_ended_command_left_behind_ends_with_the_session",
            ),
        ),
    ),
)

ELICITATION = Section(
    "Elicitation",
    "E",
    (
        Row(
            "E1",
            "says who asks, and lets a person review, edit, decline or cancel",
            (
                "browser/test_elicitation.py::test_e1_e2_and_e3_a_form_is_filled_in_and_refused_and_sent",
                "labextension/test/elicitation.test.ts: shows who asks for what, with a control for each field",
                "notebook/test_elicitation.py::test_e1_and_e2_a_form_is_filled_in_by_text_reviewed_and_sent",
                "notebook/test_elicitation.py::test_e1_values_can_be_edited_cleared_and_left_out_before_they_are_sent",
                "notebook/test_elicitation.py::test_e1_and_e6_there_is_a_way_to_decline_and_to_cancel",
                "model/test_elicitation.py::test_e1_a_form_is_shown_with_who_asks_what_it_asks_and_what_it_waits_for",
            ),
        ),
        Row(
            "E2",
            "proposes defaults, and sends no value that does not fit",
            (
                "session/test_elicitation.py::test_e2_values_that_do_not_fit_are_not_sent_and_it_stays_open",
                "labextension/test/elicitation.test.ts: shows what is wrong beside the field, goes there, and can be sent again",
                "model/test_form.py::test_e2_and_e3_values_are_validated",
                "model/test_form.py::test_e2_defaults_of_the_right_kind_are_proposed",
            ),
        ),
        Row(
            "E3",
            "every type of field; an unknown one is a text",
            (
                "model/test_form.py::test_e3_every_type_of_field",
                "model/test_form.py::test_e3_an_unknown_type_is_a_field_of_text",
                "model/test_form.py::test_e3_malformed_parts_cost_only_themselves",
            ),
        ),
        Row(
            "E4",
            "an address is shown whole, and opened by the person alone",
            (
                "browser/test_elicitation.py::test_e4_e5_and_e6_an_address_is_opened_by_a_click_alone_and_a_form_is_declined",
                "labextension/test/elicitation.test.ts: is whole, its host set off, and opened by a click on one link alone",
                "notebook/test_elicitation.py::test_e4_and_e5_an_address_is_shown_whole_warned_of_and_opened_by_the_person_alone",
                "model/test_elicitation.py::test_e4_the_whole_address_is_shown_and_nothing_of_it_is_a_link",
                "model/test_form.py::test_e4_what_a_browser_might_read_otherwise_is_no_address",
            ),
        ),
        Row(
            "E5",
            "the host stands out, a deceiving one is warned of; no other field has links",
            (
                "labextension/test/elicitation.test.ts: is warned of by the kernel, and where the browser reads another host",
                "model/test_form.py::test_e5_the_host_is_told_apart_and_warned_of",
                "model/test_elicitation.py::test_e5_addresses_in_other_fields_are_no_links_and_a_deceiving_host_is_warned_of",
            ),
        ),
        Row(
            "E6",
            "accept, decline, cancel; agreeing to an address carries no values",
            (
                "session/test_elicitation.py::test_e6_no_is_decline_and_putting_it_away_is_cancel",
                "session/test_elicitation.py::test_e6_and_c11_an_address_is_agreed_to_without_values_and_then_done",
                "session/test_elicitation.py::test_e6_where_nobody_can_be_asked_it_is_declined_whatever_the_policy",
            ),
        ),
        Row(
            "E7",
            "a mode that was not offered is refused, and shown as none that it is not",
            (
                "wire/test_calls.py::test_c10_and_e7_an_elicitation_of_a_mode_that_was_not_offered",
                "model/test_elicitation.py::test_e7_an_unknown_mode_is_shown_as_none_that_we_know",
            ),
        ),
        Row(
            "E8",
            "belongs to a session, or to a request of ours that is open",
            (
                "wire/test_calls.py::test_e8_an_elicitation_belongs_to_a_session_or_to_an_open_request_of_ours",
                "session/test_elicitation.py::test_e8_a_form_on_behalf_of_our_own_request",
                "protocol/test_counterpart.py::test_c10_c11_e8_elicitation_with_the_sdk",
            ),
        ),
        Row(
            "E9",
            "a cancel, the end of the turn and the end of the agent close it",
            (
                "session/test_elicitation.py::test_e9_a_cancelled_turn_answers_cancel_and_so_does_what_comes_after",
                "session/test_elicitation.py::test_e9_the_end_of_the_turn_answers_cancel",
                "session/test_elicitation.py::test_e9_and_t7_a_dead_agent_leaves_nothing_open",
            ),
        ),
    ),
)

OPTIONS = Section(
    "Options, modes, commands",
    "O",
    (
        Row(
            "O1",
            "where an option is of category mode it stands for the modes",
            ("session/test_lasting.py::test_o1_options_stand_for_the_modes",),
            left_out="an agent whose options have no mode keeps its older modes: it would have none otherwise",
        ),
        Row(
            "O2",
            "the agent's order",
            (
                "session/test_stable_rows.py::test_o2_o3_options_keep_the_agents_order_whatever_their_category",
            ),
        ),
        Row(
            "O3",
            "a missing or unknown category is no obstacle",
            (
                "session/test_stable_rows.py::test_o2_o3_options_keep_the_agents_order_whatever_their_category",
                "session/test_lasting.py::test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name",
            ),
            left_out="`model_config` is not moved next to the model: the agent's order stays (O2)",
        ),
        Row(
            "O4",
            "flat and grouped lists; an option of an unknown type is shown and never set",
            (
                "session/test_stable_rows.py::test_o4_an_option_of_an_unknown_type_is_shown_and_never_set",
                "session/test_lasting.py::test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name",
            ),
        ),
        Row(
            "O5",
            "a boolean is sent as one",
            (
                "wire/test_calls.py::test_a_call",
                "session/test_lasting.py::test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name",
                "protocol/test_counterpart.py::test_a5_to_a13_a_session_with_the_sdk_lasts",
            ),
        ),
        Row(
            "O6",
            "a list replaces the whole list",
            (
                "model/test_choices.py::test_o6_the_complete_list_replaces",
                "session/test_lasting.py::test_a13_o3_o4_options_grouped_and_boolean_by_id_or_name",
            ),
        ),
        Row(
            "O7",
            "changes while a turn runs",
            ("session/test_lasting.py::test_o7_a_mode_is_set_while_a_turn_runs",),
        ),
        Row(
            "O8",
            "a slash command is the text of a prompt",
            ("notebook/test_magic.py::test_the_body_goes_to_the_agent_byte_for_byte",),
        ),
    ),
)

LOG_IN = Section(
    "Log-in",
    "AU",
    (
        Row(
            "AU1",
            "calls a log-in of the agent's own kind; an unknown kind is not called",
            (
                "wire/test_calls.py::test_au1_a_log_in_of_an_unknown_kind_is_not_called",
                "wire/test_v1.py::test_a2_and_au3_authenticate",
            ),
        ),
        Row(
            "AU2",
            "offers log-ins in a terminal: JupyterLab's own, or the command to copy",
            (
                "browser/test_terminal.py::test_au3_a_terminal_opens_with_the_log_in_typed_in",
                "notebook/test_magic.py::test_au3_a_log_in_in_a_terminal_asks_the_page_for_one",
            ),
        ),
        Row(
            "AU3",
            "a log-in in a terminal is never called",
            (
                "session/test_lasting.py::test_au3_a_log_in_in_a_terminal_is_never_called",
                "wire/test_v1.py::test_a2_and_au3_authenticate",
                "notebook/test_magic.py::test_au3_a_log_in_in_a_terminal_asks_the_page_for_one",
                "browser/test_terminal.py::test_au3_a_terminal_opens_with_the_log_in_typed_in",
            ),
            left_out="the exit code of a log-in in a terminal is not waited for: the terminal is the person's, who says `%acp login --done`",
        ),
        Row(
            "AU4",
            "the command is the agent's entry's, with the descriptor's arguments only",
            (
                "notebook/test_magic.py::test_au3_a_log_in_in_a_terminal_asks_the_page_for_one",
                "browser/test_terminal.py::test_au3_a_terminal_opens_with_the_log_in_typed_in",
            ),
        ),
        Row(
            "AU5",
            "an agent that wants a log-in: its log-ins are named, and the next prompt goes on with the same process",
            (
                "wire/test_v1.py::test_au5_the_advice_names_the_log_ins",
                "session/test_lasting.py::test_a2_and_au5_a_log_in_and_the_next_prompt_goes_on",
                "session/test_failures.py::test_r25_an_agent_that_wants_a_log_in_names_its_ways",
            ),
            left_out="the prompt is not sent again by itself after a log-in: the person runs the cell again",
        ),
    ),
)

SESSIONS = Section(
    "Sessions, servers, content, extensions",
    "S",
    (
        Row(
            "S1",
            "further directories where the agent takes them, in full with each opening",
            (
                "wire/test_v1.py::test_t14_s1_s3_new_session_refuses",
                "session/test_session.py::test_directories_are_set_once",
                "session/test_session.py::test_s1_further_directories_need_the_capability",
                "wire/test_calls.py::test_a_call",
            ),
        ),
        Row(
            "S2",
            "the session's directories bound files and terminals, by real path",
            (
                "session/test_files.py::test_s01_and_s06_outside_the_roots_nothing_is_read_or_written",
                "session/test_files.py::test_s2_a_link_into_the_roots_and_dots_that_stay_within",
                "session/test_terminals.py::test_t11_nulls_mean_left_out_and_a_link_out_is_outside",
            ),
        ),
        Row(
            "S3",
            "MCP servers over stdio, and by http and sse where the agent takes them",
            (
                "session/test_mcp.py::test_s3_every_session_is_opened_with_the_servers_and_their_secrets_are_not_logged",
                "session/test_mcp.py::test_s3_no_server_of_a_kind_that_the_agent_does_not_take",
                "session/test_mcp.py::test_s3_a_server_that_the_agent_starts_has_an_absolute_command_and_no_type",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
        ),
        Row(
            "S4",
            "every content block, in and out",
            (
                "wire/test_calls.py::test_s4_a_block_is_what_the_protocol_says_or_is_not_sent",
                "model/test_updates.py::test_u2_content_other_than_text",
                "labextension/test/card.test.ts: content blocks",
                "protocol/test_counterpart.py::test_a1_to_a16_every_method_that_the_sdk_gives_an_agent",
            ),
            left_out="a prompt of the magic is text: attachments are not built yet",
        ),
        Row(
            "S5",
            "what the agent writes is inert, pictures are of few kinds, nothing is fetched",
            (
                "views/test_html.py::test_u14_whatever_an_agent_says_is_inert",
                "views/test_html.py::test_m04_s5_small_raster_images_are_drawn_others_named",
                "views/test_html.py::test_m03_a_picture_is_a_link_and_never_fetched",
                "labextension/test/security.test.ts: are inert when live",
            ),
        ),
        Row(
            "S6",
            "every stop reason is a result; an unknown one is told",
            (
                "session/test_session.py::test_s6_r28_every_end_is_a_result",
                "model/test_reduce.py::test_s6_r28_stop_reasons",
            ),
        ),
        Row(
            "S7",
            "adds no field to the protocol's types",
            (
                "protocol/test_schema.py::test_every_method_of_ours_is_valid_and_carries_all_that_it_may",
                "protocol/test_schema.py::test_every_answer_of_ours_is_valid",
                "protocol/test_schema.py::test_the_check_fails_for",
            ),
        ),
        Row(
            "S8",
            "its own extensions stand in `_meta` of the capabilities",
            ("session/test_stable_rows.py::test_i5_s8_what_is_offered_is_the_users_to_switch_off",),
        ),
        Row(
            "S9",
            "title, usage, cost and commands stay with the session; its id outlives the kernel",
            (
                "session/test_lasting.py::test_s9_a_later_kernel_is_told_of_the_session",
                "session/test_remembered.py::test_s9_a_session_is_remembered_by_notebook_and_agent",
                "session/test_remembered.py::test_s9_a_notebook_that_was_moved_is_known_by_its_own_transcripts",
                "protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows",
            ),
        ),
        Row(
            "S10",
            "one session a connection; what names another session is shown in the running turn",
            ("session/test_cases.py::test_r33_a_child_sessions_updates_are_shown_in_the_turn",),
            left_out="several sessions over one connection are not used: each has its own process, so none blocks another",
        ),
    ),
)

ROWS = (
    TRANSPORT,
    INITIALIZE,
    AGENT_METHODS,
    CLIENT_METHODS,
    UPDATES,
    TOOL_CALLS,
    PERMISSIONS,
    TERMINALS,
    ELICITATION,
    OPTIONS,
    LOG_IN,
    SESSIONS,
)

_KEPT_RAW = ("model/test_updates.py::test_u15_to_u17_what_is_not_understood_is_kept_raw_in_its_place",)
_REFUSED = ("wire/test_v1.py::test_r35_and_t9_unknown_requests_are_refused_and_notifications_ignored",)

DRAFTS = (
    Row("T12", "transports over the network", (), f"{DRAFT}; a transport is two methods"),
    Row("A17", "`providers/*`: the agent's model endpoints", (), DRAFT),
    Row("A18", "`mcp/*`: MCP over the connection", (), DRAFT),
    Row("A19", "status, archive and titles of sessions, proxies", (), DRAFT),
    Row("A20", "`nes/*`, `document/*`", (), f"{DRAFT}; removed from the drafts since"),
    Row("C14", "`mcp/*`, `auth/status_update` from the agent", _REFUSED, f"{DRAFT}: refused, or ignored"),
    Row("U15", "`plan_update`, `plan_removed`: several plans", _KEPT_RAW, f"{DRAFT}: kept raw"),
    Row("U16", "`subagent_update`, `session_message`", _KEPT_RAW, f"{DRAFT}: kept raw"),
    Row("X8", "terminals that the agent owns, as updates", (), f"{DRAFT}; those in `_meta` are shown"),
    Row("V1", "version 2: a prompt is answered at once, the turn's end is an update", (), DRAFT),
    Row("V2", "version 2: updates while idle are ordinary", (), DRAFT),
    Row("V3", "version 2: one update for tool calls, null clears, content in chunks", (), DRAFT),
    Row("V4", "version 2: whole messages, each with an id", (), DRAFT),
    Row("V5", "version 2: a diff is a list of changes, with a patch", (), DRAFT),
    Row("V6", "version 2: a permission request has a title and a subject", (), DRAFT),
    Row("V7", "version 2: plans by id", (), DRAFT),
    Row("V8", "version 2: no files and terminals of the client", (), DRAFT),
    Row("V9", "version 2: resume with a replay instead of load; no modes", (), DRAFT),
    Row("V10", "version 2: capabilities are objects, some fields have other names", (), DRAFT),
    Row("V11", "version 2: every list of words is open", (), DRAFT),
    Row("V12", "version 2: batches of messages", (), f"{DRAFT}; a batch is read item by item all the same"),
    Row("V13", "version 2: one tool call or terminal can be cancelled", (), DRAFT),
    Row("V14", "version 2: agreed on by connection", (), DRAFT),
)


def written() -> str:
    """The page as it is to be."""
    return page(ROWS, DRAFTS, CASES)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(written(), "utf-8")
    else:
        sys.exit("usage: python -m tests.protocol.rows --write")
