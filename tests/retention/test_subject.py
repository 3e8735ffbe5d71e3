"""Everything that is known of a person: what is in it, what is not, and the file that is made of it."""

import json
import os
import stat

import pytest

import memoranda
from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.scope import Scope
from memoranda.service.backing_up import back_up
from memoranda.service.retention import Retention
from memoranda.service.subject_markdown import plain
from memoranda.service.tokens import TokenBook

KEY = "ghp_" + "9aK3mZq7Lw2Xc8Vb5Nt1Rf6Yd4Hs0Gj3Pe7U"


@pytest.fixture
def home(opened, clock):
    return opened("home", clock=clock)


def told(report):
    return {each.memory["text"]: each.how for each in report.memories}


def test_what_is_about_them_said_by_them_and_names_them_is_in_it_and_says_why(home):
    home.remember("She is allergic to nuts.", about="person:anna")
    home.remember("I leave at seven.", speaker="Anna")
    home.remember("The bicycle of Anna is blue.", speaker="ben")
    home.remember("The annals of the house are in the attic.")
    home.remember("Ben plays chess.", about="person:ben")
    assert told(home.retention.subject("anna")) == {
        "She is allergic to nuts.": ("about",),
        "I leave at seven.": ("said",),
        "The bicycle of Anna is blue.": ("mentions",),
    }


def test_it_goes_by_the_names_that_trusted_memories_give(home):
    home.facts.add("person:anna", "nickname", "Ania")
    home.facts.add("person:anna", "alias", "Ben", source="web")
    home.remember("Ania sings on Fridays.")
    home.remember("Ben plays chess.")
    report = home.retention.subject("person:Anna")
    assert report.names == ("anna", "ania")
    assert "Ania sings on Fridays." in told(report)
    assert "Ben plays chess." not in told(report)


def test_profile_facts_and_preferences_have_their_sections(home):
    home.profile.update(speaker="anna", name="Anna Kowalska", traits=["reads at night"])
    home.facts.add("person:anna", "location", "Warsaw")
    home.preferences.set("person:anna", "evening_brightness", "40%", speaker="anna")
    home.remember("Miss Anna Kowalska ordered tea.")
    counts = home.retention.subject("anna").counts
    assert {name: counts[name] for name in ("profile", "facts", "preferences", "memories")} == {
        "profile": 2, "facts": 1, "preferences": 1, "memories": 1,
    }  # fmt: skip


def test_states_history_ends_and_erasure_are_told(opened, clock):
    kept = opened("home", clock=clock).remember("Anna lent the drill.", about="person:anna")
    memory = opened("home", clock=clock, ttl_days=("note=7",), grace_days=5)
    memory.retention.apply()
    gone = memory.remember("Anna owes ten.", about="person:anna", kind="fact")
    memory.forget(gone, reason="she asked for it")
    by_id = {each.memory["id"]: each for each in memory.retention.subject("anna").memories}
    assert by_id[kept.id].ends_by == "rule"
    assert by_id[kept.id].ends == "2026-01-08T00:00:00.000Z"
    assert [each["action"] for each in by_id[kept.id].history] == ["remembered", "revised"]
    assert by_id[gone.id].memory["state"] == "forgotten"
    assert by_id[gone.id].erased_after == "2026-01-06T00:00:00.000Z"
    assert by_id[gone.id].history[-1]["reason"] == "she asked for it"


def test_only_what_this_scope_holds_and_below_or_above_only_when_asked(home):
    home.remember("Anna lives on the second floor.")
    room = home.within("home/room")
    room.remember("Anna sleeps here.")
    room.within("home/room/drawer").remember("Anna keeps letters here.")
    home.within("home/other").remember("Anna was here, too.")
    assert set(told(room.retention.subject("anna"))) == {"Anna sleeps here."}
    assert set(told(room.retention.subject("anna", below=True))) == {"Anna sleeps here.", "Anna keeps letters here."}
    above = told(room.retention.subject("anna", include_above=True))
    assert set(above) == {"Anna sleeps here.", "Anna lives on the second floor."}


