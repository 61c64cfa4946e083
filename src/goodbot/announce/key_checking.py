"""Fetches the key files of sites, to find out whether services will accept the key."""

import asyncio
from collections.abc import Iterable
from typing import Final

from goodbot.announce.announce_values import MakeGet
from goodbot.announce.key import KeyCheck, check_key
from goodbot.ports import Transport
from goodbot.url import Url

AT_ONCE: Final = 8
"""Sites whose key files are fetched at the same time."""


async def check_keys(locations: Iterable[Url], key: str, transport: Transport, make_get: MakeGet) -> list[KeyCheck]:
    """Fetches the key files at these URLs and compares each with the key. Redirects are reported, not followed."""
    room = asyncio.Semaphore(AT_ONCE)

    async def checked(url: Url) -> KeyCheck:
        async with room:
            return check_key(url, key, await transport.send(make_get(url)))

    return list(await asyncio.gather(*(checked(url) for url in locations)))
