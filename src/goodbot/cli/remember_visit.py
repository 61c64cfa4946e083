"""One run of `goodbot remember` for one site: fetches, adds the copies to the history, compares."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goodbot.exclusion import Access
from goodbot.exclusion.access.bot_walls import wall_of
from goodbot.url import Url
from goodbot.values import Failure, Response
from goodbot.watch.history.accesses import access_after
from goodbot.watch.history.copies import MAX_BODY_BYTES, History, RobotsCopy
from goodbot.watch.history.page_states import PageChanges, PageHistory, PageState, page_changes, statements
from goodbot.watch.history.site_names import site_name
from goodbot.watch.history.verdict_changes import VerdictChanges, verdict_changes


@dataclass(frozen=True, slots=True)
class OwnFile:
    """The robots.txt in the user's repository."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FileComparison:
    """What the site sends, compared with the user's file: `changes` says what is open or closed on the site only.
    `before` and `after` are the lines that the site sends before and after the file; both None if it changed more."""

    name: str
    changes: VerdictChanges
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class RememberedPage:
    """A page, with what differs from its earlier fetches; `is_first`: none of them was answered."""

    state: PageState
    changes: PageChanges
    is_first: bool


@dataclass(frozen=True, slots=True)
class RememberedSite:
    """What one run found at one site. `last` is the copy before this one, `answer` the last copy before it that was no
    outage: `changes` compares with that one. Both are None if there was none."""

    copy: RobotsCopy
    access: Access
    last: RobotsCopy | None
    answer: RobotsCopy | None
    copies: int
    changes: VerdictChanges
    file: FileComparison | None
    pages: tuple[RememberedPage, ...]
    damage: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether a verdict, a timing or what a page lets robots do is different from the last run, or from the
        file."""
        return self.is_news or (self.file is not None and bool(self.file.changes))

    @property
    def is_news(self) -> bool:
        """Whether the site changed since the last run."""
        return bool(self.changes) or any(page.changes for page in self.pages)

    @property
    def was_unreachable(self) -> bool | None:
        """Whether the copy before was an outage; None if there was none."""
        return None if self.last is None else self.last is not self.answer

    @property
    def is_unreachable(self) -> bool:
        """Whether robots.txt or a page could not be fetched."""
        return self.access.result == "unreachable" or any(page.state.failure for page in self.pages)


def remember_site(url: Url, folder: Path, own: OwnFile | None, pages: Sequence[Url]) -> RememberedSite:
    """Fetches the robots.txt of the site of `url`, and these pages of it. Raises InputError or RunError if the folder
    cannot be written."""
    place = folder / site_name(url)
    history = History(place)
    before = history.added()
    copy = _fetched(url)
    now, answer, answered = None, None, None
    for each in before:
        now = access_after(now, each)
        if now.result != "unreachable":
            answer, answered = each, now
    access = access_after(now, copy)
    history.add(copy)
    is_outage = access.result == "unreachable"
    return RememberedSite(
        copy,
        access,
        before[-1] if before else None,
        answer,
        len(before) + 1,
        VerdictChanges() if answered is None or is_outage else verdict_changes(answered, access),
        None if own is None or is_outage else compare_with_file(own, access),
        tuple(_remembered_pages(pages, access, PageHistory(place))),
        tuple(history.damage),
    )


def _fetched(url: Url) -> RobotsCopy:
    """Fetches a robots.txt. The body of an error is kept only if a bot wall is recognized by it: most of these pages
    differ each time."""
    from goodbot.one_shot import fetch_robots_txt  # noqa: PLC0415  (help needs no network)

    found, at = fetch_robots_txt(url.robots_txt), time.time()
    status, headers = found.status, tuple(found.headers)
    body = found.body[:MAX_BODY_BYTES]
    if status is not None and not 200 <= status < 300 and wall_of(status, headers, body) is None:
        body = b""
    failure = found.failure if status is None else None
    return RobotsCopy(url.robots_txt.text, at, status, failure, headers, body, found.redirects)


def compare_with_file(own: OwnFile, access: Access) -> FileComparison:
    """Compares what is in force on the site with the user's file."""
    intended = Access.from_response(200, (), own.body, access.fetched_at)
    before, after = _around(own.body, access.body)
    return FileComparison(own.name, verdict_changes(intended, access), before, after)


def _around(own: bytes, sent: bytes) -> tuple[int | None, int | None]:
    lines, sent_lines = (body.replace(b"\r\n", b"\n").strip(b"\n").split(b"\n") for body in (own, sent))
    searched = b"\n" + b"\n".join(sent_lines) + b"\n"
    at = searched.rfind(b"\n" + b"\n".join(lines) + b"\n") if own.strip() else -1
    if at < 0:
        return None, None
    before = searched.count(b"\n", 0, at)
    return before, len(sent_lines) - before - len(lines)


# ---- pages ----------------------------------------------------------------------------------------------------------


def _remembered_pages(urls: Sequence[Url], access: Access, history: PageHistory) -> list[RememberedPage]:
    found: list[RememberedPage] = []
    for state in _visited(urls, access) if urls else ():
        earlier = history.add(state)
        found.append(RememberedPage(state, page_changes(earlier, state), earlier.answer is None))
    return found


def _visited(urls: Sequence[Url], access: Access) -> list[PageState]:
    import asyncio  # noqa: PLC0415  (only pages need it)

    return asyncio.run(_visit(urls, access))


async def _visit(urls: Sequence[Url], access: Access) -> list[PageState]:
    """Fetches pages one after another, with the delays of their host and as the robots.txt just fetched permits."""
    from goodbot.clock import SystemClock  # noqa: PLC0415  (help needs no network)
    from goodbot.config import Settings  # noqa: PLC0415
    from goodbot.one_shot import visit_page  # noqa: PLC0415
    from goodbot.robot.manners.pace import Pace  # noqa: PLC0415
    from goodbot.robot.scope.seeding import opened_networks  # noqa: PLC0415
    from goodbot.store.memory.memory_frontier import MemoryFrontier  # noqa: PLC0415

    store, pace = MemoryFrontier(), Pace(Settings(), SystemClock())
    store.save_robots(urls[0].origin, access)
    networks = opened_networks(Settings(allow_private=True), urls[:1])
    states: list[PageState] = []
    for url in urls:
        visit = await visit_page(url, networks, store, pace=pace)
        target, at, reason = visit.url.text, time.time(), visit.verdict.reason
        if visit.capture is None:
            is_outage = visit.verdict.access == "unreachable" and visit.verdict.rule is None
            failure, disallowed = (reason, None) if is_outage else (None, reason)
            states.append(PageState(url.text, at, target, None, failure, disallowed, (), ()))
        elif isinstance(visit.capture.result, Failure):
            states.append(PageState(url.text, at, target, None, visit.capture.result.detail, None, (), ()))
        else:
            states.append(_page_state(url, at, target, visit.capture.result))
    return states


def _page_state(url: Url, at: float, target: str, answer: Response) -> PageState:
    from goodbot.config import Settings  # noqa: PLC0415  (help needs none of it)
    from goodbot.page import Body  # noqa: PLC0415
    from goodbot.page.document import read_extract  # noqa: PLC0415

    _, found, _ = read_extract(Body(answer, Settings().decoded_limit))
    metas, headers = statements(found.metas, answer.headers)
    return PageState(url.text, at, target, answer.status, None, None, metas, headers)
