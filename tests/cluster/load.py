"""A mixed load on several servers, and the account of it: what was acknowledged, what is not known, what went wrong."""

import random
import secrets
import threading
import time
from collections import Counter

import memoranda
from memoranda import Conflict, MemorandaError, NotFound, Settings
from memoranda.domain.scope import Scope
from memoranda.service.store import Store

SCOPES = ("bot-1/group-1", "bot-1/group-2", "bot-2/group-1", "bot-3")
"""No two of them may see anything of one another."""
_WORDS = ("heron", "walnut", "lantern", "granite", "saddle", "velvet", "copper", "juniper", "marble", "thistle")
# How a server says that another, which was killed before it could answer, had done it.
_DONE = {
    "superseded": ("is superseded and cannot be superseded", "this was done"),
    "forgotten": ("is forgotten already", "this was done"),
    "erased": ("no memory", "this was done"),
}


def mark_of(scope):
    """A word that is in every text of this scope and in no other."""
    return "sentinel" + scope.replace("/", "").replace("-", "")


class Account:
    """What one client knows for sure, by the tag in each text. `maybe`: nobody said whether it was done."""

    def __init__(self):
        self.live = {}
        self.ended = {}
        self.maybe = set()


class Client(threading.Thread):
    """Does one thing after the other in one scope, through whichever server answers."""

    def __init__(self, urls, token, scope, *, seed, stop, weights=None):
        super().__init__(daemon=True)
        self.scope = scope
        self.account = Account()
        self.done = Counter()
        self.errors = Counter()
        self.times = []
        self.wrong = []
        self._urls = urls
        self._token = token
        self._random = random.Random(seed)
        self._stop_asked = stop
        self._mark = mark_of(scope)
        self._talk = f"talk-{seed}"
        self._steps = {
            self._remember: 6, self._recall: 4, self._supersede: 2, self._capture: 2, self._forget: 1, self._erase: 1,
        }  # fmt: skip
        self._memory = None

    def connect(self):
        self._memory = memoranda.connect(self._urls, self._token, scope=self.scope, timeout=30, patience=20)

    def run(self):
        try:
            while not self._stop_asked.is_set():
                (step,) = self._random.choices(list(self._steps), weights=self._steps.values())
                self._one(step)
        except BaseException as error:
            self.wrong.append(f"the client broke: {error!r}")
            raise
        finally:
            self._memory.close()

    def _one(self, step):
        began = time.monotonic()
        try:
            if step() is False:
                return
        except MemorandaError as error:
            self.errors[f"{step.__name__[1:]}: {type(error).__name__}: {str(error)[:150]}"] += 1
            if not error.hint:
                self.wrong.append(f"an error without a hint: {error!r}")
        else:
            self.done[step.__name__[1:]] += 1
            self.times.append(time.monotonic() - began)

    # -- what is done --

    def _text(self, tag):
        a, b = self._random.sample(_WORDS, 2)
        return f"{self._mark} keeps {tag} with the {a} beside the {b}."

    def _any(self):
        settled = [tag for tag in self.account.live if tag not in self.account.maybe]
        return self._random.choice(settled) if settled else None

    def _remember(self):
        tag = _tag()
        self.account.maybe.add(tag)
        kept = self._memory.remember(self._text(tag))
        self._settled(tag, kept.id)

    def _supersede(self):
        old = self._any()
        if old is None:
            return False
        new = _tag()
        self.account.maybe |= {old, new}
        try:
            kept = self._memory.remember(self._text(new), supersedes=self.account.live[old])
        except Conflict as error:  # done by a server that was killed before it could say so
            if not any(word in str(error) for word in _DONE["superseded"]):
                raise
            self._said_done(error)
            return True
        self._settled(new, kept.id)
        self._ended(old, "superseded")
        return True

    def _capture(self):
        tag = _tag()
        self.account.maybe.add(tag)
        said = [memoranda.user(f"Please remember that {self._text(tag)}")]
        captured = self._memory.capture(said, conversation=self._talk)
        if captured.receipt.kept:
            self._settled(tag, captured.receipt.kept[0])

    def _forget(self):
        return self._end(lambda identity: self._memory.forget(identity), "forgotten")

    def _erase(self):
        return self._end(lambda identity: self._memory.erase(identity), "erased")

    def _end(self, how, state):
        tag = self._any()
        if tag is None:
            return False
        self.account.maybe.add(tag)
        try:
            how(self.account.live[tag])
        except (Conflict, NotFound) as error:
            if not any(word in str(error) for word in _DONE[state]):
                raise
            self._said_done(error)
        self._ended(tag, state)
        return True

    def _recall(self):
        tag = self._any()
        if tag is None:
            return False
        found = self._memory.recall(f"what is with {tag}", limit=5)
        for hit in found:
            if hit.memory.scope != self.scope or self._mark not in hit.memory.text.casefold():
                self.wrong.append(f"{self.scope} was shown {hit.memory.scope}: {hit.memory.text}")
        if self.account.live[tag] not in [hit.id for hit in found]:
            self.wrong.append(f"{tag} of {self.scope} was acknowledged and not found: {found.receipt}")
        return True

    def _settled(self, tag, identity):
        self.account.maybe.discard(tag)
        self.account.live[tag] = identity

    def _ended(self, tag, state):
        self.account.maybe.discard(tag)
        self.account.ended[tag] = (self.account.live.pop(tag), state)

    def _said_done(self, error):
        self.done["told that it was done already"] += 1
        if not error.hint:
            self.wrong.append(f"an error without a hint: {error!r}")


