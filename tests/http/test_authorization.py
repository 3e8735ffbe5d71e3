"""Every route x role x scope: a token never shows, counts, names or changes anything outside of its scope."""

import time
from collections import Counter
from typing import NamedTuple

import pytest
from loopback import EVERYWHERE
from requests_of import Target, in_order, own_targets, target
from tenants import ABOVE, BELOW, FOREIGN, HOME, world

from memoranda.http import limits
from memoranda.http.own import OWN
from memoranda.wire.doors import DOORS

ROLES = ("reader", "writer", "admin")
NOBODY = ("none", "bad", "expired", "revoked")


class Asked(NamedTuple):
    """How a request names its scope: the raw piece of its query, and whose things it is aimed at."""

    name: str
    query: str
    aim: str
    inside: bool = False


INSIDE = (
    Asked("missing", "", HOME, True),
    Asked("its own", "scope=bot-1/group-7", HOME, True),
    Asked("encoded slash", "scope=bot-1%2Fgroup-7", HOME, True),
    Asked("below", "scope=bot-1/group-7/alice", BELOW, True),
)
OUTSIDE = (
    Asked("above", "scope=bot-1", "bot-1"),
    Asked("sibling", "scope=bot-1/group-70", "bot-1/group-70"),
    Asked("encoded sibling", "scope=bot-1%2Fgroup-70", "bot-1/group-70"),
    Asked("prefix trick", "scope=bot-10", "bot-10"),
    Asked("prefix trick below", "scope=bot-10/group-7", "bot-10/group-7"),
    Asked("another house", "scope=other-house", "other-house"),
    Asked("case", "scope=BOT-1/GROUP-7", HOME),
    Asked("empty", "scope=", "bot-10"),
    Asked("trailing slash", "scope=bot-1/group-7/", HOME),
    Asked("leading slash", "scope=/bot-10", "bot-10"),
    Asked("double slash", "scope=bot-1//group-7", HOME),
    Asked("dots", "scope=bot-1/group-7/../group-70", "bot-1/group-70"),
    Asked("encoded dots", "scope=bot-1/group-7/%2e%2e/group-70", "bot-1/group-70"),
    Asked("double encoded", "scope=bot-1%252Fgroup-7%252F%252e%252e%252Fgroup-70", "bot-1/group-70"),
    Asked("overlong dots", "scope=bot-1/group-7/%c0%ae%c0%ae/group-70", "bot-1/group-70"),
    Asked("null byte", "scope=bot-1/group-7%00/../../bot-10", "bot-10"),
    Asked("line break", "scope=bot-10%0abot-1/group-7", "bot-10"),
    Asked("space", "scope=bot-1/group-7%20", HOME),
    Asked("wildcard", "scope=*", "other-house"),
    Asked("percent", "scope=bot-1/group-7%25", "bot-1/group-70"),
    Asked("look-alike letter", "scope=b%D0%BEt-10", "bot-10"),
    Asked("look-alike slash", "scope=bot-1%EF%BC%8Fgroup-7", HOME),
    Asked("list", "scope=[%22bot-1/group-7%22,%22bot-10%22]", "bot-10"),
    Asked("repeated, foreign last", "scope=bot-1/group-7&scope=bot-10", "bot-10"),
    Asked("repeated, foreign first", "scope=bot-10&scope=bot-1/group-7", "bot-10"),
    Asked("another name", "scope=bot-1/group-7&SCOPE=bot-10", "bot-10"),
    Asked("brackets", "scope[]=bot-10", "bot-10"),
    Asked("semicolon", "scope=bot-1/group-7;scope=bot-10", "bot-10"),
)
SEEN = (HOME, BELOW)
WHOLE = {own.path for own in OWN if own.whole}


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "_FAILURES_A_MINUTE", 1_000_000)  # how often a bad token may be tried is not at issue
        with world(tmp_path_factory.mktemp("tenants")) as made:
            yield made


@pytest.fixture(scope="module")
def tokens(tenants):
    """A secret for each kind of caller."""
    server = tenants.server
    expired = server.token(HOME, "admin", days=1)
    tenants.clock.advance(days=2)
    revoked = server.store.tokens.create(role="admin", scope=HOME)
    server.store.tokens.revoke(revoked.token.id)
    return {
        "none": None,
        "bad": "mem_" + "b" * 51,
        "expired": expired,
        "revoked": revoked.secret,
        **{role: server.token(HOME, role, name=f"matrix {role}") for role in ROLES},
        "everywhere": EVERYWHERE,
    }


def test_every_route_role_and_scope(tenants, tokens, capsys):
    began = time.monotonic()
    before = tenants.outside()
    matrix = Matrix(tenants, tokens)
    for name in NOBODY:
        matrix.refused_whoever_asks(name)
    for door in in_order():
        for role in ROLES:
            matrix.door(door, role)
    for role in ROLES:
        matrix.own(role)
    changed = before != tenants.outside()
    with capsys.disabled():
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(matrix.statuses.items()))
        print(f"\n{matrix.cells:,} cells in {time.monotonic() - began:.0f} s, {len(matrix.wrong)} wrong ({statuses})")
    assert not matrix.wrong, "\n".join(map(str, matrix.wrong[:40]))
    assert not changed, "something outside of the token's scope is other than before"
    assert matrix.silent(tenants) == set(), "a door that never does anything proves nothing"


