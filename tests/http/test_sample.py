"""Sample data: everything there is to see, in a scope of its own, and gone without a trace."""

import json

import pytest
from running import run, serving

from memoranda import Settings
from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import Conflict, NotFound
from memoranda.domain.scope import Scope
from memoranda.http import sample
from memoranda.service.store import SAMPLE, Store
from support import occurrences


@pytest.fixture
def settings(path):
    return Settings(store=str(path), embedder="none", follow=False)


def everything(store):
    """Every memory of the sample, in whatever state."""
    found = []
    for each in store.scopes(SAMPLE.path, limit=100):
        found += store.memory(Scope(each.scope)).list(states=(), here=True, limit=500)
    return found


def test_it_shows_everything_there_is(settings):
    made = sample.add(settings)
    with Store.open(settings=settings) as store:
        memories = everything(store)
        assert len(memories) == made >= 60
        assert {each.state for each in memories} == {"live", "superseded", "archived", "forgotten"}
        assert {each.trust for each in memories} == {"trusted", "untrusted", "quarantined"}
        assert {each.kind for each in memories} == {"fact", "preference", "decision", "entity", "episode", "note"}
        assert {each.lang for each in memories} >= {"pl", "de", "zh"}
        assert {each.scope.partition("/")[0] for each in memories} == {"sample"}
        now = store.clock.now()
        ages = [(now - each.created_at) / DAY_MS for each in memories]
        assert min(ages) >= 0
        assert max(ages) > 59
        assert len({round(age) for age in ages}) > 30

        anna, group = store.memory(Scope("sample/home/anna")), store.memory(Scope("sample/bot-1/group-7"))
        assert len(anna.history(next(each for each in memories if "light.desk_lamp now" in each.text))) >= 2
        assert {group.profile.get(speaker=name).name for name in ("marta", "jonas")} == {"Marta", "Jonas"}
        assert anna.facts.lookup("the reading lamp") == "light.office"
        assert {each.context for each in anna.preferences.list("lighting")} == {"", "after_sunset"}
        assert len(anna.review.list()) == 2
        assert anna.conversations.list().total == 2
        assert any(each.kind == "summary" for each in anna.conversations.messages("holiday plans"))
        assert anna.documents.search("what pressure should the boiler have?")[0].citation.startswith("boiler.md")
        assert anna.recall("which lamp does Anna read by?")[0].memory.about == "light.office"
        assert store.upkeep().admin.verify().ok


def test_it_is_added_once_cleared_with_a_proof_and_can_be_added_again(settings, path):
    sample.add(settings)
    with pytest.raises(Conflict, match="already"):
        sample.add(settings)
    with Store.open(settings=settings) as store:
        store.memory(Scope("samples")).remember("Mine, and not a sample.")
        texts = [each.text for each in everything(store)]
        gone = sample.clear(store)
        assert (gone.found, gone.left, gone.sources) == (0, (), 1)
        assert gone.memories == len(texts)
        assert not store.has_sample()
        assert store.memory(Scope("samples")).stats().total == 1
        with pytest.raises(NotFound):
            sample.clear(store)
    assert occurrences(path, *(text for text in texts if len(text) > 20)) == []
    assert not sample.notes_folder(path).exists()
    assert sample.add(settings) >= 60


def test_a_note_that_somebody_wrote_stays(settings, path):
    sample.add(settings)
    changed = sample.notes_folder(path) / "boiler.md"
    changed.write_text("# Boiler\n\nMy own words.\n", encoding="utf-8")
    own = sample.notes_folder(path) / "mine.md"
    own.write_text("# Mine\n", encoding="utf-8")
    with Store.open(settings=settings) as store:
        gone = sample.clear(store)
    assert gone.left == (str(changed), str(own))
    assert sorted(each.name for each in sample.notes_folder(path).iterdir()) == ["boiler.md", "mine.md"]


def test_only_a_new_store_is_given_sample_data(path):
    with serving("--store", path, "--sample") as server:
        told = server.ask("GET", "/v1/whoami")
        assert told == (200, told[1])
        assert told[1]["sample"] is True
        assert "making sample data" in server.end()[2]
    cleared = run("sample", "clear", "--store", path, "--json")
    assert (cleared.returncode, json.loads(cleared.stdout)["found"]) == (0, 0)
    with serving("--store", path, "--sample") as server:
        assert server.ask("GET", "/v1/whoami")[1]["sample"] is False
        server.end()
    again = run("sample", "clear", "--store", path)
    assert (again.returncode, "memoranda sample add" in again.stderr) == (3, True)
    assert run("sample", "add", "--store", path).returncode == 0
