"""Nothing that is sent with a request widens what its token reaches: ids, arguments, headers, what others keep."""

import json
import os
import re

import pytest
from loopback import loopback
from requests_of import QUESTION, in_order, target
from tenants import ABOVE, BELOW, FOREIGN, HOME, SOURCE, SPEAKER, SUBJECT, TALK, world

from memoranda.domain.ids import new_id
from memoranda.domain.scope import Scope
from memoranda.http.examples import EXAMPLES
from memoranda.testing.fakes import FixedClock
from memoranda.wire.doors import DOORS

SEEN = (HOME, BELOW)


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    with world(tmp_path_factory.mktemp("tenants")) as made:
        yield made


@pytest.fixture(scope="module")
def admin(tenants):
    """An admin of the home scope: whoever may do less is refused sooner."""
    return tenants.server.caller(tenants.server.token(HOME, "admin"))


@pytest.fixture
def unchanged(tenants):
    """Nothing outside is other than before when the test has ended."""
    before = tenants.outside()
    yield
    assert tenants.outside() == before


@pytest.fixture
def asked(tenants, admin, unchanged):
    """Asks as the admin, and looks at every answer."""

    def ask(method, line, body=None, **options):
        answer = admin.ask(method, line, body, **options)
        leaks = tenants.leaks(answer.said, SEEN, f"{line} {body!r}")
        assert not leaks, (method, line, body, leaks, answer)
        assert answer.status < 500, (method, line, body, answer)
        return answer

    return ask


# -- ids --


def _told(answer, identity):
    """An answer without the id that was asked for, and without the request's own number."""
    return answer.status, answer.body.replace(identity.encode(), b"ID")


@pytest.mark.parametrize("door", [each for each in DOORS if "{reference}" in each.path], ids=lambda door: door.verb)
def test_a_foreign_id_is_answered_like_one_that_does_not_exist(tenants, asked, door):
    body = EXAMPLES[door.verb] if door.method == "POST" else None
    missing = new_id()
    ask = lambda identity: asked(door.method, door.path.replace("{reference}", identity), body)  # noqa: E731
    expected = _told(ask(missing), missing)
    assert expected[0] == 404
    for scope in FOREIGN:
        foreign = tenants.tenants[scope]
        ids = (
            (foreign.token,) if door.noun == "tokens" else (*foreign.memories, *foreign.messages, foreign.conversation)
        )
        for identity in ids:
            assert _told(ask(identity), identity) == expected, (scope, identity)


@pytest.mark.parametrize("length", [4, 5, 8, 12, 19])
def test_the_beginning_of_a_foreign_id_says_nothing(tenants, asked, length):
    for scope in FOREIGN:
        for identity in tenants.tenants[scope].memories:
            for path in (f"/v1/memories/{identity[:length]}", f"/v1/memories/{identity[:length]}/history"):
                assert asked("GET", path).status == 404
            assert asked("POST", f"/v1/memories/{identity[:length]}/forget", {}).status == 404


def test_a_foreign_id_in_a_body_is_one_that_does_not_exist(tenants, asked):
    missing = new_id()
    bodies = (
        ("/v1/memories", lambda identity: {"text": "A lamp that supersedes.", "supersedes": identity}),
        ("/v1/memories/batch", lambda identity: {"drafts": [{"text": "Another lamp.", "supersedes": identity}]}),
        ("/v1/memories/erase", lambda identity: {"reference": identity}),
        ("/v1/memories/erase", lambda identity: {"reference": identity, "mode": "preview"}),
        ("/v1/why-not", lambda identity: {"query": QUESTION, "reference": identity}),
    )
    for path, body in bodies:
        expected = _told(asked("POST", path, body(missing)), missing)
        assert expected[0] == (200 if path == "/v1/why-not" else 404), (path, expected)
        for scope in FOREIGN:
            for identity in tenants.tenants[scope].memories:
                assert _told(asked("POST", path, body(identity)), identity) == expected, path


def test_the_timeline_of_a_foreign_id_is_as_empty_as_that_of_none(tenants, asked):
    missing = new_id()
    expected = _told(asked("GET", f"/v1/timeline?below=true&reference={missing}"), missing)
    for scope in FOREIGN:
        for identity in tenants.tenants[scope].memories:
            assert _told(asked("GET", f"/v1/timeline?below=true&reference={identity}"), identity) == expected


