"""The table of doors: complete, without two at one place, and each with a role that fits what it does."""

import inspect
import re

import pytest

from memoranda.wire.doors import DOORS, NOUNS
from memoranda.wire.schema import Schemas

# What is public and has no door, and why.
WITHOUT = {
    "close": "the server closes its store",
    "within": "a scope is part of every request",
    "admin.verify_backup": "backups lie on the machine of the server: the command looks at them there",
    "admin.compare_backup": "the same",
    "governance.write_back": "it writes into a folder of another program, on the machine where that runs",
    "documents.watch": "the server watches its folders by itself",
    "admin.sweep_if_due": "upkeep is the business of the server",
    "tokens.principal": "the server asks it for every request",
    "tokens.any_good": "the server asks it when it starts",
}
READING = re.compile(
    r"(.*\.)?(get|list|history|recall|pack|why_not|replay|stats|timeline|growth|scopes|lines|context|export|about|"
    r"lookup|ask|resolve|resolve_all|window|messages|between|expand|search|working|is_private|cold|read|status|contents|tags|"
    r"operations|diff|imports|gradings|drift|proposals|report)"
)


def test_every_public_verb_has_a_door_or_a_reason_why_not():
    verbs = {
        f"{noun}.{name}" if noun else name
        for noun, cls in NOUNS.items()
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }
    assert verbs == {door.verb for door in DOORS} | set(WITHOUT)


def test_no_two_doors_are_at_one_place():
    places = [(door.method, re.sub(r"{\w+}", "{}", door.path)) for door in DOORS]
    assert len(places) == len(set(places))


def test_a_fixed_path_stands_before_one_that_would_swallow_it():
    for place, door in enumerate(DOORS):
        pattern = re.compile(re.sub(r"{\w+}", "[^/]+", door.path) + "$")
        later = [each.path for each in DOORS[place + 1 :] if each.method == door.method and "{" not in each.path]
        assert not [path for path in later if pattern.match(path)]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.verb)
def test_only_what_changes_nothing_is_a_readers(door):
    assert (door.role == "reader") == (READING.fullmatch(door.verb) is not None and door.noun not in ("tokens",))
    assert door.writes or door.method in ("GET", "POST")
    looked_into = door.noun in ("tokens", "admin") or door.verb == "governance.audit"
    assert door.method != "GET" or door.role == "reader" or looked_into


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.verb)
def test_every_part_of_a_path_is_an_argument(door):
    assert {each.name for each in door.parameters if each.place == "path"} == set(re.findall(r"{(\w+)}", door.path))


def test_what_destroys_or_lets_in_needs_an_admin():
    verbs = {door.verb: door.role for door in DOORS}
    wanted = {
        "erase",
        "undo",
        "rollback",
        "trust",
        "import_memories",
        "governance.audit",
        "retention.subject",
        "mirror",
        "conversations.erase",
        "documents.add",
        "documents.remove",
        "review.accept",
    }
    assert {verbs[verb] for verb in wanted | {verb for verb in verbs if verb.startswith(("tokens.", "admin."))}} == {
        "admin"
    }
    assert all(door.whole for door in DOORS if door.noun == "admin")


def test_every_argument_and_result_has_a_schema():
    schemas = Schemas()
    for door in DOORS:
        for each in door.parameters:
            assert isinstance(schemas.of(each.type), dict)
        assert isinstance(schemas.of(door.result), dict)
    assert all(each["type"] == "object" or "properties" in each for each in schemas.components.values())
