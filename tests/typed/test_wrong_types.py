"""Whatever is passed to profile, facts and preferences, what is wrong is told as an error of ours, with a hint."""

import inspect

import pytest

from memoranda import InvalidInput, MemorandaError

CALLS = {
    ("profile", "get"): (),
    ("profile", "lines"): (),
    ("profile", "context"): (),
    ("profile", "update"): (),
    ("profile", "set"): ("traits", "creative"),
    ("profile", "add"): ("traits", "creative"),
    ("profile", "remove"): ("traits", "creative"),
    ("facts", "add"): ("light.office", "location", "attic"),
    ("facts", "about"): ("light.office",),
    ("facts", "lookup"): ("light.office",),
    ("facts", "list"): (),
    ("facts", "ask"): ("what is in the attic?",),
    ("facts", "forget"): ("light.office", "location"),
    ("preferences", "set"): ("lighting", "brightness", "40%"),
    ("preferences", "get"): ("lighting", "brightness"),
    ("preferences", "list"): (),
    ("preferences", "resolve"): ("lighting", "brightness"),
    ("preferences", "resolve_all"): (),
    ("preferences", "forget"): ("lighting", "brightness"),
}
WRONG = [1, -1, 2.5, True, float("nan"), 1 << 80, b"bytes", [], [1], [None], ["a", 2], {}, {"a": 1}, {"set"}, object(),
         "a\0b", "\ud800"]  # fmt: skip


def public(noun):
    return {name for name, each in inspect.getmembers(noun, inspect.ismethod) if not name.startswith("_")}


def test_every_call_is_among_them(memory):
    for noun in ("profile", "facts", "preferences"):
        assert public(getattr(memory, noun)) - {"export"} == {name for of, name in CALLS if of == noun}


@pytest.mark.parametrize(("noun", "name"), CALLS, ids=" ".join)
def test_a_wrong_type_is_never_anything_but_an_error_of_ours_with_a_hint(memory, noun, name):
    memory.profile.update(traits=["creative"])
    memory.facts.add("light.office", "location", "attic")
    memory.preferences.set("lighting", "brightness", "40%")
    call = getattr(getattr(memory, noun), name)
    for place, parameter in enumerate(inspect.signature(call).parameters):
        for wrong in WRONG:
            given = list(CALLS[noun, name])
            named = {} if place < len(given) else {parameter: wrong}
            given[place : place + 1] = [wrong] if place < len(given) else []
            try:
                call(*given, **named)
            except MemorandaError as error:
                assert error.hint.endswith(".")  # noqa: PT017 which of them are errors is in the tests below


@pytest.mark.parametrize(
    ("noun", "name", "parameter"),
    [
        ("profile", "update", "name"),
        ("profile", "update", "traits"),
        ("profile", "update", "preferences"),
        ("profile", "update", "notes"),
        ("profile", "update", "speaker"),
        ("profile", "get", "speaker"),
        ("profile", "lines", "speaker"),
        ("profile", "context", "query"),
        ("profile", "context", "speaker"),
        ("profile", "context", "name"),
        ("profile", "set", "field"),
        ("profile", "set", "previous"),
        ("profile", "set", "key"),
        ("profile", "add", "value"),
        ("profile", "add", "previous"),
        ("profile", "remove", "value"),
        ("facts", "add", "about"),
        ("facts", "add", "attribute"),
        ("facts", "add", "text"),
        ("facts", "add", "many"),
        ("facts", "add", "speaker"),
        ("facts", "list", "about"),
        ("facts", "list", "limit"),
        ("facts", "list", "offset"),
        ("facts", "ask", "question"),
        ("preferences", "set", "category"),
        ("preferences", "set", "context"),
        ("preferences", "set", "text"),
        ("preferences", "get", "context"),
        ("preferences", "list", "offset"),
        ("preferences", "resolve", "place"),
        ("preferences", "resolve", "flags"),
        ("preferences", "forget", "context"),
    ],
)
@pytest.mark.parametrize("wrong", [2.5, b"bytes", [1], {"a": 1}], ids=repr)
def test_what_is_of_the_wrong_type_is_refused_and_nothing_is_kept(memory, noun, name, parameter, wrong):
    call = getattr(getattr(memory, noun), name)
    bound = dict(zip(inspect.signature(call).parameters, CALLS[noun, name], strict=False))
    with pytest.raises(InvalidInput):
        call(**{**bound, parameter: wrong})
    assert memory.stats().total == 0


def test_one_wrong_entry_of_a_list_is_named_and_none_is_kept(memory):
    with pytest.raises(InvalidInput, match="traits: text is expected, not int") as caught:
        memory.profile.update(name="Anna", traits=["creative", 2])
    assert "text" in caught.value.hint
    assert memory.profile.get().empty