# -- conversations and documents --

_TALKS = (
    ("GET", "/v1/conversations/one?conversation={}", None),
    ("GET", "/v1/conversations/window?conversation={}", None),
    ("GET", "/v1/conversations/messages?conversation={}", None),
    ("GET", "/v1/conversations/working?conversation={}", None),
    ("GET", "/v1/conversations/between?after=2000-01-01&before=2100-01-01&conversation={}", None),
    ("POST", "/v1/conversations/compact", "conversation"),
    ("POST", "/v1/conversations/archive", "conversation"),
    ("POST", "/v1/conversations/restore", "conversation"),
    ("POST", "/v1/conversations/erase", "conversation"),
)


@pytest.mark.parametrize(("method", "path", "name"), _TALKS, ids=lambda each: str(each)[:40])
def test_a_foreign_conversation_by_name_or_id_is_not_there(tenants, asked, method, path, name):
    for scope in FOREIGN:
        foreign = tenants.tenants[scope]
        for talk in (f"talk-{foreign.word}", foreign.conversation, foreign.conversation[:6]):
            answer = asked(method, path.format(talk), {name: talk} if name else None)
            nothing = answer.status == 200 and answer.json() in ({"value": ""}, {"items": []})
            assert answer.status == 404 or nothing, (talk, answer)


def test_a_foreign_summary_is_not_expanded(tenants, asked):
    for scope in FOREIGN:
        foreign = tenants.tenants[scope]
        for identity in (foreign.summary, *foreign.messages):
            assert asked("GET", f"/v1/conversations/expand?summary={identity}").status == 404


def test_whether_a_foreign_conversation_is_private_is_not_told(tenants, asked):
    for scope in FOREIGN:
        answer = asked("GET", f"/v1/conversations/private?conversation=diary-{tenants.tenants[scope].word}")
        assert answer.json() == {"value": False}


def test_foreign_documents_are_not_read_by_any_path(tenants, asked):
    for scope in FOREIGN:
        word = tenants.tenants[scope].word
        for path in (
            f"{word}.md",
            f"../{word}/{word}.md",
            f"..%2F{word}%2F{word}.md",
            f"{tenants.folder}/{word}/{word}.md",
            f"{SOURCE}/../{word}/{word}.md",
            "/etc/passwd",
        ):
            for line in (f"/v1/documents/read?path={path}", f"/v1/documents/read?path={path}&source={SOURCE}"):
                answer = asked("GET", line)
                # A file that is not there is an empty text, as hosts have it.
                assert answer.status in (403, 404, 422) or answer.json()["text"] == "", (line, answer)


