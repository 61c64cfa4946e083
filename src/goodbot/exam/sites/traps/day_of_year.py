"""A diary has a page for every day of the year: `/diary/2026/061`."""

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
    "Stop following an endless diary whose URLs number the days of the year.",
    "ISO 8601 (ordinal dates); Google, To infinity and beyond? No!, 2008",
    _DAYS,
    entrance="/diary/2026/061",
    pattern="/diary/*",
)
