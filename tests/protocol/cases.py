"""Faults that clients and agents have met in the wild, what happens here, and the tests that show it."""

from __future__ import annotations

from .table import Row, Section

LINES = Section(
    "Lines on stdout",
    "F",
    (
        Row(
            "F01",
            "a very long line arrives whole",
            ("wire/test_process.py::test_t5_and_f01_a_line_of_60_mb",),
        ),
        Row(
            "F02",
            "banners and log lines are skipped, counted on the card and told by the log; the first answer is found",
            (
                "session/test_cases.py::test_f02_a_banner_before_the_first_answer",
                "session/test_cases.py::test_f02_what_was_ignored_is_told_without_secrets_and_controls",
                "wire/test_frames.py::test_f02_f15_f16_refuses_what_is_no_message",
            ),
        ),
        Row(
            "F03",
            "a terminal's escapes around a message are skipped",
            (
                "session/test_cases.py::test_f03_f08_what_is_glued_to_the_front_of_a_message",
                "wire/test_frames.py::test_f03_f07_f08_reads_a_message_through_what_surrounds_it",
            ),
        ),
        Row(
            "F05",
            "characters split over reads are whole",
            ("wire/test_process.py::test_f05_characters_may_arrive_byte_by_byte",),
        ),
        Row(
            "F07",
            "lines may end with CR LF",
            ("session/test_cases.py::test_f07_lines_that_end_with_cr_lf",),
        ),
        Row(
            "F08",
            "a byte-order mark is skipped",
            ("session/test_cases.py::test_f03_f08_what_is_glued_to_the_front_of_a_message",),
        ),
        Row(
            "F09",
            "bytes that are no UTF-8 are replaced, and noted",
            ("wire/test_frames.py::test_f09_latin_1_is_shown_with_a_replacement_and_a_note",),
        ),
        Row(
            "F10",
            "half an emoji is replaced once, and poisons neither card, notebook nor next prompt",
            (
                "session/test_cases.py::test_f10_half_an_emoji_poisons_nothing_later",
                "wire/test_frames.py::test_f10_lone_surrogates_are_replaced_everywhere",
                "views/test_bundle.py::test_f10_a_lone_surrogate_does_not_poison_the_notebook",
            ),
        ),
        Row(
            "F11",
            "NaN and infinity stay in Python; the notebook is strict JSON",
            (
                "wire/test_frames.py::test_f11_nan_and_large_integers_are_kept",
                "views/test_bundle.py::test_f11_a_saved_bundle_is_strict_json",
            ),
        ),
        Row(
            "F12",
            "a batch is handled item by item",
            ("wire/test_peer.py::test_f12_a_batch_is_handled_item_by_item",),
        ),
        Row(
            "F13",
            "an answer and an update in one write are handled in their order",
            (
                "session/test_session.py::test_f13_an_update_right_behind_the_answer_finds_the_session",
                "wire/test_peer.py::test_t6_and_f13_updates_and_responses_keep_their_order",
            ),
        ),
        Row(
            "F15",
            "an agent that dies within a line: exit code and last words, the fragment is noise",
            ("wire/test_process.py::test_f15_an_agent_that_dies_in_the_middle_of_a_line",),
        ),
        Row(
            "F16",
            "absurd nesting costs that message, and nobody waits for its answer",
            (
                "wire/test_peer.py::test_f16_nobody_waits_for_what_is_nested_too_deeply",
                "session/test_cases.py::test_f16_a_request_too_deep_to_read_is_answered_and_told_of",
                "session/test_cases.py::test_f16_absurd_nesting_costs_one_message",
                "wire/test_frames.py::test_f02_f15_f16_refuses_what_is_no_message",
            ),
        ),
        Row(
            "F17",
            "our ids sent back as text are matched",
            ("wire/test_peer.py::test_f17_ids_sent_back_as_text_are_matched",),
        ),
        Row(
            "F18",
            "the agent's ids, of any kind, come back as they were",
            ("wire/test_peer.py::test_t11_and_f18_the_agents_id_comes_back_unchanged",),
        ),
        Row(
            "F20",
            "a prompt that cannot be delivered says so",
            (
                "session/test_failures.py::test_f20_an_agent_that_no_longer_reads",
                "wire/test_process.py::test_f20_an_agent_that_closed_its_input",
                "wire/test_peer.py::test_f20_a_request_that_cannot_be_delivered_says_so",
            ),
        ),
    ),
)

