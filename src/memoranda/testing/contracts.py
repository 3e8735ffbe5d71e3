"""Contract suites: subclass one in your tests, give it the fixtures it asks for, and pytest runs the rest.

What they check is what the rest of Memoranda relies on. They do not judge how good an answer is.
"""

from memoranda.testing.embedder_contract import EmbedderContract
from memoranda.testing.extractor_contract import ExtractorContract
from memoranda.testing.index_contract import IndexContract
from memoranda.testing.index_home_contract import IndexHomeContract
from memoranda.testing.ledger_contract import LedgerContract
from memoranda.testing.summarizer_contract import SummarizerContract

__all__ = [
    "EmbedderContract",
    "ExtractorContract",
    "IndexContract",
    "IndexHomeContract",
    "LedgerContract",
    "SummarizerContract",
]
