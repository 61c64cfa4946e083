"""Writes a robots.txt from a policy, and merges several robots.txt into one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from goodbot.check.names import EVERYONE, token_of
from goodbot.check.pattern_checks import pattern_bytes
from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.robotstxt.matching import Matcher
from goodbot.exclusion.robotstxt.timing import parse_delay
from goodbot.exclusion.text.octets import compared_pattern
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import Record, Rule
from goodbot.registry import PURPOSES, Purpose, tokens_for


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotLimits:
    """What some robots may fetch: `close` and `open` are path patterns, `delay` is the seconds between two requests."""

    close: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    delay: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner of a site allows. Raises InputError for values that cannot be written.

    `everyone` says whether the site is open to robots that are not named here, within `bounds`. With `only`, the robots
    with these product tokens may fetch the site, and all others may not. `no` excludes the robots with these purposes,
    except those in `only`; `no_robots` excludes robots by name. `robots` adds limits for single robots. An excluded
    robot may fetch only the paths in the `open` of its own limits. If several patterns match, the longest decides; if
    two are equally long, `open` wins.
    """

    everyone: Literal["open", "closed"] = "open"
    bounds: RobotLimits = field(default_factory=RobotLimits)
    only: tuple[str, ...] = ()
    no: tuple[Purpose, ...] = ()
    no_robots: tuple[str, ...] = ()
    robots: Mapping[str, RobotLimits] = field(default_factory=dict)
    sitemaps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for bounds in (self.bounds, *self.robots.values()):
            for path in (*bounds.close, *bounds.open):
                _check_path(path)
            if bounds.delay is not None and parse_delay(_number(bounds.delay)) is None:
                raise InputError(f"a delay must be a number of seconds, 0 or more, not {bounds.delay}")
        for token in (*self.only, *self.no_robots, *self.robots):
            _check_token(token)
        for purpose in self.no:
            if purpose not in PURPOSES:
                raise InputError(f"there is no purpose {purpose!r}; the purposes are {', '.join(PURPOSES)}")
        for sitemap in self.sitemaps:
            if not sitemap.startswith(("http://", "https://")) or not sitemap.isprintable() or " " in sitemap:
                raise InputError(f"a sitemap must be a full URL, not {sitemap!r}")
        excluded = {token.lower() for token in self.no_robots}
        if both := [token for token in self.only if token.lower() in excluded]:
            raise InputError(f"`only` lets {both[0]} in and `no_robots` keeps it out: remove one of the two")


def _check_path(path: str) -> None:
    if not path.startswith(("/", "*")) or "#" in path or " " in path or not path.isprintable():
        raise InputError(f"{path!r} is not a valid path: it must begin with / or * and contain no space or #")


def _check_token(token: str) -> None:
    if not token or token == "*" or not token.isprintable() or set(token) & set("*:#/ \t"):
        raise InputError(f"{token!r} is not the product token of a robot")


def _number(seconds: float) -> str:
    """Formats seconds as Crawl-delay is read: digits and a point, no exponent."""
    return f"{Decimal(str(seconds)):f}".removesuffix(".0")


_CLOSED = RobotLimits(close=("/",))


def write_robotstxt(policy: Policy) -> bytes:
    """Builds the file, in UTF-8. Each group has all rules for its robots, because it replaces the group for `*`
    (RFC 9309 §2.2.1)."""
    admitted = {token.lower(): token for token in policy.only}
    excluded = _excluded(policy)
    named = {token.lower(): token for token in policy.robots}
    signals = ["Content-Signal: ai-train=no"] if "ai-training" in policy.no else []
    common = [policy.bounds]
    for_all = [_CLOSED, *common] if policy.only or policy.everyone == "closed" else common
    groups: list[str] = []
    if without_limits := [token for key, token in excluded.items() if key not in named]:
        groups.append(_group(without_limits, ["Disallow: /"]))
    for key, token in named.items():
        own = [bounds for name, bounds in policy.robots.items() if name.lower() == key]
        if key in excluded:
            shared = [_CLOSED, RobotLimits(delay=policy.bounds.delay)]
        else:
            shared = common if key in admitted else for_all
        groups.append(_group([token], [*signals, *_rules(*shared, *own)]))
    if admitted.keys() - named.keys():
        names = [token for key, token in admitted.items() if key not in named]
        groups.append(_group(names, [*signals, *_rules(*common)]))
    groups.append(_group(["*"], [*signals, *_rules(*for_all)]))
    if policy.sitemaps:
        groups.append("\n".join(f"Sitemap: {sitemap}" for sitemap in policy.sitemaps))
    return ("\n\n".join(groups) + "\n").encode()


