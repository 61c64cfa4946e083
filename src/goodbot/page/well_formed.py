"""Checks whether XML is well-formed, as a strict parser does. (`markup` also reads XML that is not.)"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

MAX_DEPTH: Final = 1000
MAX_NAMES: Final = 10_000
MAX_TOKEN_BYTES: Final = 1_000_000
"""Limits for open elements, for different names of elements and attributes, and for one tag or comment. They bound
memory and time; beyond them, and from a DOCTYPE on, nothing is checked."""


class XmlFlaw(NamedTuple):
    """What is wrong with a document, and where: line and column, from 1, in characters. None: the place is unknown."""

    what: str
    line: int | None = None
    column: int | None = None


class WellFormedness:
    """Checks one document while it is read. `flaw` is the first thing that is wrong; None: nothing was found."""

    def __init__(self) -> None:
        self.flaw: XmlFlaw | None = None
        self._names: dict[str, str] = {}
        self._parser = ParserCreate("UTF-8", intern=self._names)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._give_up
        self._depth = 0
        self._size = 0
        self._is_over = False

    def passing(self, blocks: Iterable[str]) -> Iterator[str]:
        """Passes the blocks of the document on, and checks them. Never raises."""
        for block in blocks:
            self._check(block.encode("utf-8", "replace"))
            yield block
        self._check(b"", is_end=True)

    def _check(self, data: bytes, *, is_end: bool = False) -> None:
        if self._is_over:
            return
        self._size += len(data)
        try:
            self._parser.Parse(data, is_end)
        except _GivenUpError:
            self._is_over = True
        except ExpatError as error:
            detail = ErrorString(error.code).removeprefix("not well-formed (").removesuffix(")")
            what = "its XML breaks off" if is_end else f"its XML is not well-formed ({detail})"
            self.flaw = XmlFlaw(what, error.lineno, error.offset + 1)
            self._is_over = True
        else:
            self._is_over = self._size - self._parser.CurrentByteIndex > MAX_TOKEN_BYTES

    def _start(self, name: str, attributes: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH or len(self._names) > MAX_NAMES:
            raise _GivenUpError

    def _end(self, name: str) -> None:
        self._depth -= 1

    def _give_up(self, *declaration: object) -> None:
        raise _GivenUpError


class _GivenUpError(Exception):
    """Raised and caught here: the rest is not checked."""
