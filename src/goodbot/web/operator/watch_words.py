"""The sentences of the report on access logs. Text of the log within them is made visible; the templates escape it."""

from collections.abc import Iterator, Mapping
from typing import Final

from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_duration, human_time
from goodbot.registry import Tier
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.counting.timeline import DAY_S, HOUR_S
from goodbot.watch.judging import Verdict
from goodbot.watch.obedience.shares import Share
from goodbot.watch.report import (
    DisallowedReport,
    LimitReport,
    ObedienceReport,
    PathReport,
    RobotReport,
    UndeclaredReport,
    WatchReport,
    failures_in_words,
)

SOURCE_CHARS: Final = 300
SIGNERS_LISTED: Final = 5

LOCAL_TOLD: Final = 0.1
"""The share of requests from local addresses above which the report mentions proxies."""

LISTED: Final[tuple[Verdict, ...]] = ("certain", "likely")
"""Verdicts that the summary counts."""

TIERS: Final[Mapping[Tier, str]] = {
    "verified": "by the operator's ranges or DNS names",
    "declared": "not verified",
    "unknown": "not in the operator's ranges, but their list is dated more than 90 days before or after the request",
    "impostor": "not in the operator's ranges, or a name that no robot sends",
}

# ---- the summary ----------------------------------------------------------------------------------------------------


def counted_sentence(report: WatchReport) -> str:
    """Says how many requests came, and when; or why there are none."""
    counts = report.counts
    if counts.first_at is None or counts.last_at is None:
        return _no_requests(report)
    visitors = f"{'' if report.visitors_are_exact else 'about '}{addresses(report.visitors)}"
    return (
        f"{counted(counts.requests, 'request')}, {human_bytes(counts.bytes)}, from {visitors}, "
        f"{human_time(counts.first_at)} to {human_time(counts.last_at)} "
        f"({human_duration(counts.last_at - counts.first_at)})"
    )


def _no_requests(report: WatchReport) -> str:
    if report.outside:
        return f"No requests in this period: --since or --until leaves out {counted(report.outside, 'request')}."
    return f"No requests in {counted(report.lines, 'line')}." if report.lines else "No requests: the logs are empty."


def shares_sentence(report: WatchReport) -> str:
    """Says which share of the requests came from robots."""
    known = sum(robot.counts.requests for robot in report.robots) / max(report.counts.requests, 1)
    sentence = f"Known robots sent {percent(known)} of the requests."
    found = {verdict: count for verdict in LISTED if (count := report.verdicts.get(verdict, 0))}
    if report.only is not None:
        return f"{shown(report.only)} sent {percent(known)} of the requests."
    if not found:
        judged = " that was judged" if report.proxies else ""
        return f"{sentence} No other address{judged} is a certain or likely robot."
    many = sum(found.values())
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    share = sum(report.requests_by_verdict[verdict] for verdict in found) / max(report.counts.requests, 1)
    behaved = "address that behaved like a robot" if many == 1 else "addresses that behaved like robots"
    return f"{sentence} {many:,} other {behaved} ({verdicts}) sent {percent(share)}."


def rules_sentence(report: WatchReport) -> str:
    """Says by which robots.txt requests were judged, and what is to know about it."""
    rules = report.rules
    if rules is None:
        return "No robots.txt was given, so this report does not say who obeyed it; --robots gives one."
    versions = (
        f"{counted(rules.versions, 'version')} since {human_time(rules.since)}" if rules.since is not None else ""
    )
    notes = "; ".join([*([versions] if versions else []), *(shown(note, SOURCE_CHARS) for note in rules.notes)])
    judged = f"Judged by {shown(rules.source, SOURCE_CHARS)}{f': {notes}' if notes else ''}."
    hosts = ", ".join(f"{shown(host)} ({count:,})" for host, count in report.elsewhere)
    return f"{judged} Not judged are requests to other hosts: {hosts}." if hosts else judged


def not_seen_sentence(report: WatchReport) -> str:
    """Says that the robot the report is about did not come."""
    if report.named_otherwise:
        return (
            f"No request matches the pattern of {shown(report.only or '')}. "
            f"{counted(report.named_otherwise, 'request')} of other addresses have that name in the User-Agent in "
            "another form, and are not counted for it."
        )
    return f"None of {counted(report.counts.requests, 'request')} names {shown(report.only or '')}."


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
    """Says what was skipped, left out or pooled, and which formats the lines have."""
    skipped = sum(report.skipped.values())
    reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(report.skipped.items()))
    yield f"{counted(report.lines, 'line')}, {f'{skipped:,} skipped ({reasons})' if skipped else 'none skipped'}."
    if report.outside:
        yield f"{counted(report.outside, 'request')} left out by --since or --until."
    if report.formats:
        formats = ", ".join(f"{shown(name)} ({count:,})" for name, count in report.formats.items())
        yield f"Formats of the lines: {formats}."
    if report.proxies:
        several = "address" if report.proxies == 1 else "addresses"
        yield f"Not judged: {report.proxies:,} local {several} with several User-Agents."
    pooled = report.pooled
    if pooled.rows:
        yield (
            f"To limit memory, goodbot counted {pooled.kept:,} addresses one by one ({pooled.exact:,} of them "
            f"certainly completely). It pooled {counted(pooled.requests, 'request')} of other addresses, and did not "
            "judge them."
        )


