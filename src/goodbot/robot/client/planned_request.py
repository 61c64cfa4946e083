"""Plans the requests of one call: the URL, then the targets of its redirects."""

from dataclasses import dataclass
from typing import Final

from goodbot.url import Url
from goodbot.values import Headers, Method

_ORIGIN_FIELDS: Final = frozenset({"authorization", "cookie"})
_URL_FIELDS: Final = frozenset(
    ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"]
)


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """The next request of a call: its URL, and what goes with it."""

    method: Method
    url: Url
    headers: Headers
    public_only: bool
    timeout_s: float | None

    def redirected(self, target: Url, from_public: bool) -> "PlannedRequest":
        """Returns the request for the target of a redirect, without conditions about another document, and without
        credentials for another origin."""
        dropped = _URL_FIELDS if target.origin == self.url.origin else _URL_FIELDS | _ORIGIN_FIELDS
        headers = tuple(field for field in self.headers if field[0].lower() not in dropped)
        return PlannedRequest(self.method, target, headers, self.public_only or from_public, self.timeout_s)
