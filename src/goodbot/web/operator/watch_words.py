"""Words of the report on access logs that only its page has. Its other sentences are those of the terminal
(`goodbot.watch.report`).

Text of the log within them is made visible; the templates escape it.
"""

import re
from collections.abc import Iterator
from typing import Final

from goodbot.human import counted, human_time
from goodbot.watch.counting.timeline import DAY_S, HOUR_S
from goodbot.watch.report import WatchReport
from goodbot.watch.report.obedience_words import elsewhere_sentence, rules_in_words
from goodbot.watch.report.report_words import lines_sentences, pooled_sentence, proxies_in_words

NOTHING_BROKEN: Final = "broke no rule"
"""What the page says for the `yes` of other formats: that a robot broke nothing does not prove that it obeys."""

_BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=%|(?:s|min|h|d|days|bytes?|[kMGT]B)\b)")


def unbroken(sentence: str) -> str:
    """Puts non-breaking spaces into a finished sentence: between a number and `%` or its unit."""
    return _BEFORE_UNIT.sub("\u00a0", sentence)


def rules_sentence(report: WatchReport) -> str:
    """Says by which robots.txt requests were judged, and what is to know about it."""
    if report.rules is None:
        return "No robots.txt was given, so this report does not say who obeyed it; --robots gives one."
    return f"Judged by {rules_in_words(report.rules)}. {elsewhere_sentence(report)}".rstrip()


def logs_sentences(report: WatchReport) -> Iterator[str]:
    """Says how many lines there are, what was skipped, left out or pooled, and which formats the lines have."""
    yield f"{counted(report.lines, 'line')}{'' if any(report.skipped.values()) else ', none skipped'}."
    yield from lines_sentences(report)
    if report.proxies:
        yield f"Not judged: {proxies_in_words(report)}."
    pooled = pooled_sentence(report)
    if pooled:
        yield pooled


# ---- charts ---------------------------------------------------------------------------------------------------------


def span_words(span_s: int) -> str:
    """Names a span of time: `hour`, `6 hours`, `day`, `2 weeks`."""
    for unit_s, unit in ((7 * DAY_S, "week"), (DAY_S, "day"), (HOUR_S, "hour")):
        if span_s >= unit_s:
            return unit if span_s == unit_s else f"{span_s // unit_s} {unit}s"
    return f"{span_s} s"


def start_words(at: int, span_s: int) -> str:
    """Writes the beginning of a span: a day, with the hour if spans are shorter than a day."""
    text = human_time(at)
    return text if len(text) != 23 else text[:10] if span_s >= DAY_S else text[:16]


def edge_words(seconds: int) -> str:
    """Writes an edge of the axis of gaps in a few characters: `32`, `17 min`, `2 h`, `6 d`."""
    if seconds < 1000:
        return str(seconds)
    for unit_s, unit in ((DAY_S, "d"), (HOUR_S, "h"), (60, "min")):
        if seconds >= 2 * unit_s or unit == "min":
            return f"{seconds / unit_s:,.0f} {unit}"
    return str(seconds)
