"""A store to look at: several scopes, every kind and state, what waits, what was said, made through the facade."""

import time
from pathlib import Path
from typing import NamedTuple

import memoranda
from memoranda import Settings
from memoranda.domain.scope import Scope
from memoranda.service.store import Store
from memoranda.testing.fakes import FixedClock

HOME, ANNA, TOM, BOT = "home", "home/anna", "home/tom", "bot-1/group-7"
DAYS = 35
DAY_MS = 86_400_000

SETTINGS = Settings(embedder="none", follow=False)


class Filled(NamedTuple):
    """The ids and tokens that tests need."""

    admin: str
    reader: str
    writer: str
    lamp: str
    old_lamp: str
    forgotten: str


def fill(path: Path, documents: Path) -> Filled:
    """Fill a new store."""
    clock = FixedClock(int(time.time() * 1000) - DAYS * DAY_MS)  # what is forgotten must still be in its grace period
    with Store.open(path, settings=SETTINGS, clock=clock) as store:
        home, anna, tom, bot = (store.memory(Scope(each)) for each in (HOME, ANNA, TOM, BOT))
        home.remember("The boiler is serviced every October.", kind="fact", about="boiler", tags=["house"])
        home.remember("The spare key is with Mrs Nowak next door.", kind="note", importance=0.9)
        clock.advance(days=3)
        old = anna.remember(
            "Anna reads by light.bedroom_lamp.", kind="fact", about="light.bedroom_lamp", importance=0.6
        )
        anna.remember("Anna prefers short answers.", kind="preference", importance=0.85)
        anna.remember("Anna woli herbatę od kawy.", kind="preference", lang="pl")
        clock.advance(days=10)
        lamp = anna.remember("Anna reads by light.desk_lamp now.", kind="fact", about="light.desk_lamp", supersedes=old)
        anna.remember("We decided to paint the hall green.", kind="decision", importance=0.7, speaker="anna")
        anna.remember(
            "Anna planted tomatoes on the balcony.", kind="episode", occurred_at="2025-10-12", tags=["garden"]
        )
        anna.remember(
            "The plumber says the tap needs a new seal.", source="assistant", kind="note", tags=["house", "tap"]
        )
        gone = anna.remember("Anna's old gym was on Main Street.", kind="fact", importance=0.2)
        anna.forget(gone, reason="moved away")
        anna.archive(anna.remember("The 2024 tax papers are in the blue box.", kind="note"), reason="no longer needed")
        for number in range(30):
            clock.advance(days=0.5)
            anna.remember(f"Errand {number}: buy item {number * 7} at shop {number % 5}.", kind="note", tags=["errand"])
        _structured(anna)
        tom.remember("Tom is allergic to peanuts.", kind="fact", importance=0.95)
        bot.remember("The group meets on Thursdays.", kind="fact", speaker="alice")
        _said(anna)
        _written(anna, documents)
        tokens = store.tokens
        return Filled(
            admin=tokens.create(name="operator", role="admin", scope="").secret,
            reader=tokens.create(name="watcher", role="reader", scope=HOME).secret,
            writer=tokens.create(name="assistant", role="writer", scope=HOME).secret,
            lamp=lamp.id,
            old_lamp=old.id,
            forgotten=gone.id,
        )


def _structured(anna: memoranda.LongTermMemory) -> None:
    anna.profile.update(name="Anna", traits=["reads at night", "cycles to work"], notes="Works from home on Fridays.")
    anna.profile.add("preferences", "metric units", speaker="anna")
    anna.facts.add("light.office", "nickname", "reading lamp")
    anna.facts.add("light.office", "location", "by the window")
    anna.facts.add("cover.garage_door", "schedule", "closes at ten", basis="observed", confidence=0.7)
    anna.preferences.set("lights", "evening_brightness", "40%", context="after_sunset")
    anna.preferences.set("lights", "evening_brightness", "80%")
    anna.preferences.set("answers", "length", "short")
    anna.capture(
        [memoranda.user("I prefer the window seat on trains."), memoranda.assistant("Noted.")],
        conversation="travel",
        mode="review",
    )
    anna.capture([memoranda.user("I am allergic to strawberries.")], conversation="food", mode="review")


def _said(anna: memoranda.LongTermMemory) -> None:
    turns = []
    for number in range(24):
        turns.append(memoranda.user(f"Question {number}: how do I fix part {number} of the tap?"))
        turns.append(memoranda.assistant(f"Answer {number}: turn the water off first, then loosen screw {number}."))
    anna.conversations.append(turns, conversation="kitchen tap")
    anna.conversations.compact("kitchen tap")
    anna.conversations.append([memoranda.user("Thanks, it no longer drips.")], conversation="kitchen tap")
    anna.conversations.append([memoranda.user("What shall we cook?")], conversation="dinner")


def _written(anna: memoranda.LongTermMemory, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "boiler.md").write_text(
        "# Boiler\n\nThe manual is in the cellar.\n\n## Pressure\n\nKeep it at 1.5 bar.\n"
    )
    (folder / "garden.md").write_text("# Garden\n\nTomatoes need water every evening in July.\n")
    anna.documents.add(str(folder), name="notes")
    anna.documents.sync()
