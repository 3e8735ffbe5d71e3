"""What serves many, over several stores: tokens at the first, answers beside their memories, all the rest together."""

import pytest

from memoranda.domain.errors import MemorandaError, NotFound
from memoranda.domain.scope import Scope
from memoranda.service.store import Store


def fill(store, root_on):
    for place in (1, 2, 3):
        for number in range(3):
            scope = f"{root_on(place, number=number)}/anna"
            store.memory(Scope(scope)).remember(f"Kept in {scope}.")


def test_the_scopes_of_all_are_one_list_and_paged(store, root_on):
    fill(store, root_on)
    whole = [each.scope for each in store.scopes()]
    assert len(whole) == 9
    assert whole == sorted(whole)
    pages = [each.scope for offset in range(0, 12, 2) for each in store.scopes(limit=2, offset=offset)]
    assert pages == whole
    assert store.scopes(limit=1).total == 9
    assert [each.scope for each in store.scopes(root_on(2))] == [f"{root_on(2)}/anna"]


def test_what_stands_and_upkeep_are_of_all(store, root_on):
    fill(store, root_on)
    assert store.standing() == (9, 9)
    store.maintain()
    assert store.standing() == (9, 0)
    assert len(store.upkeep().admin.upkeep(limit=9)) == 3
    assert store.upkeep().admin.index_status().memories == 9
    store.check()
    store.warm_up()
    assert not store.has_sample()


def test_tokens_are_kept_by_the_first_and_end_with_their_scope(store, root_on, addresses):
    root = root_on(3)
    store.memory(Scope(f"{root}/anna")).remember("Anna is here.")
    made = store.tokens.create(role="writer", scope=f"{root}/anna")
    assert store.tokens.principal(made.secret)
    assert store.path == type(store.path)(addresses[0])
    erased = store.memory(Scope(root)).erase(scope=f"{root}/anna")
    assert erased.receipt.tokens == 1
    assert store.tokens.principal(made.secret) is None


def test_an_answer_lies_beside_what_it_speaks_of_and_goes_with_it(store, root_on):
    scope = Scope(f"{root_on(2)}/anna")
    memory = store.memory(scope)
    kept = memory.remember("Anna keeps a secret.")
    answers = store.answers_of(scope)
    assert answers is store.answers_of(Scope(root_on(2)))
    assert answers is not store.answers_of(Scope(root_on(3)))
    assert store.answers_of(None) is store.answers
    assert store.answers_of(Scope(root_on(1))) is store.answers
    answers.begin("token x", "key", b"request", "boot")
    answers.finish("token x", "key", 200, '{"text": "Anna keeps a secret."}')
    assert answers.begin("token x", "key", b"request", "boot").outcome == "answered"
    memory.erase(kept)
    assert answers.begin("token x", "key", b"request", "boot").outcome == "done"


def test_a_memory_is_not_seen_from_another_root(store, root_on):
    kept = store.memory(Scope(root_on(1))).remember("Only here.")
    for place, number in ((1, 1), (2, 0), (3, 0)):
        other = store.memory(Scope(root_on(place, number=number)))
        assert not other.recall("only here?")
        with pytest.raises(NotFound):
            other.get(kept)


def test_closing_closes_all(chosen, root_on):
    store = Store.open(settings=chosen)
    memory = store.memory(Scope(root_on(3)))
    memory.remember("Here.")
    store.close()
    store.close()
    with pytest.raises(MemorandaError, match="closed"):
        memory.list()
    with pytest.raises(MemorandaError, match="closed"):
        store.memory(Scope(root_on(2)))