PROCESSES = Section(
    "The life of a process",
    "P",
    (
        Row(
            "P01",
            "a command that is not found: where it was looked for, how to install it",
            (
                "session/test_failures.py::test_p01_a_command_that_is_not_there",
                "wire/test_process.py::test_p01_an_agent_that_is_not_found",
            ),
        ),
        Row(
            "P02",
            "an agent that exits at once: its code and last words",
            (
                "session/test_failures.py::test_p02_an_agent_that_exits_at_once",
                "wire/test_process.py::test_p02_an_agent_that_exits_at_once",
            ),
        ),
        Row(
            "P03",
            "after a crash the text stays, the next prompt starts a process and says what it knows",
            (
                "session/test_failures.py::test_p03_an_agent_that_dies_in_mid_turn_and_the_next_prompt_starts_another",
                "session/test_lasting.py::test_p03_an_agent_that_died_takes_its_session_up_again_where_it_can",
                "session/test_lasting.py::test_p03_a_session_that_cannot_be_had_again_is_new_and_says_so",
            ),
        ),
        Row(
            "P04",
            "an agent that never answers: a time limit, its last words, and a way out meanwhile",
            (
                "session/test_failures.py::test_p04_an_agent_that_never_answers_initialize",
                "session/test_cases.py::test_p04_p05_a_slow_start_is_told_of_with_its_last_words_and_is_no_failure",
                "wire/test_process.py::test_i7_and_p04_an_agent_that_never_answers",
            ),
        ),
        Row(
            "P05",
            "a launcher that fetches first is slow, not broken: two minutes an answer by default, told of meanwhile",
            (
                "session/test_cases.py::test_p04_p05_a_slow_start_is_told_of_with_its_last_words_and_is_no_failure",
            ),
        ),
        Row(
            "P06",
            "the end of a launcher is the end of all that it started",
            (
                "wire/test_process.py::test_p06_stop_ends_what_a_launcher_has_left_behind",
                "wire/test_process.py::test_t8_and_p06_stop_ends_a_stubborn_tree",
                "wire/test_watcher.py::test_p06_a_family_is_remembered_when_its_middle_has_died",
            ),
        ),
        Row(
            "P08",
            "no agent outlives its kernel, however that ends",
            (
                "notebook/test_lifecycle.py::test_p08_nothing_is_left_of_an_agent_when_its_kernel_ends",
                "wire/test_watcher.py::test_p08_kill_9_of_the_kernel_leaves_nothing",
            ),
        ),
        Row(
            "P09",
            "an interrupt cancels the turn and ends no process",
            (
                "notebook/test_lifecycle.py::test_p09_an_interrupt_ends_no_process",
                "notebook/test_magic.py::test_p09_sigint_to_the_kernel_does_not_reach_the_agent",
                "wire/test_process.py::test_p09_the_agent_has_its_own_session",
            ),
        ),
        Row(
            "P10",
            "a chatty error output freezes nothing",
            ("wire/test_process.py::test_t3_and_p10_a_chatty_stderr_does_not_freeze_the_agent",),
        ),
        Row(
            "P11",
            "Windows' shims are found by PATHEXT",
            ("wire/test_process.py::test_p11_windows_shims_are_found_by_pathext",),
        ),
        Row(
            "P13",
            "the whole environment, or a list; a key that the list keeps back is told",
            (
                "session/test_agent_files.py::test_p13_an_agent_gets_the_whole_environment_or_what_its_list_names",
                "session/test_agent_files.py::test_p13_a_key_that_the_list_keeps_back_is_told",
                "session/test_failures.py::test_p13_the_agents_own_variables_over_the_kernels",
            ),
        ),
        Row(
            "P14",
            "two first prompts at once start one process",
            ("session/test_session.py::test_p14_and_r18_two_threads_prompt_at_once",),
        ),
        Row(
            "P15",
            "a restart ends a wedged agent alone, and all that it started",
            (
                "session/test_cases.py::test_p15_restart_ends_a_wedged_agent_and_its_tree",
                "session/test_session.py::test_r14_p15_after_an_unconfirmed_cancel_the_next_prompt_gives_up_and_restart_helps",
            ),
        ),
        Row(
            "P17",
            "a wrapper may print before the agent does",
            ("wire/test_process.py::test_p17_a_wrapper_that_prints_first",),
        ),
    ),
)

