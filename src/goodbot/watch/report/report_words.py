"""The sentences of the report, but for those about obedience. The terminal and the page both use them.

What ends in `_in_words` is a part of a sentence, without a full stop. Text from outside is made visible and cut; a page
must also escape it.
"""

from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_duration, human_time
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.judging import Verdict
from goodbot.watch.log_entries import SkipReason
from goodbot.watch.report.figure_words import addresses_in_words, percent
from goodbot.watch.report.signature_report import failures_in_words
from goodbot.watch.report.watch_report import UndeclaredReport, WatchReport

LISTED: Final[tuple[Verdict, ...]] = ("certain", "likely")
"""Verdicts of other addresses that the summary counts."""

LOCAL_TOLD: Final = 0.1
"""The share of requests from local addresses above which the report mentions proxies."""

SIGNERS_SHOWN: Final = 5

BAD_FORMAT: Final[tuple[SkipReason, ...]] = ("unknown format", "bad time", "bad status")
"""Lines that are skipped for these reasons may have a format that goodbot does not know."""

# ---- the summary ----------------------------------------------------------------------------------------------------


def counted_sentence(report: WatchReport) -> str:
    """Says how many requests came, and when; or why there are none."""
    counts = report.counts
    if counts.first_at is None or counts.last_at is None:
        return no_requests_sentence(report)
    about = "" if report.visitors_are_exact else "about "
    return (
        f"{counted(counts.requests, 'request')}, {human_bytes(counts.bytes)}, from "
        f"{about}{addresses_in_words(report.visitors)}, {human_time(counts.first_at)} to {human_time(counts.last_at)} "
        f"({human_duration(counts.last_at - counts.first_at)})"
    )


def no_requests_sentence(report: WatchReport) -> str:
    """Says why there is nothing to report."""
    if report.outside:
        return f"No requests in this period: --since or --until leaves out {counted(report.outside, 'request')}."
    return f"No requests in {counted(report.lines, 'line')}." if report.lines else "No requests: the logs are empty."


def not_seen_sentence(report: WatchReport) -> str:
    """Says that the robot the report is about did not come."""
    name = shown(report.only or "")
    if report.named_otherwise:
        requests = f"{counted(report.named_otherwise, 'request')} of other addresses"
        return (
            f"{name}: no request matches its pattern. {requests} have that name in the User-Agent in another form, and "
            "are not counted for it. A record of your own counts them (goodbot who --help)."
        )
    if report.counts.requests:
        return f"{name}: none of {counted(report.counts.requests, 'request')} names it."
    return no_requests_sentence(report)


def shares_sentence(report: WatchReport) -> str:
    """Says which share of the requests came from known robots, and which from other addresses that behaved like
    robots; in a report on one robot, its share."""
    requests = max(report.counts.requests, 1)
    if report.only is not None:
        known = percent(sum(robot.counts.requests for robot in report.robots) / requests)
        return f"{shown(report.only)} sent {known} of the requests."
    genuine, impostors = (
        sum(robot.counts.requests for robot in report.robots if (robot.tier == "impostor") is is_impostor)
        for is_impostor in (False, True)
    )
    known = f"Known robots sent {percent(genuine / requests)} of the requests"
    known += f", and their impostors {percent(impostors / requests)}." if impostors else "."
    found = {verdict: count for verdict in LISTED if (count := report.verdicts.get(verdict, 0))}
    if not found:
        judged = " that was judged" if report.proxies else ""
        return f"{known} No other address{judged} is a certain or likely robot."
    many = sum(found.values())
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    share = percent(sum(report.requests_by_verdict[verdict] for verdict in found) / requests)
    behaved = "address that behaved like a robot" if many == 1 else "addresses that behaved like robots"
    return f"{known} {many:,} other {behaved} ({verdicts}) sent {share}."


def proxies_sentence(report: WatchReport) -> str:
    """Warns if many requests come from local addresses; else empty."""
    share = report.local_requests / max(report.counts.requests, 1)
    if share < LOCAL_TOLD:
        return ""
    return (
        f"{percent(share)} of the requests come from local addresses such as {shown(report.local_address)}: from a "
        "proxy, or from your own network. goodbot cannot verify or judge who is behind a proxy. If the log has "
        "X-Forwarded-For, --real-ip takes the clients from it."
    )


