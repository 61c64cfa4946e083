"""Turns submitted URLs into discoveries, in a running crawl and beside one."""

from collections.abc import Callable, Iterable

from goodbot.robot.crawl.following import refuse_private
from goodbot.url import Url
from goodbot.values import Discovery

Refuse = Callable[[Url, int], str | None]
"""Returns why a URL found at a depth is out of scope; None if it is in scope."""


def refuse_submitted(refuse: Refuse, url: Url, *, public_only: bool = False) -> str | None:
    """Returns why a submitted URL is not added to the crawl; None if it is."""
    return refuse(url, 0) or refuse_private(url, public_only)


def submitted_urls(
    refuse: Refuse, urls: Iterable[Url], public_only: bool = False, modified_at: float | None = None
) -> list[Discovery]:
    """Returns the discoveries of those URLs that are not refused. `public_only`, `modified_at`: see `Discovery`."""
    added = (url for url in urls if refuse_submitted(refuse, url, public_only=public_only) is None)
    return [Discovery(url, 0, public_only=public_only, modified_at=modified_at) for url in added]
