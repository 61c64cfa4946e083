"""What takes long to read and is read first: lists, and documents in a process of their own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from goodbot.values import Discovery, Event, FoundLinks, Page

SendFound = Callable[[FoundLinks], Awaitable[None]]
"""Takes a part of what a page names; returns when there is room for more."""

FollowedLinks = tuple[tuple[Discovery, ...], Event]
"""What a page names and was not told yet, and the event that says how much it names in all."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that has been read, and where it leads, if that is known too."""

    page: Page
    followed: FollowedLinks | None = None
