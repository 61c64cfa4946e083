"""Concrete URLs for the patterns of rules: those that a change of these rules may open or close."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

MAX_PATTERN_CHARS: Final = 1000
"""Longer patterns are not probed."""

MAX_PAIRED: Final = 40
"""How many changed patterns, and how many others, are combined in pairs."""

_REPEATED: Final = 4
"""How many paths are made for each that is kept: some are equal."""

ALWAYS: Final = ("/", "/x", "/x/y.html")


def probes(changed: Iterable[str], others: Iterable[str], most: int) -> tuple[list[str], bool]:
    """Returns at most `most` different paths: first those of the changed patterns, then those that a changed pattern
    and another one match together, then those of the others. Also returns False if `most` was too low to try every
    changed pattern, else True. Patterns are sorted by length first, since short ones decide about more URLs."""
    sorted_changed, sorted_others = _short_first(changed), _short_first(others)
    first = list(islice(_of_changed(sorted_changed), most * _REPEATED))
    found = dict.fromkeys(first)
    is_whole = len(first) < most * _REPEATED and len(found) <= most
    if len(found) < most:
        found |= dict.fromkeys(islice(_of_others(sorted_changed, sorted_others), most * _REPEATED))
    return list(found)[:most], is_whole


def _short_first(patterns: Iterable[str]) -> list[str]:
    return sorted(
        (pattern for pattern in patterns if len(pattern) <= MAX_PATTERN_CHARS), key=lambda each: (len(each), each)
    )


def _of_changed(changed: list[str]) -> Iterator[str]:
    yield from ALWAYS
    for pattern in changed:
        yield from paths_of(pattern)


def _of_others(changed: list[str], others: list[str]) -> Iterator[str]:
    both = [*changed[:MAX_PAIRED], *others[:MAX_PAIRED]]
    for pattern in changed[:MAX_PAIRED]:
        for other in both:
            yield from _pair(pattern, other)
            yield from _pair(other, pattern)
    for pattern in others:
        yield from paths_of(pattern)


def paths_of(pattern: str) -> Iterator[str]:
    """Yields paths that a pattern matches, with `*` as nothing, a letter and a folder, then paths just below, just
    beside and just above it, which it may match or not."""
    body = pattern.removesuffix("$")
    for fill in ("", "x", "x/y") if "*" in body else ("",):
        path = _rooted(body.replace("*", fill))
        yield path
        yield f"{path}x"
        if not path.endswith("/"):
            yield f"{path}/x"
        yield f"{path}?x=1"
        yield path[:-1] or "/"


def _pair(first: str, second: str) -> Iterator[str]:
    """Yields a path that begins as `first` does and goes on as `second` does; both may match it."""
    tail = second.removesuffix("$")
    head = first.removesuffix("$").replace("*", "x")
    if "*" in tail:
        start, _, rest = tail.partition("*")
        if _rooted(head).startswith(start):
            yield _rooted(head + rest.replace("*", "x"))
    elif tail.startswith(first.removesuffix("$").rstrip("*")):
        yield _rooted(tail)


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
