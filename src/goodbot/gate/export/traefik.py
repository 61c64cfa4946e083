"""Writes the decisions for Traefik 3, for its file provider: routers that only refused requests reach.

A router of Traefik answers what it matches; it cannot hand a request on to the routers of the site. So each router has
a rule that matches exactly what is refused, and a middleware that permits no address: `ipAllowList` answers with 403
before the router's service is asked. Traefik has no matcher for the whole query, so rules that need it count in favour
of robots.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.errors import InputError
from goodbot.gate.export.agent_regex import names_regexes
from goodbot.gate.export.notation import RE2_PATH
from goodbot.gate.export.notes import Abilities, head, lines_text, notes
from goodbot.gate.export.path_regex import path_regex
from goodbot.gate.export.rule_lists import OrderedRule, RuleList
from goodbot.gate.export.site import ExportedSite
from goodbot.gate.export.visitors import NO_RULES, Entry, SiteVisitors
from goodbot.watch.addresses import LOCAL_NETWORKS
from goodbot.watch.remedies.comments import label, listed
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.targets import Network, Part, Remedy, address_text

ABILITIES: Final = Abilities("Traefik", limits=False, reads_decoded=True)

PRIORITY: Final = 1_000_000
"""Higher than that of any router of a site, which by default is the length of its rule."""

MOST_OCTETS: Final = 16 * 1024 * 1024
"""The longest configuration."""

_NOT_OPEN: Final = "!Path(`/robots.txt`) && !PathRegexp(`^/\\.well-known/acme-challenge/[A-Za-z0-9_-]+$`)"

_NOBODY: Final = "255.255.255.255/32"
"""No client has this address."""


def traefik_export(site: ExportedSite) -> Remedy:
    """Returns the dynamic configuration."""
    found = site.visitors(paces=ABILITIES.limits)
    prefix = prefix_of(lambda prefix: _configuration(site, found, prefix))
    warnings = (*notes(site, found, ABILITIES, RE2_PATH), *_about_queries(found))
    where = (
        [] if site.host else ["It concerns all sites: write Host(`example.org`) && ( before each rule, and ) after it."]
    )
    first = head(
        site,
        found,
        ABILITIES,
        warnings,
        "It is a file of dynamic configuration, for Traefik 3.4 or later (providers.file).",
        *where,
        "Traefik sees the address of the connection: behind a proxy, rules for addresses match the proxy.",
        "Paths are compared as Traefik routes them, so encoded characters count as decoded ones, and "
        "robots.txt is open with any query.",
        "Test: start Traefik with this file and look at its dashboard or log for errors of routers; then: curl -I -A "
        "NAME https://YOUR-SITE/PATH, and compare with goodbot allowed.",
    )
    return Remedy("traefik", (Part("", first + _configuration(site, found, prefix)),), warnings)


class _Router(NamedTuple):
    """A router: what it refuses, for a comment, and its rule."""

    about: str
    rule: str


def _configuration(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    host = f"Host(`{site.host}`) && " if site.host else ""
    lines = ["http:\n  routers:\n"]
    number, octets = 0, 0
    for number, router in enumerate(_routers(found), 1):
        octets += 2 * len(router.rule)
        if octets > MOST_OCTETS:
            raise InputError(
                f"the configuration for Traefik would have more than {MOST_OCTETS // 1024**2} MiB, because each of its "
                "routers repeats the names of robots: use the gate itself, or another format"
            )
        for kind, tls in (("", ""), ("-tls", "      tls: {}\n")):
            lines.append(
                f"    # {label(router.about)}\n    {_name(prefix)}-{number}{kind}:\n"
                f"      rule: '{host}{_NOT_OPEN} && {router.rule}'\n      priority: {PRIORITY}\n"
                f"      middlewares: [{_name(prefix)}-refuse]\n      service: noop@internal\n{tls}"
            )
    if not number:
        lines = ["http:\n"]
    lines.append(
        f'  middlewares:\n    {_name(prefix)}-refuse:\n      ipAllowList:\n        sourceRange: ["{_NOBODY}"]\n'
    )
    return "".join(lines)


def _name(prefix: str) -> str:
    return prefix.replace("_", "-")


def _routers(found: SiteVisitors) -> Iterator[_Router]:
    """An entry of a higher level counts only if none of a lower one matches. Within a level, every entry that matches
    counts."""
    for entry in found.entries:
        visitor = found.visitors[entry.visitor]
        reasons = []
        if visitor.refused:
            reasons.append("")
        elif visitor.outside == "public":
            reasons.append(_outside((*visitor.networks, *LOCAL_NETWORKS)))
        elif visitor.outside == "all":
            reasons.append(_outside(visitor.networks))
        if visitor.rules != NO_RULES and not visitor.refused:
            closed = _closed(found.rule_lists[visitor.rules])
            if visitor.free_inside and closed:
                closed = f"{_outside(visitor.networks)} && {closed}"
            reasons += [closed] if closed else []
        if reasons:
            named = _named([entry])
            before = [other for other in found.entries if other.level < entry.level]
            who = f"{named} && !{_named(before)}" if before else named
            yield from (_Router(listed(entry.names), f"{who} && {one}" if one else who) for one in reasons)
    if found.visitors[found.other].refused:
        yield _Router("programs that name no robot", f"!{_named(found.entries)}")
    elif (rules := found.visitors[found.other].rules) != NO_RULES and (closed := _closed(found.rule_lists[rules])):
        yield _Router("programs that name no robot", f"!{_named(found.entries)} && {closed}")


def _named(entries: Iterable[Entry]) -> str:
    every = [*entries]
    names = [pattern for entry in every for pattern in entry.patterns]
    others = [regex for entry in every if not entry.patterns for regex in entry.regexes(RE2_PATH)]
    regexes = dict.fromkeys((*names_regexes(names, RE2_PATH), *others))
    return _any(f"HeaderRegexp(`User-Agent`, `{regex}`)" for regex in regexes)


def _outside(networks: Sequence[Network]) -> str:
    return f"!{_any(f'ClientIP(`{address_text(network)}`)' for network in networks)}" if networks else ""


def _any(conditions: Iterable[str]) -> str:
    every = [*conditions]
    return f"({' || '.join(every)})" if len(every) != 1 else every[0]


# ---- rules ----------------------------------------------------------------------------------------------------------


def _closed(rules: RuleList) -> str:
    """Returns the condition that the first rule which matches is a Disallow; empty if it never is. Neighbours of one
    kind share one matcher."""
    condition = ""
    for allow, regexes in reversed([*_runs(rules)]):
        matcher = f"PathRegexp(`^(?:{'|'.join(regexes)})`)"
        if allow:
            condition = f"(!{matcher} && {condition})" if condition else ""
        else:
            condition = f"({matcher} || {condition})" if condition else matcher
    return condition


def _runs(rules: RuleList) -> Iterator[tuple[bool, list[str]]]:
    runs: list[tuple[bool, list[str]]] = []
    for rule in rules:
        regex = _path_only(rule)
        if not regex:
            continue
        if not runs or runs[-1][0] != rule.allow:
            runs.append((rule.allow, []))
        if regex not in runs[-1][1]:
            runs[-1][1].append(regex)
    return iter(runs)


def _path_only(rule: OrderedRule) -> str:
    """Returns an expression for the path: one that matches less than a Disallow, or more than an Allow."""
    if not _needs_query(rule):
        return path_regex(rule.pattern, RE2_PATH)
    if not rule.allow:
        return ""
    path, _, query = rule.pattern.partition("?")
    if not query and "?" not in rule.pattern:
        return path_regex(rule.pattern, RE2_PATH)  # `$`: the end of the path
    return path_regex(path, RE2_PATH)


def _needs_query(rule: OrderedRule) -> bool:
    """Whether the query decides: a `$` at the end permits none, and `?` asks for one."""
    return "?" in rule.pattern or (rule.pattern.endswith("$") and not rule.pattern.endswith("*$"))


def _about_queries(found: SiteVisitors) -> Iterator[str]:
    lines = sorted({rule.line for rules in found.rule_lists for rule in rules if _needs_query(rule)})
    if lines:
        yield (
            "Traefik cannot compare the query, so rules with ? or with $ at the end count in favour of robots: a "
            f"Disallow is left out, an Allow ignores the query ({lines_text(lines)}); and no * reaches into the query"
        )
