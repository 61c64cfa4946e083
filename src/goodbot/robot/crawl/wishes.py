"""What the header fields of an answer and robots.txt state about how search may show a page, as a short text that
visits can compare. Pure.

META tags are not part of it: they are among the bytes of the page, so a change of them shows in the page's digest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from typing import Final, NamedTuple

from goodbot.exclusion import Directives, PreferenceSource
from goodbot.page.page_building import linked_canonical
from goodbot.robot.manners.search_preferences import FIELD, field_refusal
from goodbot.url import Url
from goodbot.values import Headers, Response

_ROBOTS_TXT: Final = "robots.txt"
_FIELDS: Final = ("x-robots-tag", "robots-tag", FIELD, "link")
_ORDER: Final = (*_FIELDS, _ROBOTS_TXT)
_NO_SEARCH: Final = "nosearch"
_NOT_HIDING: Final = ("nofollow", "canonical", "unavailable_after")
"""These forbid nothing that may be shown at the moment; a date that has passed is treated apart."""


class Refusal(NamedTuple):
    """Why a page is not in the index, and the line of robots.txt that says so, if one does."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one answer and robots.txt state. `fields`: for each header field that states wishes, by its name in lower
    case, the restrictions; the text is empty if it states none. Fields that the answer does not have are missing.
    `no_search`: the statement that keeps the page out of search, if there is one; `in_robots_txt`: robots.txt has such
    a statement."""

    fields: Mapping[str, str]
    no_search: PreferenceSource | None = None
    in_robots_txt: bool = False

    @classmethod
    def of(cls, url: Url, response: Response, token: str, robots_txt: PreferenceSource | None) -> "Wishes":
        """Reads the wishes of an answer. `robots_txt`: the statement there that keeps the page out of search."""
        stated = {
            name: text
            for name in _present(response.headers)
            if (text := _read(name, url, response.headers, token)) is not None
        }
        no_search = robots_txt or (field_refusal(response.headers) if stated.get(FIELD) else None)
        return cls(stated, no_search, robots_txt is not None)

    @property
    def text(self) -> str:
        """The wishes of a whole answer, to be kept for its next visit (`LastVisit.wishes`)."""
        return _joined({**self.fields, **self._of_robots_txt()})

    def after(self, before: str) -> str:
        """Returns `before`, the text of the last whole answer, with what robots.txt states now."""
        return _joined({**_parsed(before), _ROBOTS_TXT: "", **self._of_robots_txt()})

    def merged(self, before: str) -> str:
        """Returns `before`, the text of the last whole answer, with what the fields of a 304 state."""
        return _joined({**_parsed(before), **self.fields})

    def changes(self, before: str) -> bool:
        """Whether a field states something else than in the last whole answer. A field that is missing stays as it was
        (RFC 9111 §4.3.4)."""
        stated = _parsed(before)
        return any(stated.get(name, "") != text for name, text in self.fields.items())

    def are_stricter(self, before: str) -> bool:
        """Whether they forbid to show something of the page that the last whole answer permitted."""
        stated = _parsed(before)
        limits = _limits(stated.values())
        return any(value < limits.get(name, inf) for name, value in _limits({**stated, **self.fields}.values()).items())

    def _of_robots_txt(self) -> dict[str, str]:
        return {_ROBOTS_TXT: _NO_SEARCH} if self.in_robots_txt else {}


def no_search_refusal(statement: PreferenceSource) -> Refusal:
    """Says that a statement keeps a page out of search."""
    return Refusal(f"the site asks search services to leave the page out: {statement}", statement.line)


def of_answer(text: str) -> str:
    """Returns the wishes that the answer itself stated, without those of robots.txt."""
    return text.removesuffix(f"{_ROBOTS_TXT}: {_NO_SEARCH}").removesuffix("; ")


def were_in_robots_txt(text: str) -> bool:
    """Whether robots.txt kept the page out of search at its last visit."""
    return text.endswith(f"{_ROBOTS_TXT}: {_NO_SEARCH}")


def forbid_indexing(text: str) -> bool:
    """Whether they keep the page out of the index."""
    return not _limits(_parsed(text).values()).keys().isdisjoint(("noindex", _NO_SEARCH))


def _present(headers: Headers) -> Iterable[str]:
    """Returns which of the fields an answer has. Few answers have one, so all names are searched at once first."""
    names = "\n".join([name for name, _ in headers]).lower()
    if not any(name in names for name in ("robots-tag", FIELD, "link")):
        return ()
    exact = {name.strip() for name in names.split("\n")}
    return [name for name in _FIELDS if name in exact]


def _read(name: str, url: Url, headers: Headers, token: str) -> str | None:
    """Returns what one field states, in a normal form; None if it says nothing about such wishes."""
    if name == FIELD:
        return _NO_SEARCH if field_refusal(headers) is not None else ""
    if name == "link":
        canonical = linked_canonical(url, headers)
        return None if canonical is None else f"canonical:{_short_digest(canonical.text)}"
    found = Directives.parse((), [(key, value) for key, value in headers if key.strip().lower() == name], token)
    return ", ".join(_restrictions(found))


def _restrictions(found: Directives) -> Iterable[str]:
    permitted = {
        "noindex": found.index,
        "nofollow": found.follow,
        "noarchive": found.archive,
        "nosnippet": found.snippet,
        "noimageindex": found.index_images,
    }
    yield from (word for word, is_permitted in permitted.items() if not is_permitted)
    if found.max_snippet is not None:
        yield f"max-snippet:{found.max_snippet}"
    if found.unavailable_after is not None:
        yield f"unavailable_after:{found.unavailable_after:.0f}"


def _limits(stated: Iterable[str]) -> dict[str, float]:
    """Returns the restrictions on what is shown: for those with a number the smallest, for the others 0."""
    limits: dict[str, float] = {}
    for item in ", ".join(filter(None, stated)).split(", "):
        name, _, number = item.partition(":")
        if name and name not in _NOT_HIDING:
            limits[name] = min(float(number or 0), limits.get(name, inf))
    return limits


def _joined(stated: Mapping[str, str]) -> str:
    return "; ".join([f"{name}: {text}" for name in _ORDER if (text := stated.get(name))])


def _parsed(text: str) -> dict[str, str]:
    pairs = (part.partition(": ") for part in text.split("; ") if part)
    return {name: stated for name, _, stated in pairs}


def _short_digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
