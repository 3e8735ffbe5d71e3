"""Export and import: what comes out of one house goes whole into another."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda import Draft, InvalidInput, NotFound, Refused
from moving.household import SECRET, digest, furnish


@pytest.fixture
def furnished(memory, tmp_path):
    ids = furnish(memory)
    memory.within("home/anna/garden").remember("The roses are cut in March.")
    memory.export(tmp_path / "out.jsonl", redact=False, below=True)
    return memory, tmp_path / "out.jsonl", ids


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_into_an_empty_store_everything_is_as_it_was(memory, tmp_path, another, form):
    ids = furnish(memory)
    memory.within("home/anna/garden").remember("The roses are cut in March.")
    done = memory.export(tmp_path / "out", redact=False, below=True, format=form)
    other = another("other.db")
    taken = other.import_memories(tmp_path / "out", trust="kept")
    assert taken.format == "own"
    assert (taken.trust, taken.signed) == ("kept", "elsewhere")
    assert taken.taken == taken.audit.take == done.memories
    assert digest(other) == digest(memory) == done.digest
    assert other.get(ids["rich"]) == memory.get(ids["rich"])
    assert other.get(ids["old"]).superseded_by == ids["new"]
    assert other.get(ids["waiting"]).trust == "quarantined"
    assert other.profile.get().name == "Anna"
    assert other.admin.verify().ok
    assert other.recall("colour of the lamp")[0].id == ids["new"]


def test_taken_in_again_nothing_is_done(furnished, another):
    _, file, _ = furnished
    other = another("other.db")
    other.import_memories(file)
    before = other.stats().sequence
    again = other.import_memories(file)
    assert again.run is None
    assert again.audit.left_out == {"known": again.audit.total}
    assert other.stats().sequence == before


def test_its_history_tells_who_and_which_import(furnished, another):
    _, file, ids = furnished
    other = another("other.db", actor="mover")
    run = other.import_memories(file).run
    told = [(each.event.action, each.event.actor, each.event.reason) for each in other.history(ids["archived"])]
    assert told == [("remembered", "mover", f"import:{run.id}"), ("archived", "mover", f"import:{run.id}")]
    assert other.growth(days=1)[-1].live == other.stats().by_state["live"]


def test_with_dedupe_none_all_of_it_comes_again_under_new_ids(furnished, another):
    _, file, ids = furnished
    other = another("other.db")
    first = other.import_memories(file)
    second = other.import_memories(file, dedupe="none")
    assert second.taken == first.taken
    lamps = list(other.list(about="light.lamp", states=("live", "superseded"), limit=50))
    by_id = {each.id: each for each in lamps}
    assert len(lamps) == 4
    links = {each.superseded_by for each in lamps if each.state == "superseded"}
    assert len(links) == 2
    assert all(by_id[link].state == "live" for link in links)
    assert ids["new"] in links


def test_by_id_only_what_says_the_same_comes_beside_it(furnished, another):
    _, file, _ = furnished
    other = another("other.db")
    other.remember("The shop closes at six.", source="web")
    assert other.import_memories(file, mode="preview").audit.left_out == {"same": 1}
    assert other.import_memories(file, dedupe="id").audit.left_out == {}


def test_a_memory_that_is_said_twice_in_one_house_stays_two(opened, tmp_path, another):
    memory = opened()
    one = memory.remember("The gate is green.")
    memory.forget(one)
    memory.remember("The gate is green.")
    memory.restore(one)
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    assert other.import_memories(tmp_path / "out.jsonl", trust="kept").taken == 2
    assert digest(other) == digest(memory)


# -- trust --


def test_who_imports_may_trust_less_or_vouch_but_what_waits_goes_on_waiting(furnished, another):
    _, file, ids = furnished
    less = another("less.db")
    assert less.import_memories(file, trust="untrusted").signed == "elsewhere"
    assert less.stats().by_trust == {"untrusted": less.stats().total - 1, "quarantined": 1}
    more = another("more.db")
    more.import_memories(file, trust="trusted")
    assert more.get(ids["web"]).trust == "trusted"
    assert more.get(ids["waiting"]).trust == "quarantined"


def test_what_another_store_has_signed_is_taken_as_if_anybody_had_written_it(furnished, another):
    memory, file, ids = furnished
    other = another("other.db")
    taken = other.import_memories(file)
    assert (taken.trust, taken.signed) == ("untrusted", "elsewhere")
    found = [*other.list(states=("live", "superseded", "archived"), trust=("untrusted", "quarantined"), limit=50)]
    assert len(found) == 8
    assert {each.source for each in found} == {"import"}
    assert {each.basis for each in found} == {"inferred"}
    assert max(each.confidence for each in found) <= 0.8
    assert memory.get(ids["rich"]).grade == "must_remember"
    assert other.get(ids["rich"]).grade == "nice_to_have"
    assert other.get(ids["waiting"]).trust == "quarantined"
    assert other.get(ids["waiting"]).metadata == {"review": {"why": "import"}}
    assert other.profile.get().name == ""
    assert not other.pack("What colour is the lamp?").items


def test_what_this_store_has_signed_comes_back_with_its_trust(furnished):
    memory, file, ids = furnished
    before = digest(memory)
    with_tag = memory.tag("before")
    memory.forget(ids["new"])
    memory.forget(ids["rich"])
    memory.rollback(with_tag.name)
    assert digest(memory) == before
    memory.remember("The lamp is green.", about="light.lamp", attribute="colour", value="green")
    taken = memory.import_memories(file, owners={"home/anna": "home/anna/copy"})
    assert (taken.trust, taken.signed) == ("kept", "here")
    lamp = [*memory.within("home/anna/copy").list(about="light.lamp", limit=9)]
    assert [(each.trust, each.source) for each in lamp if each.scope == "home/anna/copy"] == [("trusted", "user")]


@pytest.mark.parametrize("foreign", ["map", "here"])
def test_what_this_store_has_signed_for_one_tenant_is_no_word_for_another(opened, tmp_path, foreign):
    one, other, above = opened("team/a"), opened("team/b"), opened("team")
    one.remember("Invoices of Heron Ltd are paid at once.")
    one.export(tmp_path / "out.jsonl", redact=False)
    taken = other.import_memories(tmp_path / "out.jsonl", foreign=foreign)
    assert (taken.trust, taken.signed) == ("untrusted", "here")
    assert [(each.trust, each.source) for each in other.list(here=True)] == [("untrusted", "import")]
    assert not other.pack("When are invoices of Heron Ltd paid?").items
    assert other.import_memories(tmp_path / "out.jsonl", trust="kept", foreign=foreign, mode="preview").trust == "kept"
    wider = above.import_memories(tmp_path / "out.jsonl", owners={"team/a": "team/c"})
    assert (wider.trust, wider.signed) == ("kept", "here")
    copied = above.within("team/c").list(here=True)
    assert [(each.trust, each.source) for each in copied] == [("trusted", "user")]


@pytest.mark.parametrize("form", ["jsonl", "json"])
@pytest.mark.parametrize(
    "altered", ["a word", "the trust", "the scope", "a line more", "a line less", "a second end", "the key"]
)
def test_an_export_that_was_altered_is_not_believed_though_this_store_had_signed_it(
    memory, tmp_path, clock, form, altered
):
    memory.remember("The shop closes at six.", source="web")
    clock.advance(ms=1)
    memory.remember("Anna has a dog.")
    memory.export(tmp_path / "out", format=form)
    assert memory.import_memories(tmp_path / "out", mode="preview").signed == "here"
    text = (tmp_path / "out").read_text()
    if form == "jsonl":
        manifest, *lines, end = text.splitlines()
    else:
        whole = json.loads(text)
        manifest, lines, end = (
            json.dumps(whole["manifest"]),
            [json.dumps(each, ensure_ascii=False) for each in whole["memories"]],
            json.dumps({"end": whole["end"]}),
        )
    forged = json.dumps({**json.loads(lines[0]), "trust": "trusted", "source": "operator", "id": "0" * 26})
    if altered == "a word":
        lines[0] = lines[0].replace("six", "ten")
    elif altered == "the trust":
        lines[0] = lines[0].replace('"untrusted"', '"trusted"')
    elif altered == "the scope":
        manifest = manifest.replace("home/anna", "home")
    elif altered == "a line more":
        lines.append(forged)
    elif altered == "a line less":
        lines.pop()
    elif altered == "a second end":  # one that only who is careless takes for the end
        lines += [json.dumps({**json.loads(end), "id": "x"}), forged]
    else:
        told = json.loads(end)
        told["end"]["public_key"] = "ab" * 32
        end = json.dumps(told)
    if form == "jsonl":
        again = "\n".join((manifest, *lines, end)) + "\n"
    else:
        again = json.dumps(
            {"manifest": json.loads(manifest), "memories": [json.loads(each) for each in lines], **json.loads(end)},
            ensure_ascii=False,
        )
    (tmp_path / "altered").write_text(again)
    found = memory.import_memories(tmp_path / "altered", mode="preview", foreign="here", dedupe="none")
    assert (found.trust, found.signed) == ("untrusted", "broken")


def test_an_export_without_a_signature_is_not_believed(furnished, tmp_path):
    memory, file, _ = furnished
    *lines, end = file.read_text().splitlines()
    told = json.loads(end)
    del told["end"]["signature"]
    (tmp_path / "bare.jsonl").write_text("\n".join((*lines, json.dumps(told))) + "\n")
    found = memory.import_memories(tmp_path / "bare.jsonl", mode="preview")
    assert (found.trust, found.signed) == ("untrusted", "")


def test_only_the_first_records_are_taken_when_a_limit_is_given(furnished, another):
    _, file, _ = furnished
    other = another("other.db")
    assert other.import_memories(file, limit=3, mode="preview").audit.total == 3
    assert other.import_memories(file, limit=3).taken == 3
    assert other.import_memories(file).audit.left_out["known"] == 3
    for wrong in (0, -1, True, "3", 1.5):
        with pytest.raises(InvalidInput, match="limit"):
            other.import_memories(file, limit=wrong)


def test_what_was_made_to_steer_a_model_is_quarantined_whatever_the_file_says(furnished, another, tmp_path):
    _, file, ids = furnished
    forged = tmp_path / "forged.jsonl"
    forged.write_text(file.read_text().replace('"trust": "quarantined"', '"trust": "trusted"'))
    other = another("other.db")
    taken = other.import_memories(forged)
    assert taken.audit.quarantined == 1
    assert other.get(ids["waiting"]).trust == "quarantined"
    strict = another("strict.db", injection="refuse")
    assert strict.import_memories(forged).audit.left_out == {"injection": 1, "unread": 1}


def test_secrets_are_refused_and_their_place_is_told(opened, another, tmp_path):
    memory = opened(secrets="allow")
    memory.remember(f"The key is {SECRET}.")
    memory.remember("Anna likes tea.")
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    taken = other.import_memories(tmp_path / "out.jsonl")
    assert taken.audit.left_out == {"secret": 1}
    assert taken.run.counts == {"taken": 1, "secret": 1}
    assert taken.audit.troubles[0].reason == "secret"
    assert SECRET not in json.dumps(taken.as_json())


# -- what was let go --


def test_what_was_erased_is_not_taken_back(furnished, tmp_path):
    memory, file, ids = furnished
    memory.erase(ids["web"])
    taken = memory.import_memories(file)
    assert taken.audit.left_out["erased"] == 1
    with pytest.raises(NotFound):
        memory.get(ids["web"])


def test_what_was_forgotten_is_not_taken_back_but_what_was_undone_is(furnished, another):
    _, file, ids = furnished
    other = another("other.db")
    other.import_memories(file)
    whole = digest(other)
    other.undo(below=True)
    assert other.contents(below=True).memories == 0
    again = other.import_memories(file)
    assert digest(other) == whole
    assert again.taken == again.audit.total
    other.forget(ids["web"])
    assert other.import_memories(file).audit.left_out["forgotten"] == 1
    assert other.get(ids["web"]).state == "forgotten"


# -- undo --


def test_undo_takes_back_all_of_it_at_once(furnished, another):
    _, file, _ = furnished
    other = another("other.db")
    other.remember("Ben was here before.")
    before = digest(other)
    taken = other.import_memories(file)
    assert taken.tag.startswith("auto-import-")
    other.undo(below=True)
    assert digest(other) == before
    assert other.admin.verify().ok


def test_an_import_of_several_commits_is_undone_as_one(memory, another, tmp_path):
    memory.remember_many([f"Number {number} of many." for number in range(1300)])
    memory.export(tmp_path / "out.jsonl", redact=False)
    other = another("other.db")
    other.remember("Ben was here before.")
    before = digest(other)
    other.import_memories(tmp_path / "out.jsonl")
    assert digest(other) != before
    other.undo()
    assert digest(other) == before


# -- scopes --


def test_somebody_elses_scopes_are_refused_unless_it_is_said_where_they_go(furnished, another):
    _, file, _ = furnished
    other = another("other.db", "work/ben")
    with pytest.raises(Refused, match="home/anna") as refused:
        other.import_memories(file)
    assert "--owner" in refused.value.hint
    assert other.stats().total == 0
    preview = other.import_memories(file, mode="preview")
    assert preview.audit.left_out == {"foreign": preview.audit.total}
    mapped = other.import_memories(file, owners={"home/anna": "work/ben/anna"})
    assert dict(mapped.audit.scopes) == {"work/ben/anna": 8, "work/ben/anna/garden": 1}


def test_foreign_scopes_can_be_mapped_relative_to_where_they_were_or_put_here(furnished, another):
    _, file, _ = furnished
    below = another("below.db", "work/ben").import_memories(file, foreign="map")
    assert dict(below.audit.scopes) == {"work/ben": 8, "work/ben/garden": 1}
    here = another("here.db", "work/ben").import_memories(file, foreign="here")
    assert dict(here.audit.scopes) == {"work/ben": 9}


def test_owners_cannot_reach_out_of_the_scope(furnished, another):
    _, file, _ = furnished
    other = another("other.db", "work/ben")
    for where in ("work/anna", "work", "work/benjamin"):
        with pytest.raises(Refused):
            other.import_memories(file, owners={"home/anna": where})


def test_part_of_an_export_that_lies_outside_is_left_out(opened, tmp_path):
    home = opened("home")
    home.remember("The alarm is in the hall.")
    home.within("home/anna").remember("Anna has a dog.")
    home.export(tmp_path / "out.jsonl", below=True)
    anna = opened("home/anna")
    audit = anna.import_memories(tmp_path / "out.jsonl", mode="preview").audit
    assert audit.left_out == {"foreign": 1, "known": 1}


def test_an_id_that_is_taken_where_it_cannot_be_seen_gets_another_and_nobody_is_told(furnished, opened):
    memory, file, ids = furnished
    ben = opened("home/ben")
    taken = ben.import_memories(file, owners={"home/anna": "home/ben"})
    assert taken.taken == taken.audit.total
    with pytest.raises(NotFound):
        ben.get(ids["new"])
    lamps = {each.state: each for each in ben.list(about="light.lamp", states=("live", "superseded"), limit=9)}
    assert lamps["superseded"].superseded_by == lamps["live"].id
    assert set(taken.run.counts) == {"taken", "quarantined"}
    assert memory.get(ids["new"]).scope == "home/anna"
    assert ben.admin.verify().ok


# -- files --


def test_a_file_that_was_cut_is_noticed_and_the_rest_is_taken(furnished, another, tmp_path):
    _, file, _ = furnished
    lines = file.read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(lines[:5]) + lines[5][:40])
    taken = another("other.db").import_memories(cut)
    assert taken.taken == 4
    assert [each.place for each in taken.audit.unread] == ["line 6", "the end"]


def test_a_file_that_was_edited_is_taken_and_says_so(furnished, another, tmp_path):
    _, file, _ = furnished
    edited = tmp_path / "edited.jsonl"
    edited.write_text(file.read_text().replace("The shop closes at six.", "The shop closes at seven."))
    other = another("other.db")
    taken = other.import_memories(edited)
    assert [each.place for each in taken.audit.unread] == ["the end"]
    assert other.admin.verify().ok
    assert "seven" in other.recall("when does the shop close?", trust="untrusted")[0].memory.text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "gossip"}, "kind"),
        ({"text": ""}, "text"),
        ({"text": 7}, "text"),
        ({"scope": "../etc"}, "scope"),
        ({"confidence": 7}, "confidence"),
        ({"importance": "high"}, "importance"),
        ({"created_at": "soon"}, "created_at"),
        ({"metadata": [1]}, "metadata"),
        ({"tags": "a,b"}, ""),
        ({"tags": ["t" * 65]}, "tag"),
        ({"value": {"deep": "x" * 20_000}}, "value"),
        ({"valid_from": "2030-01-01", "valid_until": "2020-01-01"}, "valid_until"),
        ({"about": "x" * 600}, "about"),
        ({"media_refs": ["x"] * 100}, "media"),
        ({"id": None}, "id"),
    ],
)
def test_a_line_that_is_wrong_is_told_by_its_place_and_costs_no_other(furnished, another, tmp_path, change, reason):
    _, file, _ = furnished
    manifest, first, *rest = file.read_text().splitlines()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join((manifest, json.dumps({**json.loads(first), **change}), *rest)) + "\n")
    other = another("other.db")
    taken = other.import_memories(broken)
    if change == {"tags": "a,b"}:
        assert taken.taken == len(rest)  # read as four tags of one letter: wrong, but a memory
        return
    told = {each.place: each.reason for each in taken.audit.unread}
    assert reason in told["line 2"]
    assert taken.taken == len(rest) - 1
    assert other.admin.verify().ok


def test_what_is_too_long_for_this_store_is_left_out(furnished, another):
    _, file, _ = furnished
    other = another("other.db", max_text=30)
    taken = other.import_memories(file)
    assert taken.audit.left_out["too long"] == 1
    assert "characters" in taken.audit.troubles[0].detail


def test_an_export_of_a_newer_version_is_refused(furnished, another, tmp_path):
    _, file, _ = furnished
    newer = tmp_path / "newer.jsonl"
    newer.write_text(file.read_text().replace('"version": 1', '"version": 2', 1))
    with pytest.raises(InvalidInput, match="version 2") as refused:
        another("other.db").import_memories(newer)
    assert "Upgrade" in refused.value.hint


def test_validate_reads_all_of_it_and_asks_the_store_nothing(furnished):
    memory, file, _ = furnished
    before = memory.stats().sequence
    found = memory.import_memories(file, mode="validate")
    assert found.audit.total == found.audit.readable == 9
    assert found.audit.left_out == {}
    assert memory.stats().sequence == before
    assert memory.imports() == ()


def test_preview_says_exactly_what_is_then_done(furnished, another):
    _, file, _ = furnished
    other = another("other.db")
    other.remember("The shop closes at six.", source="web")
    preview = other.import_memories(file, mode="preview")
    assert other.imports() == ()
    assert other.stats().total == 1
    done = other.import_memories(file)
    assert preview.audit == done.audit
    assert done.run.counts == {"taken": preview.audit.take, "same": 1, "quarantined": 1}


@pytest.mark.parametrize("folder", [False, True])
def test_the_store_itself_is_never_read_as_a_file(memory, path, folder):
    memory.remember("It is well.")
    with pytest.raises(Refused, match="the store itself"):
        memory.import_memories(path.parent if folder else path)


def test_a_way_round_to_the_store_is_no_way(memory, path, tmp_path):
    memory.remember("It is well.")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "MEMORY.md").symlink_to(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="the store itself"):
        memory.import_memories(folder)
    with pytest.raises(InvalidInput, match="neither"):
        memory.import_memories(tmp_path / "pipe")


def test_what_cannot_be_is_told_with_a_hint(memory, tmp_path, furnished):
    _, file, _ = furnished
    with pytest.raises(NotFound):
        memory.import_memories(tmp_path / "nothing.jsonl")
    for wrong in (
        {"format": "gossip"},
        {"dedupe": "words"},
        {"mode": "later"},
        {"trust": "blindly"},
        {"foreign": "eat"},
        {"junk": "love"},
        {"options": {"a": 1}},
    ):
        with pytest.raises(InvalidInput) as refused:
            memory.import_memories(file, **wrong)
        assert refused.value.hint


# -- anything that can be kept --

words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=40).filter(
    lambda text: text.strip()
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
moments = st.integers(0, 253_402_300_799_999)
drafts = st.fixed_dictionaries(
    {
        "text": words,
        "kind": st.sampled_from(("fact", "preference", "decision", "entity", "episode", "note")),
        "about": words,
        "value": values,
        "importance": st.none() | st.floats(0, 1),
        "confidence": st.floats(0, 1),
        "source": st.sampled_from(("user", "assistant", "operator", "tool", "web", "import", "system")),
        "basis": st.sampled_from(("stated", "observed", "inferred")),
        "speaker": words,
        "tags": st.lists(words, max_size=3),
        "metadata": st.dictionaries(words, values, max_size=3),
        "occurred_at": st.none() | moments,
    }
).map(lambda fields: Draft(**fields))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(kept=st.lists(drafts, min_size=1, max_size=8), form=st.sampled_from(("jsonl", "json")))
def test_whatever_can_be_kept_comes_back_the_same(tmp_path_factory, kept, form):
    from support import open_store

    folder = tmp_path_factory.mktemp("round")
    with (
        open_store(folder / "one.db", secrets="allow") as one,
        open_store(folder / "two.db", secrets="allow") as two,
    ):
        one.remember_many(kept)
        one.export(folder / "out", format=form, redact=False)
        two.import_memories(folder / "out", trust="kept")
        assert digest(two) == digest(one)