def test_folders_outside_of_the_roots_are_neither_read_nor_written(tenants, asked, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n")
    (tenants.folder / "link").symlink_to(outside)
    for path in (str(outside), "/etc", "/", f"{tenants.folder}/../..", f"{tenants.folder}/link", "notes", "~", "\0"):
        for line, body in (
            ("/v1/documents", {"path": path, "name": "stolen"}),
            ("/v1/mirror", {"path": path, "mode": "export"}),
        ):
            answer = asked("POST", line, body)
            assert answer.status in (403, 422), (line, path, answer)
    assert [each.name for each in outside.iterdir()] == ["secret.md"]
    assert "stolen" not in asked("GET", "/v1/documents").body.decode()


def test_a_folder_is_for_the_scope_that_it_was_opened_for(tmp_path):
    """An operator opens one for each: whose admin is let in does not look into the others'."""
    for name in ("one", "two", "all"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "a.md").write_text("# Vault\nThe code word is xylophone.\n")
    opened = (str(tmp_path / "all"), f"bot-1={tmp_path / 'one'}", f"bot-2={tmp_path / 'two'}")
    with loopback(tmp_path / "store.db", roots=opened) as server:
        asked = {
            scope: server.caller(server.token(scope, "admin"))
            for scope in ("bot-1", "bot-1/group-7", "bot-2", "bot-10")
        }

        def statuses(caller, scope=""):
            query = f"?scope={scope}" if scope else ""
            for line, body in (("/v1/documents", {}), ("/v1/mirror", {"mode": "preview"})):
                said = [
                    caller.post(line + query, {**body, "path": str(tmp_path / name)}) for name in ("one", "two", "all")
                ]
                yield [each.status for each in said]

        assert list(statuses(asked["bot-1"])) == [[200, 403, 403]] * 2
        assert list(statuses(asked["bot-1/group-7"])) == [[200, 403, 403]] * 2
        assert list(statuses(asked["bot-10"])) == [[403, 403, 403]] * 2
        assert list(statuses(asked["bot-1"], "bot-1/group-8")) == [[200, 403, 403]] * 2
        assert [each[1] for each in statuses(asked["bot-2"])] == [200, 403], "of notes there is no mirror to be made"
        assert [each[2] for each in statuses(server, "anybody")] == [200, 200], "an operator's"
        refused = asked["bot-1"].post("/v1/documents", {"path": str(tmp_path / "two"), "name": "spy"})
        assert "--root SCOPE=DIR" in refused.problem["hint"]
        asked["bot-1"].post("/v1/documents/sync")
        assert b"xylophone" not in asked["bot-1"].post("/v1/documents/search", {"query": "code word"}).body


def test_a_root_that_became_a_link_is_not_followed(tmp_path):
    """What was allowed is the place. Who may write into it could have it lead anywhere else later."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "upper" / "notes").mkdir(parents=True)
    (root / "upper" / "notes" / "mine.md").write_text("# Mine\nThe lamp is in the cellar.\n")
    (root / "link").symlink_to(root / "upper")
    (outside / "notes").mkdir(parents=True)
    (outside / "notes" / "secret.md").write_text("# Operator\nThe pin of the operator is kangaroo.\n")
    with loopback(tmp_path / "store.db", roots=(f"bot-1={root}",)) as server:
        caller = server.caller(server.token("bot-1", "admin"))
        added = caller.post("/v1/documents", {"path": str(root / "link" / "notes"), "name": "notes"})
        assert added.json()["root"] == str(root / "upper" / "notes"), "the place, not the way to it"
        assert caller.post("/v1/documents/sync").json()["added"] == 1
        (root / "upper").rename(root / "before")
        (root / "upper").symlink_to(outside)
        synced = caller.post("/v1/documents/sync", {"full": True}).json()
        assert (synced["added"], synced["read"], synced["removed"]) == (0, 0, 0)
        assert "link to elsewhere" in synced["failures"][0]["reason"]
        said = [
            caller.post("/v1/documents/search", {"query": "the pin of the operator"}),
            caller.get("/v1/documents/read?path=secret.md"),
            caller.get("/v1/documents/status"),
            caller.post("/v1/pack", {"query": "the pin of the operator"}),
        ]
        assert [each.status for each in said] == [200] * len(said)
        assert not any(b"kangaroo" in each.body or b"secret.md#" in each.body for each in said)
        assert said[1].json()["text"] == ""
        (root / "upper").unlink()
        (root / "before").rename(root / "upper")
        assert caller.post("/v1/documents/sync").json()["failures"] == []
        assert caller.post("/v1/documents/search", {"query": "lamp in the cellar"}).json()["hits"]


def test_somebody_elses_mirror_is_not_named_after_them(tmp_path):
    with loopback(tmp_path / "store.db", roots=(f"shared={tmp_path}",)) as server:
        one, two = (server.caller(server.token(f"shared/{name}", "admin")) for name in ("one", "narwhal"))
        two.post("/v1/memories", {"text": "A lamp."})
        assert two.post("/v1/mirror", {"path": str(tmp_path / "mirror")}).status == 200
        refused = one.post("/v1/mirror", {"path": str(tmp_path / "mirror")})
        assert refused.status == 403
        assert b"narwhal" not in refused.said
        seen = server.post("/v1/mirror?scope=shared", {"path": str(tmp_path / "mirror")})
        assert "shared/narwhal" in seen.problem["detail"], "who reaches it is told"


# -- scopes in bodies --


@pytest.mark.parametrize("scope", [*FOREIGN, "", "*", "bot-1/group-7/../group-70", "BOT-1/GROUP-7"])
def test_a_scope_in_a_body_is_never_wider(tenants, asked, scope):
    if scope:
        erased = asked("POST", "/v1/memories/erase", {"scope": scope})
        assert erased.status in (403, 422)
    assert asked("POST", "/v1/recall", {"query": QUESTION, "fallback": [scope]}).status in (403, 422)
    for above in (False, True):
        body = {"name": "wider", "role": "reader", "scope": scope, "above": above}
        assert asked("POST", "/v1/tokens", body).status in (403, 422)
    if scope:
        assert asked("GET", f"/v1/tokens?below={scope}").status in (403, 422)


def test_a_token_that_is_made_sees_no_more_than_its_maker(asked):
    assert asked("POST", "/v1/tokens", {"role": "admin", "scope": HOME, "above": True}).status == 403
    assert asked("POST", "/v1/tokens", {"role": "admin", "scope": HOME}).status == 200


def test_receipts_of_foreign_recalls_bring_nothing_back(tenants, asked):
    for scope in FOREIGN:
        foreign = tenants.tenants[scope]
        receipt = json.loads(json.dumps(foreign.receipt))
        asked("POST", "/v1/replay", {"receipt": receipt})
        receipt["scopes"] = [f"{HOME}/../{scope}", scope, HOME]
        asked("POST", "/v1/replay", {"receipt": receipt})
        made = {"hits": [], "receipt": foreign.receipt, "documents": []}
        for identity in foreign.memories:
            asked("POST", "/v1/why-not", {"query": made, "reference": identity})
        asked("POST", "/v1/pack", {"query": made})


def test_words_that_only_others_use_find_nothing(tenants, asked):
    for scope in FOREIGN:
        word = tenants.tenants[scope].word
        for path in ("/v1/recall", "/v1/conversations/search", "/v1/documents/search"):
            found = asked("POST", path, {"query": word}).json()
            assert not any(found.get(name) for name in ("hits", "passages", "items")), (path, found)
        listed = asked("GET", f"/v1/memories?states=&text={word}").json()
        assert listed["total"] == 0
        asked("POST", "/v1/pack", {"query": word})
        asked("POST", "/v1/facts/ask", {"question": f"what is the {word} lamp?"})
        assert asked("GET", f"/v1/facts/lookup?name={word}%20lamp").json() == {"value": None}
        assert asked("GET", f"/v1/timeline?below=true&actor=actor-{word}").json()["events"] == []


def test_erasing_by_a_name_that_all_share_takes_ones_own_only(tenants, asked):
    scratch = f"{HOME}/scratch"
    asked("POST", f"/v1/memories?scope={scratch}", {"text": "A lamp.", "about": SUBJECT, "speaker": SPEAKER})
    for body in ({"about": SUBJECT}, {"speaker": SPEAKER}, {"scope": scratch}):
        assert asked("POST", f"/v1/memories/erase?scope={scratch}", body).status in (200, 404)
    assert asked("POST", f"/v1/conversations/erase?scope={scratch}", {"conversation": TALK}).status == 404


def test_what_is_erased_does_not_tell_whether_others_keep_it_too(tenants, asked):
    """Somebody could write down a guess, erase it, and read from the proof whether it was a good one."""
    told = []
    for text in ("The narwhal lamp is in the cellar.", "The gryphon lamp is in the cellar."):
        kept = asked("POST", f"/v1/memories?scope={HOME}/guesses", {"text": text}).json()["memory"]["id"]
        erased = asked("POST", f"/v1/memories/erase?scope={HOME}/guesses", {"reference": kept}).json()
        told.append(_without_numbers(erased))
    assert told[0] == told[1]


# -- headers --

WIDENING = {
    "X-Scope": "bot-10",
    "Scope": "bot-10",
    "X-Memoranda-Scope": "bot-10",
    "X-Tenant": "bot-10",
    "X-Role": "admin",
    "X-User": "root",
    "X-Forwarded-User": "root",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Prefix": "/v1/admin",
    "Forwarded": "for=127.0.0.1;host=evil.example",
    "X-Original-URL": "/v1/memories?scope=bot-10",
    "X-Rewrite-URL": "/v1/memories?scope=bot-10",
    "X-HTTP-Method-Override": "DELETE",
    "Cookie": "scope=bot-10; token=mem_x",
}


@pytest.mark.parametrize("name", WIDENING)
def test_no_header_widens_or_changes_anything(asked, name):
    for line in ("/v1/memories?states=", "/v1/whoami", "/v1/scopes", "/v1/stats"):
        plain = asked("GET", line)
        assert asked("GET", line, headers={name: WIDENING[name]}).body == plain.body
    assert asked("GET", "/v1/memories?scope=bot-10", headers={name: WIDENING[name]}).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_who_calls_it_by_another_name_or_from_another_page_gets_nothing(asked, headers, status):
    answer = asked("GET", "/v1/memories", headers=headers)
    assert answer.status == status
    assert "access-control-allow-origin" not in answer.headers


def test_a_token_is_taken_from_its_header_only(tenants, asked):
    token = tenants.server.token(HOME, "admin")
    for line in (f"/v1/memories?token={token}", f"/v1/memories?access_token={token}"):
        assert asked("GET", line, token=None).status == 401
    for headers in (
        {"Cookie": f"token={token}"},
        {"X-Api-Key": token},
        {"Authorization": f"Basic {token}"},
        {"Authorization": token},
        {"Authorization": f"Bearer {token} {token}"},
        {"Authorization": f"Bearer {token[:-1]}"},
        {"Authorization": f"Bearer {token.upper()}"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer null"},
    ):
        assert asked("GET", "/v1/memories", token=None, headers=headers).status in (401, 429), headers


# -- one who also sees what is above --


def test_a_token_that_sees_above_shows_it_and_never_changes_it(tenants, unchanged):
    caller = tenants.server.caller(tenants.server.token(HOME, "admin", above=True))
    above = tenants.tenants[ABOVE]
    assert above.word in caller.post("/v1/recall", {"query": f"the {above.word} lamp"}).body.decode()
    assert caller.get(f"/v1/memories/{above.memories[0]}").status == 200
    cells = 0
    for door in in_order():
        for asked, aim in (("", above), (f"scope={HOME}", above), ("scope=bot-1", above), ("scope=bot-10", None)):
            sent = target(door, aim or tenants.tenants["bot-10"], tenants)
            headers = {"content-type": "application/octet-stream"} if door.upload else {}
            line = sent.line(asked)
            if door.verb in ("erase", "conversations.erase", "documents.remove") and not asked.startswith("scope=bot"):
                line = sent.line(f"scope={HOME}/scratch")
            answer = caller.ask(sent.method, line, sent.body, headers=headers)
            cells += 1
            assert answer.status < 500, (door.verb, answer)
            leaks = tenants.leaks(answer.said, (*SEEN, ABOVE), f"{line} {sent.body!r}")
            assert not leaks, (door.verb, line, leaks)
            if asked in ("scope=bot-1", "scope=bot-10"):
                assert answer.status in (403, 422), (door.verb, answer)
    assert cells == 4 * len(DOORS)


# -- what others keep makes no difference --

_UNMADE = re.compile(r'"[^"]*have no vector yet",?')
_IDS = re.compile(
    r'"[0-9a-z]{20}"|"[0-9a-z]{8}"(?!:)|"(b2:)?[0-9a-f]{16,128}"|(?<=id=)[0-9a-z]+|(?<="nonce":)"[^"]*"|(?<=import:)[0-9a-z]{20}|nonce=\\"[0-9a-z]+\\"'
)
# How many tokens an id or a nonce has is chance.
_NUMBERS = re.compile(
    r'"(sequence|next|seq|number|at|tokens|bytes|root|seconds|hits|first|last|newer|target|undoes|before)":("[^"]*"|[0-9.]+|null|\[[0-9,]*\])'
    r"|mem_[0-9a-z]{8}_[\w-]+|; the store went [^\"]*"
)


# In the order of ids, which is chance.
_BY_ID = ("export", "retention.subject")


def _in_order(told):
    """The same, with every list in an order that does not follow from ids; a file that was written, line by line."""
    if isinstance(told, dict):
        told = {name: _in_order(each) for name, each in told.items()}
        if isinstance(told.get("content"), str):
            told["content"] = _in_order([json.loads(line) for line in told["content"].splitlines()])
        return told
    return sorted(map(_in_order, told), key=_without_numbers) if isinstance(told, list) else told


def _without_numbers(told):
    """Without ids and secrets, without times that were measured, and without the numbers of events and rows: there is
    one row of numbers for the whole store, and it is known to tell how much is written in all."""
    plain = _IDS.sub('"ID"', json.dumps(told, sort_keys=True, separators=(",", ":")))
    plain = _UNMADE.sub("", plain)  # how far the embedder came by now is a matter of time
    return _NUMBERS.sub(lambda found: f'"{found[1]}":0' if found[1] else "", plain)


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_answers_are_the_same_whatever_is_kept_elsewhere(tmp_path, embedder):
    """Two stores that differ in what others keep: the same requests are answered alike, counts and scores as well."""
    heard = []
    for foreign in (True, False):
        folder = tmp_path / str(foreign)
        folder.mkdir()
        with world(folder, foreign=foreign, embedder=embedder) as made:
            caller = made.server.caller(made.server.token(HOME, "admin", name="twin"))
            answers = {}
            for door in in_order():
                for asked, aim in (("", HOME), (f"scope={BELOW}", BELOW)):
                    sent = target(door, made.tenants[aim], made)
                    headers = {"content-type": "application/octet-stream"} if door.upload else {}
                    answer = caller.ask(sent.method, sent.line(asked), sent.body, headers=headers)
                    body = answer.json() if answer.body else None
                    body = _in_order(body) if door.verb in _BY_ID else body
                    answers[door.verb, aim] = (answer.status, _without_numbers(body).replace(str(folder), ""))
            answers["whoami"] = caller.get("/v1/whoami").json()
            lately = caller.get("/v1/activity").json()
            answers["activity"] = (lately["requests"], lately["by_door"], lately["by_status"])
            heard.append(answers)
    different = {key: (heard[0][key], heard[1][key]) for key in heard[0] if heard[0][key] != heard[1][key]}
    apart = "\n".join(f"{key}: {_apart(*map(str, pair))}" for key, pair in different.items())
    assert not different, apart


@pytest.mark.parametrize("embedder", ["none", "hashed:words"])
def test_documents_do_not_tell_whether_others_have_the_same_text(tmp_path, embedder):
    """Somebody could put a guess into a file, take it in and let go of it again, and read from what is counted whether
    it was a good one; or what a file of somebody else's is called."""
    guess = "# Plan\nThe merger with Contoso closes on the ninth of May.\n"
    heard = []
    for said in (guess, "# Other\nNothing of the kind.\n"):
        roots = tmp_path / str(len(heard))
        for name in ("bot-1", "bot-2"):
            (roots / name).mkdir(parents=True)
        (roots / "bot-1" / "mine.md").write_text(guess)
        for number in range(4):
            (roots / "bot-2" / f"theirs-{number}.md").write_text(f"{said}\nPage {number}.\n" if number else said)
        for file in roots.rglob("*.md"):
            os.utime(file, (1_700_000_000, 1_700_000_000))
        with loopback(
            roots / "store.db", roots=(f"bot-1={roots / 'bot-1'}",), clock=FixedClock(), embedder=embedder
        ) as server:
            theirs = server.store.memory(Scope("bot-2"))
            theirs.documents.add(roots / "bot-2", name="theirs")
            theirs.documents.sync()
            caller = server.caller(server.token("bot-1", "admin"))
            answers = [
                caller.ask(*sent)
                for sent in (
                    ("POST", "/v1/documents", {"path": str(roots / "bot-1"), "name": "mine"}),
                    ("POST", "/v1/documents/sync", {"full": True}),
                    ("GET", "/v1/documents/status"),
                    ("POST", "/v1/documents/search", {"query": "when does the merger close?"}),
                    ("POST", "/v1/documents/search", {"query": "page", "min_score": 0}),
                    ("GET", "/v1/documents/read?path=theirs-1.md"),
                    ("POST", "/v1/memories", {"text": "The merger with Contoso closes on the ninth of May."}),
                    ("POST", "/v1/memories/erase", {"query": "merger"}),
                    ("POST", "/v1/documents/remove", {"name": "mine"}),
                    ("POST", "/v1/documents/sync", {}),
                    ("GET", "/v1/documents/status"),
                )
            ]
            assert [each.status for each in answers] == [200] * len(answers), answers
            assert not any(b"theirs" in each.body.replace(b"theirs-1.md", b"") for each in answers)
            told = [_without_seconds(each.json(), roots) for each in answers]
            assert told[-3]["purged"], told[-3]
            streamed = caller.ask("POST", "/v1/documents/sync", {}, headers={"accept": "text/event-stream"})
            assert b"embedding" not in streamed.body, "vectors are made for all"
            heard.append(told)
    for one, other in zip(*heard, strict=True):
        assert one == other


def _without_seconds(told, folder):
    told = json.loads(_without_numbers(told).replace(str(folder), ""))
    return {name: value for name, value in told.items() if name != "seconds"}


def _apart(one, other):
    """Where two texts part, with what is around it."""
    place = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return one[max(0, place - 60) : place + 60], other[max(0, place - 60) : place + 60]