def test_what_is_kept_in_a_scope_of_their_name_is_theirs(home):
    home.within("home/anna").remember("Prefers short answers.")
    assert told(home.retention.subject("anna", below=True)) == {"Prefers short answers.": ("scope",)}


def test_of_conversations_their_words_and_only_counts_of_others(home):
    home.conversations.append(
        [
            {"role": "user", "text": "I found the ladder.", "speaker": "Anna"},
            {"role": "user", "text": "Anna broke the vase, do not tell.", "speaker": "ben"},
            {"role": "assistant", "text": "Noted."},
        ],
        conversation="kitchen",
    )
    home.conversations.append(
        [{"role": "user", "text": "The tyres are flat.", "speaker": "ben"}], conversation="garage"
    )
    report = home.retention.subject("anna")
    (talk,) = report.conversations
    assert [each["text"] for each in talk.messages] == ["I found the ladder."]
    assert (talk.by_others, talk.mentioned_by_others) == (2, 1)
    assert "vase" not in json.dumps(report.as_json())


def test_documents_are_cited_not_quoted(home, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "house.md").write_text("# House\n\nThe attic is dry.\nAnna has the key of the attic.\n", encoding="utf-8")
    home.documents.add(notes)
    home.documents.sync()
    report = home.retention.subject("anna")
    assert report.documents == (f"{notes / 'house.md'}#L4",)
    assert "key of the attic" not in json.dumps(report.as_json())


def test_tokens_and_mirrors_that_concern_them_are_listed(home, tmp_path):
    home.remember("Anna sings.", about="person:anna")
    made = TokenBook(home._engine).create(name="anna phone", role="reader", scope="home")
    TokenBook(home._engine).create(name="ben phone", role="reader", scope="home")
    home.mirror(tmp_path / "mirror")
    report = home.retention.subject("anna")
    assert [each["id"] for each in report.tokens] == [made.token.id]
    assert made.secret not in json.dumps(report.as_json())
    assert report.mirrors == (str(tmp_path / "mirror"),)
    room = home.within("home/room")
    room.remember("Anna sleeps here.")
    below = room.retention.subject("anna")
    assert (below.mirrors, len(below.notes), below.tokens) == ((), 1, ())


def test_backups_that_were_made_since_are_named(home, clock):
    earlier = back_up(home._engine)
    clock.advance(days=1)
    home.remember("Anna sings.", about="person:anna")
    clock.advance(days=1)
    later = back_up(home._engine)
    assert home.retention.subject("anna").backups == (os.path.basename(later.path),)
    assert home.retention.subject("nobody-here").backups == ()
    assert earlier.path != later.path


