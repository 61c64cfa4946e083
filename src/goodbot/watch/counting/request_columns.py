"""Finds out what the different request lines of a block ask for, many at a time."""

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from goodbot.watch.counting.clients import PAGE_PLACES
from goodbot.watch.counting.columns import Ints, TextColumn
from goodbot.watch.counting.request_cache import RequestCache, trim
from goodbot.watch.counting.request_kinds import (
    ASSET_REQUEST,
    ATTACK_REQUEST,
    CLASSIFIED,
    PROBE_REQUEST,
    ROBOTS_TXT_REQUEST,
    VALID_REQUEST,
    RequestKind,
)

FEW: Final = 4000
"""Different request lines that are looked up one by one."""


@dataclass(slots=True)
class Requests:
    """For each different request line of a block: its kind, its page's place, and whether it is a HEAD request."""

    kinds: Ints
    page_bits: Ints
    is_head: Ints


class RequestColumns:
    """See `RequestCache`, which gives the same answers."""

    def __init__(self) -> None:
        self._cache = RequestCache()

    def read(self, column: TextColumn) -> Requests:
        """Reads the different request lines of a column."""
        if len(column.values) > FEW:
            return _read_many(column)
        trim(self._cache)
        found = [self._cache[request.decode("latin-1")] for request in column.octets()]
        kinds, bits, heads = zip(*found, strict=True) if found else ((), (), ())
        return Requests(np.array(kinds, np.int64), np.array(bits, np.int64), np.array(heads, np.int64))


def _read_many(column: TextColumn) -> Requests:
    octets = column.octets()
    texts = column.values
    if max(map(len, octets)) > CLASSIFIED:
        texts = pc.binary_slice(texts, 0, CLASSIFIED)

    def matches(pattern: str) -> npt.NDArray[np.bool_]:
        return np.asarray(pc.match_substring_regex(texts, pattern))

    kinds = np.full(len(octets), RequestKind.NONE, np.int64)
    kinds[matches(VALID_REQUEST)] = RequestKind.PAGE
    kinds[matches(ASSET_REQUEST)] = RequestKind.ASSET
    kinds[matches(ROBOTS_TXT_REQUEST)] = RequestKind.ROBOTS_TXT
    is_attack = matches(ATTACK_REQUEST) & (kinds != RequestKind.NONE)
    kinds[matches(PROBE_REQUEST) | is_attack] = RequestKind.PROBE
    places = np.fromiter(map(zlib.crc32, octets), np.uint64, len(octets)) % np.uint64(PAGE_PLACES)
    bits = np.where(kinds == RequestKind.PAGE, np.uint64(1) << places, np.uint64(0)).astype(np.int64)
    return Requests(kinds, bits, np.asarray(pc.starts_with(texts, "HEAD ")).astype(np.int64))