PROTOCOL = Section(
    "The protocol",
    "R",
    (
        Row(
            "R01",
            "an unknown update costs nothing, and is kept raw",
            (
                "session/test_session.py::test_r01_t4_junk_and_unknown_updates_cost_only_themselves",
                "protocol/test_fuzz.py::test_t4_t6_t9_t11_r01_whatever_arrives",
            ),
        ),
        Row(
            "R02",
            "unknown kinds, statuses and content keep their words, and the rest",
            ("model/test_updates.py::test_r02_unknown_words_and_content_are_kept_and_shown",),
        ),
        Row(
            "R03",
            "an update of a call never announced makes it",
            ("model/test_updates.py::test_u5_r03_an_update_of_an_unknown_call_makes_it",),
        ),
        Row(
            "R04",
            "a call before any word is shown",
            ("session/test_cases.py::test_r04_a_call_before_any_word",),
        ),
        Row(
            "R05",
            "a call announced twice is one",
            ("model/test_reduce.py::test_r05_a_call_announced_twice_is_one_card",),
        ),
        Row(
            "R07",
            "a request about a call never announced makes its card",
            (
                "session/test_permissions.py::test_r07_a_call_never_announced_gets_its_card_from_the_request",
                "model/test_reduce.py::test_p7_r07_a_request_for_a_call_never_announced_makes_its_card",
            ),
        ),
        Row(
            "R09",
            "requests at the same time are answered apart, in any order",
            (
                "session/test_permissions.py::test_r09_several_at_once_are_answered_in_any_order",
                "notebook/test_magic.py::test_several_requests_open_at_once_are_answered_in_any_order",
            ),
        ),
        Row(
            "R10",
            "two requests about one call are two",
            (
                "session/test_permissions.py::test_r10_two_requests_for_one_call_are_two",
                "model/test_reduce.py::test_r10_two_requests_about_one_call_are_answered_apart_and_once",
            ),
        ),
        Row(
            "R11",
            "a cancel answers every open request",
            (
                "session/test_permissions.py::test_p1_and_r11_a_cancel_answers_what_is_open_and_r12_what_comes_after_it",
            ),
        ),
        Row(
            "R12",
            "a request after the cancel is answered, and asks nobody",
            (
                "session/test_permissions.py::test_p1_and_r11_a_cancel_answers_what_is_open_and_r12_what_comes_after_it",
            ),
        ),
        Row(
            "R14",
            "an agent that ignores the cancel does not hold the cell; the card says so and what helps",
            (
                "session/test_cases.py::test_r14_a_cancel_that_is_ignored_leaves_the_text_and_says_so",
                "session/test_session.py::test_r14_p15_after_an_unconfirmed_cancel_the_next_prompt_gives_up_and_restart_helps",
                "notebook/test_magic.py::test_r14_an_agent_that_ignores_the_cancel_does_not_hold_the_cell",
            ),
        ),
        Row(
            "R15",
            "a cancelled turn is cancelled, whatever its end says",
            (
                "session/test_session.py::test_r14_r15_a_cancelled_turn_that_ends_otherwise_is_cancelled",
                "model/test_reduce.py::test_r15_a_cancelled_turn_is_cancelled_whatever_the_agent_says",
            ),
        ),
        Row(
            "R16",
            "a second end is ignored",
            (
                "session/test_session.py::test_r16_a_second_end_is_ignored",
                "wire/test_peer.py::test_f17_ids_sent_back_as_text_are_matched",
            ),
        ),
        Row(
            "R18",
            "a second prompt waits for its turn",
            (
                "session/test_session.py::test_r18_many_prompts_run_in_the_order_in_which_they_came",
                "session/test_session.py::test_p14_and_r18_two_threads_prompt_at_once",
            ),
        ),
        Row(
            "R19",
            "the text is whole when the turn is over",
            (
                "session/test_session.py::test_r19_the_text_is_whole_when_the_turn_is_over",
                "model/test_transcript.py::test_r19_three_hundred_chunks_in_order",
            ),
        ),
        Row(
            "R20",
            "chunks stay in order while requests are served",
            ("session/test_cases.py::test_r20_chunks_stay_in_order_while_requests_are_served",),
        ),
        Row(
            "R21",
            "what comes after the end belongs to its turn, and is marked",
            (
                "session/test_session.py::test_r21_what_comes_after_the_end_belongs_to_its_turn",
                "model/test_reduce.py::test_r21_what_comes_after_the_end_is_kept_and_marked_late",
            ),
        ),
        Row(
            "R23",
            "an echo is hidden, a replay is history and asks nothing",
            (
                "model/test_reduce.py::test_r23_an_echo_of_the_prompt_is_hidden_however_it_is_cut",
                "session/test_lasting.py::test_a5_and_r23_a_load_gives_the_history_and_prompts_go_on_in_that_session",
                "session/test_lasting.py::test_r23_a_replayed_permission_request_asks_nobody",
            ),
        ),
        Row(
            "R25",
            "a log-in is named, never done unasked, never in a loop",
            (
                "session/test_failures.py::test_r25_an_agent_that_wants_a_log_in_names_its_ways",
                "session/test_cases.py::test_r25_a_log_in_that_does_not_help_is_no_loop",
            ),
        ),
        Row(
            "R26",
            "an optional method that is missing is a warning, once",
            (
                "session/test_cases.py::test_r26_what_an_agent_lacks_is_a_warning_and_not_tried_again",
                "session/test_cases.py::test_r26_a_list_that_was_offered_and_is_missing_costs_only_itself",
                "session/test_lasting.py::test_r26_a_default_that_cannot_be_set_is_a_warning_but_not_a_mode",
            ),
        ),
        Row(
            "R27",
            "another version ends the start, and the process",
            (
                "session/test_failures.py::test_r27_another_version",
                "wire/test_v1.py::test_i3_and_r27_another_version_closes_the_connection",
            ),
        ),
        Row(
            "R28",
            "an end without a reason, or of no known shape, keeps all that came",
            (
                "session/test_session.py::test_r28_an_end_without_an_object_or_a_reason",
                "session/test_session.py::test_s6_r28_every_end_is_a_result",
                "model/test_reduce.py::test_s6_r28_stop_reasons",
            ),
        ),
        Row(
            "R29",
            "a turn that never ends shows its clock, and can be left with its text",
            (
                "session/test_cases.py::test_r29_an_agent_that_said_all_and_never_ends_its_turn",
                "labextension/test/live.test.ts: the clock ticks by the kernel’s time",
            ),
        ),
        Row(
            "R30",
            "a turn of nothing says so",
            (
                "model/test_reduce.py::test_r30_a_turn_of_nothing_says_so",
                "labextension/test/card.test.ts: an empty turn says so; notes are told",
            ),
        ),
        Row(
            "R31",
            "odd and missing fields still make a card",
            (
                "model/test_updates.py::test_r31_odd_fields_still_make_a_card",
                "wire/test_v1.py::test_i4_null_capabilities_are_none",
            ),
        ),
        Row(
            "R32",
            "content replaces",
            ("model/test_updates.py::test_r32_content_replaces",),
        ),
        Row(
            "R33",
            "what a child session tells and asks is shown and answered in the turn",
            (
                "session/test_cases.py::test_r33_a_child_sessions_updates_are_shown_in_the_turn",
                "session/test_permissions.py::test_r33_a_child_sessions_request_is_answered_too",
            ),
        ),
        Row(
            "R34",
            "an open request of one session holds up no other",
            ("session/test_session.py::test_r34_two_sessions_are_independent",),
        ),
        Row(
            "R35",
            "unknown requests are refused, unknown notifications ignored",
            ("wire/test_v1.py::test_r35_and_t9_unknown_requests_are_refused_and_notifications_ignored",),
        ),
        Row(
            "R36",
            "a list of MCP servers and an absolute directory, always",
            ("session/test_session.py::test_i1_i2_r36_what_we_say_at_the_start",),
        ),
        Row(
            "R37",
            "an answer without a list waits for the notification; one list of models",
            (
                "session/test_lasting.py::test_r37_an_answer_without_a_list_waits_for_the_notification",
                "session/test_cases.py::test_r37_one_choice_of_the_model_where_both_ways_are_offered",
            ),
        ),
        Row(
            "R38",
            "nobody answers in time (a setting): rejected, or the turn cancelled, and told",
            (
                "session/test_cases.py::test_r38_a_request_that_nobody_answers_in_time_is_rejected",
                "session/test_cases.py::test_r38_an_answer_in_time_stands",
            ),
        ),
        Row(
            "R39",
            "a decision may come from any thread",
            ("session/test_cases.py::test_r39_a_decision_may_come_from_a_thread_that_knows_of_nothing",),
        ),
    ),
)

