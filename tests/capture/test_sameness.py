"""Same, corrected, or new: measured on labelled pairs, promised for every text."""

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.capture.sameness import Said, choice, compared
from memoranda.config import Settings
from memoranda.embedding.registry import open_embedder

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "labelled" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
]
MERGED = ("same", "duplicate")
# Measured with and without closeness; a little below what was found.
DUPLICATES_FOUND, SUPERSEDED_FOUND = 0.75, 0.95
TEXTS = st.text(max_size=120) | st.sampled_from([pair[side] for pair in PAIRS for side in ("new", "old")])


def said(text, **slot):
    return Said(text, **slot)


def relation(new, old, **options):
    return compared(said(new), said(old), **options).relation


@pytest.fixture(scope="module")
def closeness():
    texts = sorted({pair[side] for pair in PAIRS for side in ("new", "old")})
    embedder = open_embedder("auto", Settings())
    try:
        vectors = dict(zip(texts, embedder.embed(texts, "document"), strict=True))
    finally:
        embedder.close()
    return {(pair["new"], pair["old"]): float(vectors[pair["new"]] @ vectors[pair["old"]]) for pair in PAIRS}


def outcomes(part, closeness):
    """(pair, relation found) for one half of the set."""
    return [
        (pair, relation(pair["new"], pair["old"], closeness=closeness.get((pair["new"], pair["old"]))))
        for pair in PAIRS
        if pair["set"] == part
    ]


def share(part, whole):
    return part / whole if whole else 1.0


def figures(found, label, lang=None):
    """Precision, recall and how many there are."""
    chosen = [(pair["relation"], got) for pair, got in found if lang in (None, pair["lang"])]
    right = sum(want == got == label for want, got in chosen)
    wanted, claimed = sum(want == label for want, _ in chosen), sum(got == label for _, got in chosen)
    return share(right, claimed), share(right, wanted), wanted


def show(title, found):
    print(f"\n{title}\n{'':12}" + "".join(f"{label:>24}" for label in ("duplicate", "supersedes", "different")))
    for lang in [*dict.fromkeys(pair["lang"] for pair, _ in found), None]:
        row = [figures(found, label, lang) for label in ("duplicate", "supersedes", "different")]
        print(f"{lang or 'all':12}" + "".join(f"   P {p:4.2f} R {r:4.2f} of {count:3}" for p, r, count in row))


@pytest.mark.parametrize("part", ["tune", "held"])
@pytest.mark.parametrize("embedded", [False, True], ids=["words alone", "with closeness"])
def test_labelled_pairs_are_told_apart(part, embedded, closeness):
    found = outcomes(part, closeness if embedded else {})
    show(f"{part}, {'with closeness' if embedded else 'words alone'}, {len(found)} pairs", found)

    wrong = [(pair["new"], pair["old"]) for pair, got in found if got in MERGED and pair["relation"] not in MERGED]
    assert not wrong
    precision, recall, _ = figures(found, "supersedes")
    assert precision >= 0.95
    assert recall >= SUPERSEDED_FOUND
    assert figures(found, "duplicate")[1] >= DUPLICATES_FOUND


def test_no_closeness_makes_one_of_two_facts():
    for pair in PAIRS:
        if pair["relation"] not in MERGED:
            assert relation(pair["new"], pair["old"], closeness=1.0) not in MERGED, pair


def test_the_set_is_large_enough_in_each_language():
    count = Counter(pair["lang"] for pair in PAIRS)
    assert len(PAIRS) >= 200
    assert all(count[lang] >= 45 for lang in ("en", "pl", "zh"))
    assert all(count[lang] for lang in ("de", "es", "fr", "cs", "ja", "ko"))
    assert len({(pair["new"], pair["old"]) for pair in PAIRS}) == len(PAIRS)


@given(TEXTS)
def test_a_text_is_the_same_as_itself(text):
    assert relation(text, text) == "same"


@given(TEXTS, TEXTS, st.none() | st.floats(-1, 1))
def test_no_text_is_too_strange_and_duplicates_are_mutual(one, other, closeness):
    there, back = relation(one, other, closeness=closeness), relation(other, one, closeness=closeness)
    assert (there in MERGED) == (back in MERGED)
    assert (there == "same") == (back == "same")


@given(st.sampled_from([pair["new"] for pair in PAIRS]), st.data())
def test_a_changed_digit_never_merges(text, data):
    place = data.draw(st.integers(0, len(text)))
    one, other = data.draw(st.lists(st.sampled_from("0123456789"), min_size=2, max_size=2, unique=True))
    assert relation(text[:place] + one + text[place:], text[:place] + other + text[place:], closeness=1.0) not in MERGED


@given(
    st.sampled_from([pair["new"] for pair in PAIRS if pair["lang"] in ("en", "pl", "de", "es", "fr", "cs")]), st.data()
)
def test_an_unknown_word_in_the_place_of_another_never_merges(text, data):
    words = text.split()
    place = data.draw(st.integers(0, len(words) - 1))
    first, second = "Zyrafix", "Qwobble"
    one, other = ([*words[:place], each, *words[place + 1 :]] for each in (first, second))
    assert relation(" ".join(one), " ".join(other), closeness=1.0) not in MERGED


