"""Tokens: what is kept of them, whom they let in and for how long, and what an admin may hand on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda import InvalidInput, NotFound, Refused, Settings
from memoranda.domain.access import ROLES, Principal, Token, token_digest
from memoranda.domain.clock import DAY_MS
from memoranda.service.store import Store
from support import occurrences

MINUTE = 60_000


def admin(scope, **fields):
    return Principal("an admin", "admin", scope, **fields)


def uses(store, token):
    """When it was last used, once what goes on in the background is done."""
    for chore in store._engine._chores:
        chore.join()
    return next(each.last_used_at for each in store.tokens.list() if each.id == token.id)


# -- what is kept --


def test_the_file_has_the_hash_and_nothing_of_the_secret(store, book, path):
    made = book.create(name="the kitchen", role="writer", scope="bot-1")
    assert book.principal(made.secret) is not None
    random_part = made.secret.split("_", 2)[2]
    assert occurrences(path, token_digest(made.secret)), "the scan must see what is there"
    assert occurrences(path, made.secret, random_part, random_part[:16]) == []
    store.close()
    assert occurrences(path, made.secret, random_part, random_part[:16]) == []


def test_a_secret_says_its_id_and_is_long_and_never_the_same(book):
    made = [book.create(role="reader", scope="bot-1") for _ in range(20)]
    for each in made:
        prefix, reference, random_part = each.secret.split("_", 2)
        assert (prefix, reference, len(reference)) == ("mem", each.token.id, 8)
        assert len(random_part) == 43
    assert len({each.secret for each in made}) == len({each.token.id for each in made}) == 20


def test_a_secret_is_shown_when_it_is_made_and_in_nothing_else(book):
    made = book.create(role="reader", scope="bot-1")
    for shown in (book.list(), book.revoke(made.token.id), book.list()):
        assert made.secret[13:] not in repr(shown)


def test_who_made_a_token_is_written_down(store, book):
    maker = book.create(name="operator", role="admin", scope="")
    by = book.principal(maker.secret)
    book.create(role="reader", scope="bot-1", by=by)
    with store._engine.ledger.database.read() as connection:
        made_by = [row[0] for row in connection.execute("select made_by from token where scope = 'bot-1'")]
    assert made_by == [maker.token.id]


# -- whom it lets in --


def test_a_token_is_the_principal_that_it_was_made_for(book):
    made = book.create(name="alice's phone", role="reader", scope="bot-1/group-7", above=True)
    assert book.principal(made.secret) == Principal("alice's phone", "reader", "bot-1/group-7", True, made.token.id)


def test_a_token_without_a_name_goes_by_its_id(book):
    made = book.create(role="reader", scope="bot-1")
    assert book.principal(made.secret).name == made.token.id


@pytest.mark.parametrize(
    "spoil",
    [
        lambda secret: "",
        lambda secret: "mem_",
        lambda secret: secret[:-1],
        lambda secret: secret + "A",
        lambda secret: secret.upper(),
        lambda secret: secret.removeprefix("mem_"),
        lambda secret: secret + " ",
        lambda secret: secret[:13] + "A" * 43,
        lambda secret: "mem_\udcff" + secret[4:],
        lambda secret: secret + "x" * 10_000_000,
    ],
)
def test_anything_but_the_secret_opens_nothing(book, spoil):
    made = book.create(role="reader", scope="bot-1")
    assert book.principal(spoil(made.secret)) is None
    assert book.principal(made.secret) is not None


@given(st.text(max_size=80))
def test_no_text_opens_a_store_without_tokens(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "without-tokens.db"
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        assert store.tokens.principal("mem_" + text) is None


def test_a_revoked_token_opens_nothing_at_once(book, clock):
    kept, revoked = (book.create(role="writer", scope="bot-1") for _ in range(2))
    assert book.principal(revoked.secret) is not None, "it was good"
    told = book.revoke(revoked.token.id)
    assert told.revoked_at == clock.now()
    assert book.principal(revoked.secret) is None
    assert book.principal(kept.secret) is not None


def test_what_a_revoked_token_had_made_goes_with_it_all_the_way_down(book, clock):
    """Or whoever stole an admin's token would have made another in time."""
    stolen, kept = (book.create(role="admin", scope="bot-1") for _ in range(2))
    child = book.create(role="admin", scope="bot-1", by=book.principal(stolen.secret))
    grandchild = book.create(role="reader", scope="bot-1/group-7", by=book.principal(child.secret))
    other = book.create(role="reader", scope="bot-1", by=book.principal(kept.secret))
    assert all(book.principal(each.secret) for each in (stolen, child, grandchild)), "they were good"
    told = book.revoke(stolen.token.id)
    assert told.others == tuple(sorted((child.token.id, grandchild.token.id)))
    assert not any(book.principal(each.secret) for each in (stolen, child, grandchild))
    assert all(book.principal(each.secret) for each in (kept, other))
    first = clock.now()
    clock.advance(days=1)
    assert book.revoke(stolen.token.id).others == (), "they are told of once"
    assert [each.revoked_at for each in book.list() if each.revoked_at] == [first] * 3


