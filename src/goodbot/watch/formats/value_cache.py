"""Remembers what texts mean, since most texts of a log come again."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

MOST_CACHED: Final = 20_000
LONGEST_CACHED: Final = 1024
"""Characters of the longest text that is remembered."""

_Value = TypeVar("_Value")


class ValueCache(dict[str, _Value], Generic[_Value]):
    """The values of the last texts; `cache[text]` calls `parse` for a new one."""

    def __init__(self, parse: Callable[[str], _Value]) -> None:
        super().__init__()
        self._parse = parse

    def __missing__(self, text: str) -> _Value:
        if len(self) >= MOST_CACHED:
            self.clear()
        value = self._parse(text)
        if len(text) <= LONGEST_CACHED:
            self[text] = value
        return value
