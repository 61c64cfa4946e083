"""Finds contents of a copy that are damaged, although they may be as long as they should be."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

from goodbot.index.copies.copy_manifest import FILES, is_content_name
from goodbot.places.place import Place

_PIECE_BYTES: Final = 4 << 20


class Verified(NamedTuple):
    """How many contents were read, their bytes, and the names of those that are damaged."""

    files: int
    size: int
    damaged: frozenset[str]


def verify_contents(target: Place, watch: Callable[[int, int], object]) -> Verified:
    """Reads all contents of a place, those of older versions too, and compares their SHA-256 with their names. `watch`
    gets how many bytes have been read, and how many there are. Raises RunError if the place cannot be read."""
    sizes = {name: size for name, size in target.list(FILES).items() if is_content_name(name)}
    total, done, damaged = sum(sizes.values()), 0, set[str]()
    watch(0, total)
    for name, size in sizes.items():
        digest, at = sha256(), 0
        while at < size and (piece := target.read(f"{FILES}/{name}", at, min(_PIECE_BYTES, size - at))):
            digest.update(piece)
            at += len(piece)
            watch(done + at, total)
        done += size
        if digest.hexdigest() != name:
            damaged.add(name)
    return Verified(len(sizes), total, frozenset(damaged))