TERMINALS = Section(
    "Terminals",
    "T",
    (
        Row(
            "T01",
            "a line without arguments that is no program goes to the shell",
            ("session/test_terminals.py::test_t01_and_t08_a_line_without_arguments_is_the_shells",),
        ),
        Row(
            "T03",
            "a byte limit cuts no character",
            ("session/test_terminals.py::test_t03_x1_the_limit_cuts_at_a_character",),
        ),
        Row(
            "T04",
            "a giant limit is ours",
            (
                "session/test_terminals.py::test_t04_a_giant_limit_is_ours",
                "session/test_terminals.py::test_t04_no_more_is_kept_for_the_agent_than_it_asked_for",
            ),
        ),
        Row(
            "T05",
            "progress and erasing make one line; the raw output stays",
            (
                "model/test_terminals.py::test_t05_progress_is_one_line_and_the_raw_output_is_kept",
                "labextension/test/screen.test.ts: is the same however the output is cut",
            ),
        ),
        Row(
            "T07",
            "kill and release end the whole group",
            (
                "session/test_terminals.py::test_t07_c8_x5_kill_ends_the_tree_and_keeps_the_output",
                "session/test_terminals.py::test_t07_a_command_and_a_grandchild_that_ignore_term_are_killed",
                "session/test_terminals.py::test_c7_t07_who_waits_hears_of_a_kill_and_of_a_release",
            ),
        ),
        Row(
            "T08",
            "what cannot run is an error at once",
            (
                "session/test_terminals.py::test_t08_and_t11_what_cannot_run_is_an_error_at_once",
                "session/test_terminals.py::test_t08_t10_an_unknown_terminal_is_an_error",
            ),
        ),
        Row(
            "T09",
            "endless output is bounded, and nothing waits for it",
            (
                "session/test_terminals.py::test_t09_endless_output_is_bounded_and_the_loop_stays_free",
                "model/test_reduce.py::test_t09_endless_output_keeps_its_end",
            ),
        ),
        Row(
            "T10",
            "output after the exit is there, after the release an error; the card remembers",
            (
                "session/test_terminals.py::test_t10_output_after_the_exit_is_there_as_often_as_it_is_asked_for",
                "session/test_terminals.py::test_t10_c9_x6_release_kills_and_forgets_and_the_card_remembers",
            ),
        ),
        Row(
            "T11",
            "a wrong directory is an error, null means left out",
            (
                "session/test_terminals.py::test_t11_nulls_mean_left_out_and_a_link_out_is_outside",
                "session/test_terminals.py::test_t08_and_t11_what_cannot_run_is_an_error_at_once",
            ),
        ),
        Row(
            "T13",
            "the shell is POSIX sh",
            ("session/test_terminals.py::test_t13_the_shell_is_posix_sh_whatever_the_environment_says",),
        ),
    ),
)

