"""`memoranda bench`, from the files of a pack to the report."""

import json
from xml.etree import ElementTree

import pytest

from memoranda.domain.errors import InvalidInput
from memoranda.evaluation import bench, stores
from memoranda.evaluation.asking import Answer
from memoranda.evaluation.confidence import Estimate
from memoranda.evaluation.plots import Series, bars, curves
from memoranda.evaluation.suites import TARGETS, Target
from memoranda.testing.fakes import HashedEmbedder

from .conftest import CHAT, GROUPS, write_pack


def test_a_pack_goes_from_its_files_to_results_report_and_plots(run, data, tmp_path, path):
    out_folder = tmp_path / "out"
    code, out, err = run("bench", "chat", "--data", data, "--out", out_folder, "--json")
    assert code == 0
    found = json.loads(out)
    assert json.loads((out_folder / "results.json").read_text()) == found
    (measured,) = found["sets"]
    assert (measured["documents"], measured["memories"], measured["questions"]) == (5, 5, 3)
    assert set(measured["columns"]) == {"lexical", "semantic", "hybrid"}
    assert measured["columns"]["hybrid"]["R@10"]["value"] > 0.6
    assert set(measured["categories"]) == {"place", "event", "time"}
    assert measured["sessions"]["hybrid"]["R@5"]["value"] > 0.6
    assert measured["latency"]["hybrid"]["p50_ms"] > 0
    report = (out_folder / "report.md").read_text()
    assert "## chat" in report
    assert "| R@10 |" in report
    assert "| p95_ms |" in report
    ElementTree.parse(out_folder / "r10.svg")
    assert "report.md" in err
    assert not path.exists(), "no store but its own is touched"


def test_people_get_the_report(run, data, monkeypatch):
    monkeypatch.setattr("memoranda.cli.output._SOON_SECONDS", -1.0)
    code, out, err = run("bench", "chat", "--data", data)
    assert code == 0
    assert out.startswith("# Recall, measured")
    assert "chat: asking: 3 of 3" in err


