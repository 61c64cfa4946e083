"""Finds the statements that keep pages out of search: Content-Usage and Content-Signal, in robots.txt and as HTTP
fields. They do not affect whether a page is fetched, or whether its links are followed."""

from collections.abc import Iterable
from typing import Final

from goodbot.exclusion import Access, Preferences, PreferenceSource, RobotsTxt
from goodbot.lru import LruCache
from goodbot.ports import RobotsStore
from goodbot.url import Url

CACHED_ORIGINS: Final = 4096
CACHED_BYTES: Final = 8 * 1024 * 1024
"""The limits of `StoredPreferences`. Only a robots.txt with statements takes more than a few bytes."""

FIELDS: Final = ("content-usage", "content-signal")
_NO_RULES: Final = RobotsTxt.parse(b"")


class SearchPreferences:
    """What the robots.txt of one origin says about search, for the robot named `token`.

    Most files say nothing: for these, one scan of the bytes at the first page suffices. Content-Signal holds for
    the whole site, so it is read once; a Content-Usage may name a path, so it is read for every page.
    """

    def __init__(self, access: Access, token: str) -> None:
        text = access.body.lower().replace(b"\0", b"") if access.in_force == "rules" else b""  # NUL: UTF-16
        self.varies = b"content-usage" in text
        self.are_stated = self.varies or b"content-signal" in text
        self._rules = access.rules if self.are_stated else _NO_RULES
        self._token = token
        self._everywhere: tuple[PreferenceSource | None] | None = None

    @property
    def weight_bytes(self) -> int:
        """About what it takes in memory."""
        return 200 + (self._rules.weight_bytes if self.are_stated else 0)

    def refusal(self, url: Url) -> PreferenceSource | None:
        """Returns the first statement that keeps `url` out of search; None if there is none. The robots.txt must allow
        `url`."""
        if not self.are_stated:
            return None
        if self.varies:
            return _refusal(self._rules.preferences(url.text, self._token))
        if self._everywhere is None:
            self._everywhere = (_refusal(self._rules.preferences(url.text, self._token)),)
        return self._everywhere[0]


class StoredPreferences:
    """The same for many origins, by the robots.txt files of a store. Sends no requests."""

    def __init__(self, store: RobotsStore, token: str, dialect: str) -> None:
        self._store = store
        self._token = token
        self._dialect = dialect
        self._known: LruCache[str, SearchPreferences] = LruCache(
            CACHED_ORIGINS, limit_bytes=CACHED_BYTES, weigh=lambda known: known.weight_bytes
        )

    def refusal(self, url: Url) -> PreferenceSource | None:
        """Returns the first statement in the stored robots.txt that keeps `url` out of search; None if there is
        none."""
        known = self._known.get(url.origin)
        if known is not None:
            return known.refusal(url)
        access = self._store.load_robots(url.origin)
        if access is None:
            return None
        known = SearchPreferences(access.in_dialect(self._dialect), self._token)
        refusal = known.refusal(url)
        self._known.put(url.origin, known)  # it is weighed here, and takes more once it was read
        return refusal


def field_refusal(headers: Iterable[tuple[str, str]]) -> PreferenceSource | None:
    """Returns the first statement in the HTTP fields Content-Usage and Content-Signal that keeps the page out of
    search; None if there is none."""
    stated = tuple([(name, value) for name, value in headers if name.strip().lower() in FIELDS])
    return _refusal(_NO_RULES.preferences("/", "*", headers=stated)) if stated else None


def _refusal(preferences: Preferences) -> PreferenceSource | None:
    sources = preferences.sources
    return next((one for one in sources if one.use == "search" and one.value == "disallowed"), None)