def signatures_sentences(report: WatchReport) -> Iterator[str]:
    """Says how many requests were signed (Web Bot Auth), if any was or keys were given."""
    signatures = report.signatures
    if not signatures.total.signed:
        if signatures.directories:
            yield "No request has a signature in these logs."
        return
    more = "" if signatures.directories else " --keys FILE verifies them."
    yield f"Signed (Web Bot Auth): {signed_words(signatures.total)}.{more}"
    named = [(name, counts) for name, counts in signatures.others if name]
    for name, counts in named[:SIGNERS_LISTED]:
        yield (f"Signed with a key of {shown(name)}, by a User-Agent that is not on record: {signed_words(counts)}.")
    if named[SIGNERS_LISTED:]:
        yield f"{len(named) - SIGNERS_LISTED:,} more keys are left out here; --json lists them all."


def signed_words(counts: SignatureCounts) -> str:
    """Says how many requests were signed, and what became of the signatures."""
    parts = [f"{counts.verified:,} verified"] if counts.verified or not counts.failed else []
    if counts.replayed:
        parts.append(f"{counts.replayed:,} of them with a nonce that was used before")
    if counts.failed:
        parts.append(f"{sum(counts.failed.values()):,} not ({failures_in_words(counts)})")
    return f"{counted(counts.signed, 'request')}, {', '.join(parts)}"


# ---- obedience ------------------------------------------------------------------------------------------------------


def is_evident(one: ObedienceReport) -> bool:
    """Whether there is evidence that a robot did not obey."""
    return one.disallowed > 0 or one.obeyed == "paths only"


def disallowed_words(one: ObedienceReport) -> str:
    """Says how many of the requests were disallowed."""
    return f"{one.disallowed:,} of {counted(one.judged, 'request')} disallowed, {share_words(one.share)}"


def kept_apart(one: ObedienceReport) -> Iterator[str]:
    """Says which requests were not judged, and why."""
    if one.in_grace:
        yield f"{counted(one.in_grace, 'request')} that an older version allowed until 24 hours ago"
    if one.not_known:
        yield f"{counted(one.not_known, 'request')} before the first copy of robots.txt"


def limit_words(limit: LimitReport) -> str:
    """Says how a Crawl-delay or Request-rate was kept."""
    asked, judged = limit.limit, limit.judged
    if asked.documents == 1:
        return (
            f"asked for {_seconds(asked.seconds)} between requests: {limit.broken:,} of {counted(judged, 'gap')} "
            f"shorter, {share_words(limit.share)}"
        )
    rate = f"at most {asked.documents:,} requests in {_seconds(asked.seconds)}"
    return (
        f"asked for {rate}: exceeded in {limit.broken:,} of {counted(judged, 'time span')}, {share_words(limit.share)}"
    )


def _seconds(seconds: float) -> str:
    return seconds_text(seconds).replace(" ", "\u00a0")


def visits_words(one: ObedienceReport) -> str:
    """Says how many requests came outside the hours of Visit-time; empty without one."""
    if one.visits is None:
        return ""
    outside = f"{one.visits.outside:,} of {counted(one.visits.requests, 'request')}"
    return f"outside the hours of Visit-time: {outside}, {share_words(one.visits.share)}"


def followed_words(one: ObedienceReport) -> str:
    """Says how many links of pages with nofollow were followed."""
    return f"nofollow ignored: {counted(one.followed, 'request')} with a Referer that is a page with nofollow"


def share_words(share: Share | None) -> str:
    """Writes a share with its 95 % interval: `49.7 % [42.1–57.3]`."""
    if share is None:
        return "none was judged"
    return f"{percent(share.value)} [{100 * share.low:.1f}–{100 * share.high:.1f}]"


def percent(share: float) -> str:
    """Writes a share in percent, on one line."""
    return f"{100 * share:.1f}\u00a0%" if share >= 0.0005 or not share else "<\u00a00.1\u00a0%"


# ---- addresses, paths, times ----------------------------------------------------------------------------------------


def addresses(count: int) -> str:
    """Writes a number of addresses."""
    return f"{count:,} {'address' if count == 1 else 'addresses'}"


def busiest_words(robot: RobotReport, most: int) -> str:
    """Lists the busiest addresses of a robot with their requests."""
    listed = robot.busiest[:most]
    text = ", ".join(f"{shown(address)} ({count:,})" for address, count in listed)
    others = robot.counts.requests - sum(count for _, count in listed)
    return f"{text} and others ({others:,})" if others > 0 and robot.addresses > len(listed) else text


def figures_words(one: UndeclaredReport) -> str:
    """Says the points and requests of another address."""
    missing = f" and up to {one.missing:,} more that are pooled" if one.missing else ""
    requests = f"{counted(one.requests, 'request')}{missing}, {human_bytes(one.bytes)}"
    if not one.members:
        return f"{one.points} points, {requests}"
    alone = f"; {one.also_alone:,} also listed alone" if one.also_alone else ""
    return f"{addresses(one.addresses)}, {one.points} points together ({one.together} one robot{alone}), {requests}"


def bounds_words(disallowed: DisallowedReport, requests: int) -> str:
    """Writes a count of disallowed requests, or its bounds."""
    most = min(disallowed.at_most, requests)
    return f"{disallowed.requests:,}" if most <= disallowed.requests else f"{disallowed.requests:,} to {most:,}"


def path_count(path: PathReport) -> str:
    """Writes the requests of a path: a number, or the bounds between which it lies."""
    return f"{path.requests:,}" if path.requests == path.at_most else f"{path.requests:,} to {path.at_most:,}"


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
