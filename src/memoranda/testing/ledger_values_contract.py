"""The contract of a ledger for what it is given: every value comes back as it went in, and engines agree on what fits,
what is alike, and what comes first.

`LedgerContract` contains it.
"""

from collections.abc import Callable, Mapping
from typing import Any
from unicodedata import normalize

from memoranda.domain.clock import DAY_MS, MAX_MS
from memoranda.domain.errors import Ambiguous, InvalidInput, NotFound
from memoranda.domain.memory import KINDS, SOURCES, Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.keeping import Keep
from memoranda.ledger.ledger import Filter, Ledger
from memoranda.ledger.looking import Overview
from memoranda.ledger.mirrors import Mirrors
from memoranda.testing.fakes import FixedClock
from memoranda.testing.ledger_making import ABOVE, ACTOR, HERE, LedgerSuite, OpenLedger, keep, listed, made, texts
from memoranda.testing.raising import raises

# In the order of their code points, which is that of their bytes in UTF-8, and of no dictionary.
IN_ORDER = (
    "!", "10", "9", "Zebra", "_", "a", "apple", "zebra", "zażółć", "~", "Äpfel", "Łódź", "źdźbło", "ß", "Ω", "я",
    "ا", "あ", "ア", "漢", "灯", "한", "\ue000", "\uffee", "🫖", "\U0010fffd",
)  # fmt: skip
_ORDERED = tuple(sorted(IN_ORDER, key=lambda each: each.encode()))
ODD = (
    "tab\there", "line\nand\r\nline", "quote ' and \" and `", "back\\slash \\n \\u0041", "percent % and %s and %(a)s",
    ":name and $1 and ? and @x", "; drop table memory; --", "/* no comment */", "\x01\x02\x1f\x7f control",
    "\u202eright to left", "\ufeffmark", "\u2028separator\u2029", "e\u0301 composed", "\ufffe\uffff none",
    "👩\u200d👩\u200d👧 family", "\U0010ffff last", "{}", "[]", "null", "''", "x" * 8_000, "灯" * 8_000,
)  # fmt: skip
_TEXTS = (
    "100% sure", "100 percent", "a_b", "aXb", "a^b", "star*", "what?", "[ab]", "ab", "back\\slash", "it's", 'say "so"',
    "ZAŻÓŁĆ gęślą", "zażółć GĘŚLĄ", "Straße", "STRASSE", "strasse", "ΑΘΗΝΑ", "αθηνα", "МОСКВА", "москва",
    "灯在书房", "书灯", "🫖 tea", "İstanbul", "istanbul", "]", "^", "-a-", "b-d", "c",
)  # fmt: skip
_ASKED = (
    "%", "0%", "_", "a_b", "^", "*", "r*", "?", "[", "[ab]", "]", "\\", "'", '"', "zażółć", "ŻÓŁĆ", "straße", "STRASSE",
    "ss", "αθ", "МОСК", "灯", "书", "🫖", "a", "AB", "b-d", "-", " ", "istanbul",
)  # fmt: skip


