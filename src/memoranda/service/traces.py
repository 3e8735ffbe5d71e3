"""Traces: by what the erased is recognised in files; and what is kept all the same, where finding it proves nothing."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memoranda.domain.ports import IndexEntry
from memoranda.ledger.erasing import Erasing
from memoranda.service.corpus import Corpus
from memoranda.service.engine import Engine

VECTOR_BYTES = 64
_SENTENCE_BYTES = 24
_FEWEST_LETTERS = 8
_NO_LETTERS = bytes(each for each in range(0x80) if not chr(each).isalpha())
_NO_SENTENCE = ("{", "[", '"')
"""How values of ours begin, and summaries, which repeat themselves."""


class Needles(NamedTuple):
    """What must not be found any more."""

    all: frozenset[bytes]
    lasting: frozenset[bytes]
    """Those that stay the same: pieces of text and vectors, but not what an index makes of them."""
    telling: frozenset[bytes]
    """Pieces of sentences: whoever has one of these in what is kept has it written again."""
    shared: int
    """Pieces that are left out since they are also in what is kept."""


NOTHING = Needles(frozenset(), frozenset(), frozenset(), 0)


class Traces:
    """The words of what goes, its vectors, and what an index holds of it. To be gathered while it is still there."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.vectors: set[bytes] = set()
        self.entries: list[list[IndexEntry]] = []

    def add(self, corpus: Corpus, numbers: Sequence[int], texts: Iterable[str]) -> None:
        """With what the index of a corpus holds of it."""
        self.texts += texts
        if numbers:
            from memoranda.index.follower import entries

            corpus.catch_up(seconds=0)
            self.entries.append(entries(corpus.feed, numbers, corpus.space())[0])
            self.add_vectors(corpus, numbers)

    def add_vectors(self, corpus: Corpus, numbers: Sequence[int]) -> None:
        """What the ledger keeps of them."""
        self.vectors |= corpus.feed.vector_bodies(numbers, VECTOR_BYTES)

    def needles(self, engine: Engine) -> Needles:
        """What must not be in the files of this store, and of its indexes."""
        from memoranda.service.proof import kept_elsewhere, pieces

        wanted = pieces(self.texts)
        shared = kept_elsewhere(wanted, kept(engine))
        # What is kept anywhere proves nothing: a memory may share its words or its vector with a message.
        indexed: frozenset[bytes] = frozenset()
        for entries in self.entries:
            left = [frozenset(corpus.index().residues(entries)) for corpus in engine.corpora()]
            indexed |= frozenset.intersection(*left)
        lasting = (wanted - shared) | self.vectors_gone(engine)
        telling = pieces(filter(_is_sentence, self.texts)) & lasting
        return Needles(
            lasting | indexed,
            lasting | {each for each in indexed if len(each) == VECTOR_BYTES},
            frozenset(each for each in telling if len(each.translate(None, _NO_LETTERS)) >= _FEWEST_LETTERS),
            len(shared),
        )

    def vectors_gone(self, engine: Engine) -> frozenset[bytes]:
        """Those vectors that nothing has any more."""
        bodies = self.vectors
        for corpus in (engine.memories, engine.messages):
            bodies = set(corpus.feed.without_kept_vectors(bodies, VECTOR_BYTES))
        return frozenset(bodies)


def _is_sentence(text: str) -> bool:
    """Not a name, a number or a value: those are written again without anything being brought back."""
    return len(text) >= _SENTENCE_BYTES and text.count(" ") > 1 and not text.startswith(_NO_SENTENCE)


def kept(engine: Engine) -> Iterator[str]:
    """Everything that is written anywhere in the store."""
    yield from engine.ledger.texts(lambda _: True)
    yield from engine.transcripts.texts()
    yield from engine.transcripts.names()
    yield from Erasing(engine.ledger.database).words()
    # Nor do the words of the files' own making: to find `length` among the columns proves nothing.
    from memoranda.index import catalogue_rows, container

    yield from (container.SCHEMA, catalogue_rows.SCHEMA)
    yield from engine.ledger.own_words()
