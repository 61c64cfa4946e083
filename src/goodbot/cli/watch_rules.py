"""`goodbot watch --robots`: the robots.txt by which requests are judged, from a file or a history."""

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import GoodbotError, InputError
from goodbot.exclusion import LIMIT_BYTES, Access
from goodbot.human import counted, human_time, in_shell
from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.history.accesses import accesses, is_html
from goodbot.watch.history.copies import INDEX, History, RobotsCopy, open_histories
from goodbot.watch.history.page_states import PAGES, PageHistory
from goodbot.watch.history.site_names import site_origin
from goodbot.watch.obedience.nofollow_pages import NofollowPages, PageCopy
from goodbot.watch.obedience.rules_in_force import MOST_VERSIONS, RulesInForce
from goodbot.watch.report import JudgedBy, rules_report

MOST_SITES: Final = 5
"""Sites that are named in one message."""

MOST_DAMAGE: Final = 3
"""Sentences about damage that a report gets."""


_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """What was loaded: for the counters and the report."""

    judged_by: JudgedBy
    nofollow: NofollowPages | None
    """The pages whose links robots may not follow, if the history has pages."""
    host: str | None
    """The host of the site; None if a file does not say."""
    folder: Path | None
    """The folder of the site's history; None for a file."""
    inputs: list[str]
    """The files that were read."""
    key: str
    """The same for the same rules: counts by others must not be mixed. A history stays the same when it grows."""


def load_rules(name: str) -> LoadedRules:
    """Loads a robots.txt file, or the folder of `goodbot remember`: of one site, or with one site inside. Raises
    InputError if it is neither, RunError if it cannot be read."""
    if not name:
        raise InputError("--robots needs a robots.txt, or a folder of goodbot remember")
    if not Path(name).is_dir():
        return _of_file(name)
    histories = open_histories(Path(name))
    if not histories:
        raise InputError(
            f"{name} has no copies of a robots.txt; goodbot remember URL --into {in_shell(name)} makes them"
        )
    if len(histories) > 1:
        some = ", ".join(str(Path(name) / site) for site in list(histories)[:MOST_SITES])
        raise InputError(f"{name} has {len(histories)} sites; name one of them: {some}")
    return _of_history(name, next(iter(histories.values())))


def _of_file(name: str) -> LoadedRules:
    body = read_robots_file(name)
    access = Access.from_response(200, (), body, 0.0)
    notes = ["used for the whole log because it has no dates; goodbot remember keeps dated copies"]
    if not access.rules.groups:
        notes.append("it has no rules, so everything is allowed")
    if access.cut_bytes:
        notes.append(f"only its first {LIMIT_BYTES // 1024} KiB count")
    rules = RulesInForce.always(access)
    digest = hashlib.sha256(body).hexdigest()[:8]
    return LoadedRules(
        JudgedBy(rules, rules_report(name, rules, notes)),
        None,
        None,
        None,
        [name],
        f"{Path(name).absolute()} ({digest})",
    )


def _of_history(name: str, history: History) -> LoadedRules:
    copies = history.copies()
    found = accesses(copies)
    if not copies and not history.damage:
        raise InputError(f"{name} has no copies of a robots.txt; goodbot remember URL --into FOLDER makes them")
    rules = RulesInForce.of_copies(found)
    notes = ["no copy could be read as a robots.txt, so no request is judged"] if not rules.versions else []
    notes += [*_notes(copies, found, rules), *history.damage[:MOST_DAMAGE]]
    folder = history.folder.resolve()
    return LoadedRules(
        JudgedBy(rules, rules_report(name, rules, notes)),
        _pages(history),
        _host(folder),
        folder,
        _files(folder),
        str(folder),
    )


def _files(folder: Path) -> list[str]:
    return [str(path) for path in folder.iterdir() if path.is_file()]


def _host(folder: Path) -> str | None:
    origin = site_origin(folder.name)
    return host_name(origin.partition("//")[2]) if origin else None


def _pages(history: History) -> NofollowPages:
    states = PageHistory(history.folder).states()
    return NofollowPages(
        PageCopy(url, state.at, state.metas, state.headers)
        for state in states
        if state.status is not None and 200 <= state.status < 300
        for url in {state.url, state.target}
    )


def _notes(copies: list[RobotsCopy], found: list[Access], rules: RulesInForce) -> list[str]:
    notes = []
    unreachable = sum(access.result == "unreachable" for access in found)
    if unreachable:
        notes.append(f"{counted(unreachable, 'attempt')} to fetch it failed, which says nothing about the rules")
    pages = [copy.at for copy in copies if copy.status is not None and copy.status < 300 and is_html(copy.body)]
    if pages:
        notes.append(f"a Web page was sent in its place, which allows everything, first at {human_time(pages[0])}")
    missing = [access.fetched_at for access in found if access.result == "unavailable"]
    if missing:
        notes.append(f"there was no robots.txt, so everything was allowed, first at {human_time(missing[0])}")
    if any(copy.body.startswith(_UTF16) for copy in copies):
        notes.append("a copy is encoded in UTF-16, which robots cannot read that follow RFC 9309")
    if len(rules.versions) == MOST_VERSIONS:
        notes.append(f"only its newest {MOST_VERSIONS:,} versions count")
    return notes


class GrowingRules:
    """The rules of a history that may grow while a log is followed. What it says about earlier times stays the same,
    but for the time since its last copy."""

    def __init__(self, name: str) -> None:
        """Raises InputError or RunError, see `load_rules`."""
        self._loaded = load_rules(name)
        self._folder = self._loaded.folder
        self._changed_at = self._look()

    @property
    def inputs(self) -> list[str]:
        """The files that were read."""
        return self._loaded.inputs

    def current(self) -> LoadedRules:
        """Returns the rules, loaded again if the history has grown. While it cannot be read, the old ones stay."""
        changed_at = self._look()
        if self._folder is not None and changed_at != self._changed_at:
            try:
                self._loaded, self._changed_at = load_rules(str(self._folder)), changed_at
            except GoodbotError as error:
                _log.warning("%s cannot be read again: %s", self._folder, error)
        return self._loaded

    def _look(self) -> list[int]:
        """Returns when the files of a history were changed, in nanoseconds; none for a file."""
        if self._folder is None:
            return []
        files = [self._folder / name for name in (INDEX, PAGES)]
        return [path.stat().st_mtime_ns for path in files if path.is_file()]