def test_a_child_that_is_revoked_leaves_its_maker_and_its_siblings(book):
    maker = book.create(role="admin", scope="bot-1")
    by = book.principal(maker.secret)
    child, sibling = (book.create(role="reader", scope="bot-1", by=by) for _ in range(2))
    assert book.revoke(child.token.id, by=by).others == ()
    assert book.principal(child.secret) is None
    assert book.principal(maker.secret) == by
    assert book.principal(sibling.secret) is not None


def test_revoking_again_keeps_the_first_time(book, clock):
    made = book.create(role="writer", scope="bot-1")
    first = book.revoke(made.token.id).revoked_at
    clock.advance(days=1)
    assert book.revoke(made.token.id).revoked_at == first


def test_a_token_that_was_found_somewhere_is_revoked_by_itself(book):
    made = book.create(role="writer", scope="bot-1")
    assert book.revoke(made.secret).token.id == made.token.id
    other = book.create(role="writer", scope="bot-1")
    assert book.revoke(f"mem_{other.token.id}").revoked_at is not None


def test_an_unknown_id_says_where_to_look(book):
    book.create(role="writer", scope="bot-1")
    with pytest.raises(NotFound) as told:
        book.revoke("00000000")
    assert "token list" in told.value.hint


def test_a_revocation_by_another_process_is_seen_within_five_seconds(book, path):
    made = book.create(role="writer", scope="bot-1")
    assert book.principal(made.secret) is not None
    source = str(Path(memoranda.__file__).parents[1])
    command = [sys.executable, "-m", "memoranda", "token", "revoke", made.token.id, "--store", str(path)]
    began = time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    revoked = time.monotonic()
    while book.principal(made.secret) is not None:
        assert time.monotonic() - revoked < 5.5
        time.sleep(0.05)
    assert time.monotonic() - began < 10


def test_a_token_that_was_made_by_another_process_is_good_at_once(store, book, path):
    assert book.principal("mem_00000000_" + "A" * 43) is None
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as other:
        made = other.tokens.create(role="reader", scope="bot-1")
    assert book.principal(made.secret) is not None


def test_a_token_that_another_process_revoked_opens_nothing_at_once(store, book, path):
    made = book.create(role="reader", scope="bot-1")
    assert book.principal(made.secret) is not None
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as other:
        other.tokens.revoke(made.token.id)
    assert book.principal(made.secret) is None


def test_an_expired_token_opens_nothing_from_its_last_millisecond_on(book, clock):
    made = book.create(role="writer", scope="bot-1", days=1)
    assert made.token.expires_at == clock.now() + DAY_MS
    clock.advance(ms=DAY_MS - 1)
    assert book.principal(made.secret) is not None
    clock.advance(ms=1)
    assert book.principal(made.secret) is None, "although it was good a moment ago"


def test_whether_anybody_could_be_let_in(book, clock):
    assert not book.any_good()
    made = book.create(role="reader", scope="bot-1", days=1)
    assert book.any_good()
    clock.advance(days=1)
    assert not book.any_good()
    made = book.create(role="reader", scope="bot-1")
    assert book.any_good()
    book.revoke(made.token.id)
    assert not book.any_good()