def test_precision_asks_in_the_wrong_group_and_without_names(run, data, tmp_path):
    (data / "chat").rename(data / "locomo")
    out_folder = tmp_path / "out"
    code, out, _ = run("bench", "precision", "--data", data, "--out", out_folder, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["sets"] == []
    (asked,) = found["precision"]
    assert set(asked["wordings"]) == {"as asked", "names stripped"}
    hybrid = asked["wordings"]["as asked"]["columns"]["hybrid"]
    assert hybrid["auc"] > 0.5
    assert len(hybrid["at"]) == 3
    assert [bar["policy"] for bar in asked["wordings"]["as asked"]["policies"]] == ["strict", "balanced", "broad"]
    ElementTree.parse(out_folder / "abstention.svg")
    assert "asked where the answer is not" in (out_folder / "report.md").read_text()


def test_a_kept_store_is_not_embedded_again_until_the_corpus_changes(run, data, tmp_path, monkeypatch):
    embedded = []
    embed = HashedEmbedder.embed

    def counting(self, texts, role):
        embedded.extend(text for text in texts if role == "document")
        return embed(self, texts, role)

    monkeypatch.setattr(HashedEmbedder, "embed", counting)
    arguments = ("bench", "chat", "--data", data, "--keep", tmp_path / "kept", "--json")
    first = json.loads(run(*arguments)[1])
    assert len(embedded) >= len(CHAT)
    embedded.clear()
    second = json.loads(run(*arguments)[1])
    assert embedded == []
    assert second["sets"][0]["columns"] == first["sets"][0]["columns"]
    changed = [*CHAT[:-1], {**CHAT[-1], "text": "Dan: I bake wheat bread on Sundays."}]
    write_pack(data / "chat", corpus=changed)
    run(*arguments)
    assert any("wheat" in text for text in embedded)


def test_an_interrupted_load_is_begun_anew(run, data, tmp_path, monkeypatch):
    arguments = ("bench", "chat", "--data", data, "--keep", tmp_path / "kept", "--json")
    load = stores._load

    def interrupted(*given):
        load(*given)
        raise InvalidInput("pulled the plug")

    with monkeypatch.context() as patched:
        patched.setattr(stores, "_load", interrupted)
        assert run(*arguments)[0] == 2
    code, out, _ = run(*arguments)
    assert code == 0
    assert json.loads(out)["sets"][0]["memories"] == 5


def test_a_folder_that_was_not_made_here_is_left_alone(run, data, tmp_path):
    (tmp_path / "kept" / "chat").mkdir(parents=True)
    (tmp_path / "kept" / "chat" / "letter.txt").write_text("dear")
    code, _, err = run("bench", "chat", "--data", data, "--keep", tmp_path / "kept")
    assert code == 2
    assert "was not made here" in err
    assert (tmp_path / "kept" / "chat" / "letter.txt").read_text() == "dear"


def test_pooled_every_document_is_in_one_scope(run, data, tmp_path):
    code, out, _ = run("bench", "chat", "--data", data, "--pooled", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["scopes"] == "pooled"
    assert found["sets"][0]["memories"] == 5
    (data / "chat").rename(data / "locomo")
    assert run("bench", "precision", "--data", data, "--pooled")[0] == 2


def test_a_sample_is_the_same_each_time(run, data):
    once, again = (run("bench", "chat", "--data", data, "--limit-queries", 2, "--json")[1] for _ in range(2))
    one, two = json.loads(once)["sets"][0], json.loads(again)["sets"][0]
    assert one["questions"] == 2
    assert one["columns"] == two["columns"]
    assert any("a sample of 2 of 3" in note for note in one["notes"])


def test_the_best_part_of_a_long_document_counts(run, data):
    long = {**CHAT[0], "text": "Anna: " + "We talked about the weather. " * 30 + CHAT[0]["text"][6:]}
    write_pack(data / "chat", corpus=[long, *CHAT[1:]])
    found = json.loads(run("bench", "chat", "--data", data, "--part", 200, "--json")[1])["sets"][0]
    assert found["memories"] > 5
    assert any("kept in parts" in note for note in found["notes"])
    assert found["categories"]["place"]["hybrid"]["any@10"] == 1


def test_documents_with_the_same_text_count_as_one(run, data):
    twin = {**CHAT[0], "_id": "twin"}
    groups = [{"group": "first", "doc_ids": ["a1", "twin", "a2", "a3"]}, GROUPS[1]]
    gold = [("q1", "a1"), ("q1", "twin"), ("q2", "a2"), ("q3", "b1")]
    write_pack(data / "chat", corpus=[*CHAT, twin], groups=groups, gold=gold)
    found = json.loads(run("bench", "chat", "--data", data, "--json")[1])["sets"][0]
    assert found["categories"]["place"]["hybrid"]["all@5"] == 1


def test_a_target_is_reached_or_not(run, data, monkeypatch):
    monkeypatch.setitem(TARGETS, "chat", (Target("R@10", 1), Target("N@10", 100.1)))
    code, out, _ = run("bench", "chat", "--data", data)
    assert code == 0
    assert "| reached |" in out
    assert "| not reached |" in out
    assert "| reached, on a sample |" in run("bench", "chat", "--data", data, "--limit-queries", 2)[1]


def test_a_hit_from_another_group_is_told_as_a_leak(run, data, monkeypatch):
    monkeypatch.setattr(bench, "ask", lambda *given, **options: Answer(("stranger",), (0.9,), ("bench/x",), 1))
    code, _, err = run("bench", "chat", "--data", data)
    assert code == 1
    assert "stranger came back in first, where it is not" in err


def test_what_is_not_there_is_told(run, data, tmp_path):
    assert run("bench", "nothing", "--data", data)[0] == 2
    assert run("bench", "all", "--data", tmp_path / "nowhere")[0] == 3
    assert run("bench", "chat", "--data", data, "--limit-queries", 0)[0] == 2
    (tmp_path / "file").write_text("")
    assert run("bench", "chat", "--data", data, "--out", tmp_path / "file" / "out")[0] == 2


def test_one_group_has_no_wrong_place_to_ask(run, data):
    everything = [{"group": "first", "doc_ids": ["a1", "a2", "a3", "b1", "b2"]}, {"group": "second", "doc_ids": ["b1"]}]
    write_pack(data / "locomo", groups=everything, gold=[("q3", "b1")])
    assert run("bench", "precision", "--data", data)[0] == 2


def test_plots_are_well_formed_whatever_the_names_are():
    odd = '<set> & "quotes" \x00\x1f 中文'
    drawn = bars(odd, odd, {odd: {odd: Estimate(0.5, 0.4, 0.6)}})
    assert ElementTree.fromstring(drawn).find("{http://www.w3.org/2000/svg}title").text.startswith("<set> &")
    ElementTree.fromstring(curves(odd, odd, odd, [Series(odd, [(0.0, 0.0), (1.0, 1.0)], dashed=True)]))


def test_a_bar_is_as_high_as_its_value_and_its_error_bar_spans_the_interval():
    drawn = ElementTree.fromstring(bars("t", "a", {"g": {"one": Estimate(0.5, 0.25, 1.0)}}))
    spaces = {"s": "http://www.w3.org/2000/svg"}
    bar = next(each for each in drawn.findall("s:rect", spaces) if each.find("s:title", spaces) is not None)
    assert float(bar.get("height")) == pytest.approx(150)
    spans = [abs(float(each.get("y1")) - float(each.get("y2"))) for each in drawn.findall("s:line", spaces)]
    assert max(spans) == pytest.approx(225)


@pytest.mark.parametrize("kept", [True, False])
def test_the_semantic_column_is_left_out_when_there_is_no_embedder(run, data, tmp_path, kept):
    also = ("--keep", tmp_path / "kept") if kept else ()
    found = json.loads(run("bench", "chat", "--data", data, "--embedder", "none", "--json", *also)[1])["sets"][0]
    assert set(found["columns"]) == {"lexical", "hybrid"}