@given(st.sampled_from([pair["new"] for pair in PAIRS]), st.sampled_from([pair["old"] for pair in PAIRS]))
def test_what_differs_in_speaker_is_different(new, old):
    assert compared(said(new, speaker="anna"), said(old, speaker="tom"), closeness=1.0).relation == "different"
    assert compared(said(new, about="light.a"), said(old, about="light.b"), closeness=1.0).relation == "different"


LAMP = {"about": "light.office", "attribute": "brightness", "context": "evening"}


def test_the_same_slot_with_another_value_is_superseded():
    old = said("Office light 40% in the evening", value="40 %", **LAMP)
    assert compared(said("Make the office 60% at night", value="60%", **LAMP), old).relation == "supersedes"
    assert compared(said("Office at 40%, evenings", value="40%", **LAMP), old).relation == "duplicate"
    assert compared(said("Office light 40% in the evening.", value="40%", **LAMP), old).relation == "same"


@pytest.mark.parametrize("other", [{"about": "light.hall"}, {"attribute": "colour"}, {"context": "morning"}])
def test_another_slot_is_different(other):
    old = said("Office light 40%", value="40%", **LAMP)
    assert compared(said("Office light 60%", value="60%", **{**LAMP, **other}), old).relation == "different"


@pytest.mark.parametrize(("one", "other", "equal"), [(40, 40.0, True), (True, 1, False), ({"a": 1}, {"a": 2}, False)])
def test_values_are_compared_as_what_they_are(one, other, equal):
    verdict = compared(said("a", value=one, **LAMP), said("b", value=other, **LAMP))
    assert verdict.relation == ("duplicate" if equal else "supersedes")


def test_a_correction_needs_something_to_correct():
    assert relation("Actually, the meeting is on Friday", "My dog is called Rex") == "different"
    assert relation("It is not Monday but Tuesday", "The meeting is on Friday") == "different"
    assert choice(said("I no longer eat meat"), [(said("I like coffee"), 0.5)]) is None


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Now I'm hooked", "I'm a big fan of desserts"),
        ("I actually have not been", "My day has been great"),
        ("It wasn't easy, but I'm happier", "It wasn't easy, but I'm proud"),
        ("I avoid hotels that aren't eco-friendly", "I avoid places that are eco-friendly or cheap"),
        ("Anna is happy now", "Anna is a doctor"),
        (
            "Actually, I have a strong aversion to horror movies",
            "I have a strong aversion to movies with excessive CGI",
        ),
        ("Teraz pracuję w domu", "Pracuję w Google"),
        ("This is my favourite song", "Hey Jude is my favourite song"),
        ("i live in the city", "i live in berlin"),
        ("我叫了外卖", "我叫小明"),
        ("我在努力工作", "我在百度工作"),
        ("母は大阪に住んでいます", "私は東京に住んでいます"),
        ("엄마는 부산에 살아요", "저는 서울에 살아요"),
        ("Anna's favourite colour is red", "Tom's favourite colour is blue"),
    ],
)
def test_what_looks_like_a_correction_and_is_none(new, old):
    assert relation(new, old) == "different"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Front Den Light", "Front Light"),  # an article in German, a room in English
        ("我不会游泳", "我不游泳"),
        ("我不对花生过敏", "我花生过敏"),
        ("I hate green tea", "I like green tea"),
        ("I do like tea?", "I like tea"),
        ("Room 20 1", "Room 21"),
        ("Ich finde das schon", "Ich finde das schön"),
    ],
)
def test_what_looks_like_a_duplicate_and_is_none(one, other):
    assert relation(one, other, closeness=1.0) == "different"


def test_a_known_correction_needs_no_cue():
    old = said("The standup is at 9")
    assert compared(said("The standup is at 10"), old).relation == "different"
    assert compared(said("The standup is at 10", corrects=True), old).relation == "supersedes"


def test_what_happened_is_not_superseded():
    old = said("I live in Oslo", kind="episode")
    assert compared(said("I live in Rome"), old).relation == "different"


def test_choice_takes_the_strongest_and_then_the_closest():
    new = said("I live in Berlin.")
    old = [(said("I like tea"), 0.9), (said("I live in Rome"), 0.7), (said("I live in Oslo"), 0.8)]
    assert choice(new, old)[0] == 2
    assert choice(new, [*old, (said("i live in berlin"), None)]) == (3, ("same", "text"))
    assert choice(new, [*old, (said("Actually I live in Berlin"), None)])[1].relation == "duplicate"
    assert choice(new, []) is None


def chosen(new, *old):
    """Which of the old sayings is replaced or repeated, and how; closeness with each, if it matters."""
    return choice(
        said(new), [(said(each), None) if isinstance(each, str) else (said(each[0]), each[1]) for each in old]
    )


