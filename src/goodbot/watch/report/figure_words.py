"""Figures of the report in words: shares, addresses, paths, tiers. The terminal and the page both use them."""

from collections.abc import Collection, Mapping
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.registry import Tier
from goodbot.watch.obedience.shares import Share
from goodbot.watch.report.watch_report import PathReport, RobotReport

TIERS_IN_SHORT: Final[Mapping[Tier, str]] = {
    "verified": "by the operator's ranges or DNS names",
    "declared": "not verified",
    "unknown": "not in the operator's ranges, but their list is dated more than 90 days before or after the request",
    "impostor": "not in the operator's ranges, or a name that no robot sends",
}


def tiers_in_words(tiers: Collection[Tier]) -> str:
    """Says what these tiers mean."""
    return "; ".join(f"{tier}: {meaning}" for tier, meaning in TIERS_IN_SHORT.items() if tier in tiers)


# ---- shares ---------------------------------------------------------------------------------------------------------


def percent(share: float) -> str:
    """Writes a share in percent."""
    return f"{100 * share:.1f} %" if share >= 0.0005 or not share else "less than 0.1 %"


def narrow_percent(share: float) -> str:
    """Does the same for a narrow column."""
    return percent(share).replace("less than ", "<")


def share_in_words(share: Share | None, *, short: bool = False) -> str:
    """Writes a share with its interval: `49.7 % (95 % interval 42.1–57.3)`. `short`: `49.7 % [42.1–57.3]`, for a table
    that explains the brackets."""
    if share is None:
        return "none was judged"
    interval = f"{100 * share.low:.1f}–{100 * share.high:.1f}"
    return (
        f"{narrow_percent(share.value)} [{interval}]" if short else f"{percent(share.value)} (95 % interval {interval})"
    )


# ---- counts ---------------------------------------------------------------------------------------------------------


def bounds_in_words(least: int, most: int) -> str:
    """Writes a count, or the bounds between which it lies."""
    return f"{least:,}" if most <= least else f"{least:,} to {most:,}"


def path_count(path: PathReport) -> str:
    """Writes the requests of a path."""
    return bounds_in_words(path.requests, path.at_most)


def addresses_in_words(count: int) -> str:
    """Writes a number of addresses."""
    return f"{count:,} {'address' if count == 1 else 'addresses'}"


def busiest_in_words(robot: RobotReport, most: int) -> str:
    """Lists the busiest addresses of a robot with their requests."""
    listed = robot.busiest[:most]
    text = ", ".join(f"{shown(address)} ({count:,})" for address, count in listed)
    others = robot.counts.requests - sum(count for _, count in listed)
    return f"{text} and others ({others:,})" if others > 0 and robot.addresses > len(listed) else text


def sent_in_words(robot: RobotReport, most: int) -> str:
    """Says how many requests came from which addresses."""
    return f"{counted(robot.counts.requests, 'request')} from {busiest_in_words(robot, most)}"
