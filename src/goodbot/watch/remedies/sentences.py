"""Builds sentences about one or several robots or addresses, so that a warning lists all of them once."""

from collections.abc import Iterable
from typing import NamedTuple

from goodbot.watch.remedies.comments import listed


class Sentence(NamedTuple):
    """A sentence in the singular and in the plural, with `{}` for the names and without a final dot."""

    one: str
    many: str

    def about(self, names: Iterable[str]) -> str:
        """Returns the sentence with the names, shown harmless."""
        every = [*names]
        return (self.one if len(every) == 1 else self.many).format(listed(every))
