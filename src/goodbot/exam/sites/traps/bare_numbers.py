"""A calendar by week, whose addresses are a number and nothing more: `?202650`."""

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
    "A calendar by week whose URLs hold only a number never ends: a crawler stops turning its pages.",
    "Google, To infinity and beyond? No!, 2008",
    _WEEKS,
    door="/weeks?202650",
    pattern="/weeks*",
)
