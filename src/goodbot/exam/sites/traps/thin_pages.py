"""A list that has always one page more, each of a few words."""

import re

from goodbot.exam.sites.endless import View, number_in, trap_site

_PAGE = re.compile(r"/news\?page=([0-9]{1,9})")


def _news(target: str, before: int) -> View | None:
    numbers = number_in(_PAGE, target)
    if numbers is None:
        return None
    number = numbers[0]
    return View("News", f"Page {number}. No more news. Older news", (f"/news?page={number + 1}",))


SITE = trap_site(
    "trap-thin-pages",
    "A list always has one page more, each of fewer than thirty words: a crawler stops reading it.",
    "Google, To infinity and beyond? No!, 2008",
    _news,
    door="/news?page=1",
    pattern="/news*",
)
