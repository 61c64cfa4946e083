"""The URLs of a calendar by week hold only a number: `?202650`."""

import re

from goodbot.exam.sites.endless import trap_site
from goodbot.exam.sites.numbered import calendar

_WEEKS = calendar(
    re.compile(r"/weeks\?([0-9]{4})([0-9]{2})"),
    52,
    "/weeks?{year:04d}{unit:02d}",
    "Week {unit} of {year}",
    "Nothing happens in week {unit} of {year}.",
)


SITE = trap_site(
    "trap-bare-numbers",
    "Stop following an endless calendar by week whose URLs hold only a number.",
    "Google, To infinity and beyond? No!, 2008",
    _WEEKS,
    entrance="/weeks?202650",
    pattern="/weeks*",
)
