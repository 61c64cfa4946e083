"""Holds pages that took long to read and were read before their outcome is made: lists, and slow documents."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from goodbot.values import Discovery, Event, FoundLinks, Page

SendFound = Callable[[FoundLinks], Awaitable[None]]
"""Sends some of the links of a list to the frontier; returns when there is room for more."""

FollowedLinks = tuple[tuple[Discovery, ...], Event]
"""The links of a page that were not sent yet, and the event that describes all its links."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that has been read, and its links if they are known as well."""

    page: Page
    followed: FollowedLinks | None = None
