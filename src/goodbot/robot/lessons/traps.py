"""Finds traps by the content of pages: learns from each visit about its origin. Bounded memory, no I/O.

Each rule has a module of its own: `url_families`, `calendars`, `parameters`, `soft_404`; what they find is a lesson.
The text of a page is extracted only if a rule needs it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from goodbot.lesson_values import HALF, SPENT, Lesson
from goodbot.page import Body
from goodbot.page.fingerprint import Fingerprint, body_text, body_text_of_html, fingerprint
from goodbot.page.page_words import pictures_of, text_in
from goodbot.robot.lessons.budgets import PROBE_SHARE, Budgets
from goodbot.robot.lessons.calendars import Calendars, date_in, without_date
from goodbot.robot.lessons.known_text import PageView
from goodbot.robot.lessons.lessons_in_force import LessonsInForce
from goodbot.robot.lessons.parameters import Parameters, links_without
from goodbot.robot.lessons.soft_404 import SHORT_WORDS, Soft404Pages, is_error_text, without_address
from goodbot.robot.lessons.url_families import UrlFamilies, UrlFamily, evidence_of, families_of
from goodbot.url import Url
from goodbot.values import Discovery, Page, Response

HOLDS_S: Final = 7 * 86400.0
MAX_HOLDS_S: Final = 365 * 86400.0
"""How long a lesson holds, doubled each time it is learned again. Why so short: a site under maintenance may look like
a trap, but that is over within days; and learning a lesson again usually takes only 40 pages. A lesson that pages name
a wrong canonical URL holds until it is dropped: it leaves nothing out, and learning it again would first take the page
out of the index."""

SMALL_BYTES: Final = 4096
"""Shorter pages are always read: error pages are among them, and it costs little."""

_DAY_S: Final = 86400.0
_UNIX_EPOCH: Final = 719_163
"""1970-01-01 as a day number of `date.toordinal`."""

_REFRESH: Final = ("refresh",)

_NUMBER = re.compile(r"[0-9]++")


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page that was visited, its response, the URLs its links discovered, and the time. `html`: the document after
    rendering, if a browser made one that differs from the response. `body`: the body of the response, if it was
    decoded."""

    page: Page
    response: Response
    found: Sequence[Discovery]
    at: float
    html: str | None = None
    body: Body | None = None

    @property
    def url(self) -> Url:
        """The page's own URL."""
        return self.page.url

    def view(self) -> PageView:
        """Returns what the budget of its site judges."""
        links = [link.url for link in self.page.links if link.url.origin == self.url.origin]
        return PageView(self.url, links, self.text())

    def text(self) -> str:
        """Returns its HTML, as far as it is read."""
        return text_in(self.body or self.response) if self.html is None else self.html


@dataclass(frozen=True, slots=True)
class TrapSigns:
    """What was found in a page. `soft_404`: why it is a soft 404; `doubtful`: the URLs it leads to can wait."""

    soft_404: str | None = None
    doubtful: bool = False


@dataclass(slots=True)
class _Look:
    """The text of a page apart from its links, extracted when it is first needed."""

    visit: VisitedPage
    text: str | None = None
    mark: Fingerprint | None = None
    shown: list[str] | None = None

    def page_text(self) -> str:
        if self.text is None:
            visit = self.visit
            html = visit.html
            self.text = body_text(visit.body or visit.response) if html is None else body_text_of_html(html)
        return self.text

    def fingerprint(self) -> Fingerprint:
        if self.mark is None:
            self.mark = fingerprint(self.page_text())
        return self.mark

    def pictures(self) -> list[str]:
        if self.shown is None:
            self.shown = pictures_of(self.visit.text())
        return self.shown


