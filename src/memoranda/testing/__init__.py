"""For tests, ours and yours: contract suites for what can be plugged in, and servers that speak real formats."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoranda.testing.contracts import EmbedderContract as EmbedderContract
    from memoranda.testing.contracts import ExtractorContract as ExtractorContract
    from memoranda.testing.contracts import IndexContract as IndexContract
    from memoranda.testing.contracts import IndexHomeContract as IndexHomeContract
    from memoranda.testing.contracts import LedgerContract as LedgerContract
    from memoranda.testing.contracts import SummarizerContract as SummarizerContract

__all__ = [
    "EmbedderContract",
    "ExtractorContract",
    "IndexContract",
    "IndexHomeContract",
    "LedgerContract",
    "SummarizerContract",
]


def __getattr__(name: str) -> Any:
    """A suite brings much with it: it is loaded when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"memoranda.testing has no {name}")
    from memoranda.testing import contracts

    return getattr(contracts, name)
