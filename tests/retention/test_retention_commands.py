"""The commands `retention` and `subject`."""

import json
import stat

import pytest

from cli.conftest import run as run


@pytest.fixture
def filled(run, monkeypatch):
    for text in ("The heron came back.", "The heron left.", "Anna saw the heron."):
        assert run("remember", text, "--kind", "episode", "--about", "person:anna")[0] == 0
    monkeypatch.setenv("MEMORANDA_SCOPE_CAP", "2")
    monkeypatch.setenv("MEMORANDA_TTL_DAYS", "episode=7|note=0.5")
    return run


def test_without_options_it_shows_the_rules_and_what_they_mean(filled):
    code, out, _ = filled("retention")
    assert code == 0
    assert "episode 7 d" in out
    assert "1 over the cap" in out
    shown = json.loads(filled("retention", "--json")[1])
    assert shown["scope_cap"] == 2
    assert shown["kinds"][0]["ends_in_7"] == 3


def test_apply_does_it_once_and_a_dry_run_only_says_so(filled):
    code, out, _ = filled("retention", "--apply", "--dry-run")
    assert (code, "1 would be forgotten for the cap" in out) == (0, True)
    receipt = json.loads(filled("retention", "--apply", "--json")[1])
    assert (receipt["given"], receipt["evicted"]) == (3, 1)
    assert json.loads(filled("retention", "--apply", "--json")[1])["evicted"] == 0
    assert filled("retention", "--dry-run")[0] == 2


def test_a_subject_is_written_to_a_file_or_printed(filled, tmp_path):
    target = tmp_path / "anna.md"
    code, out, _ = filled("subject", "anna", "--out", str(target), "--format", "markdown")
    assert code == 0
    assert str(target) in out
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "The heron came back." in target.read_text(encoding="utf-8")
    assert filled("subject", "anna", "--out", str(target))[0] == 4
    assert len(json.loads(filled("subject", "anna", "--json")[1])["memories"]) == 3
    code, _, err = filled("subject", "anna")
    assert (code, "--out" in err) == (2, True)
