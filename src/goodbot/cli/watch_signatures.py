"""What signatures proved (Web Bot Auth), on a terminal: for `goodbot watch`."""

from collections.abc import Iterator
from typing import Final

from goodbot.cli.printing import Line, wrapped
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.report import WatchReport, failures_in_words

SIGNERS_SHOWN: Final = 5


def print_signatures(report: WatchReport) -> Iterator[Line]:
    """Says how many requests were signed, if any was or keys were given."""
    signatures = report.signatures
    if not signatures.total.signed:
        if signatures.directories:
            yield from wrapped(
                "No request has a signature in these logs: they need the fields Signature-Input, Signature, "
                "Signature-Agent and Host.",
                "",
                "",
            )
        return
    more = "" if signatures.directories else " --keys FILE verifies them."
    yield from wrapped(f"Signed (Web Bot Auth): {signatures_in_words(signatures.total)}.{more}", "", "")
    named = [(name, counts) for name, counts in signatures.others if name]
    for name, counts in named[:SIGNERS_SHOWN]:
        text = f"signed with a key of {shown(name)}, by a User-Agent that is not on record"
        yield from wrapped(f"{text}: {signatures_in_words(counts)}", "  ", "    ")
    if len(named) > SIGNERS_SHOWN:
        yield (f"  {len(named) - SIGNERS_SHOWN:,} more; --json lists them all",)


def signatures_in_words(counts: SignatureCounts) -> str:
    """Says how many requests were signed, and what became of the signatures."""
    parts = [f"{counts.verified:,} verified"] if counts.verified or not counts.failed else []
    if counts.replayed:
        parts.append(f"{counts.replayed:,} of them with a nonce that was used before")
    if counts.failed:
        parts.append(f"{sum(counts.failed.values()):,} not ({failures_in_words(counts)})")
    return f"{counted(counts.signed, 'request')}, {', '.join(parts)}"
