"""Which tests are about the facade, so that they run on each of its faces; and which of them cannot, and why."""

SHARED = frozenset(
    {
        "capture/test_facade.py",
        "conversations/test_service.py",
        "documents/test_service.py",
        "facade/test_explaining.py",
        "facade/test_filters.py",
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


def _by_test(reasons: dict[str, str]) -> dict[str, str]:
    return {test: reason for reason, tests in reasons.items() for test in tests.split()}


EMBEDDED_ONLY = _by_test(_BELOW)
NOT_SERVED = _by_test(_MEANT)
