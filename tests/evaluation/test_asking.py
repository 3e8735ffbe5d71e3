"""What a column asks of the facade."""

from types import SimpleNamespace

import pytest

from memoranda.evaluation.asking import ask


class Facade:
    """Takes what the facade's recall takes, and keeps it."""

    def __init__(self, *scores):
        self.given = {}
        self._scores = scores

    def recall(self, query, *, limit=5, policy="balanced", lanes=(), speaker=""):
        self.given = {"query": query, "limit": limit, "policy": policy, "lanes": lanes, "speaker": speaker}
        hits = [
            SimpleNamespace(id=str(at), score=score, memory=SimpleNamespace(scope="home"))
            for at, score in enumerate(self._scores)
        ]
        return _Found(hits)


class _Found(list):
    receipt = SimpleNamespace(degraded=("the embedder is down",))


@pytest.mark.parametrize(
    ("column", "lanes"),
    [
        ("lexical", ("lexical",)),
        ("semantic", ("semantic",)),
        ("hybrid", ("lexical", "semantic", "structured")),
    ],
)
def test_a_column_asks_its_lanes_only(column, lanes):
    facade = Facade()
    ask(facade, "which lamp?", column=column, policy="strict", limit=7, filters={"speaker": "anna"})
    assert facade.given == {
        "query": "which lamp?",
        "limit": 7,
        "policy": "strict",
        "lanes": lanes,
        "speaker": "anna",
    }


def test_an_answer_says_what_came_and_how_it_was_degraded():
    answer = ask(Facade(0.8, 0.4), "which lamp?", column="hybrid", policy="broad", limit=5)
    assert (answer.ids, answer.scores, answer.scopes) == (("0", "1"), (0.8, 0.4), ("home", "home"))
    assert answer.best == 0.8
    assert answer.nanoseconds > 0
    assert answer.degraded == ("the embedder is down",)


def test_no_hit_is_a_score_of_zero():
    assert ask(Facade(), "which lamp?", column="hybrid", policy="broad", limit=5).best == 0
