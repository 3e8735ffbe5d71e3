"""The commands that look at what is kept."""

import json

import pytest

from memoranda.cli.looking import bar


def listed(run, *options):
    code, out, err = run("list", *options, "--json")
    assert code == 0, err
    return [memory["id"] for memory in json.loads(out)["memories"]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--trust", "untrusted"], ["web"]),
        (["--grade", "must_remember"], ["preference"]),
        (["--grade", "unknown", "--source", "operator", "--source", "web"], ["web", "entity"]),
        (["--tag", "home"], ["decision", "preference"]),
        (["--tag", "home", "--tag", "money"], ["decision"]),
        (["--text", "FORTY w"], ["web"]),
        (["--order", "oldest", "--limit", "2"], ["plain", "preference"]),
        (["--order", "importance", "--limit", "2"], ["preference", "web"]),
    ],
)
def test_list_has_every_filter(run, household, options, names):
    assert listed(run, *options) == [household[name] for name in names]


def test_list_here_and_by_conversation(run, kept):
    run("remember", "The boiler is in the cellar.", "--scope", "home", "--conversation", "talk")
    assert len(listed(run)) == 2
    assert listed(run, "--here") == [kept]
    assert len(listed(run, "--conversation", "talk")) == 1


def test_the_timeline_is_paged_and_says_how_to_go_on(run, kept):
    run("forget", kept, "--reason", "sold\x1b[31m")
    run("restore", kept)
    code, out, err = run("timeline", "--limit", "2")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert [line[2].strip() for line in lines] == ["restored", "forgotten"]
    assert {line[3] for line in lines} == {kept[:8]}
    assert "\x1b" not in out
    before = err.split("--before ")[1].strip()
    _, out, err = run("timeline", "--limit", "2", "--before", before, "--json")
    page = json.loads(out)
    assert [event["action"] for event in page["events"]] == ["remembered"]
    assert page["events"][0]["at"].endswith("Z")
    assert page["next"] is None
    assert "lamp" not in out
    assert "--before" not in err


def test_the_timeline_is_narrowed_and_looks_below_when_asked(run, kept):
    run("archive", kept)
    run("remember", "below", "--scope", "home/anna/desk")

    def count(*options):
        return len(json.loads(run("timeline", *options, "--json")[1])["events"])

    assert count() == 2
    assert count("--below") == 3
    assert count("--action", "archived") == count("--until", "2999-01-01", "--action", "archived") == 1
    assert count("--id", kept[:8]) == 2
    assert count("--after", "2999-01-01") == count("--actor", "nobody") == 0
    code, _, err = run("timeline", "--id", "0123456789abcdefghjk")
    assert code == 3
    assert "list" in err
    assert run("timeline", "--action", "sold")[0] == 2


def test_growth_is_a_bar_for_each_day_or_json(run, kept):
    run("remember", "Anna prefers tea.", "--importance", "0.9")
    run("forget", kept)
    code, out, _ = run("growth", "--days", "3")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 3
    assert "█" in lines[-1]
    assert "█" not in lines[0]
    assert "2 created, 1 forgotten, 1 live (50% of unknown importance)" in lines[-1]
    assert lines[0].endswith("nothing")
    days = json.loads(run("growth", "--days", "3", "--json")[1])
    assert [day["live"] for day in days] == [0, 0, 1]
    assert days[-1]["unknown_share"] == 0.5
    run("remember", "below", "--scope", "home/anna/desk")
    assert json.loads(run("growth", "--days", "1", "--below", "--json")[1])[0]["created"] == 3
    assert run("growth", "--days", "0")[0] == 2


def test_a_bar_grows_with_its_number_and_is_seen_unless_there_is_nothing():
    assert bar(0, 0) == ""
    assert bar(5, 5) == "█" * 30
    assert bar(1, 2) == "█" * 15
    assert bar(1, 1_000_000) == "▏"
    lengths = [(bar(number, 100).count("█"), bar(number, 100)) for number in range(101)]
    assert [whole for whole, _ in lengths] == sorted(whole for whole, _ in lengths)
    assert max(len(shown) for _, shown in lengths) == 30


def test_scopes_tell_what_is_at_and_below(run, kept):
    run("remember", "below", "--scope", "home/anna/desk")
    run("remember", "above", "--scope", "home")
    run("remember", "beside", "--scope", "home/annabel")
    code, out, err = run("scopes")
    assert code == 0
    assert [line.split("\t")[:2] for line in out.splitlines()] == [
        ["home/anna", "1 memory, 1 live"],
        ["home/anna/desk", "1 memory, 1 live"],
    ]
    assert "2 of 2 scopes" in err
    page = json.loads(run("scopes", "--limit", "1", "--offset", "1", "--json")[1])
    assert page["total"] == 2
    assert page["items"][0]["scope"] == "home/anna/desk"
    assert page["items"][0]["newest"].endswith("Z")
