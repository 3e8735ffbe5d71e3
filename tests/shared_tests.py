"""Which tests are about the facade, so that they run on each of its faces; and which of them cannot, and why.

`SHARED` runs on every face. `ALSO_POSTGRES` runs embedded and on a PostgreSQL store: it speaks through the facade, too,
but of what lies below the doors.
"""

SHARED = frozenset(
    {
        "capture/test_facade.py",
        "conversations/test_service.py",
        "documents/test_service.py",
        "facade/test_derived.py",
        "facade/test_explaining.py",
        "facade/test_filters.py",
        "facade/test_letting_go.py",
        "facade/test_packs.py",
        "facade/test_recall.py",
        "facade/test_refusals.py",
        "facade/test_results.py",
        "facade/test_scope_and_trust.py",
        "facade/test_subjects.py",
        "facade/test_verbs.py",
        "typed/test_facts.py",
        "typed/test_preferences.py",
        "typed/test_profile.py",
        "typed/test_wrong_types.py",
    }
)

# Refused before any store is asked: runs on the faces that have a door of their own.
AT_THE_DOOR = frozenset({"typed/test_wrong_types.py"})

ALSO_POSTGRES = frozenset(
    {
        "capture/test_counting.py",
        "capture/test_cursor.py",
        "capture/test_rot.py",
        "concurrency/test_views.py",
        "consolidation/test_consolidating.py",
        "conversations/test_bounded.py",
        "conversations/test_concurrency.py",
        "conversations/test_erase.py",
        "conversations/test_limits.py",
        "conversations/test_maintain.py",
        "conversations/test_tools.py",
        "conversations/test_trust.py",
        "documents/mirror/test_accidents.py",
        "documents/mirror/test_folders.py",
        "documents/mirror/test_not_taken.py",
        "documents/mirror/test_taking_back.py",
        "documents/test_mirror_erase.py",
        "documents/test_tools.py",
        "facade/test_bad_queries.py",
        "facade/test_embedders.py",
        "facade/test_looking.py",
        "governance/test_auditing.py",
        "governance/test_drifting.py",
        "governance/test_missing.py",
        "governance/test_regrading.py",
        "governance/test_trusting.py",
        "moving/test_exporting.py",
        "moving/test_importing_foreign.py",
        "moving/test_importing_own.py",
        "moving/test_import_resuming.py",
        "moving/test_own_ids.py",
        "retention/test_apply.py",
        "retention/test_subject.py",
        "test_erase.py",
        "time/test_much_at_once.py",
        "time/test_rollback.py",
        "time/test_time_and_others.py",
        "time/test_undo.py",
        "tools/test_tools.py",
    }
)