def _excluded(policy: Policy) -> dict[str, str]:
    """Returns the tokens of excluded robots, by their names in lower case, without those that `only` admits."""
    by_name = {token.lower(): token for token in policy.no_robots}
    by_purpose = {token.lower(): token for token in tokens_for(*policy.no)} if policy.no else {}
    admitted = {token.lower() for token in policy.only}
    return by_name | {key: by_purpose[key] for key in sorted(by_purpose) if key not in admitted and key not in by_name}


def _group(tokens: Iterable[str], lines: Iterable[str]) -> str:
    return "\n".join([*(f"User-agent: {token}" for token in tokens), *lines])


def _rules(*bounds: RobotLimits) -> list[str]:
    """Returns the rules, longest first and Allow before Disallow, so that robots that take the first match agree."""
    rules = {path: False for each in bounds for path in each.close}
    rules |= {path: True for each in bounds for path in each.open}
    ordered = sorted(rules.items(), key=lambda rule: (-pattern_bytes(rule[0]), not rule[1], rule[0]))
    lines = [f"{'Allow' if allow else 'Disallow'}: {path}" for path, allow in ordered]
    delays = [each.delay for each in bounds if each.delay is not None]
    if not any(line.startswith("Disallow") for line in lines):
        lines = ["Disallow:"]  # Allow rules have no effect without a Disallow rule
    return [*lines, *([f"Crawl-delay: {_number(max(delays))}"] if delays else [])]


# ---- several files --------------------------------------------------------------------------------------------------


def merge_robotstxt(bodies: Sequence[bytes]) -> tuple[bytes, list[str]]:
    """Merges the files of several authors into one for their server, in which each robot is disallowed every path that
    one of the files disallows for it.

    Also returns warnings: one for each Allow rule that is left out because it could override a Disallow rule of another
    file, one for Noindex lines that are left out, and one for different Host lines. The files are read and written by
    RFC 9309. Each robot gets the longest delay that a file sets for it. All `Sitemap`, `License`, `Clean-param` and
    `Host` lines and the other records of its groups are kept, each once.
    """
    files = [RobotsTxt.parse(body) for body in bodies]
    left_out: dict[str, None] = {}
    groups: dict[tuple[str, ...], list[str]] = {}
    for token in _tokens(files):
        groups.setdefault(tuple(_merged(files, token, left_out)), []).append(token)
    parts = [_group(names, lines) for lines, names in groups.items()]
    records = [record for file in files for record in file.records]
    if outside := list(_outside_groups(records)):
        parts.append("\n".join(outside))
    text = ("\n\n".join(parts) + "\n").encode("utf-8", "replace") if parts else b""
    return text, [*left_out, *_warnings(records)]


def _warnings(records: Iterable[Record]) -> Iterator[str]:
    """Yields warnings about records that are not rules."""
    values: dict[str, dict[str, str]] = {"noindex": {}, "host": {}}
    for _, name, value in records:
        if value and name in values:
            values[name].setdefault(value.lower() if name == "host" else value, value)
    unread, hosts = (list(each.values()) for each in values.values())
    if unread:
        more = f" and {len(unread) - 1} more are" if len(unread) > 1 else " is"
        yield f"`Noindex: {shown(unread[0])}`{more} left out: no robot reads Noindex in robots.txt any more"
    if len(hosts) > 1:
        first, second = (f"`Host: {shown(host)}`" for host in hosts[:2])
        more = f" and {len(hosts) - 2} more" if len(hosts) > 2 else ""
        yield f"the files name different hosts, and a site has one; all are kept: {first}, {second}{more}"