# -- last use --


def test_the_last_use_is_written_at_most_once_a_minute(store, book, clock):
    made = book.create(role="reader", scope="bot-1")
    assert uses(store, made.token) is None
    first = clock.now()
    book.principal(made.secret)
    assert uses(store, made.token) == first
    clock.advance(ms=MINUTE - 1)
    book.principal(made.secret)
    assert uses(store, made.token) == first
    clock.advance(ms=1)
    book.principal(made.secret)
    assert uses(store, made.token) == first + MINUTE


def test_nothing_is_done_about_a_use_within_the_same_minute(store, book, clock):
    made = book.create(role="reader", scope="bot-1")
    book.principal(made.secret)
    uses(store, made.token)
    done = list(store._engine._chores)
    clock.advance(ms=MINUTE - 1)
    assert all(book.principal(made.secret) for _ in range(10))
    assert store._engine._chores == done


def test_a_token_that_opens_nothing_is_not_used(store, book):
    made = book.create(role="reader", scope="bot-1")
    book.revoke(made.token.id)
    book.principal(made.secret)
    assert uses(store, made.token) is None


def test_uses_of_several_are_written_together_and_never_back_in_time(store, book, clock):
    made = [book.create(role="reader", scope=f"bot-{number}").token for number in range(3)]
    now = clock.now()
    book._tokens.touch({token.id: now for token in made})
    book._tokens.touch({token.id: now - 10 * MINUTE for token in made} | {"00000000": now})
    assert [each.last_used_at for each in book.list()] == [now] * 3


# -- what may be made --


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "owner"},
        {"role": ""},
        {"role": ["admin"]},
        {"scope": "bot-1/"},
        {"scope": "*"},
        {"scope": "../bot-1"},
        {"scope": "bot-1%2Fgroup"},
        {"scope": None},
        {"days": 0},
        {"days": -1},
        {"days": 3_651},
        {"days": True},
        {"days": 1.5},
        {"above": "no"},
        {"scope": "", "above": True},
        {"name": "a" * 101},
        {"name": "two\nlines"},
        {"name": "hidden\u202e"},
        {"name": "nul\0"},
        {"name": 7},
    ],
)
def test_a_token_with_a_wrong_word_is_not_made(book, wrong):
    with pytest.raises(InvalidInput) as told:
        book.create(**{"role": "writer", "scope": "bot-1", **wrong})
    assert told.value.hint.endswith(".")
    assert book.list() == ()


def test_a_name_with_a_secret_in_it_is_refused(book):
    with pytest.raises(Refused):
        book.create(name="ghp_" + "aB3dE6gH9jK2" * 3, role="writer", scope="bot-1")
    assert book.list() == ()


@pytest.mark.parametrize("days", [1, 3_650, None])
def test_the_longest_and_the_shortest_are_made(book, clock, days):
    made = book.create(name="ż" * 100, role="admin", scope="", days=days)
    assert made.token.expires_at == (None if days is None else clock.now() + days * DAY_MS)


# -- who may make, see and revoke what --

# Signs that sort before and after the slash, too.
WIDER = ["", "bot", "bot-10", "bot-2", "bot-1.", "bot-1-2", "bot-1x/group-7", "bot-10/group-7", "Bot-1"]
INSIDE = ["bot-1", "bot-1/group-7", "bot-1/group-7/alice"]


@pytest.mark.parametrize("scope", WIDER)
@pytest.mark.parametrize("role", ROLES)
def test_an_admin_makes_no_token_for_a_scope_that_it_does_not_reach(book, scope, role):
    with pytest.raises(Refused) as told:
        book.create(role=role, scope=scope, by=admin("bot-1"))
    assert "bot-1 and below" in told.value.hint
    assert book.list() == ()


@pytest.mark.parametrize("scope", INSIDE)
@pytest.mark.parametrize("role", ROLES)
def test_an_admin_makes_tokens_inside_of_its_scope(book, scope, role):
    made = book.create(role=role, scope=scope, by=admin("bot-1"))
    assert book.principal(made.secret).scope == scope