FILES = Section(
    "Files",
    "S",
    (
        Row(
            "S01",
            "links out of the session's directories lead nowhere",
            (
                "session/test_files.py::test_s01_and_s06_outside_the_roots_nothing_is_read_or_written",
                "session/test_files.py::test_s01_a_dangling_link_out_is_refused_and_one_within_is_followed",
                "session/test_client_requests.py::test_s01_a_path_that_leads_elsewhere_after_the_yes_is_not_written",
            ),
        ),
        Row(
            "S04",
            "pipes, devices, directories and giant files are refused at once",
            (
                "session/test_files.py::test_s04_a_pipe_a_directory_and_a_socket_are_refused_without_being_opened",
                "session/test_files.py::test_s04_devices_and_the_systems_own_files_are_refused",
                "session/test_files.py::test_s04_a_huge_file_is_refused_without_being_read",
            ),
        ),
        Row(
            "S05",
            "the notebook that is being run is not written; what is no notebook neither",
            (
                "session/test_client_requests.py::test_s05_the_notebook_that_is_being_run_is_not_written",
                "session/test_client_requests.py::test_s05_what_is_no_notebook_is_refused_by_its_fault",
            ),
        ),
        Row(
            "S06",
            "nothing outside is served; files that hold secrets need a person's yes",
            (
                "session/test_files.py::test_s01_and_s06_outside_the_roots_nothing_is_read_or_written",
                "session/test_client_requests.py::test_s06_a_secret_needs_a_persons_yes",
                "session/test_client_consent.py::test_s06_no_policy_gives_a_persons_yes",
            ),
        ),
        Row(
            "S07",
            "lines, limits, missing files, encodings: documented, and never an empty text",
            (
                "session/test_files.py::test_s07_c3_lines_and_limits",
                "session/test_files.py::test_s07_missing_is_not_found_and_never_empty",
                "session/test_files.py::test_s07_utf16_with_its_mark_is_read_and_stays_utf16",
                "session/test_files.py::test_s07_a_byte_order_mark_is_seen_and_kept",
                "session/test_files.py::test_s07_what_is_no_text_is_refused_by_name_and_not_written_over",
            ),
        ),
    ),
)