def test_the_same_store_gives_the_same_bytes(home, tmp_path):
    for place in range(20):
        home.remember(f"Anna planted tree {place}.", tags=["garden"], speaker="anna")
    for name in ("one.json", "two.json"):
        home.retention.subject("anna", path=tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_the_file_is_for_its_owner_alone_and_never_written_over(home, tmp_path, form):
    home.remember("Anna sings.", about="person:anna")
    before = os.umask(0)
    try:
        report = home.retention.subject("anna", path=tmp_path / "anna.out", format=form)
    finally:
        os.umask(before)
    assert report.path == str(tmp_path / "anna.out")
    assert stat.S_IMODE((tmp_path / "anna.out").stat().st_mode) == 0o600
    assert "Anna sings" in (tmp_path / "anna.out").read_text(encoding="utf-8")
    with pytest.raises(Conflict):
        home.retention.subject("anna", path=tmp_path / "anna.out", format=form)
    with pytest.raises(InvalidInput):
        home.retention.subject("anna", path=tmp_path / "no" / "folder", format=form)


def test_secrets_are_taken_out_unless_somebody_wants_them(opened, clock, tmp_path):
    memory = opened("home", clock=clock, secrets="allow")
    memory.remember(f"Anna uses the key {KEY} for the cloud.", metadata={"note": f"key {KEY}"})
    memory.conversations.append([{"role": "user", "text": f"my key is {KEY}", "speaker": "anna"}], conversation="c")
    for form in ("json", "markdown"):
        memory.retention.subject("anna", path=tmp_path / form, format=form)
        assert KEY not in (tmp_path / form).read_text(encoding="utf-8")
    assert KEY in json.dumps(memory.retention.subject("anna", redact=False).as_json())


@pytest.mark.parametrize(
    "hostile",
    [
        "Anna <script>alert(1)</script>",
        "Anna ![x](https://evil.example/p.png)",
        "Anna [click](javascript:alert(1))",
        "Anna\n# Heading\n| a | b |",
        "Anna https://evil.example www.evil.example",
        "Anna \u202egnp.exe \x1b[31m",
        "1. Anna `code` *bold* ~~gone~~ &lt;b&gt;",
    ],
)
def test_nothing_that_a_memory_says_becomes_markup(home, tmp_path, hostile):
    home.remember(hostile)
    home.retention.subject("anna", path=tmp_path / "anna.md", format="markdown")
    page = (tmp_path / "anna.md").read_text(encoding="utf-8")
    bodies = [line for line in page.splitlines() if line.startswith("> ")]
    assert len(bodies) == 1
    assert bodies[0] == f"> {plain(hostile)}"
    for mark in ("<", "](", "![", "https://", "www.", "\x1b", "\u202e", "1. ", " `c", " *b", "~~", "&lt"):
        assert mark not in bodies[0].replace("\\" + mark[0], "").replace("\\\\", ""), mark


def test_nobody_known_is_an_empty_report_and_nobody_at_all_is_refused(home):
    assert sum(home.retention.subject("zoe").counts.values()) == 0
    for person in ("", "  ", "person:", 7):
        with pytest.raises(memoranda.InvalidInput):
            home.retention.subject(person)


def test_a_name_of_another_script_is_found_inside_of_words(home):
    home.remember("安娜喜欢喝茶。")
    assert told(home.retention.subject("安娜")) == {"安娜喜欢喝茶。": ("mentions",)}


def test_what_is_kept_below_a_scope_of_their_name_is_theirs_too(home):
    home.within("home/anna/phone").remember("Prefers dark mode on every screen.")
    home.within("home/annabel/phone").remember("Prefers light mode.")
    assert told(home.retention.subject("Anna", below=True)) == {"Prefers dark mode on every screen.": ("scope",)}


def test_what_they_say_in_a_conversation_below_their_scope_is_theirs(home):
    phone = home.within("home/anna/phone")
    phone.conversations.append([{"role": "user", "text": "The kettle is off."}], conversation="chat")
    (talk,) = home.retention.subject("anna", below=True).conversations
    assert [each["text"] for each in talk.messages] == ["The kettle is off."]


@pytest.mark.parametrize("speaker", ["person:zoë", "Zoë", "PERSON:ZOE\u0308", " zoë ", "Ｚｏë"])
@pytest.mark.parametrize("asked", ["Zoë", "person:zoë", "zoe\u0308"])
def test_a_name_is_the_same_however_it_is_written(home, speaker, asked):
    home.remember("I leave at seven.", speaker=speaker)
    home.remember("She is tall.", about=speaker)
    assert told(home.retention.subject(asked)) == {"I leave at seven.": ("said",), "She is tall.": ("about",)}


def test_whoever_was_let_into_a_part_of_the_store_is_told_no_names_of_backups(home):
    home.remember("Anna sings.", about="person:anna")
    back_up(home._engine)
    assert len(home.retention.subject("anna").backups) == 1
    let_in = Retention(home._engine, Scope("home", top="home")).subject("anna")
    assert (let_in.backups, let_in.notes) == ((), ("1 backups of the store may hold it, too",))