@pytest.mark.parametrize("scope", INSIDE)
def test_nobody_shows_what_is_above_without_seeing_it(book, scope):
    with pytest.raises(Refused):
        book.create(role="reader", scope=scope, above=True, by=admin("bot-1"))
    assert book.create(role="reader", scope=scope, above=True, by=admin("bot-1", above=True)).token.above
    assert book.create(role="reader", scope=scope, above=True, by=admin("")).token.above


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_who_is_no_admin_makes_sees_and_revokes_nothing(book, role):
    made = book.create(role="reader", scope="bot-1")
    by = Principal("somebody", role, "bot-1")
    for attempt in (
        lambda: book.create(role="reader", scope="bot-1", by=by),
        lambda: book.list(by=by),
        lambda: book.revoke(made.token.id, by=by),
        lambda: book.revoke(made.token.id, by=Principal("operator", role, "")),
    ):
        with pytest.raises(Refused):
            attempt()
    assert book.principal(made.secret) is not None


def test_an_admin_sees_and_revokes_what_is_inside_and_nothing_else(book):
    made = {scope: book.create(role="reader", scope=scope) for scope in [*WIDER, *INSIDE]}
    by = admin("bot-1")
    assert {token.scope for token in book.list(by=by)} == set(INSIDE)
    assert {token.scope for token in book.list(by=admin(""))} == set(made)
    assert {token.scope for token in book.list()} == set(made)
    for scope in WIDER:
        with pytest.raises(NotFound):  # as one that does not exist
            book.revoke(made[scope].token.id, by=by)
        assert book.principal(made[scope].secret) is not None
    for scope in INSIDE:
        assert book.revoke(made[scope].token.id, by=by).revoked_at is not None


def test_a_list_below_a_scope_is_of_that_scope_only(book):
    for scope in [*WIDER, *INSIDE]:
        book.create(role="reader", scope=scope)
    for by in (None, admin("bot-1"), admin("")):
        assert {token.scope for token in book.list(below="bot-1/group-7", by=by)} == set(INSIDE[1:])
    with pytest.raises(Refused):
        book.list(below="bot-10", by=admin("bot-1"))
    with pytest.raises(Refused):
        book.list(below="bot", by=admin("bot-1"))


def test_a_token_does_not_outlive_the_one_that_made_it(book):
    maker = book.principal(book.create(role="admin", scope="bot-1", days=3).secret)
    for days in (None, 4):
        with pytest.raises(Refused) as told:
            book.create(role="admin", scope="bot-1", days=days, by=maker)
        assert "days=3" in told.value.hint
    assert book.create(role="admin", scope="bot-1", days=3, by=maker).token.expires_at is not None


def test_a_token_that_is_no_longer_good_makes_no_other_though_it_was_let_in(book):
    made = book.create(role="admin", scope="bot-1")
    maker = book.principal(made.secret)
    book.revoke(made.token.id)
    with pytest.raises(Refused):
        book.create(role="admin", scope="bot-1", by=maker)


segment = st.sampled_from(["bot-1", "bot-10", "bot-1.", "a", "b"])
scopes = st.lists(segment, max_size=3).map("/".join)


@given(own=scopes, own_role=st.sampled_from(ROLES), above=st.booleans(), asked=scopes, role=st.sampled_from(ROLES))
def test_what_is_handed_on_is_never_more_than_one_has(tmp_path_factory, own, own_role, above, asked, role):
    path = tmp_path_factory.getbasetemp() / "handed-on.db"
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        by = Principal("maker", own_role, own)
        try:
            made = store.tokens.create(role=role, scope=asked, above=above, by=by)
        except (Refused, InvalidInput):
            return
        assert own_role == "admin"
        handed = store.tokens.principal(made.secret)
        own_segments, asked_segments = own.split("/") if own else [], asked.split("/") if asked else []
        assert asked_segments[: len(own_segments)] == own_segments
        assert not handed.above or not own


def test_a_token_is_good_until_it_is_not():
    token = Token("1", "", "reader", "bot-1", False, 0, expires_at=10)
    assert [token.is_good_at(now) for now in (0, 9, 10, 11)] == [True, True, False, False]
    assert not token._replace(expires_at=None, revoked_at=5).is_good_at(6)
