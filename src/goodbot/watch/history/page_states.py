"""Keeps the history of pages, their status and what they let robots do, in `pages.jsonl` of their site's folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.exclusion import Directives
from goodbot.registry import find_token
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
    address robots. If there was no page, `failure` says why; `disallowed` is the reason if robots.txt disallowed the
    page, so that it was not fetched."""

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


@dataclass(frozen=True, slots=True)
class PageChanges:
    """How a page differs from its last fetch. `before` and `after` are its status in words (`status 200`, `disallowed
    by robots.txt`); both are empty if it did not change."""

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


def page_changes(old: PageState, new: PageState) -> PageChanges:
    """Returns what differs. Directives are compared only if both fetches gave a page."""
    before, after = _status(old), _status(new)
    if before != after or new.status is None or not 200 <= new.status < 300:
        return PageChanges(before, after) if before != after else PageChanges()
    robots = dict.fromkeys([*old.robots, *new.robots])
    return PageChanges(effects=tuple(_effect_changes(old, new, robots)))


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
    if state.disallowed is not None:
        return "disallowed by robots.txt"
    return "no answer" if state.status is None else f"status {state.status}"


class PageHistory:
    """The remembered pages of one site."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PAGES

    def add(self, state: PageState) -> PageState | None:
        """Appends a state; returns the one that was added before for the same URL. Raises InputError or RunError if the
        folder cannot be written."""
        with appending(self._path) as pages:
            before = self._newest(state.url)
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
        return before

    def states(self) -> Iterator[PageState]:
        """Yields every state that can be read, in the order in which they were added."""
        return (state for raw in lines_in(self._path) if (state := read_page_line(raw)) is not None)

    def _newest(self, url: str) -> PageState | None:
        newest: PageState | None = None
        for state in self.states():
            newest = state if state.url == url else newest
        return newest


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
