"""Writes the decisions for HAProxy 2.4 and later: `http-request` rules of a frontend, and stick tables for limits."""

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from goodbot.gate.export.notation import PCRE
from goodbot.gate.export.notes import Abilities, head, notes
from goodbot.gate.export.rule_lists import written_rules
from goodbot.gate.export.site import ExportedSite, address_sets, in_lines
from goodbot.gate.export.visitors import OUTSIDE, SiteVisitors
from goodbot.watch.addresses import LOCAL_NETWORKS
from goodbot.watch.remedies.comments import comment, label, listed
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.targets import Network, Part, Remedy

ABILITIES: Final = Abilities("HAProxy", limits=True)

FRONTEND: Final = "in the frontend, before its other http-request and use_backend lines"
SECTIONS: Final = "as sections of their own, such as at the end of haproxy.cfg"

_OTHER_SITE: Final = 999_999
"""The visitor of another site in the same frontend."""

_GAPS: Final = 10
"""A pace is measured over so many gaps, since the counters of HAProxy are estimates."""
_MORE: Final = 2
"""How many more requests may come within that time."""

_LONGEST_S: Final = 86_400


def haproxy_export(site: ExportedSite) -> Remedy:
    """Returns the configuration: the rules of a frontend and, if anything is limited, sections with stick tables."""
    found = site.visitors(paces=ABILITIES.limits)
    prefix = prefix_of(lambda prefix: _rules(site, found, prefix))
    warnings = (*notes(site, found, ABILITIES, PCRE), *([_ABOUT_LIMITS] if _limits(site, found) else []))
    first = head(
        site,
        found,
        ABILITIES,
        warnings,
        "Behind a proxy, set the client's address first (accept-proxy, or http-request set-src).",
        *_about_host(site),
        "Test: haproxy -c -f haproxy.cfg; after a reload: curl -I -A NAME https://YOUR-SITE/PATH, and compare with "
        "goodbot allowed.",
    )
    parts = [Part(FRONTEND, first + _rules(site, found, prefix))]
    if tables := "".join(_table(limit, prefix) for limit in _limits(site, found)):
        parts.append(Part(SECTIONS, tables))
    return Remedy("haproxy", tuple(parts), warnings)


def _about_host(site: ExportedSite) -> Iterator[str]:
    if not site.host:
        yield "It concerns all sites of the frontend, so the frontend should have this site only."


