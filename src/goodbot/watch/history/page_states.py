"""Keeps the history of pages, their status and what they let robots do, in `pages.jsonl` of their site's folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.exclusion import Directives
from goodbot.registry import find_token
from goodbot.watch.history.copies import INDEX
from goodbot.watch.history.index_lines import bounded_fields, fields_of, time_of
from goodbot.watch.history.line_file import append, appending, line_of, lines_in, read_line

PAGES: Final = "pages.jsonl"
ALL: Final = "*"

_FIELDS: Final = frozenset({"x-robots-tag", "robots-tag"})
_NAMED: Final = re.compile(r"\s*([A-Za-z0-9_\-.]{1,60})\s*:")
_UNNAMED: Final = "anybot"

_EFFECTS: Final = (
    "index",
    "follow",
    "archive",
    "snippet",
    "max_snippet",
    "max_image_preview",
    "max_video_preview",
    "translate",
    "index_images",
    "index_embedded",
    "ai",
    "ai_images",
    "unavailable_after",
)
"""The fields of `Directives` that are compared."""

Effect = str | float | bool | None


@dataclass(frozen=True, slots=True)
class PageState:
    """What one fetch of a page gave: `status` of the last answer at `target`, and the META tags and header fields that
    address robots. If nothing answered, `failure` says why; `disallowed` is the reason if robots.txt disallowed the
    page, so that it was not fetched. An outage of robots.txt, in which everything is disallowed, is a failure."""

    url: str
    at: float
    target: str
    status: int | None
    failure: str | None
    disallowed: str | None
    metas: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]

    def effects(self, robot: str) -> dict[str, Effect]:
        """Returns what the page lets a robot do, by the names of the fields of `Directives`."""
        found = Directives.parse(self.metas, self.headers, _UNNAMED if robot == ALL else robot)
        return {name: getattr(found, name) for name in _EFFECTS}

    @property
    def is_page(self) -> bool:
        """Whether the fetch gave a page, whose directives count."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def robots(self) -> list[str]:
        """`*` for every robot, and the known robots that a tag or a field names."""
        names = [name for name, _ in self.metas]
        names += [found[1] for _, value in self.headers if (found := _NAMED.match(value))]
        return [ALL, *dict.fromkeys(known.token for name in names if (known := find_token(name)) and known.token)]


class EffectChange(NamedTuple):
    """One effect of a page's directives that changed."""

    robot: str
    effect: str
    before: Effect
    after: Effect


class Earlier(NamedTuple):
    """The states with which the next one of the same page is compared: the last one that was no failure, and the last
    one that gave a page; None if there was none."""

    answer: PageState | None = None
    page: PageState | None = None

    def then(self, state: PageState) -> "Earlier":
        """Returns what is earlier after this state."""
        if state.failure is not None:
            return self
        return Earlier(state, state if state.is_page else self.page)


@dataclass(frozen=True, slots=True)
class PageChanges:
    """How a page differs from its earlier fetches. `before` and `after` are its status in words (`status 200`,
    `disallowed by robots.txt`); both are empty if it did not change."""

    before: str = ""
    after: str = ""
    effects: tuple[EffectChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.after or self.effects)


def statements(
    metas: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]]
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Returns the META tags and header fields that address robots, the first of each (see `bounded_fields`)."""
    addressed = ((name.strip(), content) for name, content in metas if _addresses_robots(name.strip()))
    fields = ((name, value) for name, value in headers if name.strip().lower() in _FIELDS)
    return tuple(bounded_fields(addressed)), tuple(bounded_fields(fields))


def _addresses_robots(name: str) -> bool:
    return name.lower() == "robots" or find_token(name) is not None


def page_changes(earlier: Earlier, new: PageState) -> PageChanges:
    """Returns what differs: the status from that of the last answer, and the directives from those of the last fetch
    that gave a page, whatever was answered in between. A failure changes nothing."""
    if new.failure is not None or earlier.answer is None:
        return PageChanges()
    before, after = _status(earlier.answer), _status(new)
    effects: tuple[EffectChange, ...] = ()
    if new.is_page and earlier.page is not None:
        robots = dict.fromkeys([*earlier.page.robots, *new.robots])
        effects = tuple(_effect_changes(earlier.page, new, robots))
    return PageChanges(before, after, effects) if before != after else PageChanges(effects=effects)


def _effect_changes(old: PageState, new: PageState, robots: Iterable[str]) -> Iterator[EffectChange]:
    """Yields the changes for every robot, then those for named robots that differ from them."""
    for_all: set[tuple[str, Effect, Effect]] = set()
    for robot in robots:
        before, after = old.effects(robot), new.effects(robot)
        changed = {(name, before[name], after[name]) for name in _EFFECTS if before[name] != after[name]}
        if robot == ALL:
            for_all = changed
        for name in _EFFECTS:
            change = (name, before[name], after[name])
            if change in changed and (robot == ALL or change not in for_all):
                yield EffectChange(robot, *change)


def _status(state: PageState) -> str:
    return "disallowed by robots.txt" if state.disallowed is not None else f"status {state.status}"


def files_of(folder: Path) -> list[Path]:
    """Returns the files in the folder of a site: the lists of its copies and pages, and the bodies that exist."""
    return [folder / INDEX, folder / PAGES, *folder.glob("*.txt")]


class PageHistory:
    """The remembered pages of one site."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PAGES

    def add(self, state: PageState) -> Earlier:
        """Appends a state; returns the earlier ones of the same URL. Raises InputError or RunError if the folder cannot
        be written."""
        with appending(self._path) as pages:
            earlier = Earlier()
            for one in self.states():
                earlier = earlier.then(one) if one.url == state.url else earlier
            fields = {
                "url": state.url,
                "target": state.target,
                "status": state.status,
                "failure": state.failure,
                "disallowed": state.disallowed,
                "metas": state.metas,
                "headers": state.headers,
            }
            append(pages, line_of(state.at, fields))
        return earlier

    def states(self) -> Iterator[PageState]:
        """Yields every state that can be read, in the order in which they were added."""
        return (state for raw in lines_in(self._path) if (state := read_page_line(raw)) is not None)


def read_page_line(raw: bytes) -> PageState | None:
    """Returns the state of a page; None for anything that `PageHistory.add` does not write. Never raises; linear."""
    found = read_line(raw)
    if found is None:
        return None
    at, metas, headers = time_of(found.get("at")), fields_of(found.get("metas")), fields_of(found.get("headers"))
    url, target, status = found.get("url"), found.get("target"), found.get("status")
    failure, disallowed = found.get("failure"), found.get("disallowed")
    if at is None or metas is None or headers is None or not isinstance(url, str) or not isinstance(target, str):
        return None
    if not all(each is None or isinstance(each, str) for each in (failure, disallowed)):
        return None
    if status is not None and (not isinstance(status, int) or isinstance(status, bool)):
        return None
    return PageState(url, at, target, status, failure, disallowed, metas, headers)
