"""Generated pages have their path as title and link to more of them."""

import re

from goodbot.exam.sites.endless import TrapPage, trap_site, words

_PATH = re.compile(r"/q(?:/[1-3]){1,1000}")


def _answers(target: str, before: int) -> TrapPage | None:
    if not _PATH.fullmatch(target):
        return None
    text = f"Results for {target}: {', '.join(words(target, 25))}."
    return TrapPage(target, text, tuple(f"{target}/{number}" for number in (1, 2, 3)))


SITE = trap_site(
    "trap-title-is-path",
    "Stop in time when generated pages with their path as title link to three more each.",
    "the site",
    _answers,
    entrance="/q/1",
    pattern="/q/*",
    branches=3,
)
