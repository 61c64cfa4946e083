"""The URLs of a calendar name the months: `/events/march-2026`."""

import re

from goodbot.exam.sites.endless import TrapPage, trap_site
from goodbot.exclusion.text.months import MONTHS

_MONTH = re.compile(rf"/events/({'|'.join(MONTHS)})-([0-9]{{4}})")


def _events(target: str, before: int) -> TrapPage | None:
    found = _MONTH.fullmatch(target)
    if found is None:
        return None
    month, year = MONTHS.index(found[1]), int(found[2])
    following = [divmod(year * 12 + month + step, 12) for step in (1, -1)]
    onward = tuple(f"/events/{MONTHS[m]}-{y:04d}" for y, m in following if 0 < y < 10_000)
    named = f"{found[1].capitalize()} {year}"
    return TrapPage(f"Events in {named}", f"No events were found for {named}. Try the month before, or after.", onward)


SITE = trap_site(
    "trap-month-names",
    "Stop following an endless calendar whose URLs name the months.",
    "Google, To infinity and beyond? No!, 2008",
    _events,
    entrance="/events/march-2026",
    pattern="/events/*",
)
