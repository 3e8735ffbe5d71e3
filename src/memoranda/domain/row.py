"""`Row`: what several results stand in."""

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Row(Sequence[T]):
    """A frozen sequence of results that knows more than its items."""

    __slots__ = ("_items",)
    _items: tuple[T, ...]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, position: int) -> T: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[T]: ...
    def __getitem__(self, position: int | slice) -> T | Sequence[T]:
        return self._items[position]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"
