"""Eight pages have a session id after a semicolon, a new one in every link."""

import re

from goodbot.exam.sites.endless import trap_site
from goodbot.exam.sites.numbered import all_found, under_sessions

_PATH = re.compile(r"/item/(?P<page>[1-8]);sid=[0-9]{6}")


SITE = trap_site(
    "trap-path-parameters",
    "Stop in time when session ids after a semicolon give the same eight pages ever new URLs.",
    "RFC 3986 3.3 (parameters of a segment); jsessionid of Java Servlet 7.1.3",
    under_sessions(_PATH, "/item/{page};sid={session:06d}"),
    entrance="/item/1;sid=000000",
    pattern="/item/*",
    branches=2,
    expects=(all_found(_PATH, "items"),),
)