# Reaches below the facade: runs embedded only.
_BELOW = {
    "reaches into the library of documents": """
        documents/test_service.py::test_a_search_takes_in_what_has_changed_since
        documents/test_service.py::test_a_search_that_fails_in_what_serves_says_so_at_once
        documents/test_service.py::test_a_search_whose_generation_is_swapped_goes_on_with_the_new_one
        documents/test_service.py::test_a_source_that_is_no_longer_registered_is_not_searched
        documents/test_service.py::test_status_does_not_believe_an_index_that_lost_its_rows
        documents/test_service.py::test_the_setting_says_when_the_folder_is_looked_at
        documents/test_service.py::test_while_one_rebuilds_another_is_told_so_and_searches
    """,
    "starts other processes on the same files": """
        documents/test_service.py::test_a_rebuild_that_is_killed_leaves_an_index_that_serves
        documents/test_service.py::test_another_process_that_rebuilds_is_noticed
        documents/test_service.py::test_no_search_comes_back_empty_while_others_rebuild
    """,
    "waits for threads of the engine": """
        conversations/test_service.py::test_nobody_waits_for_a_model_that_sums_up
    """,
    "asks the classes for their verbs": """
        typed/test_wrong_types.py::test_every_call_is_among_them
    """,
    "replaces the index": """
        facade/test_scope_and_trust.py::test_the_index_proposes_and_the_ledger_disposes
    """,
    "breaks the ledger in this process": """
        typed/test_facts.py::test_all_of_it_is_forgotten_or_nothing
    """,
}
# Differs over HTTP, and is meant to.
_MEANT = {
    "a tokenizer is a program of this process": """
        conversations/test_service.py::test_another_tokenizer_counts_anew
    """,
    "a server takes whole paths inside of its roots only": """
        documents/test_service.py::test_what_is_no_source_is_refused_with_a_hint
    """,
    "who acts is told by the token": """
        facade/test_refusals.py::test_a_bad_actor_is_refused_at_the_door
    """,
    "the words differ: a server names the place in the list": """
        typed/test_wrong_types.py::test_one_wrong_entry_of_a_list_is_named_and_none_is_kept
    """,
}
# Asks about files of the store, which one in PostgreSQL does not have.
_FILES = {
    "opens the file with another program": """
        facade/test_looking.py::test_letters_are_found_exactly_where_they_are
        typed/test_facts.py::test_the_examples_of_each_type_are_kept_word_for_word
        typed/test_facts.py::test_the_views_say_how_far_a_row_is_trusted
        typed/test_preferences.py::test_the_examples_are_kept_word_for_word
        typed/test_profile.py::test_the_view_of_profiles_has_only_what_is_trusted
    """,
    "counts statements by the driver of SQLite": """
        time/test_time_and_others.py::test_many_that_are_gone_are_passed_over_at_once
    """,
    "is about the write-ahead log, and about who holds it": """
        test_erase.py::test_a_reader_that_pins_the_log_makes_it_pending_and_upkeep_completes_it
        test_erase.py::test_the_write_ahead_logs_are_among_the_files_that_are_scanned
    """,
    "plants something in the files of the embedded index, or holds them": """
        facade/test_embedders.py::test_a_probe_that_a_crash_left_behind_is_not_counted_and_stops_nothing
        facade/test_embedders.py::test_a_rebuild_can_be_interrupted_and_goes_on_where_it_stopped
        test_erase.py::test_a_held_index_makes_it_pending_and_upkeep_completes_it
        test_erase.py::test_a_rebuild_leaves_no_open_file_behind_when_something_is_erased
        test_erase.py::test_the_scanner_finds_what_is_there
        test_erase.py::test_the_scanner_knows_how_the_index_and_the_ledger_store_it
        test_erase.py::test_what_an_interrupted_rebuild_left_does_not_stand_in_the_way
    """,
    "looks for vectors as the embedded index and the ledger's file hold them": """
        test_erase.py::test_nothing_is_left_in_any_file_while_the_process_is_open_and_afterwards
    """,
    "compares the bytes of its files": """
        conversations/test_maintain.py::test_a_dry_run_changes_nothing_and_says_what_the_upkeep_then_does
    """,
    "names the file of the store as a source or as a target": """
        moving/test_exporting.py::test_the_stores_own_files_are_never_a_target
        moving/test_importing_own.py::test_a_way_round_to_the_store_is_no_way
        moving/test_importing_own.py::test_the_store_itself_is_never_read_as_a_file
    """,
    "runs a command on the file": """
        conversations/test_maintain.py::test_the_command_says_in_json_what_there_is_to_do_and_then_does_it
    """,
    "opens the async face, by the path": """
        capture/test_facade.py::test_the_async_face_captures_and_reviews
        conversations/test_service.py::test_the_async_face_does_the_same
        facade/test_looking.py::test_the_async_face_looks_in_the_same_way
    """,
}


def _by_test(reasons: dict[str, str]) -> dict[str, str]:
    return {test: reason for reason, tests in reasons.items() for test in tests.split()}


EMBEDDED_ONLY = _by_test(_BELOW)
NOT_SERVED = _by_test(_MEANT)
NOT_POSTGRES = _by_test(_FILES)
