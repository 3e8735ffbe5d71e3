"""A served memory: the verbs, results and errors of the embedded one, and a scope that it cannot leave."""

import asyncio
import inspect
import json
import os
import socket
import ssl
import subprocess
import sys
import time

import pytest

import memoranda
from memoranda import InvalidInput, LongTermMemory, NotFound, Refused, user
from memoranda.client.memory import RemoteMemory
from memoranda.client.nouns import RemoteTokens
from memoranda.domain.scope import Scope
from memoranda.service.tokens import TokenBook
from memoranda.tools import Tools
from memoranda.wire.doors import NOUNS
from support import as_pairs

from .conftest import OPERATOR, port

# Public, and not behind a door: why, or what it does here.
OWN = {
    "": {"close", "within", "scope", "path", "now", "export"},
    "governance": {"write_back"},
    "retention": {"subject"},
    "documents": {"watch"},
    "admin": {"sweep_if_due", "verify_backup", "compare_backup"},
}


@pytest.fixture
def memory(server):
    with memoranda.connect(server.url, server.token(), timeout=120) as found:
        yield found


@pytest.fixture
def operator(server):
    with memoranda.connect(server.url, OPERATOR, scope="home/anna", timeout=120) as found:
        yield found


def public(cls):
    return {name for name, _ in inspect.getmembers(cls) if not name.startswith("_")}


# -- the same verbs --


@pytest.mark.parametrize("noun", [noun for noun in NOUNS if noun != "tokens"])
def test_every_public_verb_is_the_servers(memory, noun):
    here = getattr(memory, noun) if noun else memory
    embedded = NOUNS[noun]
    assert isinstance(here, embedded)
    nouns = set(NOUNS) if not noun else set()
    for name in public(embedded) - nouns:
        if name in OWN.get(noun, ()):
            assert name in vars(type(here)) or name == "scope"
            continue
        verb = vars(type(here))[name]
        assert inspect.signature(verb) == inspect.signature(getattr(embedded, name))
        assert verb.__doc__ == getattr(embedded, name).__doc__
        assert inspect.getclosurevars(verb).nonlocals["door"].name == name


def test_there_is_no_engine(memory):
    for here in (memory, *(getattr(memory, noun) for noun in NOUNS if noun)):
        assert not hasattr(here, "_engine")
    assert set(NOUNS) - {""} <= set(vars(memory))


def test_tokens_have_the_verbs_of_the_book_without_who_asks():
    for verb in ("create", "list", "revoke"):
        there = dict(inspect.signature(getattr(TokenBook, verb)).parameters)
        there.pop("by")
        assert dict(inspect.signature(getattr(RemoteTokens, verb)).parameters).keys() == there.keys()


def test_it_is_taken_wherever_a_memory_is(memory):
    assert isinstance(memory, LongTermMemory)
    assert isinstance(memory, RemoteMemory)
    assert Tools(memory).definitions()


def test_what_has_no_meaning_here_is_refused_with_the_reason(memory):
    with pytest.raises(Refused, match="its own machine"):
        _ = memory.path
    with pytest.raises(Refused, match="watched where they are"):
        memory.documents.watch()
    with pytest.raises(Refused, match="tokenizer cannot be sent") as refused:
        memory.conversations.window("talk", tokenizer=object())
    assert "the server counts" in refused.value.hint
    assert memory.admin.sweep_if_due() is None
    assert abs(memory.now - time.time() * 1000) < 60_000


# -- the same answers --


def test_it_finds_what_the_embedded_one_finds(running, clock):
    server = running(clock=clock)
    memory = memoranda.connect(server.url, server.token(), timeout=120)
    embedded = server.store.memory(Scope("home/anna", top="home/anna"))
    for number in range(8):
        memory.remember(f"lamp {number} stands in room {number % 3}", tags=["lamp"])
    there, here = embedded.recall("lamp in room 2", limit=7), memory.recall("lamp in room 2", limit=7)
    assert as_pairs(here) == as_pairs(there)
    assert here.receipt == there.receipt
    assert list(memory.list()) == list(embedded.list())
    assert memory.stats() == embedded.stats()
    memory.close()


def test_a_recall_can_be_packed_asked_about_and_replayed(memory):
    kept = memory.remember("Anna reads by the lamp.")
    other = memory.remember("The boiler is in the cellar.")
    found = memory.recall("which lamp?", policy="broad")
    assert [hit.id for hit in found] == [kept.id]
    assert kept.memory.text.removesuffix(".") in memory.pack(found).text
    assert memory.why_not(found, other).reason
    assert memory.replay(found.receipt).same
    assert memory.replay(found.receipt.as_json()).same


