"""A relative link adds one more `x/`, without end, on a server that answers every path."""

import re

from goodbot.exam.sites.endless import TrapPage, trap_site, words

_PATH = re.compile(r"/docs/((?:x/)*)")


def _docs(target: str, before: int) -> TrapPage | None:
    found = _PATH.fullmatch(target)
    if found is None:
        return None
    number = len(found[1]) // 2 + 1
    return TrapPage(f"Chapter {number}", f"Chapter {number} tells of {' and '.join(words(target, 12))}.", ("x/",))


SITE = trap_site(
    "trap-relative-links",
    "Stop in time when a relative link on every page leads one folder deeper.",
    "RFC 3986 5.2",
    _docs,
    entrance="/docs/",
    pattern="/docs/*",
)
