"""The statement of an erasure: complete, signed, silent about what is gone, and good for looking again."""

import copy
import json
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from memoranda import InvalidInput, NotFound, Refused, user
from memoranda.domain.statement import canonical, read_statement
from memoranda.service import fingerprints
from support import occurrences, open_store

CANARY = "kanarienvogel"
TEXT = f"The {CANARY} sings in the bedroom of the yellow house every morning at six."


@pytest.fixture
def store(opened, clock):
    memory = opened(embedder="hashed:words", clock=clock)
    for number in range(20):
        memory.remember(f"Bystander {number} reads a book about gardens.")
    return memory


def erased(memory, **more):
    memory.remember(TEXT, about=f"person:{CANARY}", speaker=f"{CANARY}-speaker", tags=[f"{CANARY}-tag"])
    memory.conversations.append([user(TEXT), user("Good morning.")], conversation="talk")
    memory.recall(CANARY)
    return memory.erase(about=f"person:{CANARY}", proof=True, **more)


def lines(found):
    return {check.name: check for check in found.checks}


def test_without_being_asked_for_there_is_none(store):
    assert store.erase(store.remember(TEXT)).receipt.statement is None


def test_it_says_what_was_searched_and_nothing_of_what_is_gone(store, path):
    done = erased(store)
    told = done.receipt.statement
    assert told["format"] == "memoranda.erasure.v1"
    assert told["state"] == "purged"
    assert told["ids"] == list(done.ids)
    assert told["scope"] == store.scope
    assert told["counts"] | {"events": 0} == {
        "memories": 1, "revisions": 1, "events": 0, "vectors": 1, "messages": 1, "conversations": 0, "summaries": 0,
        "mirrors": 0, "backups": 0, "sources": 0, "tokens": 0,
    }  # fmt: skip
    assert told["searched"]["found"] == 0
    assert told["searched"]["needles"] == done.receipt.needles > 10
    assert told["searched"]["bytes"] == sum(each["bytes"] for each in told["places"])
    assert {each["place"] for each in told["places"]} == {"ledger", "index of memories", "index of messages"}
    assert all(len(each["sha256"]) == 64 and each["found"] == 0 for each in told["places"])
    assert told["begun_at"] <= told["ended_at"] <= told["made_at"]
    assert told["fingerprints"]["count"] == told["fingerprints"]["of"] > 5
    assert CANARY not in json.dumps(told)
    assert json.loads(json.dumps(told)) == told
    assert done.receipt.as_json()["statement"] == told
    assert occurrences(path, CANARY) == []


def test_the_subject_is_a_digest_unless_it_shall_be_named(store):
    told = erased(store).receipt.statement
    assert told["asked"]["ways"] == ["about"]
    digest = told["asked"]["about"]["digest"]
    store.remember(TEXT, about=f"person:{CANARY}", after_erase="allow")
    again = store.erase(about=f"person:{CANARY}", proof=True).receipt.statement
    assert again["asked"]["about"]["digest"] == digest, "the same subject, so that an operator can find it again"
    store.remember(TEXT, about=f"person:{CANARY}", after_erase="allow")
    named = store.erase(about=f"person:{CANARY}", proof=True, name_subject=True).receipt.statement
    assert named["asked"]["about"] == f"person:{CANARY}"


@pytest.mark.parametrize("way", [{"about": "nobody"}, {"speaker": "nobody"}, {"scope": "home/anna/cellar"}])
def test_no_statement_is_signed_over_nothing(store, path, way):
    before = store.stats().sequence
    with pytest.raises(NotFound, match="nothing to make a statement of") as refused:
        store.erase(**way, proof=True)
    assert "preview" in refused.value.hint
    assert store.stats().sequence == before
    assert store.erase(**way).receipt.ids == (), "without a statement there is nothing to refuse"


