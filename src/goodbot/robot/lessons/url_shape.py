"""Recognises traps by the URL alone, and gives a reason for each refusal. Pure."""

import re
from collections import Counter
from typing import Final

MAX_CHARS: Final = 2048
"""No page that people link to by hand has a longer URL: sitemaps (sitemaps.org) and browsers do not accept one."""

MAX_SEGMENTS: Final = 50
MAX_PARAMETERS: Final = 30
MAX_SAME_PARAMETER: Final = 4
"""Parameters with the same name and value."""

MAX_PERIOD: Final = 8
"""Path segments of a group that may repeat."""
SINGLE_TIMES: Final = 4
GROUP_TIMES: Final = 3
"""Repetitions in a row that are refused. /en/en/en/ occurs on the Web, a pair three times does not. None of 85,378
addresses of 27 real sites is refused."""

_SHORT: Final = 40
"""Shorter targets cannot repeat anything often enough to matter."""
_NUMBER: Final = re.compile(r"[0-9]++")


def trap_in_url(text: str) -> str | None:
    """Returns why a URL is a trap; None if its text does not show one. 0.2 µs for most; linear."""
    start = text.find("/", 8)
    if len(text) - start < _SHORT and text.count("/") < 2 + SINGLE_TIMES:
        return None
    if len(text) > MAX_CHARS:
        return f"a URL of {len(text)} characters, more than {MAX_CHARS}"
    path, mark, query = text[start:].partition("?")
    if path.count("/") >= SINGLE_TIMES and (reason := _trap_in_path(path)):
        return reason
    return _trap_in_query(text[:start] + path, query) if mark else None


def _trap_in_path(path: str) -> str | None:
    segments = path.strip("/").split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"a trap: a path of {len(segments)} folders"
    if len(set(segments)) > len(segments) - 3:  # any repetition that is refused leaves at least three fewer
        return None
    for period in range(1, min(MAX_PERIOD, len(segments) // GROUP_TIMES) + 1):
        times = SINGLE_TIMES if period == 1 else GROUP_TIMES
        place = _repeats(segments, period, times)
        if place is not None:
            return f"a trap: /{'/'.join(segments[place : place + period])} occurs {times} times in a row"
    return None


def _repeats(segments: list[str], period: int, times: int) -> int | None:
    """Returns where a group of `period` segments occurs `times` times in a row. Numbers and single letters are
    ignored: dates, ids, and names stored under their first letters have such paths."""
    run = 0
    for place in range(len(segments) - period):
        run = run + 1 if segments[place] == segments[place + period] else 0
        if run == period * (times - 1):
            start = place + 1 - run
            if all(_NUMBER.fullmatch(segment) for segment in segments[start : start + period]):
                continue
            if period == 1 and len(segments[start]) == 1:
                continue
            return start
    return None


def _trap_in_query(address: str, query: str) -> str | None:
    parts = query.split("&")
    if len(parts) > MAX_PARAMETERS:
        return f"a trap: {len(parts)} parameters, more than {MAX_PARAMETERS}"
    if len(parts) > MAX_SAME_PARAMETER:
        part, times = Counter(parts).most_common(1)[0]
        if times > MAX_SAME_PARAMETER or _repeats_parameters(parts):
            return f"a trap: the parameter {part[:80]} is repeated"
    if query.count("%3F") + query.count("%3f") + query.count("?") and _contains_itself(address, query):
        return "a trap: the query contains the page's own address and query"
    return None


def _repeats_parameters(parts: list[str]) -> bool:
    """Returns whether the same parameters in the same order occur three times in a row."""
    return any(_repeats(parts, period, GROUP_TIMES) is not None for period in range(2, min(10, len(parts) // 3) + 1))


def _contains_itself(address: str, query: str) -> bool:
    """Returns whether the query contains the URL's own path twice: once is usual for a login that leads back."""
    path = address[address.find("/", 8) :]
    if len(path) < 2:
        return False
    plain = query.replace("%252F", "/").replace("%252f", "/").replace("%2F", "/").replace("%2f", "/")
    return plain.count(path) >= 2
