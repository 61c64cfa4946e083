"""Eight pages have a session id in the first folder, a new one in every link."""

import re

from goodbot.exam.sites.endless import trap_site
from goodbot.exam.sites.numbered import all_found, under_sessions

_PATH = re.compile(r"/s-[0-9]{6}/page/(?P<page>[1-8])")


SITE = trap_site(
    "trap-session-in-path",
    "Stop in time when session ids in the first folder give the same eight pages ever new URLs.",
    "Google, To infinity and beyond? No!, 2008; Java Servlet and ASP.NET cookieless sessions",
    under_sessions(_PATH, "/s-{session:06d}/page/{page}"),
    entrance="/s-000000/page/1",
    pattern="/s-*",
    branches=2,
    expects=(all_found(_PATH, "pages"),),
)