def _rules(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    return "".join(
        (
            _visitors(site, found, prefix),
            _addresses(found, prefix),
            _closed(found, prefix),
            _denials(found, prefix),
            *(_limited(limit, prefix) for limit in _limits(site, found)),
        )
    )


def _is_one_of(visitors: Iterable[int], prefix: str) -> str:
    """Returns conditions, one of which holds; a line has at most 64 words."""
    return f"{{ var(txn.{prefix}_visitor) -m int {' '.join(map(str, visitors))} }}"


def _acl(name: str, test: str, words: list[str]) -> str:
    """Returns an ACL, in several lines if it has many words; one of them must hold."""
    return "".join(f"acl {name} {test} {line}\n" for line in words)


def _in_words(numbers: list[int]) -> list[str]:
    return [" ".join(map(str, numbers[place : place + 40])) for place in range(0, len(numbers), 40)]


def _visitors(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    variable = f"txn.{prefix}_visitor"
    new = f"!{{ var({variable}) -m found }}"
    lines = [
        f"acl {prefix}_itself pathq -m str /robots.txt\n",
        f"acl {prefix}_itself pathq -m reg ^/\\\\.well-known/acme-challenge/[A-Za-z0-9_-]+$\n",
    ]
    if site.host:
        lines.append(f"acl {prefix}_site req.hdr(host),host_only -m str -i {site.host}\n")
        lines.append(f"http-request set-var({variable}) int({_OTHER_SITE}) if !{prefix}_site\n")
    lines.append(comment("Who comes, by the User-Agent; the first expression that matches counts."))
    for entry, regex in found.regexes(PCRE):
        lines.append(f"# {label(listed(entry.names))}\n")
        agent = f"{{ req.fhdr(user-agent,1) -m reg -i '{regex}' }}"
        lines.append(f"http-request set-var({variable}) int({entry.visitor}) if {new} {agent}\n")
    lines.append(f"http-request set-var({variable}) int({found.other}) if {new}\n")
    return "".join(lines)


def _addresses(found: SiteVisitors, prefix: str) -> str:
    lines = [
        comment("Whether the client has a published address of the robot that it names."),
        _networks(f"{prefix}_local", LOCAL_NETWORKS),
    ]
    for one in address_sets(found):
        lines.append(_networks(f"{prefix}_in_{one.number}", one.networks))
        for name in ("free_inside", *OUTSIDE):
            some = [
                number
                for number in one.visitors
                if (
                    found.visitors[number].free_inside
                    if name == "free_inside"
                    else found.visitors[number].outside == name
                )
            ]
            lines.append(_acl(f"{prefix}_{name}_{one.number}", f"var(txn.{prefix}_visitor) -m int", _in_words(some)))
    return "".join(lines)


def _networks(name: str, networks: tuple[Network, ...]) -> str:
    return _acl(name, "src", in_lines(networks))


def _closed(found: SiteVisitors, prefix: str) -> str:
    variable = f"txn.{prefix}_closed"
    new = f"!{{ var({variable}) -m found }}"
    lines = [comment("What robots.txt closes; the first rule that matches counts.")]
    for one in address_sets(found):
        if any(found.visitors[number].free_inside for number in one.visitors):
            free = f"{prefix}_free_inside_{one.number} {prefix}_in_{one.number}"
            lines.append(f"http-request set-var({variable}) int(0) if {free}\n")
    for number, rules in enumerate(found.rule_lists):
        visitors = [place for place, visitor in enumerate(found.visitors) if visitor.rules == number]
        if not visitors:
            continue
        lines.append(_acl(f"{prefix}_rules_{number}", f"var(txn.{prefix}_visitor) -m int", _in_words(visitors)))
        lines += (
            f"# {label(str(written.rule))}\n"
            f"http-request set-var({variable}) int({int(not written.rule.allow)}) if {new} {prefix}_rules_{number} "
            f"{{ pathq -m reg '^{written.regex}' }}\n"
            for written in written_rules(rules, PCRE)
        )
    return "".join(lines)


def _denials(found: SiteVisitors, prefix: str) -> str:
    deny = f"http-request deny deny_status 403 if !{prefix}_itself"
    lines = [comment("What follows; robots.txt itself is open to everyone.")]
    if refused := [number for number, visitor in enumerate(found.visitors) if visitor.refused]:
        lines.append(_acl(f"{prefix}_refused", f"var(txn.{prefix}_visitor) -m int", _in_words(refused)))
        lines.append(f"{deny} {prefix}_refused\n")
    for one in address_sets(found):
        known = f" !{prefix}_in_{one.number}" if one.networks else ""
        for outside, local in (("public", f" !{prefix}_local"), ("all", "")):
            if any(found.visitors[number].outside == outside for number in one.visitors):
                lines.append(f"{deny} {prefix}_{outside}_{one.number}{known}{local}\n")
    lines.append(f"{deny} {{ var(txn.{prefix}_closed) -m int 1 }}\n")
    return "".join(lines)


# ---- limits ---------------------------------------------------------------------------------------------------------


class _Limit(NamedTuple):
    """A limit of `most` requests in `seconds`, for requests with one key. `counter` is the one that it uses."""

    name: str
    counter: int
    visitors: tuple[int, ...]
    verified: tuple[tuple[int, tuple[int, ...]], ...]
    """Address sets, with the visitors that are verified there."""
    with_name: bool
    """Whether each visitor has a limit of its own, and each network; otherwise each address."""
    with_network: bool
    paces_verified: bool
    """Whether a verified robot has this limit too, for all its addresses together."""
    most: int
    seconds: int


def _limits(site: ExportedSite, found: SiteVisitors) -> list[_Limit]:
    policy = site.policy
    verified = tuple(
        (one.number, tuple(number for number in one.visitors if found.visitors[number].networks))
        for one in address_sets(found)
        if one.networks
    )
    limits = [*_paces(found, verified)]

    def add(name: str, counter: int, visitors: list[int], per_minute: float, burst: int, **keys: bool) -> None:
        if visitors:
            seconds = min(max(1, math.ceil(60 * burst / per_minute)), _LONGEST_S)
            limits.append(
                _Limit(
                    name,
                    counter,
                    tuple(visitors),
                    verified if name == "robots" else (),
                    keys.get("with_name", False),
                    keys.get("with_network", False),
                    False,
                    burst,
                    seconds,
                )
            )

    if policy.unverified.action == "limit":
        one = policy.unverified
        add("robots", 1, found.of_kind("robot"), one.per_minute, one.burst, with_name=True, with_network=True)
    if policy.undeclared.action == "limit":
        two = policy.undeclared
        add("programs", 1, found.of_kind("program"), two.per_minute, two.burst)
        add("networks", 2, found.of_kind("program"), two.network_per_minute, two.network_burst, with_network=True)
    if policy.browsers.action == "limit":
        add("browsers", 1, found.of_kind("browser"), policy.browsers.per_minute, policy.browsers.burst)
    return limits


def _paces(found: SiteVisitors, verified: tuple[tuple[int, tuple[int, ...]], ...]) -> Iterator[_Limit]:
    by_pace: dict[tuple[int, int], list[int]] = {}
    for number, visitor in enumerate(found.visitors):
        if visitor.pace is not None and not visitor.refused:
            burst = max(_GAPS, visitor.pace.burst)
            seconds = min(max(1, math.ceil(burst * visitor.pace.gap_s)), _LONGEST_S)
            most = max(1, math.floor(seconds / visitor.pace.gap_s)) + _MORE
            by_pace.setdefault((most, seconds), []).append(number)
    for number, ((most, seconds), visitors) in enumerate(by_pace.items(), 1):
        some = tuple((one, tuple(place for place in places if place in visitors)) for one, places in verified)
        known = tuple((one, places) for one, places in some if places)
        yield _Limit(f"pace_{number}", 0, tuple(visitors), known, True, True, True, most, seconds)


def _limited(limit: _Limit, prefix: str) -> str:
    """Tracks a key, and denies requests that come too fast. The key is empty for requests that have no such limit."""
    name, visitor = f"{prefix}_{limit.name}", f"txn.{prefix}_visitor"
    key, network = f"txn.{name}_key", f"txn.{prefix}_network"
    lines = [
        comment(f"At most {limit.most} requests in {limit.seconds} s ({limit.name})."),
        _acl(name, f"var({visitor}) -m int", _in_words([*limit.visitors])),
        f"http-request set-var({network}) src,ipmask(24,48)\n",
    ]
    for number, visitors in limit.verified:
        lines.append(_acl(f"{name}_in_{number}", f"var({visitor}) -m int", _in_words([*visitors])))
        value = f"var({visitor})" if limit.paces_verified else "str(verified)"
        lines.append(f"http-request set-var({key}) {value} if {name}_in_{number} {prefix}_in_{number}\n")
    text = (
        f"var({visitor}),concat(-,{network})"
        if limit.with_name
        else f"var({network})"
        if limit.with_network
        else "src,ipmask(32,64)"
    )
    lines.append(f"http-request set-var({key}) {text} if !{{ var({key}) -m found }}\n")
    limited = f"{name} !{prefix}_itself"
    if limit.verified and not limit.paces_verified:
        limited += f" !{{ var({key}) -m str verified }}"
    lines.append(f"http-request track-sc{limit.counter} var({key}) table {name} if {limited}\n")
    rate = f"{{ sc_http_req_rate({limit.counter},{name}) gt {limit.most} }}"
    lines.append(f"http-request deny deny_status 429 if {limited} {rate}\n")
    return "".join(lines)


def _table(limit: _Limit, prefix: str) -> str:
    return (
        f"backend {prefix}_{limit.name}\n    stick-table type string len 64 size 100k expire {2 * limit.seconds}s "
        f"store http_req_rate({limit.seconds}s)\n"
    )


_ABOUT_LIMITS: Final = (
    "limits use the counters sc0, sc1 and sc2, which no other rule of the frontend may use, and count requests in a "
    "span of time: as many as the burst may come in the time that the rate gives them"
)