def _outside_groups(records: Sequence[Record]) -> Iterator[str]:
    """Yields the records that belong to no group, each once, field by field."""
    for name in ("Host", "Clean-param", "License", "Sitemap"):
        values = dict.fromkeys(value for _, field, value in records if field == name.lower() and value)
        yield from (f"{name}: {value}" for value in values)


def _tokens(files: Iterable[RobotsTxt]) -> list[str]:
    """Returns the tokens that the files name, as robots compare them, with `*` last."""
    names = {token_of(agent) for file in files for group in file.groups for agent in group.agents} - {""}
    return sorted(names, key=lambda name: (name == EVERYONE, name))


def _merged(files: Sequence[RobotsTxt], token: str, left_out: dict[str, None]) -> Iterator[str]:
    """Yields the rules of all files for one robot."""
    matchers = [file.matcher(token) for file in files]
    rules = [[rule for group in matcher.groups for rule in group.rules] for matcher in matchers]
    kept: dict[str, None] = {}
    for number, own in enumerate(rules):
        others = [(matchers[place], rules_there) for place, rules_there in enumerate(rules) if place != number]
        for rule in own:
            overridden = (
                next(filter(None, (_overridden_by(rule, *other) for other in others)), None) if rule.allow else None
            )
            if overridden is None:
                kept[str(rule)] = None
            else:
                left_out[f"`{rule}` for {token} is left out: another file has `{overridden}`"] = None
    if not any(line.startswith("Disallow") for line in kept):
        kept["Disallow:"] = None
    yield from kept
    delays = [delay for file in files if (delay := file.crawl_delay(token)) is not None]
    if delays:
        yield f"Crawl-delay: {_number(max(delays))}"
    records = [record for matcher in matchers for record in matcher.records()]
    yield from dict.fromkeys(f"{_KEPT[name]}: {value}" for _, name, value in records if name in _KEPT and value)


_KEPT = {name.lower(): name for name in ("Request-rate", "Visit-time", "Content-Signal", "Content-Usage", "Comment")}


def _overridden_by(allow: Rule, other: Matcher, rules: Sequence[Rule]) -> Rule | None:
    """Returns the Disallow rule of another file that `allow` could override; None if that file allows the same."""
    if any(rule.allow and rule.pattern == allow.pattern for rule in rules):
        return None
    is_plain = "*" not in allow.pattern and "$" not in allow.pattern
    for url in (
        (allow.pattern, f"{allow.pattern}~") if is_plain else ()
    ):  # the second, because a `$` may allow only the first
        if not other.allows(url):
            line = other.verdict(url).line
            return next(rule for rule in rules if rule.line == line)
    length, _ = _measured(allow.pattern)
    shorter = (rule for rule in rules if not rule.allow and _measured(rule.pattern)[0] <= length)
    return next((rule for rule in shorter if _may_meet(allow, rule, is_plain=is_plain)), None)


def _may_meet(allow: Rule, disallow: Rule, *, is_plain: bool) -> bool:
    """Returns whether a URL may match both rules. Two paths without wildcards were compared before."""
    if is_plain and "*" not in disallow.pattern:
        return False
    one, other = (_measured(rule.pattern)[1] for rule in (allow, disallow))
    return one.startswith(other) or other.startswith(one)


@lru_cache(maxsize=16_384)
def _measured(pattern: str) -> tuple[int, str]:
    """Returns the length of a pattern in bytes, and the beginning of every URL that it matches, in compared form. The
    beginning ends before `=`, because URLs are compared in two forms after it."""
    return pattern_bytes(pattern), re.split(r"[*=]", compared_pattern(pattern).plain, maxsplit=1)[0].removesuffix("$")