def test_errors_are_the_same(memory):
    with pytest.raises(NotFound) as refused:
        memory.get("0123456789abcdefghjk")
    assert isinstance(refused.value, LookupError)
    with pytest.raises(InvalidInput) as invalid:
        memory.remember("")
    assert isinstance(invalid.value, ValueError)
    assert invalid.value.hint == "Give text at least one visible character."


def test_captured_and_said(memory):
    captured = memory.capture([user("Remember that I leave at seven.")], conversation="talk")
    assert captured.receipt
    memory.conversations.append([user("hello", id="1"), user("hello", id="1")], conversation="talk")
    assert [message.text for message in memory.conversations.messages("talk")] == ["hello"]
    assert memory.conversations.window("talk").for_model()[-1] == {"role": "user", "content": "hello"}


def test_a_transcript_is_a_file_of_this_machine(memory, tmp_path):
    file = tmp_path / "elsewhere" / "talk.jsonl"
    file.parent.mkdir()
    file.write_text("".join(json.dumps({"role": "user", "content": f"line {n}"}) + "\n" for n in range(3)))
    seen = []
    done = memory.conversations.import_transcript(file, conversation="talk", progress=lambda *step: seen.append(step))
    assert (done.added, done.conversations) == (3, ("talk",))
    assert memory.conversations.import_transcript(str(file), conversation="talk").known == 3
    assert seen
    with pytest.raises(NotFound, match="there is no file"):
        memory.conversations.import_transcript(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInput, match="is no file"):
        memory.conversations.import_transcript(tmp_path)


def test_a_transcript_without_a_name_is_called_as_its_file(memory, tmp_path):
    file = tmp_path / "kitchen.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "hello"}) + "\n")
    assert memory.conversations.import_transcript(file).conversations == ("kitchen",)


def test_long_work_tells_of_its_progress_and_can_be_stopped(operator, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe lamp {number} is on.\n")
    operator.documents.add(folder)

    def stop(done, total):
        raise KeyboardInterrupt("stop")

    with pytest.raises(KeyboardInterrupt, match="stop"):
        operator.documents.sync(progress=stop)
    seen = []
    synced = operator.documents.sync(full=True, progress=lambda *step: seen.append(step))
    assert operator.documents.status().files == 30, synced
    assert seen[-1][0] == seen[-1][1]
    assert operator.documents.search("lamp 7")


# -- who one is, and where --


def test_without_a_scope_it_is_the_tokens_own(server):
    with memoranda.connect(server.url, server.token(scope="bot-1/group-7"), timeout=120) as memory:
        assert memory.scope == "bot-1/group-7"
        assert memory.remember("hello").memory.scope == "bot-1/group-7"


def test_a_token_for_every_scope_needs_one(server):
    with pytest.raises(InvalidInput, match="a scope is needed") as refused:
        memoranda.connect(server.url, OPERATOR)
    assert "scope=" in refused.value.hint


@pytest.mark.parametrize("scope", ["home", "home/ben", "home/anna2", "home/ann"])
def test_a_scope_outside_of_the_token_is_refused_at_once(server, scope):
    with pytest.raises(Refused, match=f"^{scope} is outside") as refused:
        memoranda.connect(server.url, server.token(), scope=scope, timeout=120)
    assert "home/anna" in refused.value.hint


@pytest.mark.parametrize("scope", ["home", "home/ben", "home/anna2", "home/ann"])
def test_the_server_refuses_a_scope_outside_of_the_token_whatever_the_client_believes(memory, scope):
    astray = RemoteMemory(memory._caller.within(scope), Scope(scope), owner=False)
    for ask in (astray.stats, lambda: astray.remember("x"), lambda: astray.recall("x")):
        with pytest.raises(Refused, match="outside"):
            ask()


@pytest.mark.parametrize("scope", ["../x", "a//b", "*", "home/anna&scope=home"])
def test_a_bad_scope_is_refused_before_anybody_is_asked(scope):
    with pytest.raises(InvalidInput):
        memoranda.connect("http://127.0.0.1:1", "mem_x", scope=scope)


def test_within_goes_down_only(memory):
    diary = memory.within("home/anna/diary")
    assert (diary.scope, diary.remember("hello").memory.scope) == ("home/anna/diary", "home/anna/diary")
    assert memory.list().total == 0
    with pytest.raises(Refused, match="not inside"):
        memory.within("home/annabel")


def test_a_role_that_is_too_small_is_told(server):
    with memoranda.connect(server.url, server.token(role="reader"), timeout=120) as memory:
        assert memory.stats().total == 0
        with pytest.raises(Refused, match="writer"):
            memory.remember("hello")
        with pytest.raises(Refused):
            memory.admin.doctor()
        with pytest.raises(Refused):
            memory.tokens.list()


def test_a_revoked_token_opens_nothing(server, operator):
    made = operator.tokens.create(role="writer", scope="home/anna", name="kitchen", days=3)
    assert [each.name for each in operator.tokens.list(below="home")] == ["kitchen"]
    with memoranda.connect(server.url, made.secret, timeout=120) as memory:
        assert memory.stats().total == 0
        assert operator.tokens.revoke(made.token.id).revoked_at is not None
        with pytest.raises(Refused) as refused:
            memory.stats()
    assert made.secret not in str(refused.value)
    assert made.secret not in server.log.getvalue()


def test_a_write_that_is_sent_twice_with_one_key_is_done_once(server, memory, monkeypatch):
    monkeypatch.setattr("memoranda.client.calling.new_id", lambda: "the-same-key-every-time")
    first = memory.remember("hello")
    assert memory.remember("hello") == first, "the answer is repeated, and nothing is reinforced"
    with pytest.raises(InvalidInput, match="belongs to another request"):
        memory.remember("something else")


# -- the line --


def test_an_idle_connection_that_the_server_closed_is_not_used(running):
    first = running()
    memory = memoranda.connect(first.url, first.token(), timeout=120)
    kept = memory.remember("hello")
    number = int(first.url.rpartition(":")[2])
    first.close()
    running(listening=port(number))
    assert memory.get(kept).text == "hello"
    memory.close()


def test_a_child_process_does_not_share_the_connection(memory):
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    memory.remember("hello")
    before = memory._caller.transport._servers[0].connections._idle
    assert before
    process = memory._caller.transport._servers[0].connections
    process._process = -1  # as it looks from a child
    assert memory.stats().total == 1
    assert before[0] not in process._idle
    before[0].close()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no such sockets")
def test_a_socket_in_the_file_system_is_reached(running, tmp_path):
    file = tmp_path / "m.sock"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(file))
    server = running(listening=listening)
    with memoranda.connect(f"unix:{file}", server.token(), timeout=120) as memory:
        assert memory.get(memory.remember("hello")).text == "hello"
        assert repr(memory) == f"<RemoteMemory unix:{file} at home/anna>"