ASKED = Section(
    "Permission requests",
    "U",
    (
        Row(
            "U01",
            "the first answer counts, and one is sent, however many clicks come at once",
            (
                "session/test_permissions.py::test_u01_the_second_decision_is_too_late_and_one_reply_is_sent",
                "session/test_permissions.py::test_u01_two_threads_decide_at_once",
                "labextension/test/permission.test.ts: a click is sent once, disables every button at once, and shows until the document says more",
            ),
        ),
        Row(
            "U02",
            "a click after a cancel, the turn's end or the agent's death does nothing; the card says what became of the request",
            (
                "session/test_permissions.py::test_u02_a_click_that_comes_too_late_is_answered_by_nothing",
                "session/test_permissions.py::test_u02_a_request_left_open_at_the_turns_end_expires",
                "session/test_permissions.py::test_u02_an_agent_that_dies_closes_its_request",
                "model/test_request_warnings.py::test_u02_a_call_is_headed_by_what_became_of_its_request",
            ),
        ),
        Row(
            "U03",
            "each option is a button of its own, in the agent's order; of several of a kind no policy picks one",
            ("session/test_permissions.py::test_u03_three_of_a_kind_stay_three_and_no_policy_picks_one",),
        ),
        Row(
            "U05",
            "without options there is a button of ours that answers `cancelled`",
            (
                "session/test_permissions.py::test_u05_without_options_a_person_can_say_no",
                "model/test_request_warnings.py::test_u05_no_options",
                "browser/test_requests.py::test_u05_where_the_agent_offers_no_way_to_say_no_the_card_has_one",
            ),
        ),
        Row(
            "U06",
            "an option of an unknown kind is offered, named as such and warned of; no policy picks it",
            (
                "session/test_permissions.py::test_u06_an_unknown_kind_and_malformed_options_cost_only_themselves",
                "model/test_request_warnings.py::test_u06_an_unknown_kind_is_told",
            ),
        ),
        Row(
            "U07",
            "of options with one id only the safest can be chosen, with a warning",
            (
                "model/test_request_warnings.py::test_u07_of_options_with_one_id_only_the_safest_can_be_chosen",
            ),
        ),
        Row(
            "U09",
            "commands are whole; runs of blanks are marked in place with their number, and warned of",
            (
                "model/test_request_warnings.py::test_u09_a_padded_command_is_warned_of_and_marked_in_place",
                "model/test_request_warnings.py::test_u09_a_padded_path_and_title_are_marked_in_place",
                "views/test_words.py::test_u09_a_command_is_never_cut_and_spaces_hide_nothing",
            ),
        ),
        Row(
            "U10",
            "the command is that of the raw input, whatever the title says",
            (
                "model/test_request_warnings.py::test_u10_the_command_of_the_raw_input_is_asked_about",
                "views/test_words.py::test_u10_the_command_in_the_raw_input",
            ),
        ),
        Row(
            "U11",
            "what would rewrite a line is spelled out on the card, in text, in the log, and warned of",
            (
                "model/test_request_warnings.py::test_u11_what_rewrites_a_line_is_shown_and_warned_of",
                "views/test_console.py::test_u11_what_an_agent_says_cannot_move_the_cursor",
            ),
        ),
        Row(
            "U12",
            "what hides the order of characters, or has no width, is spelled out and warned of",
            (
                "model/test_request_warnings.py::test_u12_what_hides_the_order_is_shown_and_warned_of",
                "model/test_request_warnings.py::test_u12_wherever_it_stands",
            ),
        ),
        Row(
            "U14",
            "whatever an agent says is inert",
            (
                "views/test_html.py::test_u14_whatever_an_agent_says_is_inert",
                "views/test_html.py::test_u14_the_text_spells_out_what_hides",
                "views/test_parts.py::test_u14_parts_of_a_hostile_turn_are_inert",
                "model/test_request_warnings.py::test_u14_warnings_are_inert",
            ),
        ),
        Row(
            "U15",
            "where only *always* is offered it can be given, and says that the agent will remember it",
            (
                "session/test_permissions.py::test_u15_and_u18_always_is_sent_as_it_is_and_is_the_agents_to_remember",
            ),
        ),
        Row(
            "U16",
            "what was rejected is neither written nor run; only an allowance is a yes",
            (
                "session/test_client_consent.py::test_u16_what_was_rejected_is_not_written",
                "session/test_client_requests.py::test_u16_selected_is_not_allowed",
                "session/test_client_requests.py::test_u16_only_true_is_a_yes",
            ),
        ),
        Row(
            "U18",
            "*always* is sent at once, confirmed on the card, and kept by the agent alone",
            (
                "session/test_permissions.py::test_u15_and_u18_always_is_sent_as_it_is_and_is_the_agents_to_remember",
            ),
        ),
    ),
)

