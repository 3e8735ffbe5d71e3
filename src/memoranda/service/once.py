"""A part that is made when it is first asked for, by one thread, while the others wait for it.

Not `functools.cached_property`: that lets two threads make two of it, which harms where a part holds a lock, a file
or what was written through it.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 it reads as a word at the method that makes the part
    """Makes a property of a method, under the lock `opening` of whoever has it, which one part may take for another.

    What was made is kept beside the other attributes, and found there from then on without the lock.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type) -> T:
        made: dict[str, T] = vars(instance)
        name = self._make.__name__
        with instance.opening:
            if name not in made:
                made[name] = self._make(instance)
            return made[name]
