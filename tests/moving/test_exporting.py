"""An export: whole or not at all, in an order that does not change, and without secrets unless asked for."""

import hashlib
import json
import os
import stat

import pytest

from memoranda import InvalidInput, Refused
from moving.household import SECRET, digest, furnish
from support import occurrences


def lines_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_oldest_stand_first_between_a_manifest_and_an_end(memory, tmp_path, clock):
    furnish(memory)
    for name in ("zoe", "ben"):
        clock.advance(ms=1)
        memory.within(f"home/anna/{name}").remember(f"{name} has a bicycle.")
    done = memory.export(tmp_path / "out.jsonl", below=True)
    manifest, *found, end = lines_of(tmp_path / "out.jsonl")
    assert manifest["format"] == "memoranda-export"
    assert manifest["version"] == 1
    assert manifest["memories"] == len(found) == done.memories
    assert [(each["created_at"], each["id"]) for each in found] == sorted(
        (each["created_at"], each["id"]) for each in found
    )
    assert [each["scope"].rpartition("/")[2] for each in found[-2:]] == ["zoe", "ben"]
    assert {each["scope"] for each in found} == {"home/anna", "home/anna/ben", "home/anna/zoe"}
    assert end["end"]["memories"] == len(found)
    raw = (tmp_path / "out.jsonl").read_bytes()
    assert end["end"]["sha256"] == hashlib.sha256(b"".join(raw.splitlines(keepends=True)[1:-1])).hexdigest()
    assert done.receipt.sha256 == hashlib.sha256(raw).hexdigest()
    assert done.receipt.bytes == len(raw)


def test_an_export_made_again_has_the_same_bytes(memory, tmp_path):
    furnish(memory)
    for form in ("jsonl", "json"):
        memory.export(tmp_path / "one", format=form, overwrite=True)
        memory.export(tmp_path / "two", format=form, overwrite=True)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_one_json_file_holds_the_same(memory, tmp_path):
    furnish(memory)
    memory.export(tmp_path / "out.jsonl")
    memory.export(tmp_path / "out.json", format="json")
    whole = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    manifest, *found, end = lines_of(tmp_path / "out.jsonl")
    assert whole == {"manifest": manifest, "memories": found, "end": end["end"]}


def test_an_empty_scope_gives_an_export_without_memories(memory, tmp_path, another):
    for form in ("jsonl", "json"):
        assert memory.export(tmp_path / form, format=form).memories == 0
        taken = another(f"{form}.db").import_memories(tmp_path / form)
        assert taken.audit.total == 0
        assert taken.run is None


def test_what_is_forgotten_stays_and_states_can_be_chosen(memory, tmp_path):
    ids = furnish(memory)
    memory.export(tmp_path / "all.jsonl")
    assert ids["forgotten"] not in (tmp_path / "all.jsonl").read_text()
    done = memory.export(tmp_path / "some.jsonl", states=("superseded", "archived"))
    assert dict(done.receipt.manifest.states) == {"superseded": 1, "archived": 1}
    with pytest.raises(InvalidInput):
        memory.export(tmp_path / "no.jsonl", states=("forgotten",))


def test_a_kind_and_a_number_narrow_it_and_the_manifest_says_so(memory, tmp_path, clock):
    for number in range(3):
        clock.advance(ms=1)
        memory.remember(f"Anna likes tea number {number}.", kind="preference")
        memory.remember(f"The house has {number} doors.", kind="fact")
    done = memory.export(tmp_path / "some.jsonl", kind="preference", limit=2)
    manifest, *found, end = lines_of(tmp_path / "some.jsonl")
    assert [each["text"] for each in found] == ["Anna likes tea number 0.", "Anna likes tea number 1."]
    assert (manifest["kind"], manifest["limit"], manifest["memories"]) == ("preference", 2, 2)
    assert done.memories == end["end"]["memories"] == 2
    assert memory.export(tmp_path / "more.jsonl", limit=99).memories == 6
    for wrong in ({"kind": "gossip"}, {"limit": 0}, {"limit": True}, {"limit": "2"}, {"kind": None}):
        with pytest.raises(InvalidInput):
            memory.export(tmp_path / "no.jsonl", **wrong)


def test_after_an_export_of_part_of_it_what_is_written_next_is_seen(memory, tmp_path):
    """Nobody who stops in the middle keeps an old view of the store open."""
    memory.remember_many([f"Number {number} of many." for number in range(1200)])
    memory.export(tmp_path / "some.jsonl", limit=1)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        memory.export(tmp_path / "all.jsonl", progress=stop)
    memory.remember("Something new.")
    assert memory.export(tmp_path / "again.jsonl").memories == 1201
    assert "Something new." in (tmp_path / "again.jsonl").read_text()


