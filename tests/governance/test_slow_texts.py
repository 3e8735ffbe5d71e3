"""No text makes a rule of governance slow: whoever may write a memory may not hold up a regrade."""

import importlib
import pkgutil
import re
import time

import pytest

import memoranda.governance
from memoranda.governance.consolidation import read_name
from memoranda.governance.signals import signs_in

LENGTH = 8_000
MOST_SECONDS = 0.05
OF_SHORT_TEXTS = ("_CHATTER", "_ONLY_PROGRESS")
"""These are only ever shown texts of 80 characters."""
PIECES = (
    "a", "é", "点", "哈", " ", "\t", "\n", "  \t\n", "`", "``", "` ", "`a ", "`a `", "/", "/a", "-/", "~/", "./", "a.",
    "a. ", "1.", "1.1", "1.1.1.", "v1.", "1:", "11", "x@", "@", "a@a", "a+", "-", "--", "a-", "A-", "_A", "A_", "AB_",
    "ab_", "0a", "a0", "#", "#1", "http://", "C:\\", "\\", "$ ", "5%", "5% ", "5  ", "done 5  ", "done 5% ", "by ",
    "is ", "it ", "i'm ", "haha", "now ", "d1.2", "1.2.", "no", "step 1",
)  # fmt: skip
TEXTS = [
    (begin + piece * (LENGTH // len(piece)))[: LENGTH - len(end)] + end
    for piece in PIECES
    for begin in ("", "`", "done ")
    for end in ("", "!", "x")
]


def patterns():
    for module in pkgutil.iter_modules(memoranda.governance.__path__, "memoranda.governance."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and name not in OF_SHORT_TEXTS:
                yield pytest.param(value, id=f"{module.name.rpartition('.')[2]}.{name}")


def seconds(call, text):
    """The best of a few: somebody else may be at work."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        call(text)
        best = min(best, time.process_time() - began)
        if best < MOST_SECONDS / 2:
            break
    return best


@pytest.mark.parametrize("pattern", list(patterns()))
def test_no_pattern_is_slow_wherever_it_begins(pattern):
    slow = [text[:20] for text in TEXTS if seconds(pattern.search, text) > MOST_SECONDS]
    assert not slow


def test_all_signs_of_a_text_together_are_found_in_time():
    signs_in("Always use git.")  # the patterns are made
    slow = [text[:20] for text in TEXTS if seconds(signs_in, text) > MOST_SECONDS]
    assert not slow


@pytest.mark.parametrize("length", range(20, 81, 5))
def test_short_texts_that_are_looked_at_as_a_whole_are_not_slow_either(length):
    """80 characters were enough for 15 seconds: "done 5% 5% 5% ..." could be read in two ways at each step."""
    for text in TEXTS:
        short = text[: length - 1] + text[-1]
        assert seconds(signs_in, short) < MOST_SECONDS, short


@pytest.mark.parametrize(
    "text", ["d" + "1." * 40_000, "d" + "1" * 80_000, "c1.2" + "-" * 80_000, "d1.2-" + "a" * 80_000]
)
def test_a_long_id_of_a_proposal_is_refused_in_time(text):
    assert seconds(read_name, text) < MOST_SECONDS


@pytest.mark.parametrize(
    "text", ["done 50%", "Done, 3 of 5.", "almost done now", "it's 80 % done", "still working on it"]
)
def test_progress_is_still_told(text):
    assert signs_in(text).only_progress


@pytest.mark.parametrize("text", ["Use `git status` first.", "```\nls\n```", "$ make", "`a b`"])
def test_a_command_is_still_told(text):
    assert signs_in(text).runbook
    assert not signs_in("Use `tea` and `milk`.").runbook


@pytest.mark.parametrize("text", ["write to anna@example.org", "a.b+c@x-y.de"])
def test_an_address_is_still_told(text):
    assert signs_in(text).identifier
    assert not signs_in("meet @ noon").identifier
