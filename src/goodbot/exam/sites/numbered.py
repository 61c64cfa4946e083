"""Builds two kinds of endless traps: calendars, and a few pages under ever new session ids."""

import re
from typing import Final

from goodbot.exam.exam_values import Observed, SiteJudgement
from goodbot.exam.expectations import CustomExpectation
from goodbot.exam.sites.endless import MakePage, TrapPage, number_in

PAGES: Final = 8
_TEXTS: Final = ("apples", "boats", "clocks", "drums", "engines", "ferries", "gardens", "harbours")


def calendar(pattern: re.Pattern[str], per_year: int, address: str, title: str, text: str) -> MakePage:
    """Makes a page for each unit (week, day …) of every year from 1 to 9999, with links to the next and the previous
    one. `pattern` matches the year, then the unit, of which a year has `per_year`; `address`, `title` and `text` are
    format strings for `year` and `unit`."""

    def make_page(target: str, before: int) -> TrapPage | None:
        numbers = number_in(pattern, target)
        if numbers is None:
            return None
        year, unit = numbers
        following = [divmod(year * per_year + unit - 1 + step, per_year) for step in (1, -1)]
        onward = tuple(address.format(year=y, unit=u + 1) for y, u in following if 0 < y < 10_000)
        return TrapPage(title.format(year=year, unit=unit), text.format(year=year, unit=unit), onward)

    return make_page


def under_sessions(pattern: re.Pattern[str], address: str) -> MakePage:
    """Makes eight pages, each with links to two others under a new session id. `pattern` has a group `page`; `address`
    is a format string for `page` and `session`."""

    def make_page(target: str, before: int) -> TrapPage | None:
        found = pattern.fullmatch(target)
        if found is None:
            return None
        number = int(found["page"])
        following = (number % PAGES + 1, (number + 2) % PAGES + 1)
        onward = tuple(address.format(page=each, session=before) for each in following)
        return TrapPage(f"All about {_TEXTS[number - 1]}", f"These are {_TEXTS[number - 1]}, and nothing else.", onward)

    return make_page


def all_found(pattern: re.Pattern[str], name: str) -> CustomExpectation:
    """Expects that the crawler fetches all pages of `under_sessions`; `name` is what the card calls them."""

    def judge(seen: Observed) -> SiteJudgement:
        found = {match["page"] for each in seen.of() if (match := pattern.fullmatch(each.target))}
        return SiteJudgement(len(found) == PAGES, f"fetched {len(found)} of {PAGES} {name}")

    return CustomExpectation("found", f"fetches all {PAGES} {name}, under any session id", judge)
