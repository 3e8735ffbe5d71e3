"""Answers: the same request is done once, whoever asks again, and nothing of an answer outlives an erasure."""

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import memoranda
from memoranda.domain.clock import DAY_MS
from memoranda.domain.scope import Scope
from memoranda.ledger.answers import Claim, presences
from support import answer, end, files_of, occurrences, tell

REQUEST, OTHER = b"the request", b"another request"
CANARY = "kanarienvogel"


@pytest.fixture
def process(path):
    """Starts another process with answers of the same store."""
    begun = []

    def starter(boot):
        script = Path(__file__).parent / "claimer.py"
        source = str(Path(memoranda.__file__).parents[1])
        begun.append(
            subprocess.Popen(
                [sys.executable, str(script), str(path), boot],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": source},
            )
        )
        answer(begun[-1])
        return begun[-1]

    yield starter
    for each in begun:
        end(each)


# -- the outcomes --


def test_a_new_key_is_claimed_and_answered_with_the_same_words_from_then_on(answers):
    assert answers.begin("token", "key", REQUEST, "boot") == Claim("new")
    answers.finish("token", "key", 201, '{"a": "ż"}', headers={"location": "/v1/memories/1"})
    again = Claim("answered", 201, '{"a": "ż"}', {"location": "/v1/memories/1"})
    assert answers.begin("token", "key", REQUEST, "boot") == again
    assert answers.begin("token", "key", REQUEST, "another boot") == again


def test_the_same_request_is_busy_while_it_is_worked_on(answers):
    answers.begin("token", "key", REQUEST, "boot")
    assert answers.begin("token", "key", REQUEST, "boot") == Claim("busy")


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("boot", ["boot", "another boot"])
def test_a_key_is_for_one_request(answers, answered, boot):
    answers.begin("token", "key", REQUEST, "boot")
    if answered:
        answers.finish("token", "key", 200, "the first")
    assert answers.begin("token", "key", OTHER, boot) == Claim("differs")


def test_what_a_former_boot_never_answered_is_taken_over(made):
    former, now = made(), made()
    former.begin("token", "key", REQUEST, "former")
    assert now.begin("token", "key", REQUEST, "now").outcome == "busy", "it is still at work"
    former.close()
    assert now.begin("token", "key", OTHER, "now").outcome == "differs", "taken over by the same request only"
    assert now.begin("token", "key", REQUEST, "now") == Claim("lost")
    assert now.begin("token", "key", REQUEST, "now").outcome == "busy"
    now.finish("token", "key", 200, "at last")
    assert now.begin("token", "key", REQUEST, "now").body == "at last"


@pytest.mark.parametrize("outcome", ["new", "answered", "done", "busy", "differs", "lost"])
def test_only_what_is_new_or_lost_goes_on(outcome):
    assert Claim(outcome).goes_on == (outcome in ("new", "lost"))


def test_keys_of_two_principals_have_nothing_to_do_with_one_another(answers):
    answers.begin("token-1", "key", REQUEST, "boot")
    answers.finish("token-1", "key", 200, "of the first")
    assert answers.begin("token-2", "key", REQUEST, "boot").outcome == "new"
    assert answers.begin("token-1", "KEY", REQUEST, "boot").outcome == "new"


def test_what_was_given_up_can_be_asked_for_again(answers):
    answers.begin("token", "key", REQUEST, "boot")
    answers.drop("token", "key")
    assert answers.begin("token", "key", OTHER, "boot").outcome == "new"


def test_an_answer_is_not_given_up_nor_changed(answers):
    answers.begin("token", "key", REQUEST, "boot")
    answers.finish("token", "key", 200, "first")
    answers.drop("token", "key")
    answers.finish("token", "key", 500, "second")
    assert answers.begin("token", "key", REQUEST, "boot")[:3] == ("answered", 200, "first")


def test_an_answer_without_a_claim_is_not_kept(answers):
    answers.finish("token", "key", 200, "unasked")
    assert answers.begin("token", "key", REQUEST, "boot").outcome == "new"


def test_a_key_cannot_be_read_from_the_file(answers, path):
    answers.begin("principal-in-the-file", CANARY, REQUEST, "boot")
    answers.finish("principal-in-the-file", CANARY, 200, "")
    assert occurrences(path, "principal-in-the-file")
    assert occurrences(path, CANARY) == []


# -- at once --


def test_of_many_threads_one_works(answers):
    barrier = threading.Barrier(16)
    outcomes = []

    def ask():
        barrier.wait()
        outcomes.append(answers.begin("token", "key", REQUEST, "boot").outcome)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["busy"] * 15 + ["new"]


def test_of_two_processes_one_works_and_the_other_repeats_what_it_said(process):
    first, second = process("first"), process("second")
    keys = [f"key-{number}" for number in range(40)]
    for key in keys:
        for each in (first, second):  # both are told before either is listened to
            tell(each, f"begin token {key}")
        outcomes = [answer(first), answer(second)]
        assert sorted(outcomes) == ["busy", "new"]
        worker, other = (first, second) if outcomes[0] == "new" else (second, first)
        tell(worker, f"finish token {key} done")
        answer(worker)
        tell(other, f"begin token {key}")
        assert answer(other) == "answered"