class Matrix:
    """Asks for each cell, and notes what should not be."""

    def __init__(self, tenants, tokens):
        self.tenants = tenants
        self.tokens = tokens
        self.caller = tenants.server.caller()
        self.cells = 0
        self.wrong = []
        self.statuses = Counter()
        self.done = set()

    def _ask(self, role, sent: Target, asked: Asked, seen=SEEN):
        line = sent.line(asked.query)
        token = self.tokens[role]
        answer = self.caller.ask(sent.method, line, sent.body, token=token, headers=_headers(sent))
        self.cells += 1
        self.statuses[answer.status] += 1
        cell = (role, sent.method, line, asked.name, answer.status)
        leaks = self.tenants.leaks(answer.said, seen, f"{line} {sent.body!r}")
        if leaks:
            self.wrong.append((*cell, "leaks", leaks))
        if answer.status >= 500:
            self.wrong.append((*cell, "failed", answer.body[:200]))
        if answer.status >= 400 and answer.headers.get("content-type") != "application/problem+json":
            self.wrong.append((*cell, "no problem", answer.body[:200]))
        return answer, cell

    def refused_whoever_asks(self, name):
        for asked in (INSIDE[0], INSIDE[1], OUTSIDE[3]):
            aimed = self.tenants.tenants[asked.aim]
            for sent in [*(target(door, aimed, self.tenants) for door in DOORS), *own_targets()]:
                answer, cell = self._ask(name, sent, asked, seen=())
                if answer.status != 401:
                    self.wrong.append((*cell, "let in", answer.body[:200]))

    def door(self, door, role):
        may = ROLES.index(role) >= ROLES.index(door.role) and not door.whole
        for asked in (*OUTSIDE, *INSIDE):
            sent = target(door, self.tenants.tenants[asked.aim], self.tenants)
            answer, cell = self._ask(role, sent, asked)
            if not may and answer.status != 403:
                self.wrong.append((*cell, "the role is not enough", answer.body[:200]))
            elif may and not asked.inside and answer.status not in (403, 422):
                self.wrong.append((*cell, "outside, and answered", answer.body[:200]))
            elif may and asked.inside and answer.status in (401, 403) and not _is_rule(door, answer):
                self.wrong.append((*cell, "inside, and refused", answer.body[:200]))
            if asked.inside and answer.status < 300:
                self.done.add(door.verb)

    def own(self, role):
        for sent in own_targets():
            for asked in (*OUTSIDE, *INSIDE):
                answer, cell = self._ask(role, sent, asked)
                if sent.path in WHOLE and answer.status != 403:
                    self.wrong.append((*cell, "of the whole store", answer.body[:200]))

    def silent(self, tenants):
        """Doors at which nothing was ever done."""
        return {door.verb for door in DOORS if not door.whole} - self.done


def _headers(sent):
    return {"content-type": "application/octet-stream"} if isinstance(sent.body, bytes) else {}


def _is_rule(door, answer):
    """A rule of the facade's own may say no as well: what was erased is not taken back."""
    return answer.problem["type"] == "urn:memoranda:refused" and "outside" not in answer.problem["detail"]


def test_an_admin_of_everywhere_is_let_in_at_every_door(tenants, tokens):
    """After the matrix: what it does is allowed."""
    aimed = tenants.tenants["other-house"]
    for door in in_order():
        sent = target(door, aimed, tenants)
        answer = tenants.server.ask(sent.method, sent.line("scope=other-house"), sent.body, headers=_headers(sent))
        assert answer.status not in (401, 403) or _is_rule(door, answer), (door.verb, answer)
        assert answer.status < 500, (door.verb, answer)
    for sent in own_targets():
        answer = tenants.server.ask(sent.method, sent.line(""), sent.body)
        assert answer.status == 200 or answer.problem["type"] == "urn:memoranda:not-found", answer


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_who_reaches_everything_has_no_more_than_its_role(tenants, role):
    caller = tenants.server.caller(tenants.server.token("", role))
    before = tenants.outside()
    aimed = tenants.tenants["other-house"]
    for door in DOORS:
        if ROLES.index(door.role) > ROLES.index(role):
            sent = target(door, aimed, tenants)
            answer = caller.ask(sent.method, sent.line("scope=other-house"), sent.body, headers=_headers(sent))
            assert answer.status == 403, (door.verb, answer)
            assert answer.problem["type"] == "urn:memoranda:role"
    for own in OWN:
        if own.role is not None and ROLES.index(own.role) > ROLES.index(role):
            assert caller.ask(own.method, own.path, None if own.method == "GET" else {}).status == 403
    assert tenants.outside() == before


def test_the_world_is_not_empty_where_the_token_does_not_reach(tenants):
    assert {ABOVE, *FOREIGN} <= set(tenants.tenants)
