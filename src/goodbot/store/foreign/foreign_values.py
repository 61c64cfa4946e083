"""The values that the readers of other programs' archives return. All are frozen."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.url import Url
from goodbot.values import Response

Skipped = Literal[
    "not http",
    "not GET",
    "no HTTP response",
    "not modified",
    "no usable date",
    "no usable URL",
    "no original",
    "forgotten",
]
"""Why a capture is not imported. `not http`: its URL has another scheme (`dns:`, `urn:`). `not GET`: it answers a POST
or another request that is not for the page. `not modified`: a 304, which has no page. `no original`: a revisit record
whose payload is in none of the files. `forgotten`: `goodbot forget` bars its host."""

MAX_DAMAGED: Final = 1000
"""Maximum number of damaged places listed; all are counted."""
_MAX_SHOWN_CHARS: Final = 200


class Damage(NamedTuple):
    """Something in a file that could not be read, or is not as its file says. `at`: about where, in bytes of the file;
    `entry`: in which file of a WACZ file, else empty. `url`: that of the damaged record, empty if unknown."""

    file: str
    entry: str
    at: int
    what: str
    url: str = ""

    def __str__(self) -> str:
        """Describes the damage in one line for people."""
        place = f"{self.file}, {self.entry}" if self.entry else self.file
        url = self.url if len(self.url) <= _MAX_SHOWN_CHARS else f"{self.url[:_MAX_SHOWN_CHARS]}…"
        return f"{place}: about byte {self.at:,}: {self.what}" + (f" ({url})" if url else "")


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record of a WARC file. `fields`: names in lower case, of repeated fields only the first. `block` may be
    cut (`length` is that of the whole). `damage`: why it is not whole; empty if it is. A damaged record without
    `WARC-Type` was cut short, and has no block."""

    fields: dict[str, str]
    block: bytes
    length: int
    at: int
    damage: str = ""

    @property
    def kind(self) -> str:
        """Its `WARC-Type`, in lower case."""
        return self.fields.get("warc-type", "").lower()


@dataclass(frozen=True, slots=True)
class ForeignCapture:
    """A response that another program recorded. `at`: when (Unix seconds); `payload`: the digest of its body as the
    record states it, or ours; `request_head`: the request as sent, empty if it is not known.

    `refers_to`: a revisit record, whose body is that of the capture with this payload; the `response` has none."""

    url: Url
    at: float
    response: Response
    payload: str
    peer: str | None = None
    request_head: bytes = b""
    refers_to: str | None = None