class Traps:
    """Learns from the pages of one process. `learned`: the lessons in force; `budgets`: those of the sites."""

    def __init__(self, learned: LessonsInForce, budgets: Budgets, processes: int = 1) -> None:
        self._learned = learned
        self._budgets = budgets
        self._families = UrlFamilies(processes)
        self._calendars = Calendars(processes)
        self._parameters = Parameters(processes)
        self._soft_404_pages = Soft404Pages()
        self._lessons: list[Lesson] = []

    @property
    def families(self) -> int:
        """How many URL families are watched."""
        return len(self._families)

    def news(self) -> list[Lesson]:
        """Returns what was learned since the last call."""
        news, self._lessons = self._lessons, []
        return news

    def teach(self, url: Url, kind: str, subject: str, evidence: str, at: float) -> None:
        """Makes a lesson that is in force at once, unless it is known."""
        if not self._learned.is_known(kind, url.origin, subject):
            about = f"{url.origin} {subject}"
            times = self._learned.times(kind, about) + 1
            until = inf if kind == "canonical" else at + min(HOLDS_S * 2.0 ** min(times - 1, 10), MAX_HOLDS_S)
            lesson = Lesson(url.host_key, kind, about, evidence, at, until, times)
            self._learned.take((lesson,))
            self._lessons.append(lesson)

    def lapse(self, now: float) -> None:
        """Ends the lessons whose time is over; they are learned again if they still apply."""
        for lesson in self._learned.lapse(now):
            self._lessons.append(lesson)
            origin, _, subject = lesson.about.partition(" ")
            if (lesson.kind, subject) == ("budget", SPENT):
                self._budgets.resume(origin, PROBE_SHARE)

    def visited(self, visit: VisitedPage) -> TrapSigns:
        """Learns from a page, unless it only redirects its reader (META refresh)."""
        if any(link.rel == _REFRESH for link in visit.page.links):
            return TrapSigns()
        look = _Look(visit)
        doubtful = self._look_at_budget(visit)
        title = _NUMBER.sub("0", visit.page.title)
        self._look_at_families(visit, look, title)
        if "?" in visit.url.text:
            self._look_at_parameters(visit, look, title)
        return TrapSigns(self._look_for_soft_404(visit, look), doubtful)

    # ---- the budget of a site

    def _look_at_budget(self, visit: VisitedPage) -> bool:
        if visit.page.listed or not visit.found:
            return False
        judged = self._budgets.visited(visit.url, visit.found, visit.view)
        for spent in judged.spent:
            if spent.subject:
                self.teach(visit.url, "branch", spent.subject, spent.evidence, visit.at)
            else:
                self.teach(visit.url, "budget", HALF if spent.left else SPENT, spent.evidence, visit.at)
        return judged.doubtful

    # ---- families and calendars

    def _look_at_families(self, visit: VisitedPage, look: _Look, title: str) -> None:
        calendar = date_in(visit.url.text)
        full: bool | None = None
        for name, family in self._families.visited(visit.url.text):
            if family.needs_look() or calendar is not None:
                fresh = family.look(visit.url.text, title, look.fingerprint, partial(self._has_more, look, name))
                full = fresh if full is None else full
                if family.says_nothing_new():
                    self._close(visit, name, family)
        if calendar is not None and full is not None:
            self._visit_calendar(look, title, *calendar, full)

    def _has_more(self, look: _Look, name: str) -> bool:
        return _leaves_family(look.visit.found, name) or self._families.shows_new(name, look.pictures())

    def _close(self, visit: VisitedPage, name: str, family: UrlFamily) -> None:
        self.teach(visit.url, "family", name, evidence_of(name, family), visit.at)
        self._families.forget(name)

    def _visit_calendar(self, look: _Look, title: str, shape: str, day: int, full: bool) -> None:
        """Records a page of a calendar. `full`: no other page of its family had the same text. A page is empty if its
        text is that of other dates, apart from the date itself, and it leads only to other dates."""
        visit, calendar = look.visit, self._calendars.of(shape)
        if full and calendar.dates and look.page_text():  # a page without text is no evidence
            says = without_date(f"{title}\n{look.page_text()}", day)
            full = calendar.is_new(says) or _leaves_calendar(visit.found, shape)
        calendar.visited(day, full)
        bounds = calendar.bounds(day, _UNIX_EPOCH + int(visit.at // _DAY_S))
        if bounds is not None:
            first, last, why = bounds
            self.teach(visit.url, "calendar", f"{shape} {max(first, 1)} {last}", why, visit.at)
            self._calendars.forget(shape)

    # ---- parameters

    def _look_at_parameters(self, visit: VisitedPage, look: _Look, title: str) -> None:
        text, origin = visit.url.text, visit.url.origin
        undecided = self._parameters.undecided(text, origin)
        if not undecided or not look.page_text():
            return
        links = [link.url.text for link in visit.page.links]
        says = hash((visit.page.title, look.fingerprint().exact))
        pictures = look.pictures()
        for name, value in undecided:
            whole = hash((says, links_without(links, name), *pictures))
            evidence = self._parameters.visited(text, origin, name, value, whole)
            if evidence is not None:
                self.teach(visit.url, "parameter", name, evidence, visit.at)

    # ---- soft 404

    def _look_for_soft_404(self, visit: VisitedPage, look: _Look) -> str | None:
        page, text = visit.page, look.text
        if text is None:
            if len(visit.response.body) >= SMALL_BYTES and not is_error_text(page.title, "", 0):
                return None
            text = look.page_text()
        if text.count(" ") >= SHORT_WORDS or not is_error_text(page.title, text, 0):
            return None
        path = visit.url.path
        plain = hash((without_address(page.title, path), without_address(text, path)))
        others = self._soft_404_pages.visited(visit.url.origin, path, plain)
        if others is None:
            return None
        return (
            f"soft 404: status {visit.response.status}, but the same error text as {len(others)} other pages, "
            f"such as {others[0]}"
        )


def _leaves_family(found: Sequence[Discovery], family: str) -> bool:
    """Returns whether links lead out of the family, to URLs that were not known before."""
    if family.endswith("**"):
        return any(
            new.refused is None and new.inlinks == 1 and not new.url.text.startswith(family[:-2]) for new in found
        )
    return any(new.refused is None and new.inlinks == 1 and families_of(new.url.text)[0] != family for new in found)


def _leaves_calendar(found: Sequence[Discovery], shape: str) -> bool:
    """Returns whether links lead to URLs that were not known before and are not other dates of the calendar."""
    news = (new.url.text for new in found if new.refused is None and new.inlinks == 1)
    return any((date := date_in(text)) is None or date[0] != shape for text in news)
