"""What signatures proved (Web Bot Auth), on a terminal: for `goodbot watch`."""

from collections.abc import Iterator

from goodbot.cli.printing import Line, wrapped
from goodbot.watch.report import WatchReport
from goodbot.watch.report.report_words import signatures_sentence, signers_in_words


def print_signatures(report: WatchReport) -> Iterator[Line]:
    """Says how many requests were signed, if any was or keys were given."""
    sentence = signatures_sentence(report)
    if sentence:
        yield from wrapped(sentence, "", "")
    for text in signers_in_words(report):
        yield from wrapped(text, "  ", "    ")
