"""What the signatures of requests proved (Web Bot Auth), as values of a report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goodbot.registry.signed_request import FAILURES, KeyDirectory
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.counting.signature_counts import SignatureCounts, summed
from goodbot.watch.counting.tally import Tally


@dataclass(frozen=True, slots=True)
class SignaturesReport:
    """The signed requests."""

    directories: tuple[KeyDirectory, ...]
    """The keys by which they were verified."""
    total: SignatureCounts
    others: tuple[tuple[str, SignatureCounts], ...]
    """Of clients whose User-Agent names no known robot, by the name of the directory; an empty name if no directory has
    the key. Those with most requests first."""


def signatures_of(
    tally: Tally, robots: Iterable[RobotKey], directories: Sequence[KeyDirectory], *, with_others: bool
) -> SignaturesReport:
    """Makes the report for these robots; `with_others`: for all other clients too."""
    others = sorted(tally.signers.items(), key=lambda pair: (-pair[1].signed, pair[0])) if with_others else []
    total = summed([*(tally.robots[key].signatures for key in robots), *(counts for _, counts in others)])
    return SignaturesReport(tuple(directories), total, tuple(others))


def signature_evidence(key: RobotKey, counts: SignatureCounts) -> list[str]:
    """Returns what signatures say about a robot in one tier, one sentence for each fact."""
    sentences = []
    if counts.verified:
        one = counts.verified == 1
        requests = "1 request was" if one else f"{counts.verified:,} requests were"
        sentences.append(f"{requests} signed with a key of {key.name} (Web Bot Auth)")
    if counts.failed:
        failed = sum(counts.failed.values())
        requests = "1 signature proves" if failed == 1 else f"{failed:,} signatures prove"
        sentences.append(f"{requests} nothing ({failures_in_words(counts)})")
    return sentences


def failures_in_words(counts: SignatureCounts) -> str:
    """Names the reasons with their numbers."""
    return ", ".join(f"{reason}: {counts.failed[reason]:,}" for reason in FAILURES if reason in counts.failed)