def test_one_more_liking_replaces_none_of_several():
    assert chosen("Actually I like coffee", "I like tea") == (0, ("supersedes", "another liking"))
    assert chosen("Actually I like coffee", "I like tea", "I like jazz") is None
    assert chosen("Actually I like coffee", "I like tea", "I like to walk in the rain") is None
    assert chosen("Actually I like coffee", ("I like tea", 0.9), ("I like jazz", 0.3))[0] == 0
    assert chosen("Actually I like coffee", "I like tea", "I live in Oslo")[0] == 0


def test_a_choice_replaces_the_only_one_of_its_sort():
    assert chosen("Actually I prefer coffee", "I prefer short answers", "I prefer tea")[0] == 1
    assert chosen("Actually I prefer coffee", "I prefer tea", "I prefer beer") is None
    assert chosen("Scratch that, I prefer Gimp", "I prefer Inkscape")[0] == 0
    assert chosen("Scratch that, I prefer Gimp", "I prefer Inkscape", "I prefer Krita") is None
    assert chosen("Actually, I prefer Gimp", "I prefer Inkscape") is None
    assert chosen("Actually, I prefer Gimp", ("I prefer Inkscape", 0.6))[0] == 0


@pytest.mark.parametrize("cue", ["Actually, ", "Scratch that, ", "Now "])
@pytest.mark.parametrize("closeness", [None, 0.84])
def test_things_of_other_sorts_replace_one_another_never(cue, closeness):
    things = ["tea", "jazz", "football", "dogs", "trains", "Linux", "PostgreSQL", "winter"]
    for verb in ("I like", "I love", "I prefer", "I enjoy", "I want", "We use"):
        for new in things:
            for old in things:
                if new != old:
                    assert relation(f"{cue}{verb} {new}", f"{verb} {old}", closeness=closeness) == "different"


def test_a_choice_of_another_speaker_or_kind_stays():
    tea = said("I prefer tea", kind="preference", speaker="anna")
    assert compared(said("I prefer coffee now", kind="preference", speaker="anna"), tea).relation == "supersedes"
    assert compared(said("I prefer coffee now", kind="preference", speaker="tom"), tea).relation == "different"
    assert compared(said("I prefer coffee now", kind="decision", speaker="anna"), tea).relation == "different"


def test_who_goes_back_to_the_first_takes_back_the_second():
    """Only what is live is compared: when the second has replaced the first, the first said anew replaces it."""
    assert chosen("Actually, I prefer tea", "Actually, I prefer coffee") == (0, ("supersedes", "another choice"))
    # Both are live when the second came without a cue: a line is kept twice rather than a contradiction.
    assert chosen("Actually, I prefer tea", "I prefer tea", "I prefer coffee") == (1, ("supersedes", "another choice"))
    assert chosen("Actually, I live in Rome", "I live in Rome", "I live in Oslo") == (
        1,
        ("supersedes", "one of its kind"),
    )
    # Word for word it is what is kept; without a cue, or of things that gather, it takes nothing back.
    assert chosen("I prefer tea", "I prefer tea", "I prefer coffee") == (0, ("same", "text"))
    assert chosen("Actually I like tea", "I like tea", "I like coffee")[1].relation == "duplicate"
    # What holds only in the morning is not contradicted.
    kept = ("Actually, I prefer coffee", "I prefer tea in the morning.")
    assert chosen("I prefer tea in the morning.", kept[0]) is None
    assert chosen("Actually, I prefer coffee", *kept) == (0, ("same", "text"))


def test_a_reason_says_what_differs():
    assert compared(said("Wake me at 6"), said("Wake me at 7")).reason == "other numbers"
    assert compared(said("I like tea"), said("I don't like tea")).reason == "negation"
    assert compared(said("The lamp is on"), said("The lamp is off")).reason == "opposites"
    assert compared(said("tea over coffee"), said("coffee over tea")).reason == "another order"


def test_it_is_fast_and_linear():
    """Every text read anew: nothing is known from before."""
    texts = [f"{pair['new']} {number}" for number, pair in enumerate(PAIRS)]
    for text in texts[::9]:
        relation(text, texts[0])  # the tables are read once
    begun = time.process_time()
    for number, text in enumerate(texts):
        relation(f"{text} again", f"{texts[number - 1]} again")
    each = (time.process_time() - begun) / len(texts)
    long = ["not like ne 不 Xz " * size for size in (50, 400)]
    spent = []
    for text in long:
        tries = []
        for number in range(3):  # the best of three: other work goes on meanwhile
            begun = time.process_time()
            relation(f"{text}{number}", f"{text}{number}tea")
            tries.append(time.process_time() - begun)
        spent.append(min(tries))
    print(f"\n{each * 1e6:.0f} us a comparison; {spent[1] * 1e3:.1f} ms for 7,000 characters")
    assert each < 0.001  # ten times what was measured: other work goes on meanwhile
    assert spent[1] < 0.25