def test_where_nothing_could_be_searched_for_the_statement_says_so(opened, clock):
    store = opened(clock=clock)
    kept = store.remember("Tea")
    opened("home/ben", clock=clock).remember("Tea")
    told = store.erase(kept, proof=True).receipt.statement
    assert told["searched"]["needles"] == 0
    assert any("nothing was searched for in the files" in each for each in told["notes"])
    looked = store.verify_erasure(told)
    assert looked.ok
    assert "there are none" in lines(looked)["fingerprints"].detail
    full = erased(store).receipt.statement
    assert not any("nothing was searched for" in each for each in full["notes"])
    assert "fingerprints" not in lines(store.verify_erasure(full))


def test_anybody_can_check_the_signature_with_standard_tools(store):
    told = erased(store).receipt.statement
    unsigned = {name: value for name, value in told.items() if name != "signature"}
    raw = json.dumps(unsigned, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    assert raw == canonical(told)
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(told["public_key"])).verify(bytes.fromhex(told["signature"]), raw)


def test_one_store_signs_with_one_key_and_another_with_another(store, tmp_path):
    first = erased(store).receipt.statement
    second = store.erase(store.remember("A window."), proof=True).receipt.statement
    assert first["public_key"] == second["public_key"]
    assert first["id"] != second["id"]
    with open_store(tmp_path / "other.db") as other:
        third = other.erase(other.remember("A window."), proof=True).receipt.statement
        assert third["public_key"] != first["public_key"]


def test_looking_again_finds_nothing_as_long_as_nothing_is_there(store):
    told = erased(store).receipt.statement
    store.remember("Something new is said about gardens.")
    store.recall("gardens")
    found = store.verify_erasure(told)
    assert found.ok, found
    assert {"signature", "statement", "ids", "what is kept", "store.db"} <= lines(found).keys()


@pytest.mark.parametrize("place", ["store.db-index/left.bin", "store.db.corrupt", "store.db-old"])
def test_looking_again_finds_what_is_planted_in_any_file(store, path, place):
    told = erased(store).receipt.statement
    (path.parent / place).write_bytes(b"\0" * 3_000_001 + TEXT.encode()[7:] + b"\0")
    found = store.verify_erasure(told)
    assert not found.ok
    assert not lines(found)[place].ok
    assert lines(found)["store.db"].ok


def test_a_copy_beside_the_store_is_named_by_the_erasure_itself(store, path):
    store.remember(TEXT)
    aside = path.with_name("store.db.corrupt")
    aside.write_bytes(TEXT.encode())
    done = store.erase(about="nobody")
    assert done.purged, "nothing was erased"
    done = store.erase(store.recall(CANARY)[0].memory)
    assert done.receipt.state == "deleted"
    assert "store.db.corrupt" in done.receipt.pending


def test_a_vector_that_is_left_is_found(store, path):
    kept = store.remember(TEXT)
    store.recall(CANARY)
    row = store._engine.ledger.feed.vector_bodies([store._engine.ledger.number_of(kept.id, scope=store._scope)], 64)
    told = store.erase(kept, proof=True).receipt.statement
    (path.parent / "store.db-old").write_bytes(b"x" + next(iter(row)))
    assert not lines(store.verify_erasure(told))["store.db-old"].ok


def test_what_is_said_again_is_told_and_is_no_remainder(store):
    told = erased(store).receipt.statement
    store.remember(TEXT, after_erase="allow")
    store.recall(CANARY)
    found = lines(store.verify_erasure(told))
    assert not found["what is kept"].ok
    assert found["ids"].ok
    assert found["store.db"].ok


def test_short_words_that_anybody_may_write_again_are_no_alarm(store):
    store.remember("The window is open.", about="window", tags=["airing"])
    told = store.erase(about="window", proof=True).receipt.statement
    store.remember("The door is shut.", about="window", tags=["airing"])
    assert store.verify_erasure(told).ok


def test_an_old_copy_of_the_store_that_was_put_back_is_noticed(opened, path, clock):
    memory = opened(clock=clock)
    memory.erase(memory.remember("A window."), proof=True)  # so that both have the key
    memory.remember(TEXT, about="bird")
    memory._engine.ledger.database.checkpoint()
    old = path.parent / "kept-by-somebody"
    shutil.copy(path, old)
    told = memory.erase(about="bird", proof=True).receipt.statement
    memory.close()
    shutil.copy(old, path)
    found = lines(opened(clock=clock).verify_erasure(told))
    assert found["signature"].ok
    assert not found["ids"].ok
    assert not found["what is kept"].ok