class Load:
    """Clients in every scope, from `with` to its end; then `check` compares what they know with what is there."""

    def __init__(self, address, urls, folder, *, a_scope=2):
        self._settings = Settings(store=address, embedder="none", follow=False, local_folder=str(folder / "check"))
        self._stop = threading.Event()
        with Store.open(settings=self._settings) as store:
            tokens = {scope: store.tokens.create(role="admin", scope=scope).secret for scope in SCOPES}
        self.clients = [
            Client(urls[at:] + urls[:at], tokens[scope], scope, seed=f"{scope}-{at}", stop=self._stop)
            for scope in SCOPES
            for at in range(a_scope)
        ]

    def __enter__(self):
        for each in self.clients:
            each.connect()
        self._began = time.monotonic()
        for each in self.clients:
            each.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for each in self.clients:
            each.join(120)
        self.seconds = time.monotonic() - self._began

    @property
    def acknowledged(self):
        """Writes, of all kinds."""
        done = sum((each.done for each in self.clients), Counter())
        return sum(number for name, number in done.items() if name not in ("recall", "told that it was done already"))

    def told(self, **more):
        """The figures, printed and returned."""
        done = sum((each.done for each in self.clients), Counter())
        errors = sum((each.errors for each in self.clients), Counter())
        times = sorted(moment for each in self.clients for moment in each.times) or [0.0]
        figures = {
            "seconds": round(self.seconds, 1),
            "writes acknowledged": self.acknowledged,
            "recalls": done["recall"],
            "told done already": done["told that it was done already"],
            "errors": sum(errors.values()),
            "p50 ms": round(times[len(times) // 2] * 1000, 1),
            "p99 ms": round(times[int(len(times) * 0.99)] * 1000, 1),
            "longest ms": round(times[-1] * 1000, 1),
            **more,
        }
        print("\n" + ", ".join(f"{name} {value}" for name, value in figures.items()))
        for error, number in errors.most_common(12):
            print(f"  {number} x {error}")
        return figures

    def check(self):
        """Nothing acknowledged is lost, nothing is there twice, and nothing is where it does not belong."""
        wrong = [line for each in self.clients for line in each.wrong]
        assert not wrong, wrong[:10]
        assert not any(each.is_alive() for each in self.clients), "a client hangs"
        with Store.open(settings=self._settings) as store:
            for scope in SCOPES:
                self._check_scope(store.memory(Scope(scope)), [each for each in self.clients if each.scope == scope])
            assert store.upkeep().admin.verify().ok

    def _check_scope(self, memory, clients):
        scope, there, offset = memory.scope, Counter(), 0
        while page := memory.list(limit=500, offset=offset):
            offset += len(page)
            for each in page:
                assert each.scope == scope
                assert mark_of(scope) in each.text.casefold(), f"{each.text} is in {scope}"
                there[_tag_in(each.text)] += 1
        assert all(number == 1 for number in there.values()), [tag for tag, number in there.items() if number > 1]
        for client in clients:
            account = client.account
            for tag, identity in account.live.items():
                if tag not in account.maybe:
                    kept = memory.get(identity)
                    assert kept.state == "live", f"{tag} was acknowledged and is {kept.state}"
                    assert tag in kept.text
                    assert there[tag] == 1, f"{tag} was acknowledged and is not listed"
            for tag, (identity, state) in account.ended.items():
                assert _state(memory, identity) == state, f"{tag} was acknowledged to be {state}"
                assert not there[tag], f"{tag} is {state} and listed"


def _state(memory, identity):
    try:
        return memory.get(identity).state
    except NotFound:
        return "erased"


def _tag():
    return f"tag{secrets.token_hex(6)}"


def _tag_in(text):
    return next(word for word in text.replace(".", " ").split() if word.startswith("tag"))
