"""What the header fields of an answer and robots.txt state about how search may show a page, as a short text that
visits can compare. Pure.

META tags are not part of it: they are among the bytes of the page, so a change of them shows in the page's digest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

from goodbot.exclusion import Directives, PreferenceSource
from goodbot.page.page_building import linked_canonical
from goodbot.robot.manners.search_preferences import FIELDS, field_refusal
from goodbot.url import Url
from goodbot.values import Headers, Response

_ROBOTS_TXT: Final = "robots.txt"
_FIELDS: Final = ("x-robots-tag", "robots-tag", *FIELDS, "link")
_ORDER: Final = (*_FIELDS, _ROBOTS_TXT)
_NO_SEARCH: Final = "nosearch"
_NOT_HIDING: Final = ("nofollow", "canonical", "unavailable_after")
"""The names of restrictions that hide nothing now. `revisit` and `indexable` handle an `unavailable_after` that has
passed."""


class Refusal(NamedTuple):
    """Why a page is not in the index, and the line of robots.txt that says so, if one does."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one answer and robots.txt state. `fields`: the restrictions by header field, its name in lower case; fields
    that restrict nothing are missing. `no_search`: the statement that keeps the page out of search, if there is one;
    `in_robots_txt`: robots.txt has such a statement."""

    fields: Mapping[str, str]
    no_search: PreferenceSource | None = None
    in_robots_txt: bool = False

    @classmethod
    def of(cls, url: Url, response: Response, token: str, robots_txt: PreferenceSource | None) -> "Wishes":
        """Reads the wishes of an answer. `robots_txt`: the statement there that keeps the page out of search."""
        present = _present(response.headers)
        stated = {name: text for name in present if (text := _read(name, url, response.headers, token))}
        is_refused = not stated.keys().isdisjoint(FIELDS)
        no_search = robots_txt or (field_refusal(response.headers) if is_refused else None)
        return cls(stated, no_search, robots_txt is not None)

    @property
    def text(self) -> str:
        """The wishes of a whole answer, to be kept for its next visit (`LastVisit.wishes`)."""
        return _joined({**self.fields, _ROBOTS_TXT: self._in_robots_txt})

    @property
    def text_of_robots_txt(self) -> str:
        """The part of `text` that robots.txt states."""
        return _joined({_ROBOTS_TXT: self._in_robots_txt})

    @property
    def are_stated(self) -> bool:
        """Whether a field restricts how search may show the page."""
        return bool(self.fields)

    @property
    def hide(self) -> bool:
        """Whether a field forbids to show something of the page."""
        stated = [one for text in self.fields.values() for one in text.split(", ")]
        return any(one.partition(":")[0] not in _NOT_HIDING for one in stated)

    @property
    def _in_robots_txt(self) -> str:
        return _NO_SEARCH if self.in_robots_txt else ""


def no_search_refusal(statement: PreferenceSource) -> Refusal:
    """Says that a statement keeps a page out of search."""
    return Refusal(f"the site asks search services to leave the page out: {statement}", statement.line)


def of_answer(text: str) -> str:
    """Returns the wishes that the answer itself stated, without those of robots.txt."""
    return text.removesuffix(f"{_ROBOTS_TXT}: {_NO_SEARCH}").removesuffix("; ")


def were_in_robots_txt(text: str) -> bool:
    """Whether robots.txt kept the page out of search at its last visit."""
    return text.endswith(f"{_ROBOTS_TXT}: {_NO_SEARCH}")


def restrictions_in(text: str) -> frozenset[str]:
    """Returns the restrictions that the text of `Wishes` names, such as `noindex` or `max-snippet:0`."""
    return frozenset(one for part in text.split("; ") for one in part.partition(": ")[2].split(", ") if one)


def _present(headers: Headers) -> Iterable[str]:
    """Returns which of the fields an answer has. Few answers have one, so all names are searched at once first."""
    names = "\n".join([name for name, _ in headers]).lower()
    if not any(name in names for name in ("robots-tag", *FIELDS, "link")):
        return ()
    exact = {name.strip() for name in names.split("\n")}
    return [name for name in _FIELDS if name in exact]


def _read(name: str, url: Url, headers: Headers, token: str) -> str:
    """Returns how one field restricts what is shown, in a normal form; empty if it does not. A page that names itself
    as canonical is not restricted."""
    if name == "link":
        canonical = linked_canonical(url, headers)
        return "" if canonical in (None, url) else f"canonical:{_short_digest(canonical.text)}"
    fields = [(key, value) for key, value in headers if key.strip().lower() == name]
    if name in FIELDS:
        return _NO_SEARCH if field_refusal(fields) is not None else ""
    return ", ".join(_restrictions(Directives.parse((), fields, token)))


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


def _joined(stated: Mapping[str, str]) -> str:
    return "; ".join([f"{name}: {text}" for name in _ORDER if (text := stated.get(name))])


def _short_digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
