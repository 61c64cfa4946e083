"""What the user chooses for an audit."""

from dataclasses import dataclass
from typing import Final

from goodbot.url import Url

SLOW_S: Final = 2.0
"""By default, a page is slow if its response took longer than this, in seconds."""

HEAVY_BYTES: Final = 1_000_000
"""By default, an HTML page is heavy if its response body is larger than this, in bytes as sent."""

PLACES: Final = 20
"""How many pages are named for each target of a link, and for each title, by default."""


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """`host`: the only host (`Url.host_key`) of which findings are reported; None: all. `origin`: the only origin of
    this host; empty: all. `slow_s`, `heavy_bytes`: a page above is slow, an HTML page above is heavy; `places`: how
    many pages are named for one target of a link, or one title."""

    host: str | None = None
    slow_s: float = SLOW_S
    heavy_bytes: int = HEAVY_BYTES
    places: int = PLACES
    origin: str = ""

    @property
    def site(self) -> str | None:
        """The origin if one is given, else the host."""
        return self.origin or self.host

    def includes(self, url: str) -> bool:
        """Returns whether findings about this URL are reported."""
        return self.host is None or self.site in (Url(url).host_key, Url(url).origin)
