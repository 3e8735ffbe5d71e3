"""What a contract says must be refused. Without pytest, so that a suite can be imported by whoever has none."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def raises(*errors: type[BaseException]) -> Iterator[None]:
    """One of these errors must come out of the block."""
    try:
        yield
    except errors:
        return
    raise AssertionError(f"{' or '.join(each.__name__ for each in errors)} was not raised")