@pytest.mark.parametrize("change", ["state", "ids", "places", "fingerprints", "signature", "public_key"])
def test_a_statement_that_was_changed_is_told(store, change):
    told = copy.deepcopy(erased(store).receipt.statement)
    if change == "state":
        told["state"] = "deleted"
    elif change == "ids":
        told["ids"] = []
    elif change == "places":
        told["places"][0]["found"] = 1
    elif change == "fingerprints":
        told["fingerprints"]["sealed"] = "AAAA"
    else:
        told[change] = "00" * (len(told[change]) // 2)
    found = store.verify_erasure(told)
    assert not found.ok
    assert [check.name for check in found.checks] == ["signature"]


def test_a_statement_that_another_key_signed_is_not_this_stores(store, tmp_path):
    told = erased(store).receipt.statement
    with open_store(tmp_path / "forger.db") as forger:
        from memoranda.service.statement import _signed

        forged = _signed(forger._engine, {**told, "state": "purged"})
    found = store.verify_erasure(forged)
    assert not found.ok
    assert "another key" in found.checks[0].detail


def test_of_another_stores_statement_only_the_signature_is_checked(store, tmp_path):
    told = erased(store).receipt.statement
    with open_store(tmp_path / "other.db") as other:
        found = other.verify_erasure(told)
        assert lines(found)["signature"].ok
        assert not found.ok, "anybody can sign with a key of their own"
        assert "another store" in lines(found)["places"].detail
        assert not other.verify_erasure(told, public_key="00" * 32).ok
        assert other.verify_erasure(told, public_key=told["public_key"].upper()).ok


def test_a_statement_is_looked_at_from_its_scope_or_above(opened):
    home = opened("home")
    anna, ben = home.within("home/anna"), home.within("home/ben")
    told = anna.erase(anna.remember(TEXT), proof=True).receipt.statement
    assert home.verify_erasure(told).ok
    with pytest.raises(Refused):
        ben.verify_erasure(told)


def test_what_is_no_statement_is_refused(store):
    told = erased(store).receipt.statement
    for wrong in ({}, [], {**told, "format": "other"}, {**told, "ids": "all"}, {**told, "fingerprints": {}}):
        with pytest.raises(InvalidInput):
            store.verify_erasure(wrong)
    for text in ("", "no json", "[" * 100_000, "{}"):
        with pytest.raises(InvalidInput):
            read_statement(text)


def test_fingerprints_are_sealed_for_their_store_and_their_statement(store, tmp_path):
    prints = fingerprints.Fingerprints(store._engine.ledger)
    sealed = prints.sealed([b"something", b"else of it"], telling=[b"something"], identity="one")
    patterns, telling = prints.opened(sealed["sealed"], identity="one")
    assert sorted(each.length for each in patterns) == [9, 10]
    assert telling == {prints.mark(b"something")}
    with open_store(tmp_path / "other.db") as other:
        for wrong, identity in ((prints, "two"), (fingerprints.Fingerprints(other._engine.ledger), "one")):
            with pytest.raises(InvalidInput):
                wrong.opened(sealed["sealed"], identity=identity)


def test_very_many_fingerprints_are_a_sample_and_say_so(store, monkeypatch):
    monkeypatch.setattr(fingerprints, "MOST", 7)
    told = erased(store).receipt.statement["fingerprints"]
    assert told["count"] == 7 < told["of"]


def test_what_is_pending_is_in_the_statement_and_makes_it_fail(store, path):
    store.remember(TEXT, about="bird")
    path.with_name("store.db-old").write_bytes(TEXT.encode())
    done = store.erase(about="bird", proof=True)
    told = done.receipt.statement
    assert told["state"] == "deleted"
    assert "store.db-old" in told["pending"]
    assert not lines(store.verify_erasure(told))["statement"].ok
    path.with_name("store.db-old").unlink()
    found = store.verify_erasure(told)
    assert found.ok
    assert "deleted" in lines(found)["statement"].detail, "what was signed is told as it was"
    assert "is done" in lines(found)["statement"].detail
