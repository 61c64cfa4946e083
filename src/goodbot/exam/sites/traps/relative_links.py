"""A relative link without an end: one more `x/`, on a server that answers every path."""

import re

from goodbot.exam.sites.endless import View, trap_site, words

_PATH = re.compile(r"/docs/((?:x/)*)")


def _docs(target: str, before: int) -> View | None:
    found = _PATH.fullmatch(target)
    if found is None:
        return None
    number = len(found[1]) // 2 + 1
    return View(f"Chapter {number}", f"Chapter {number} tells of {' and '.join(words(target, 12))}.", ("x/",))


SITE = trap_site(
    "trap-relative-links",
    "A relative link on every page leads one folder deeper, without end: a crawler stops in time.",
    "RFC 3986 5.2",
    _docs,
    door="/docs/",
    pattern="/docs/*",
)
