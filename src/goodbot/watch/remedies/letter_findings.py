"""Writes the part of a letter that says what a report shows about the robot: its requests, and the rules they broke."""

from collections.abc import Iterator, Sequence
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_bytes, human_time
from goodbot.registry import KnownRobot
from goodbot.watch.remedies.saved_report import (
    SavedDelay,
    SavedObedience,
    SavedPeriod,
    SavedRate,
    SavedRobot,
    SavedRule,
    SavedShare,
)

LOG_LINE_CHARS: Final = 500
MOST_RULES: Final = 10
"""The most broken rules in a letter."""
MOST_LINES: Final = 5
"""The most log lines about one rule, and the most addresses."""
MOST_EVIDENCE: Final = 6
"""The most sentences of evidence about the sender."""

_ABOUT_VERIFYING: Final = ("no known way to verify it", "it can be verified by ")
"""How evidence begins that is about robots in general and not about these requests (`registry.verify`)."""

_ONE_FILE: Final = (
    "We judged these requests by our current robots.txt, and assume that it has not changed since the first of them."
)
_COPIES: Final = (
    "We compared each request with the version that was in force at its time, and counted only those that every "
    "version disallowed that the robot could have used."
)


def visits(robot: KnownRobot, reported: SavedRobot) -> str:
    """Says how many requests came, when, and whether the robot sent them."""
    sent = f"{counted(reported.requests, 'request')}, {human_bytes(reported.bytes)}{_period(reported.period)}"
    if reported.tier == "verified":
        return f"What happened: {sent}, from addresses of {robot.name} (verified)."
    known = robot.address_lists or robot.reverse_dns or robot.signatures
    doubt = "We could not verify that" if known else "We know no way to verify whether"
    requests = "this request" if reported.requests == 1 else "these requests"
    return (
        f"What happened: {sent}, in the name of {robot.name}. {doubt} your robot sent {requests}. Please tell us if it "
        "did not."
    )


def asked(reported: Sequence[SavedRobot]) -> list[str]:
    """Returns what the operator should make the robot do, as verbs without a subject. Empty if the report shows nothing
    that it did wrong: limits count as broken where `goodbot watch` says so."""
    judged = [(one, one.obedience) for one in reported if one.obedience is not None]
    broken = any(one.disallowed or any(_limits(obedience)) for one, obedience in judged)
    followed = any(obedience.nofollow and obedience.nofollow.followed for _, obedience in judged)
    return ["obey our robots.txt"] * broken + ["respect nofollow"] * followed


def broken_rules(reported: SavedRobot) -> Iterator[str]:
    """Says which rules the requests broke, with log lines."""
    obedience = reported.obedience
    if obedience is None:
        return
    if reported.disallowed:
        yield _disallowed(reported.disallowed, obedience)
    yield from (_rule(rule) for rule in obedience.rules[:MOST_RULES])
    if more := len(obedience.rules[MOST_RULES:]) + obedience.rules_left_out:
        yield f"{counted(more, 'more rule')} {_were(more)} broken."
    yield from _limits(obedience)
    nofollow = obedience.nofollow
    if nofollow is not None and nofollow.followed:
        yield (
            f"nofollow: {counted(nofollow.followed, 'request')} came from pages that ask robots not to follow their "
            f"links (by the Referer).{_log_lines(nofollow.log_lines)}"
        )


def _disallowed(count: int, obedience: SavedObedience) -> str:
    if obedience.judged == 1:
        return "The only request that we could judge was for a URL that our robots.txt disallows."
    share = f" ({_percent(obedience.share)})" if obedience.share else ""
    urls = "was for a URL" if count == 1 else "were for URLs"
    judged = f"the {obedience.judged:,} requests that we could judge{share}"
    return f"{count:,} of {judged} {urls} that our robots.txt disallows."


def on_robots_txt(reported: Sequence[SavedRobot], *, dated: bool) -> Iterator[str]:
    """Says with which robots.txt requests were compared, and whether the robot ever requested it. `dated`: there were
    dated copies."""
    yield _COPIES if dated else _ONE_FILE
    fetches = [one.obedience.robots_txt.fetches for one in reported if one.obedience and one.obedience.robots_txt]
    if fetches and not any(fetches):
        yield "The robot never requested our robots.txt in this time."


def recognized(reported: SavedRobot) -> str:
    """Says who sent the requests: the evidence of the report, and what the requests said. Empty without any."""
    evidence = [text for text in reported.evidence if not text.startswith(_ABOUT_VERIFYING)]
    said = [shown(text, 300) for text in evidence[:MOST_EVIDENCE]]
    said += [f"User-Agent: {shown(each.user_agent, 300)}" for each in reported.user_agents[:2]]
    if reported.busiest_addresses:
        said.append(f"addresses: {_addresses(reported)}")
    return "How we recognized it:" + "".join(f"\n  - {text}" for text in said) if said else ""


def has_log_lines(reported: Sequence[SavedRobot]) -> bool:
    """Whether the letter quotes lines of the log."""
    return any("\n    " in text for one in reported for text in broken_rules(one))


def _addresses(reported: SavedRobot) -> str:
    first = [shown(each.address, 60) for each in reported.busiest_addresses[:MOST_LINES]]
    more = max(reported.addresses.count, len(reported.busiest_addresses)) - len(first)
    about = "" if reported.addresses.exact else "about "
    return f"{', '.join(first)}{f' and {about}{more:,} more' if more else ''}"


def _period(period: SavedPeriod) -> str:
    if period.first is None or period.last is None:
        return ""
    first, last = human_time(period.first), human_time(period.last)
    return f", at {first}" if first == last else f", from {first} to {last}"


def _rule(rule: SavedRule) -> str:
    line = f"line {rule.line} of our robots.txt" if rule.line is not None else "our robots.txt"
    group = f", in the group for {', '.join(shown(name, 60) for name in rule.group[:5])}" if rule.group else ""
    copy = f", in the version of {human_time(rule.copy_at)}" if rule.copy_at is not None else ""
    times = _period(SavedPeriod(rule.first, rule.last))
    head = (
        f"{shown(rule.rule, 300)} ({line}{group}{copy}): {counted(rule.requests, 'request')}, "
        f"{human_bytes(rule.bytes)}{times}."
    )
    return head + _log_lines(rule.log_lines)


def _log_lines(lines: Sequence[str]) -> str:
    return "".join(f"\n    {shown(line, LOG_LINE_CHARS)}" for line in lines[:MOST_LINES])


def _limits(obedience: SavedObedience) -> Iterator[str]:
    """Says which limits were broken."""
    yield from (_delay(delay) for delay in obedience.crawl_delay if delay.is_broken)
    yield from (_rate(rate) for rate in obedience.request_rate if rate.is_broken)
    visit = obedience.visit_time
    if visit is not None and visit.is_broken:
        head = f"Visit-time: {visit.outside:,} of {counted(visit.requests, 'request')} came outside it."
        yield head + _log_lines(visit.log_lines)


def _delay(delay: SavedDelay) -> str:
    gaps = f"{delay.short:,} of {counted(delay.gaps, 'gap')} between two requests"
    return f"Crawl-delay: {delay.asked_s:g} seconds. {gaps} {_were(delay.short)} shorter."


def _rate(rate: SavedRate) -> str:
    periods = f"{rate.exceeded:,} of {counted(rate.windows, 'such period')}"
    return f"Request-rate: {rate.documents} in {rate.seconds:g} s. {periods} had more requests."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _percent(share: SavedShare) -> str:
    return f"{100 * share.value:.1f} %; 95 % interval {100 * share.low:.1f} to {100 * share.high:.1f} %"
