"""Figures of `goodbot watch` as only a terminal shows them, and how many it shows."""

from collections.abc import Iterator, Mapping
from typing import Final

from goodbot.cli.printing import Line, wrapped
from goodbot.human import counted
from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.report import WatchReport
from goodbot.watch.report.report_words import lines_sentences

UNDECLARED_SHOWN: Final = 10
PATHS_SHOWN: Final = 10
MEMBERS_SHOWN: Final = 3
PATH_CHARS: Final = 200

KINDS_IN_WORDS: Final = {
    RequestKind.PAGE: "pages",
    RequestKind.ASSET: "images, style sheets, scripts and the like",
    RequestKind.ROBOTS_TXT: "robots.txt",
    RequestKind.PROBE: "probes",
    RequestKind.NONE: "invalid",
}
USUAL_KINDS: Final = (RequestKind.PAGE, RequestKind.ASSET, RequestKind.ROBOTS_TXT)


_BARS: Final = "·▁▂▃▄▅▆▇█"


def statuses_in_words(statuses: Mapping[int, int]) -> str:
    """Lists statuses with their counts, the most frequent first."""
    most = sorted(statuses.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{status or 'none'}: {count:,}" for status, count in most)


def kinds_in_words(kinds: list[int]) -> str:
    """Names the kinds of requests; those that are unusual only if there are any."""
    named = ((name, kinds[kind], kind in USUAL_KINDS) for kind, name in KINDS_IN_WORDS.items())
    return "; ".join(f"{name}: {count:,}" for name, count, is_usual in named if count or is_usual)


def hours_in_words(hours: list[int]) -> str:
    """Draws 24 counts in one word. A point is an hour without a request."""
    most = max(hours)
    bars = "".join(_BARS[-(-count * 8 // most)] for count in hours)
    return f"{bars} busiest hour: {hours.index(most)} ({counted(most, 'request')})"


def lines_read(report: WatchReport) -> Iterator[Line]:
    """Says what was skipped or left out, and which formats the lines have."""
    for sentence in lines_sentences(report):
        yield from wrapped(sentence, "", "")