class LedgerValuesContract(LedgerSuite):
    """For a `Ledger`: needs the fixtures `open_ledger` and `clock`."""

    def test_every_field_comes_back_as_it_was_given(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        for kind in KINDS:
            for source in SOURCES:
                memory = made(
                    ledger, f"{kind} from {source}", kind=kind, source=source, about="light.office", attribute="place",
                    value={"rooms": ["study", None, True, 1.5]}, context="at night", importance=0.25, confidence=0.75,
                    source_ref="https://example.org/?a=1&b=%20", basis="observed", speaker="Łucja", conversation="7",
                    tags=["one", "dwa", "三"], lang="pl", metadata={"deep": {"er": [1, {"x": "y"}]}}, occurred_at=1,
                    valid_from=2, valid_until=3,
                )  # fmt: skip
                memory = memory._replace(media_refs=("a.png", "b c.png"), media_kind="image")
                _keep_as_is(ledger, memory)
                again = other.get(memory.id, scope=Scope(HERE))
                assert again == memory
                assert again is not None
                for found, given in zip(again, memory, strict=True):
                    assert type(found) is type(given), (found, given)

    def test_a_memory_with_nothing_but_words_has_nothing_else(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        kept = keep(ledger, "bare").memory
        again = open_ledger().get(kept.id, scope=Scope(HERE))
        assert again is not None
        assert (again.value, again.importance, again.occurred_at, again.valid_from, again.valid_until) == (None,) * 5
        assert (again.tags, dict(again.metadata), again.about, again.superseded_by) == ((), {}, "", None)

    def test_any_text_comes_back_as_it_was_given(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        for text in ODD:
            short = normalize("NFC", text[:60].strip())
            kept = keep(
                ledger, text, about=short, attribute=short, context=short, speaker=short, source_ref=short, value=text,
                tags=[short], metadata={short: text},
            ).memory  # fmt: skip
            assert other.get(kept.id, scope=Scope(HERE)) == kept, repr(short)
            assert [each.id for each in listed(ledger, about=short, attribute=short, speaker=short)] == [kept.id]
            assert [each.id for each in listed(ledger, tags=(short,), context=short)] == [kept.id]
            ledger.change_state(kept.id, "archived", scope=Scope(HERE), actor=short, reason=short)
            assert ledger.history(kept.id, scope=Scope(HERE))[-1].event[-2:] == (short, short)

    def test_what_is_no_text_is_refused_before_it_comes_here(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for bad in ("nul \0 byte", "half \ud83d of a pair", "", "  "):
            with raises(InvalidInput):
                keep(ledger, bad)
        with raises(InvalidInput):
            keep(ledger, "lamp", metadata={"a": "\0"})
        assert ledger.sequence() == 0

    def test_the_longest_names_find_room_in_every_index(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        longest = "".join(chr(0x1F300 + (place * 7_919) % 0x300) for place in range(512))
        scope = "/".join(["x" * 127, "y" * 128])
        fields: dict[str, Any] = dict.fromkeys(("about", "attribute", "speaker", "conversation", "context"), longest)
        kept = keep(ledger, "The lamp is here.", scope, **fields)
        for name, value in fields.items():
            assert [each.id for each in listed(ledger, scope, **{name: value})] == [kept.id]
        assert ledger.subjects_like([longest[5:9]], scope=Scope(scope)) == [longest]
        folder = "/" + "/".join(f"{place * 7_919 % 1_000_003:x}" * 3 for place in range(200))
        Mirrors(ledger.database, ledger.clock).note(folder, Scope(scope))
        assert Mirrors(ledger.database, ledger.clock).paths() == (folder,)

    def test_numbers_come_back_to_the_last_digit(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        shares = (0.0, 5e-324, 0.1 + 0.2, 1 / 3, 0.9999999999999999, 1.0)
        values: tuple[Any, ...] = (
            0,
            -1,
            2**31,
            2**53 + 1,
            2**63 - 1,
            -(2**63),
            2**70,
            0.1,
            -0.0,
            1e308,
            True,
            False,
            "1",
            [],
            {},
        )
        for share in shares:
            kept = keep(ledger, f"share {share!r}", importance=share, confidence=share)
            again = other.get(kept.id, scope=Scope(HERE))
            assert again is not None
            assert (again.importance, again.confidence) == (share, share)
        for value in values:
            kept = keep(ledger, f"value {value!r}", value=value, metadata={"v": value})
            again = other.get(kept.id, scope=Scope(HERE))
            assert again is not None
            assert (repr(again.value), repr(again.metadata["v"])) == (repr(value), repr(value))

    def test_moments_reach_from_the_first_to_the_last(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger, other = open_ledger(), open_ledger()
        for ms in (0, 1, 2**31, 2**32 + 1, MAX_MS - 1, MAX_MS):
            clock.ms = ms
            kept = keep(ledger, f"at {ms}", occurred_at=ms, valid_until=MAX_MS if ms < MAX_MS else None)
            again = other.get(kept.id, scope=Scope(HERE))
            assert again == kept.memory
            assert texts(ledger, time_after=ms, time_before=ms + 1) == [f"at {ms}"]
        stats = ledger.stats(scope=Scope(HERE))
        assert (stats.oldest, stats.newest, stats.total) == (0, MAX_MS, 6)

    def test_counters_grow_beyond_what_fits_into_half_a_word(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        most = 2**62
        seen: list[int] = []

        def allowed(spent: Mapping[str, int]) -> bool:
            seen.append(spent.get("tokens", 0))
            return seen[-1] < most

        days = [each.spend({"tokens": most // 2}, allowed=allowed) for each in (ledger, other, ledger)]
        assert days[0] == days[1] == ledger.clock.now() // DAY_MS
        assert days[2] is None
        ledger.recount({"tokens": -most // 2}, day=days[0])
        assert other.spend({"tokens": 1}, allowed=allowed) == days[0]
        assert seen == [0, most // 2, most, most // 2]
        assert {type(each) for each in seen} == {int}

    def test_letters_are_looked_for_whatever_their_case_and_none_is_a_wildcard(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for text in _TEXTS:
            keep(ledger, text, value=text)  # the value keeps what is said alike apart
        for asked in _ASKED:
            found = texts(ledger, text=asked, order="oldest")
            assert found == [text for text in texts(ledger, order="oldest") if _has(text, asked)], asked

    def test_subjects_are_looked_for_by_their_words(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for about in ("light.office", "light_office", "light%office", "LIGHT.hall", "świat", "灯", "boiler", "a^b"):
            keep(ledger, f"It is {about}.", about=about)
        expected = {
            ("light",): ["LIGHT.hall", "light%office", "light.office", "light_office"],
            ("light_",): ["light_office"],
            ("t%o",): ["light%office"],
            ("^",): ["a^b"],
            ("灯", "boil"): ["boiler", "灯"],
            ("świ",): ["świat"],
            (): [],
            ("nothing",): [],
        }
        for words, found in expected.items():
            assert ledger.subjects_like(words, scope=Scope(HERE)) == found, words

    def test_text_is_in_the_order_of_its_bytes(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for about in reversed(IN_ORDER):
            keep(ledger, f"It is {about}.", about=f"thing {about}")
            Mirrors(ledger.database, ledger.clock).note(f"/{about}", Scope(HERE))
        assert ledger.subjects_like(["thing"], scope=Scope(HERE)) == [f"thing {each}" for each in _ORDERED]
        assert Mirrors(ledger.database, ledger.clock).paths() == tuple(f"/{each}" for each in _ORDERED)
        scopes = ["a/b", "a-b", "a.b", "a", "B", "a0", "a/B", "a:b", "a_b", "a~b"]
        for scope in scopes:
            keep(ledger, "The lamp is here.", scope)
        page = Overview(ledger.database).scopes("", limit=99, offset=0)
        assert [each.scope for each in page] == sorted([*scopes, HERE])

    def test_what_has_no_importance_comes_last(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for number, importance in enumerate((None, 0.5, 0.0, None, 1.0, 0.5)):
            keep(ledger, str(number), importance=importance)
        assert texts(ledger, order="importance") == ["4", "5", "1", "2", "3", "0"]
        assert texts(ledger, order="importance", as_of=MAX_MS) == ["4", "5", "1", "2", "3", "0"]
        assert texts(ledger, order="newest") == ["5", "4", "3", "2", "1", "0"]
        assert texts(ledger, order="oldest") == ["0", "1", "2", "3", "4", "5"]
        page = ledger.browse(Filter(order="importance"), scope=Scope(HERE), limit=2, offset=3)
        assert ([each.text for each in page], page.total) == (["2", "3"], 6)

    def test_what_is_surest_comes_first(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        keep(ledger, "inferred long ago", basis="inferred", confidence=0.9)
        clock.advance(days=400)
        keep(ledger, "inferred now", basis="inferred", confidence=0.6)
        keep(ledger, "stated", confidence=0.5)
        keep(ledger, "from the web", source="web", confidence=1.0)
        now = clock.now()
        found = ledger.browse(Filter(), scope=Scope(HERE), limit=9, offset=0, surest_at=now)
        assert [each.text for each in found] == ["inferred now", "stated", "inferred long ago", "from the web"]

    def test_filters_let_through_what_fits_and_nothing_else(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        _variety(ledger, clock)
        everything = listed(ledger)
        assert len(everything) == 48
        filters: dict[str, tuple[dict[str, Any], Callable[[Memory], bool]]] = {
            "kinds": ({"kinds": ("fact", "note")}, lambda m: m.kind in ("fact", "note")),
            "states": ({"states": ("archived", "forgotten")}, lambda m: m.state in ("archived", "forgotten")),
            "sources": ({"sources": ("web",)}, lambda m: m.source == "web"),
            "trust": ({"trust": ("untrusted",)}, lambda m: m.trust == "untrusted"),
            "grades": ({"grades": ("unknown", "must_remember")}, lambda m: m.grade in ("unknown", "must_remember")),
            "middle grades": ({"grades": ("nice_to_have", "ignore")}, lambda m: m.grade in ("nice_to_have", "ignore")),
            "about": ({"about": "lamp"}, lambda m: m.about == "lamp"),
            "attribute": ({"attribute": "colour"}, lambda m: m.attribute == "colour"),
            "attributes that begin so": ({"attribute_like": "col"}, lambda m: m.attribute.startswith("col")),
            "a wildcard in them": ({"attribute_like": "c%"}, lambda m: False),
            "speaker": ({"speaker": "anna"}, lambda m: m.speaker == "anna"),
            "no context": ({"context": ""}, lambda m: m.context == ""),
            "a context": ({"context": "at night"}, lambda m: m.context == "at night"),
            "here": ({"here": True}, lambda m: m.scope == HERE),
            "about things": ({"about_things": True}, lambda m: bool(m.about) and m.attribute != "profile.name"),
            "with an attribute": ({"has_attribute": True}, lambda m: bool(m.attribute)),
            "a tag": ({"tags": ("odd",)}, lambda m: "odd" in m.tags),
            "two tags": ({"tags": ("odd", "three")}, lambda m: {"odd", "three"} <= set(m.tags)),
            "a part of a tag": ({"tags": ("od",)}, lambda m: False),
            "importance": ({"importance_min": 0.5}, lambda m: (m.importance or 0) >= 0.5),
            "after": ({"time_after": 20}, lambda m: (m.occurred_at or m.created_at) >= 20),
            "before": ({"time_before": 20}, lambda m: (m.occurred_at or m.created_at) < 20),
            "valid": ({"valid_at": 100}, lambda m: m.holds_at(100)),
            "several": (
                {"kinds": ("fact",), "states": ("live",), "tags": ("odd",), "text": "NUMBER 1", "valid_at": 100},
                lambda m: m.kind == "fact" and m.state == "live" and "odd" in m.tags and "number 1" in m.text.lower()
                and m.holds_at(100),
            ),
        }  # fmt: skip
        for name, (wanted, fits) in filters.items():
            expected = [memory.id for memory in everything if fits(memory)]
            assert [memory.id for memory in listed(ledger, **wanted)] == expected, name
            assert len(ledger.numbers_that_fit(Filter(**wanted), scope=Scope(HERE))) == len(expected), name
            assert [memory.id for memory in listed(ledger, as_of=MAX_MS, **wanted)] == expected, name

    def test_the_beginning_of_an_id_is_enough_when_it_is_the_only_one(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for end in ("00", "0z", "z0"):
            _keep_as_is(ledger, made(ledger, f"id {end}")._replace(id=f"abcdefghjkmnpqrst0{end}"))
        assert ledger.get("abcdefghjkmnpqrst0z", scope=Scope(HERE)) is not None
        for several in ("abcd", "abcdefghjkmnpqrst00"):
            with raises(Ambiguous):
                ledger.get(several, scope=Scope(HERE))
        with raises(NotFound):
            ledger.get("abcdz", scope=Scope(HERE))
        with raises(InvalidInput):
            ledger.get("abc%", scope=Scope(HERE))


def _keep_as_is(ledger: Ledger, memory: Memory) -> None:
    ledger.remember([Keep(memory)], scope=Scope(memory.scope), actor=ACTOR)


def _has(text: str, asked: str) -> bool:
    """Whether a text has these letters: in lower case; the sharp s is the same as two, and nothing else is."""
    forms = {asked.lower(), asked.lower().replace("ß", "ss"), asked.lower().replace("ss", "ß")}
    return any(form in "".join(_lower(char) for char in text) for form in forms)


def _lower(char: str) -> str:
    lower = char.lower()
    return lower if len(lower) == 1 else char


def _variety(ledger: Ledger, clock: FixedClock) -> None:
    """Memories of which each differs from the next in something that can be asked for."""
    for number in range(48):
        clock.ms = 10 * DAY_MS + number
        tags = [name for name, step in (("odd", 2), ("three", 3)) if number % step == 1]
        kept = keep(
            ledger, f"this is number {number}", ABOVE if number % 11 == 0 else HERE, kind=KINDS[number % len(KINDS)],
            source=("user", "web", "tool")[number % 3], about=("lamp", "", "boiler")[number % 3],
            attribute=("", "colour", "colony", "profile.name", "c")[number % 5], speaker=("anna", "")[number % 2],
            context=("", "at night")[number % 4 == 3], importance=(None, 0.1, 0.5, 0.79, 0.8, 1.0)[number % 6],
            tags=tags, occurred_at=(None, number)[number % 2], valid_from=(None, 50, 101)[number % 3],
            valid_until=(None, 99, 120, 101, 150)[number % 5] if number % 3 != 2 else None,
        )  # fmt: skip
        if number % 7 == 5:
            ledger.change_state(kept.id, "archived", scope=Scope(kept.memory.scope), actor=ACTOR)
        if number % 7 == 6:
            ledger.change_state(kept.id, "forgotten", scope=Scope(kept.memory.scope), actor=ACTOR)
