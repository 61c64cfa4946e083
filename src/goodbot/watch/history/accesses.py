"""Derives the access rules from the copies of a robots.txt, one after the other."""

import re
from collections.abc import Iterable
from typing import Final

from goodbot.exclusion import Access, RobotsTxt
from goodbot.watch.history.copies import RobotsCopy

_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+<(?:!doctype\s+html|html|head|body|title|meta)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_LOOKED_AT_BYTES: Final = 4096


def accesses(copies: Iterable[RobotsCopy], dialect: str = "rfc9309") -> list[Access]:
    """Returns the access rules in force after each copy, in the order given. Never raises on content; raises InputError
    for an unknown dialect."""
    found: list[Access] = []
    for copy in copies:
        found.append(access_after(found[-1] if found else None, copy, dialect))
    return found


def access_after(last: Access | None, copy: RobotsCopy, dialect: str = "rfc9309") -> Access:
    """Returns the access rules after a copy, given those after the previous copy: during an outage the last good copy
    stays in force."""
    if copy.status is not None:
        answer = copy.status, copy.headers, copy.body
        return Access.from_response(*answer, copy.at, dialect, last, conditional=False)
    failure = copy.failure or "connect"
    return Access.from_failure(failure, copy.at, dialect, last, detail=failure if " " in failure else "")


def is_html(body: bytes) -> bool:
    """Whether a Web page was sent in place of a robots.txt: it begins as one, and has no group of rules. Such a page
    allows everything."""
    return _HTML.match(body[:_LOOKED_AT_BYTES]) is not None and not RobotsTxt.parse(body).groups