def test_a_certificate_is_checked(scripted, tmp_path):
    from .answers import HELLO

    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("no certificate can be made here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = scripted(HELLO, tls=context)
    with pytest.raises(memoranda.ConfigError, match="not trusted") as refused:
        memoranda.connect(server.url, "mem_x", timeout=120)
    assert "ca_file" in refused.value.hint
    assert not server.asked, "nothing is said to who is not trusted"
    memoranda.connect(server.url, "mem_x", ca_file=tmp_path / "cert.pem", timeout=120).close()
    with pytest.raises(memoranda.ProviderUnavailable) as refused:
        memoranda.connect(server.url.replace("https", "http"), "mem_x", scope="home", timeout=20)
    assert "https://" in refused.value.hint
    with pytest.raises(memoranda.ConfigError, match="ca_file"):
        memoranda.connect(server.url, "mem_x", ca_file=tmp_path / "none.pem")


# -- awaited --


def test_the_async_face_of_a_server(server):
    async def story():
        async with memoranda.aio.connect(server.url, server.token(), timeout=120) as memory:
            kept = await memory.remember("Anna reads by the lamp.")
            found, stats = await asyncio.gather(memory.recall("lamp"), memory.stats())
            await memory.within("home/anna/diary").profile.update(name="Anna")
            return kept.id, [hit.id for hit in found], stats.total

    kept, found, total = asyncio.run(story())
    assert (found, total) == ([kept], 1)


def test_tokens_are_awaited_too(server):
    async def story():
        async with memoranda.aio.connect(server.url, OPERATOR, scope="home/anna", timeout=120) as memory:
            made = await memory.tokens.create(role="writer", scope="home/anna", name="kitchen")
            listed = await memory.within("home/anna/diary").tokens.list(below="home")
            revoked = await memory.tokens.revoke(made.token.id)
            return made, listed, revoked

    made, listed, revoked = asyncio.run(story())
    assert [each.id for each in listed] == [made.token.id]
    assert revoked.revoked_at is not None


def test_an_address_that_ends_in_the_version_is_told_to_leave_it_out(server):
    with pytest.raises(memoranda.ConfigError, match="no memory at this address") as refused:
        memoranda.connect(f"{server.url}/v1", server.token(), timeout=120)
    assert "Leave /v1" in refused.value.hint


def test_tls_where_none_is_spoken_is_told_as_such(server):
    with pytest.raises(memoranda.ConfigError, match="does not speak TLS") as refused:
        memoranda.connect(server.url.replace("http:", "https:"), "mem_x", scope="home", timeout=20)
    assert "http://" in refused.value.hint


def test_importing_the_package_loads_nothing_of_the_client():
    code = "import sys, memoranda; print([m for m in sys.modules if 'client' in m or m.startswith('memoranda.wire')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
