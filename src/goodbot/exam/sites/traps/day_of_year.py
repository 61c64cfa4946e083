"""A diary by day of the year: `/diary/2026/061`."""

import re

from goodbot.exam.sites.endless import trap_site
from goodbot.exam.sites.numbered import calendar

_DAYS = calendar(
    re.compile(r"/diary/([0-9]{4})/([0-9]{3})"),
    365,
    "/diary/{year:04d}/{unit:03d}",
    "Diary, day {unit} of {year}",
    "Nobody wrote anything on day {unit} of {year}.",
)


SITE = trap_site(
    "trap-day-of-year",
    "A diary that numbers the days of the year is a calendar too: a crawler stops turning its pages.",
    "ISO 8601 (ordinal dates); Google, To infinity and beyond? No!, 2008",
    _DAYS,
    door="/diary/2026/061",
    pattern="/diary/*",
)