def test_what_a_killed_process_had_begun_is_taken_over_at_once_by_one(answers, process):
    killed, heir = process("killed"), process("heir")
    tell(killed, "begin token key")
    assert answer(killed) == "new"
    tell(heir, "begin token key")
    assert answer(heir) == "busy"
    killed.kill()
    killed.wait()
    tell(heir, "begin token key")
    assert answer(heir) == "lost"
    assert answers.begin("token", "key", b"request", "third").outcome == "busy"


def test_nothing_is_left_beside_the_store_by_those_who_end_in_order(made, path):
    one, two = made(), made()
    one.begin("token", "key", REQUEST, "one")
    two.begin("token", "other", REQUEST, "two")
    assert len(presences(path)) == 2
    one.close()
    one.close()
    two.close()
    assert presences(path) == []


def test_what_killed_processes_left_behind_is_swept_and_who_is_at_work_stays(answers, process, path):
    answers.begin("token", "key", REQUEST, "here")
    killed = process("killed")
    tell(killed, "begin token other")
    answer(killed)
    killed.kill()
    killed.wait()
    for file in presences(path):
        os.utime(file, (0, 0))
    answers.sweep()
    assert len(presences(path)) == 1
    assert answers.begin("token", "key", REQUEST, "elsewhere").outcome == "busy"


def test_every_file_of_the_store_is_among_those_that_a_proof_reads(store, answers, path):
    answers.begin("token", "key", REQUEST, "boot")
    memory = store.memory(Scope("bot-1"))
    erased = memory.erase(memory.remember(f"{CANARY} sings"))
    assert len(presences(path)) == 1
    # What processes share of a log is page numbers, and is not read.
    beside = {str(file.relative_to(path.parent)) for file in files_of(path) if not file.name.endswith("-shm")}
    assert {scan.file for scan in erased.receipt.scanned} == beside


# -- letting go --


def test_an_answer_is_kept_for_a_day(answers, clock):
    answers.begin("token", "old", REQUEST, "boot")
    answers.finish("token", "old", 200, "old")
    clock.advance(ms=1)
    answers.begin("token", "young", REQUEST, "boot")
    answers.finish("token", "young", 200, "young")
    clock.advance(ms=DAY_MS)
    assert answers.sweep() == 1
    assert answers.begin("token", "young", REQUEST, "boot").outcome == "answered"
    assert answers.begin("token", "old", REQUEST, "boot").outcome == "new"
    assert answers.sweep(before=clock.now() + 1) == 2


def test_clearing_forgets_what_was_said_and_not_that_it_was_done(answers, path):
    answers.begin("token", "key", REQUEST, "boot")
    answers.finish("token", "key", 201, CANARY, headers={"location": CANARY})
    answers.clear()
    assert answers.begin("token", "key", REQUEST, "boot") == Claim("done", 201)
    assert answers.begin("token", "key", REQUEST, "another boot") == Claim("done", 201)
    assert answers.begin("token", "key", OTHER, "boot").outcome == "differs"
    assert not Claim("done").goes_on


def test_an_answer_in_the_making_is_not_kept_when_something_was_erased_meanwhile(answers):
    answers.begin("token", "key", REQUEST, "boot")
    answers.clear()
    assert answers.begin("token", "key", REQUEST, "boot").outcome == "busy", "nothing is done twice"
    answers.finish("token", "key", 200, CANARY)
    assert answers.begin("token", "key", REQUEST, "boot") == Claim("done", 200)


@pytest.mark.parametrize("status", [400, 404, 409, 422])
@pytest.mark.parametrize("meanwhile", [False, True])
def test_what_was_refused_may_be_asked_for_again_after_an_erasure(answers, status, meanwhile):
    answers.begin("token", "key", REQUEST, "boot")
    if meanwhile:
        answers.clear()
    answers.finish("token", "key", status, "no")
    if not meanwhile:
        answers.clear()
    assert answers.begin("token", "key", REQUEST, "boot").outcome == "new", "nothing was done"


def test_the_digest_of_a_request_cannot_be_tried_out_on_the_file(answers, path):
    """It stays when what was said is erased."""
    digest = hashlib.sha256(CANARY.encode()).digest()
    answers.begin("principal-in-the-file", "key", digest, "boot")
    answers.finish("principal-in-the-file", "key", 200, "")
    answers.clear()
    assert occurrences(path, "principal-in-the-file")
    assert occurrences(path, digest) == []


@pytest.mark.parametrize("what", ["memory", "conversation"])
def test_the_words_of_an_answer_leave_every_file_with_what_was_erased(store, answers, path, what):
    memory = store.memory(Scope("bot-1"))
    said = f"{CANARY} sings in the bedroom " * 300
    answers.begin("token", "answered", REQUEST, "boot")
    answers.begin("token", "in the making", REQUEST, "boot")
    if what == "memory":
        kept = memory.remember(f"{CANARY} sings in the bedroom")
    else:
        memory.conversations.append([memoranda.user(f"{CANARY} sings in the bedroom")], conversation="talk")
    answers.finish("token", "answered", 201, said)
    assert occurrences(path, CANARY), "the scan must see it while it is there"
    receipt = memory.erase(kept).receipt if what == "memory" else memory.conversations.erase("talk")
    answers.finish("token", "in the making", 201, said)
    assert receipt.state == "purged", receipt
    assert occurrences(path, CANARY) == []
    store.close()
    assert occurrences(path, CANARY) == []
