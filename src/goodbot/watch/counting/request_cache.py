"""Remembers what request lines ask for, since most come again."""

import zlib
from typing import Any, Final

from goodbot.watch.counting.clients import AGENT_PLACES, PAGE_PLACES
from goodbot.watch.counting.request_kinds import RequestKind, request_kind

MOST_CACHED: Final = 20_000
"""Entries that are kept from one block to the next. Within a block nothing is forgotten, and a block bounds them."""


def trim(*caches: dict[str, Any]) -> None:
    """Empties caches that have grown large, before the next block."""
    for cache in caches:
        if len(cache) > MOST_CACHED:
            cache.clear()


def page_bit(request: str) -> int:
    """Returns the place of a page in the set of pages of an address."""
    return 1 << zlib.crc32(request.encode("latin-1", "replace")) % PAGE_PLACES


def agent_bit(agent: str) -> int:
    """Returns the place of a User-Agent in the set of those of an address."""
    return 1 << zlib.crc32(agent.encode("latin-1", "replace")) % AGENT_PLACES


class RequestCache(dict[str, tuple[RequestKind, int, bool]]):
    """The kind of each request line, the place of its page (0 if it is not one), and whether it is a HEAD request."""

    def __missing__(self, request: str) -> tuple[RequestKind, int, bool]:
        kind = request_kind(request)
        found = self[request] = (
            kind,
            page_bit(request) if kind is RequestKind.PAGE else 0,
            request.startswith("HEAD "),
        )
        return found


class AgentCache(dict[str, int]):
    """The place of each User-Agent."""

    def __missing__(self, agent: str) -> int:
        bit = self[agent] = agent_bit(agent)
        return bit