DIFFS = Section(
    "Diffs",
    "D",
    (
        Row(
            "D01",
            "changed line endings are a note; the changed lines are those whose words changed",
            (
                "views/test_diff.py::test_d01_changed_line_endings_are_a_note_and_no_changed_lines",
                "views/test_diff.py::test_d01_line_ends_that_are_no_change_are_a_note_too",
                "views/test_diff.py::test_d01_a_text_with_both_ends_shows_them_in_its_lines",
                (
                    "labextension/test/diff-rows.test.ts: "
                    "D01 takes the ends of lines for no difference where the document tells of them"
                ),
            ),
        ),
        Row(
            "D02",
            "files are written byte by byte as the agent gave them, and read as they are",
            (
                "session/test_files.py::test_d02_s07_bytes_are_kept_there_and_back",
                "session/test_files.py::test_d02_a_lone_surrogate_cannot_break_a_file",
            ),
        ),
        Row(
            "D03",
            "the work for a diff is bounded, its lines are drawn in parts, and Python has it whole",
            (
                "model/test_diff.py::test_d03_d04_the_work_for_a_hostile_diff_is_bounded",
                "views/test_diff.py::test_d03_d04_long_diffs_and_lines_are_cut_and_say_so",
                "labextension/test/card.test.ts: D03 D04 a big one is drawn in parts, each line whole on demand",
            ),
        ),
        Row(
            "D04",
            "of a very long line the card shows its beginning, and the rest on demand",
            (
                "model/test_diff.py::test_d03_d04_the_work_for_a_hostile_diff_is_bounded",
                "views/test_diff.py::test_d03_d04_long_diffs_and_lines_are_cut_and_say_so",
                "labextension/test/card.test.ts: D03 D04 a big one is drawn in parts, each line whole on demand",
            ),
        ),
        Row(
            "D05",
            "a new file, an empty one, an emptied one and one without a change are told apart",
            ("views/test_diff.py::test_tc8_and_d05_a_new_an_emptied_and_an_unchanged_text",),
        ),
        Row(
            "D06",
            "a newline missing, added or removed at the end of a file is told",
            ("views/test_diff.py::test_d06_the_newline_at_the_end",),
        ),
        Row(
            "D07",
            "in a changed line trailing blanks, tabs and what has no width or turns the order are made visible",
            (
                "labextension/test/card.test.ts: D07 shows what could not be seen",
                "views/test_diff.py::test_d07_d09_controls_in_a_diff_are_spelled_out",
            ),
        ),
        Row(
            "D09",
            "NUL and a terminal's escapes in a file are spelled out",
            ("views/test_diff.py::test_d07_d09_controls_in_a_diff_are_spelled_out",),
        ),
        Row(
            "D10",
            "paths inside the project are relative to it, others whole",
            ("views/test_words.py::test_d10_paths_are_relative_inside_and_whole_outside",),
        ),
    ),
)

MARKDOWN = Section(
    "Markdown",
    "M",
    (
        Row(
            "M01",
            "an open fence is code to the end of its message, and of no other",
            (
                "views/test_html.py::test_m01_an_open_fence_ends_with_its_message",
                "labextension/test/markdown.test.tsx: M01 an open fence is code to its end",
            ),
        ),
        Row(
            "M03",
            "HTML, scripts and styles are words; links lead to the web and to mail; nothing is fetched unasked",
            (
                "views/test_html.py::test_m03_links_lead_to_the_web_and_to_mail_only",
                "views/test_html.py::test_m03_a_picture_is_a_link_and_never_fetched",
                "labextension/test/markdown.test.tsx: M03 shows %s as words",
                "labextension/test/markdown.test.tsx: M03 never fetches: %s",
            ),
        ),
        Row(
            "M04",
            "small pictures are drawn; what is large or of an unknown type is named, and whole in Python",
            (
                "views/test_html.py::test_m04_s5_small_raster_images_are_drawn_others_named",
                "notebook/test_cases.py::test_m04_a_picture_of_10_mb_is_whole_in_python_and_named_on_the_card",
            ),
        ),
        Row(
            "M05",
            "text that was cut anywhere ends as if it had come at once",
            ("labextension/test/markdown-grow.test.ts: M05 %j: cut anywhere, it ends as if read at once",),
        ),
        Row(
            "M06",
            "of a growing text only the end is read and drawn again; chunks share messages to the page",
            (
                (
                    "labextension/test/markdown-grow.test.ts: "
                    "M06 reads and draws only the end, however long it gets"
                ),
                "notebook/test_cases.py::test_n16_m06_a_flood_and_a_giant_value_stay_below_what_a_server_lets_pass",
            ),
        ),
    ),
)