def test_nothing_of_a_sibling_or_of_what_is_above_goes_along(memory, tmp_path, opened):
    opened("home").remember("The alarm is in the hall.")
    opened("home/anna2").remember("Anna the second has a cat.")
    memory.remember("Anna has a dog.")
    done = memory.export(tmp_path / "out.jsonl", below=True)
    assert done.memories == 1
    assert "cat" not in (tmp_path / "out.jsonl").read_text()


def test_the_file_is_its_owners_alone_and_nothing_is_left_beside_it(memory, tmp_path):
    furnish(memory)
    folder = tmp_path / "exports"
    folder.mkdir()
    memory.export(folder / "out.jsonl")
    assert stat.S_IMODE((folder / "out.jsonl").stat().st_mode) == 0o600
    assert [each.name for each in folder.iterdir()] == ["out.jsonl"]


def test_a_file_that_is_there_is_not_overwritten_unasked(memory, tmp_path):
    (tmp_path / "out.jsonl").write_text("precious")
    with pytest.raises(Refused, match="there already"):
        memory.export(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    memory.export(tmp_path / "out.jsonl", overwrite=True)
    assert "memoranda-export" in (tmp_path / "out.jsonl").read_text()


@pytest.mark.parametrize("suffix", ["", "-wal", "-index"])
def test_the_stores_own_files_are_never_a_target(memory, path, suffix):
    with pytest.raises((Refused, InvalidInput)):
        memory.export(path.with_name(path.name + suffix), overwrite=True)
    memory.remember("It is well.")


def test_a_folder_or_a_missing_one_is_told(memory, tmp_path):
    for target in (tmp_path, tmp_path / "nowhere" / "out.jsonl", "bad\0name"):
        with pytest.raises(InvalidInput):
            memory.export(target)


def test_an_export_that_is_stopped_leaves_nothing(memory, tmp_path):
    memory.remember_many([f"Number {number} of many." for number in range(1200)])

    def stop(done, total):
        raise KeyboardInterrupt

    folder = tmp_path / "exports"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        memory.export(folder / "out.jsonl", progress=stop)
    assert list(folder.iterdir()) == []


def test_progress_ends_at_the_number_of_memories(memory, tmp_path):
    memory.remember_many([f"Number {number} of many." for number in range(1200)])
    told = []
    memory.export(tmp_path / "out.jsonl", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1200, 1200)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.fixture
def with_secrets(opened):
    memory = opened(secrets="allow")
    memory.remember("Anna likes tea.")
    ids = {
        "text": memory.remember(f"The key is {SECRET} and the shop is nice.").id,
        "metadata": memory.remember("A note.", metadata={"deep": [{"key": SECRET}]}).id,
        "value": memory.remember("Wifi.", about="wifi", attribute="key", value=SECRET).id,
    }
    return memory, ids


def test_secrets_are_blacked_out_and_named_by_id_but_never_told(with_secrets, tmp_path):
    memory, ids = with_secrets
    done = memory.export(tmp_path / "out.jsonl")
    content = (tmp_path / "out.jsonl").read_text()
    assert SECRET not in content
    assert "and the shop is nice." in content
    assert done.receipt.redacted_memories == 3
    named = {each.id: each.fields for each in done.receipt.redactions}
    assert named == {ids["text"]: ("text",), ids["metadata"]: ("metadata",), ids["value"]: ("value",)}
    assert SECRET not in json.dumps(done.as_json())
    assert all(each.rules for each in done.receipt.redactions)


def test_unredacted_it_has_everything_and_says_so(with_secrets, tmp_path):
    memory, _ = with_secrets
    done = memory.export(tmp_path / "out.jsonl", redact=False)
    assert (tmp_path / "out.jsonl").read_text().count(SECRET) == 3
    assert done.receipt.redactions == ()
    assert not lines_of(tmp_path / "out.jsonl")[0]["redacted"]
    assert done.digest == digest(memory)


def test_a_redacted_export_can_be_taken_in_and_has_the_digest_it_says(with_secrets, tmp_path, another):
    memory, _ = with_secrets
    done = memory.export(tmp_path / "out.jsonl")
    other = another("other.db")
    assert other.import_memories(tmp_path / "out.jsonl", trust="kept").taken == 4
    assert digest(other) == done.digest
    assert not occurrences(other.path, SECRET)


def test_the_spool_has_no_name_on_the_disk(memory, tmp_path):
    memory.remember_many([f"Number {number} of many." for number in range(600)])
    folder = tmp_path / "exports"
    folder.mkdir()
    seen = []
    memory.export(folder / "out.jsonl", progress=lambda done, total: seen.extend(os.listdir(folder)))
    assert {name.startswith(".out.jsonl.") for name in seen} == {True}
