"""Two kinds of endless traps that count: calendars, and a few pages under ever new session ids."""

import re
from typing import Final

from goodbot.exam.exam_values import Observed, SiteJudgement
from goodbot.exam.expectations import JudgedByRule
from goodbot.exam.sites.endless import Look, View, number_in

PAGES: Final = 8
_TEXTS: Final = ("apples", "boats", "clocks", "drums", "engines", "ferries", "gardens", "harbours")


def calendar(pattern: re.Pattern[str], per_year: int, address: str, title: str, text: str) -> Look:
    """A page for each unit of every year from 1 to 9999, with links to the next and the one before. `pattern` finds the
    year, then the unit, of which there are `per_year`; the other three are formats of `year` and `unit`."""

    def look(target: str, before: int) -> View | None:
        numbers = number_in(pattern, target)
        if numbers is None:
            return None
        year, unit = numbers
        following = [divmod(year * per_year + unit - 1 + step, per_year) for step in (1, -1)]
        onward = tuple(address.format(year=y, unit=u + 1) for y, u in following if 0 < y < 10_000)
        return View(title.format(year=year, unit=unit), text.format(year=year, unit=unit), onward)

    return look


def under_sessions(pattern: re.Pattern[str], address: str) -> Look:
    """Eight pages, each with links to two others under a new session id. `pattern` has a group `page`; `address` is a
    format of `page` and `session`."""

    def look(target: str, before: int) -> View | None:
        found = pattern.fullmatch(target)
        if found is None:
            return None
        number = int(found["page"])
        following = (number % PAGES + 1, (number + 2) % PAGES + 1)
        onward = tuple(address.format(page=each, session=before) for each in following)
        return View(f"All about {_TEXTS[number - 1]}", f"These are {_TEXTS[number - 1]}, and nothing else.", onward)

    return look


def all_found(pattern: re.Pattern[str], name: str) -> JudgedByRule:
    """All pages of `under_sessions` are asked for; `name` is what they are called."""

    def judge(seen: Observed) -> SiteJudgement:
        found = {match["page"] for each in seen.of() if (match := pattern.fullmatch(each.target))}
        return SiteJudgement(len(found) == PAGES, f"{len(found)} of {PAGES} {name} were asked for")

    return JudgedByRule("found", f"asks for all {PAGES} {name}, under any session id", judge)