NOTEBOOKS = Section(
    "Notebook and Jupyter",
    "N",
    (
        Row(
            "N01",
            "clicks are served while the cell waits",
            ("notebook/test_pump.py::test_n01_twenty_of_twenty_clicks_are_served_while_the_cell_blocks",),
        ),
        Row(
            "N02",
            "an answer from any thread wakes the waiting cell",
            ("notebook/test_pump.py::test_n02_a_wake_from_a_thread_is_seen_at_once",),
        ),
        Row(
            "N05",
            "what an agent says is shown in the card of its turn, whichever cell runs",
            ("notebook/test_magic.py::test_n05_what_comes_after_the_end_is_shown_in_the_card_of_its_turn",),
        ),
        Row(
            "N06",
            "nothing is patched; a notebook that has applied nest_asyncio works as well",
            ("notebook/test_pump.py::test_n06_a_notebook_that_has_applied_nest_asyncio_works_as_well",),
        ),
        Row(
            "N07",
            "queued cells run once each and in order; what is typed into a card outlives its output",
            (
                "notebook/test_pump.py::test_n07_queued_cells_run_once_each_and_in_order",
                (
                    "browser/test_elicitation.py::"
                    "test_n07_what_is_typed_outlives_an_output_that_is_written_anew_or_cleared"
                ),
            ),
        ),
        Row(
            "N08",
            "reopened with a fresh kernel, untrusted or without the extension, a card is readable",
            (
                "browser/test_living.py::test_n08_saved_and_reopened_with_a_fresh_kernel",
                "browser/test_living.py::test_n08_untrusted",
                "browser/test_living.py::test_n08_without_our_labextension",
                "browser/test_living.py::test_n08_saved_in_mid_turn_with_the_widgets_state",
                "browser/test_living.py::test_n08_reloaded_in_mid_turn_where_no_document_is_kept",
            ),
        ),
        Row(
            "N09",
            "a saved file grows with its transcripts alone",
            ("notebook/test_convert.py::test_n09_the_file_is_at_most_three_times_the_transcripts",),
        ),
        Row(
            "N10",
            "ended cards keep few widgets, and the script is sent once",
            ("notebook/test_magic.py::test_n10_ended_cards_keep_few_widgets",),
        ),
        Row(
            "N11",
            "what nbconvert makes holds the transcript",
            ("notebook/test_convert.py::test_n11_the_exports_hold_the_transcript",),
        ),
        Row(
            "N12",
            "where nobody can be asked a policy answers, or a rejection that says what would allow it",
            (
                "notebook/test_runners.py::test_n12_with_a_policy_it_completes",
                "notebook/test_runners.py::test_n12_without_a_policy_it_finishes_rejected_and_says_how",
                "notebook/test_runners.py::test_n12_with_check_the_exit_code_tells",
                (
                    "session/test_permissions.py::"
                    "test_n12_where_nobody_can_be_asked_it_is_rejected_and_says_what_would_allow_it"
                ),
            ),
        ),
        Row(
            "N13",
            "without a terminal to ask at nobody is asked, and nothing hangs",
            ("notebook/test_terminal.py::test_n13_a_script_without_a_terminal_is_not_asked_and_says_how",),
        ),
        Row(
            "N14",
            "of two pages on one kernel the first decision counts, and the other page shows it",
            ("browser/test_living.py::test_n14_two_tabs_the_first_decision_wins_and_the_other_shows_it",),
        ),
        Row(
            "N15",
            "without widgets the question comes as text; nothing is fetched from elsewhere",
            (
                "browser/test_living.py::test_n15_without_widgets_it_is_asked_by_text",
                "browser/test_living.py::test_n15_a_question_by_text_that_was_settled_leaves_no_field",
                "notebook/test_display.py::test_n15_the_page_is_told_that_a_question_by_text_is_settled",
            ),
        ),
        Row(
            "N16",
            "a flood and a giant value stay below what a server lets pass, and the end is whole",
            (
                "notebook/test_cases.py::test_n16_m06_a_flood_and_a_giant_value_stay_below_what_a_server_lets_pass",
            ),
        ),
        Row(
            "N17",
            "three fast interrupts are one, and the next cell works",
            ("notebook/test_cases.py::test_n17_three_fast_interrupts_are_one_and_the_next_cell_works",),
        ),
        Row(
            "N18",
            "a cell that awaits may wait too",
            ("notebook/test_pump.py::test_n18_a_cell_that_awaits_may_wait_too",),
        ),
        Row(
            "N19",
            "a request can be answered after its output was cleared, its cell run again, or deleted and brought back",
            (
                "browser/test_living.py::test_n19_an_output_cleared_while_a_request_waits",
                "browser/test_living.py::test_n19_cleared_without_our_labextension",
                "browser/test_living.py::test_n19_run_again_while_a_request_waits",
                "browser/test_living.py::test_n19_a_cell_deleted_while_a_request_waits",
            ),
        ),
        Row(
            "N20",
            "two kernels in one folder have a process and a session each",
            ("notebook/test_cases.py::test_n20_two_kernels_in_one_folder_have_a_process_each",),
        ),
        Row(
            "N22",
            "what an agent's child writes reaches no cell",
            ("notebook/test_cases.py::test_n22_what_an_agents_child_writes_reaches_no_cell",),
        ),
    ),
)

CASES = (LINES, PROCESSES, PROTOCOL, TERMINALS, FILES, ASKED, DIFFS, MARKDOWN, NOTEBOOKS)