def lines_sentences(report: WatchReport) -> Iterator[str]:
    """Says what was skipped or left out, and which formats the lines have."""
    skipped = sum(report.skipped.values())
    if skipped:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(report.skipped.items()))
        yield f"{counted(skipped, 'line')} skipped ({reasons})."
        if 2 * sum(report.skipped.get(reason, 0) for reason in BAD_FORMAT) > report.lines:
            yield "Is this an access log? If it is, describe its lines with --log-format (goodbot watch --help)."
    if report.outside and report.counts.requests:
        yield f"{counted(report.outside, 'request')} left out by --since or --until."
    if len(report.formats) == 1:
        yield f"Format of the lines: {shown(next(iter(report.formats)))}."
    elif report.formats:
        formats = ", ".join(f"{shown(name)} ({count:,})" for name, count in report.formats.items())
        yield f"Formats of the lines: {formats}."


def pooled_sentence(report: WatchReport) -> str:
    """Says how many addresses were counted one by one, if not all were; else empty."""
    pooled = report.pooled
    if not pooled.rows:
        return ""
    return (
        f"To limit memory, goodbot counted {pooled.kept:,} addresses one by one ({pooled.exact:,} of them certainly "
        f"completely). It pooled {counted(pooled.requests, 'request')} of other addresses, and did not judge them."
    )


# ---- other addresses ------------------------------------------------------------------------------------------------


def agent_in_words(agent: str) -> str:
    """Names the User-Agent."""
    return f"as {shown(agent)}" if agent else "without a User-Agent"


def points_in_words(one: UndeclaredReport) -> str:
    """Says the points and requests of an address, or of several that act as one."""
    missing = f" and up to {one.missing:,} more that are pooled" if one.missing else ""
    requests = f"{counted(one.requests, 'request')}{missing}"
    if not one.members:
        return f"{one.points} points, {requests}"
    alone = f"; {one.also_alone:,} also listed alone" if one.also_alone else ""
    return f"{one.points} points together ({one.together} one robot{alone}), {requests}"


def members_in_words(one: UndeclaredReport) -> str:
    """Returns how many addresses act as one, to follow their network: ` (6 addresses)`. Empty for a single one."""
    return f" ({addresses_in_words(one.addresses)})" if one.members else ""


def possible_in_words(count: int) -> str:
    """Says how many addresses are possibly robots."""
    return f"{count:,} more {'address is possibly a robot' if count == 1 else 'addresses are possibly robots'}"


def proxies_in_words(report: WatchReport) -> str:
    """Says how many local addresses were not judged; empty if all were."""
    if not report.proxies:
        return ""
    return f"{report.proxies:,} local {'address' if report.proxies == 1 else 'addresses'} with several User-Agents"


# ---- signatures -----------------------------------------------------------------------------------------------------


def signatures_sentence(report: WatchReport) -> str:
    """Says how many requests were signed (Web Bot Auth). Empty if none was, and no keys were given."""
    signatures = report.signatures
    if signatures.total.signed:
        more = "" if signatures.directories else " --keys FILE verifies them."
        return f"Signed (Web Bot Auth): {signatures_in_words(signatures.total)}.{more}"
    if not signatures.directories:
        return ""
    return (
        "No request has a signature in these logs: they need the fields Signature-Input, Signature, Signature-Agent "
        "and Host."
    )


def signers_in_words(report: WatchReport) -> Iterator[str]:
    """Says what became of the signatures of clients that are not on record, for each directory of keys."""
    named = [(name, counts) for name, counts in report.signatures.others if name]
    for name, counts in named[:SIGNERS_SHOWN]:
        text = f"signed with a key of {shown(name)}, by a User-Agent that is not on record"
        yield f"{text}: {signatures_in_words(counts)}"
    if len(named) > SIGNERS_SHOWN:
        yield f"{len(named) - SIGNERS_SHOWN:,} more; --json lists them all"


def signatures_in_words(counts: SignatureCounts) -> str:
    """Says how many requests were signed, and what became of the signatures."""
    parts = [f"{counts.verified:,} verified"] if counts.verified or not counts.failed else []
    if counts.replayed:
        parts.append(f"{counts.replayed:,} of them with a nonce that was used before")
    if counts.failed:
        parts.append(f"{sum(counts.failed.values()):,} not ({failures_in_words(counts)})")
    return f"{counted(counts.signed, 'request')}, {', '.join(parts)}"
