"""A list always has one more page, each of a few words."""

import re

from goodbot.exam.sites.endless import TrapPage, number_in, trap_site

_PAGE = re.compile(r"/news\?page=([0-9]{1,9})")


def _news(target: str, before: int) -> TrapPage | None:
    numbers = number_in(_PAGE, target)
    if numbers is None:
        return None
    number = numbers[0]
    return TrapPage("News", f"Page {number}. No more news. Older news", (f"/news?page={number + 1}",))


SITE = trap_site(
    "trap-thin-pages",
    "Stop reading an endless list whose pages hold fewer than thirty words each.",
    "Google, To infinity and beyond? No!, 2008",
    _news,
    entrance="/news?page=1",
    pattern="/news*",
)
