"""Divides pages into the requests of IndexNow. Pure."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

import msgspec

from goodbot.announce.announce_values import Batch, Change
from goodbot.url import Url

MAX_URLS: Final = 10_000
"""The limit of the protocol for the URLs of one request."""

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""The limit for the body of one request: 10,000 URLs of 400 characters. The protocol states none; `goodbot serve`
accepts this much."""

LocationOf = Callable[[str], Url]
"""Returns the URL of the key file of a host."""


def batches(changes: Iterable[Change], key: str, location_of: LocationOf) -> Iterator[Batch]:
    """Yields batches of consecutive pages of one host: each page once, in the order given. Holds one batch in
    memory."""
    for host, of_host in groupby(changes, lambda change: change.url.authority):
        location = location_of(host)
        room = MAX_BODY_BYTES - len(body_of(Batch(host, key, location, ())))
        for piece in _pieces(of_host, room):
            yield Batch(host, key, location, tuple(piece))


def _pieces(changes: Iterable[Change], room: int) -> Iterator[list[Change]]:
    piece, left = list[Change](), room
    for change in changes:
        size = len(msgspec.json.encode(change.url.text)) + 1  # and a comma
        if piece and (size > left or len(piece) == MAX_URLS):
            yield piece
            piece, left = [], room
        piece.append(change)
        left -= size
    if piece:
        yield piece


def body_of(batch: Batch) -> bytes:
    """Returns the JSON to send for a batch."""
    return msgspec.json.encode(
        {
            "host": batch.host,
            "key": batch.key,
            "keyLocation": batch.key_location.text,
            "urlList": [change.url.text for change in batch.changes],
        }
    )
