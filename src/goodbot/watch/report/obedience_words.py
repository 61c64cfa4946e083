"""What the report says about obedience, in parts of sentences. The terminal and the page both use them.

Text from outside is made visible and cut; a page must also escape it. `short` writes shares as `share_in_words` does.
"""

from typing import Final

from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_time
from goodbot.watch.report.figure_words import bounds_in_words, share_in_words
from goodbot.watch.report.obedience_report import LimitReport, ObedienceReport, RulesReport, VisitReport
from goodbot.watch.report.watch_report import UndeclaredReport, WatchReport

HOSTS_SHOWN: Final = 5
SOURCE_CHARS: Final = 300
"""Characters that are shown of the name of a file, or of a note about it."""

# ---- the rules ------------------------------------------------------------------------------------------------------


def rules_in_words(rules: RulesReport) -> str:
    """Names the robots.txt by which requests were judged, and says what is to know about it."""
    versions = (
        f"{counted(rules.versions, 'version')} since {human_time(rules.since)}" if rules.since is not None else ""
    )
    said = [shown(text, SOURCE_CHARS) for text in (versions, *rules.notes) if text]
    source = shown(rules.source, SOURCE_CHARS)
    return f"{source}: {'; '.join(said)}" if said else source


def elsewhere_sentence(report: WatchReport) -> str:
    """Says that requests to other hosts were not judged, or that those to several hosts were; empty if the log names
    one host or none."""
    if report.elsewhere:
        hosts = _hosts(report.elsewhere)
        return f"Not judged are requests to other hosts: {hosts}. --host names the host whose requests are judged."
    if len(report.hosts) > 1:
        return (
            f"The log names several hosts: {_hosts(report.hosts)}. Requests to all of them are judged by this "
            "robots.txt; --host limits that to one."
        )
    return ""


def _hosts(found: tuple[tuple[str, int], ...]) -> str:
    hosts = ", ".join(f"{shown(host)} ({count:,})" for host, count in found[:HOSTS_SHOWN])
    return f"{hosts} and others" if len(found) > HOSTS_SHOWN else hosts


def since_in_words(since: float | None) -> str:
    """Says since when a version of robots.txt is known."""
    return human_time(since) if since is not None else "all times"


# ---- requests -------------------------------------------------------------------------------------------------------


def disallowed_in_words(one: ObedienceReport) -> str:
    """Says how many of the requests were disallowed."""
    return f"{one.disallowed:,} of {counted(one.judged, 'request')} disallowed, {share_in_words(one.share)}"


def grace_in_words(one: ObedienceReport) -> str:
    """Says how many requests are not held against the robot because robots.txt has changed; empty if there are none."""
    if not one.in_grace:
        return ""
    are = "is" if one.in_grace == 1 else "are"
    return f"{counted(one.in_grace, 'more request')} {are} disallowed by the latest version only"


def not_known_in_words(one: ObedienceReport) -> str:
    """Says how many requests are older than all copies of robots.txt; empty if there are none."""
    return f"{counted(one.not_known, 'request')} before the first copy of robots.txt" if one.not_known else ""


def address_in_words(one: UndeclaredReport) -> str:
    """Says how many requests of another address were disallowed; empty if there are none."""
    if one.disallowed is None or not one.disallowed.at_most:
        return ""
    bounds = bounds_in_words(one.disallowed.requests, min(one.disallowed.at_most, one.requests))
    return f"robots.txt disallows {bounds} of its requests"


# ---- pace, hours, links ---------------------------------------------------------------------------------------------


def limit_in_words(limit: LimitReport, *, short: bool = False) -> str:
    """Says how a Crawl-delay or Request-rate was kept."""
    asked, share = limit.limit, share_in_words(limit.share, short=short)
    if asked.documents == 1:
        return (
            f"robots.txt asks for {seconds_text(asked.seconds)} between requests: {limit.broken:,} of "
            f"{counted(limit.judged, 'gap')} shorter, {share}"
        )
    return (
        f"robots.txt asks for at most {asked.documents:,} requests in {seconds_text(asked.seconds)}: exceeded in "
        f"{limit.broken:,} of {counted(limit.judged, 'time span')}, {share}"
    )


def visits_in_words(visits: VisitReport, *, short: bool = False) -> str:
    """Says how many requests came outside the hours of Visit-time."""
    outside = f"{visits.outside:,} of {counted(visits.requests, 'request')}"
    return f"outside the hours of Visit-time: {outside}, {share_in_words(visits.share, short=short)}"


def followed_in_words(one: ObedienceReport) -> str:
    """Says how many links of pages with nofollow were followed."""
    return f"followed links of pages with nofollow: {counted(one.followed, 'request')} with such a page as Referer"
