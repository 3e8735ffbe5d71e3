"""Saying which extra is missing, in the place of a traceback about somebody else's package."""

from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.domain.errors import ProviderMissing


@contextmanager
def of_extra(extra: str) -> Iterator[None]:
    """Around the imports of a framework: where it is not installed, the error names the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("memoranda"):
            raise
        raise ProviderMissing(
            f"the adapter needs {error.name}, which is not installed", hint=f'pip install "memoranda[{extra}]"'
        ) from error
