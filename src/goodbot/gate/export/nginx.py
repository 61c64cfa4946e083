"""Writes the decisions for nginx: maps that are read from their beginning, `geo`, `limit_req`, and a `return 403`."""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.gate.export.notation import PCRE
from goodbot.gate.export.notes import Abilities, head, notes
from goodbot.gate.export.rule_lists import written_rules
from goodbot.gate.export.site import ExportedSite, address_sets
from goodbot.gate.export.visitors import NO_RULES, Kind, Pace, SiteVisitors
from goodbot.watch.addresses import LOCAL_NETWORKS
from goodbot.watch.remedies.comments import comment, label, listed, network_lines
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.targets import Part, Remedy

SERVER_BLOCK: Final = "in the server block, before its locations and before other lines with return or rewrite"

ABILITIES: Final = Abilities("nginx", limits=True)

_OPEN: Final = r"~^/(?:robots\.txt|\.well-known/acme-challenge/[A-Za-z0-9_-]+)$"
_SLOWEST_PER_MINUTE: Final = 1
MOST_NUMBERS: Final = 500
"""Numbers of visitors in one expression: nginx reads at most 4,096 octets."""

MOST_BURST: Final = 1000
"""nginx takes more, but then a limit hardly limits."""


def nginx_export(site: ExportedSite) -> Remedy:
    """Returns the configuration: a part for the http block, and one for the server block."""
    found = site.visitors(paces=ABILITIES.limits)
    prefix = prefix_of(lambda prefix: _definitions(site, found, prefix) + _server(site, found, prefix))
    warnings = (*notes(site, found, ABILITIES, PCRE), *_about_limits(site, found))
    first = head(
        site,
        found,
        ABILITIES,
        warnings,
        "Behind a proxy, set the client's address first (set_real_ip_from, real_ip_header).",
        "Test: nginx -t; after a reload: curl -I -A NAME https://YOUR-SITE/PATH, and compare with goodbot allowed.",
    )
    place = f"in the http block, such as /etc/nginx/conf.d/{prefix}.conf"
    return Remedy(
        "nginx",
        (
            Part(place, first + _definitions(site, found, prefix)),
            Part(SERVER_BLOCK, _server(site, found, prefix)),
        ),
        warnings,
    )


def _definitions(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    return "".join(
        (
            _visitor_map(found, prefix),
            _rules_maps(found, prefix),
            _place_maps(found, prefix),
            _verdict_maps(found, prefix),
            _zones(site, found, prefix),
        )
    )


def _map(source: str, variable: str, lines: Sequence[str], default: str = '""') -> str:
    indented = "".join(f"    {line}\n" for line in (f"default {default};", *lines))
    return f"map {source} ${variable} {{\n{indented}}}\n"


# ---- who comes, and what is closed ----------------------------------------------------------------------------------


def _visitor_map(found: SiteVisitors, prefix: str) -> str:
    """Most User-Agents have no name on record, which the first map finds out fast."""
    every = [*found.regexes(PCRE)]
    words = [f'"~*{regex}" $http_user_agent;' for regex in found.words(PCRE)]
    named = [f'"~*{regex}" v{entry.visitor};' for entry, regex in every if entry.patterns]
    others = [f'"~*{regex}" v{entry.visitor};' for entry, regex in every if not entry.patterns]
    names = [f"v{entry.visitor}: {listed(entry.names)}" for entry in found.entries]
    return comment("Who comes, by the User-Agent; the first expression that matches counts.", *names) + "".join(
        (
            _map("$http_user_agent", f"{prefix}_agent", words),
            _map("$http_user_agent", f"{prefix}_other", others, f"v{found.other}"),
            _map(f"${prefix}_agent", f"{prefix}_visitor", named, f"${prefix}_other"),
        )
    )


def _rules_maps(found: SiteVisitors, prefix: str) -> str:
    choices = [
        f"v{number} r{visitor.rules};" for number, visitor in enumerate(found.visitors) if visitor.rules != NO_RULES
    ]
    lines = [
        f'"~^r{number} {written.regex}" {int(not written.rule.allow)};  # {label(str(written.rule))}'
        for number, rules in enumerate(found.rule_lists)
        for written in written_rules(rules, PCRE)
    ]
    return (
        comment("Which rules of robots.txt apply, and what they close; the first one that matches counts.")
        + _map(f"${prefix}_visitor", f"{prefix}_rules", choices)
        + _map(f'"${prefix}_rules $request_uri"', f"{prefix}_closed", lines, "0")
    )


def _place_maps(found: SiteVisitors, prefix: str) -> str:
    """The place of the client: `in` the published addresses of the robot that it names, `out`, or `local`."""
    geos, lines = [], []
    for one in address_sets(found):
        local = network_lines(LOCAL_NETWORKS, "    ", " local;")
        networks = network_lines(one.networks, "    ", " in;")
        geos.append(f"geo ${prefix}_place_{one.number} {{\n    default out;\n{local}{networks}}}\n")
        lines += [f"v{visitor} ${prefix}_place_{one.number};" for visitor in one.visitors]
    return (
        comment("Whether the client has a published address of the robot that it names.")
        + "".join(geos)
        + _map(f"${prefix}_visitor", f"{prefix}_place", lines, "out")
    )


def _verdict_maps(found: SiteVisitors, prefix: str) -> str:
    lines = []
    for number, visitor in enumerate(found.visitors):
        if visitor.refused:
            lines.append(f'"~^v{number} " refused;')
            continue
        if visitor.outside == "public":
            lines.append(f'"~^v{number} out " impostor;')
        elif visitor.outside == "all":
            lines.append(f'"~^v{number} (?:out|local) " refused;')
        if visitor.free_inside:
            lines.append(f'"~^v{number} in " "";')
    lines.append('"~ 1$" disallowed;')
    source = f'"${prefix}_visitor ${prefix}_place ${prefix}_closed"'
    return (
        comment("What follows; robots.txt itself is open to everyone.")
        + _map(source, f"{prefix}_verdict", lines)
        + _map("$request_uri", f"{prefix}_stop", [f'"{_OPEN}" "";'], f"${prefix}_verdict")
    )


# ---- limits ---------------------------------------------------------------------------------------------------------


class _Limit(NamedTuple):
    """A limit: requests whose key is not empty are limited, those with equal keys together."""

    name: str
    keys: tuple[str, ...]
    """Lines of a map by the visitor and the place of the client."""
    per_minute: float
    burst: int


def _limits(site: ExportedSite, found: SiteVisitors, prefix: str) -> list[_Limit]:
    policy, network = site.policy, f"${prefix}_network"
    limits = [*_paces(found, network)]
    if policy.unverified.action == "limit":
        one = policy.unverified
        limits.append(
            _Limit("robots", _keys(found, "robot", f"${prefix}_visitor {network}"), one.per_minute, one.burst)
        )
    if policy.undeclared.action == "limit":
        programs = policy.undeclared
        limits += [
            _Limit(
                "programs",
                _keys(found, "program", "$binary_remote_addr"),
                programs.per_minute,
                programs.burst,
            ),
            _Limit(
                "networks",
                _keys(found, "program", network),
                programs.network_per_minute,
                programs.network_burst,
            ),
        ]
    if policy.browsers.action == "limit":
        browsers = policy.browsers
        limits.append(
            _Limit("browsers", _keys(found, "browser", "$binary_remote_addr"), browsers.per_minute, browsers.burst)
        )
    return [limit for limit in limits if limit.keys]


def _keys(found: SiteVisitors, kind: Kind, key: str) -> tuple[str, ...]:
    """Verified robots have no limit of the policy."""
    every = found.of_kind(kind)
    some = (every[place : place + MOST_NUMBERS] for place in range(0, len(every), MOST_NUMBERS))
    return tuple(f'"~^v(?:{"|".join(map(str, numbers))}) (?!in )" "{key}";' for numbers in some)


def _paces(found: SiteVisitors, network: str) -> Iterator[_Limit]:
    """A verified robot has one pace for all its addresses; of all others each network has its own."""
    by_pace: dict[Pace, list[str]] = {}
    for number, visitor in enumerate(found.visitors):
        if visitor.pace is None or visitor.refused:
            continue
        lines = by_pace.setdefault(visitor.pace, [])
        if visitor.networks:
            lines.append(f'"v{number} in " "{"" if visitor.free_inside else number}";')
        lines.append(f'"~^v{number} " "{number} {network}";')
    for number, (pace, lines) in enumerate(by_pace.items(), 1):
        yield _Limit(f"pace_{number}", tuple(lines), 60 / pace.gap_s, pace.burst + 1)


def _network_map(prefix: str) -> str:
    """The /24 of an IPv4 address; about the /48 of an IPv6 one, whose text has up to three groups of it."""
    return (
        f"map $remote_addr ${prefix}_network {{\n    default $remote_addr;\n"
        rf'    "~^(?<{prefix}_net4>[0-9]+\.[0-9]+\.[0-9]+)\." ${prefix}_net4;' + "\n"
        f'    "~^(?<{prefix}_net6>[0-9a-f]+:[0-9a-f]+:[0-9a-f]*:)" ${prefix}_net6;\n}}\n'
    )


def _zones(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    limits = _limits(site, found, prefix)
    zones = "".join(_zone(limit, prefix) for limit in limits)
    return (comment("How fast requests may come.") + _network_map(prefix) + zones) if limits else ""


def _zone(limit: _Limit, prefix: str) -> str:
    variable = f"{prefix}_{limit.name}"
    number = max(_SLOWEST_PER_MINUTE, math.ceil(limit.per_minute))
    rate = f"{number}r/m" if number < 6000 else f"{math.ceil(number / 60)}r/s"
    return (
        _map(f'"${prefix}_visitor ${prefix}_place "', f"{variable}_key", limit.keys)
        + _map("$request_uri", f"{variable}_limit", (f'"{_OPEN}" "";',), f'"${variable}_key"')
        + f"limit_req_zone ${variable}_limit zone={variable}:10m rate={rate};\n"
    )


def _about_limits(site: ExportedSite, found: SiteVisitors) -> Iterator[str]:
    if site.policy.undeclared.action == "limit" or site.policy.browsers.action == "limit":
        yield "limits for each address count every IPv6 address by itself, not its /64 network"
    if any(visitor.pace and visitor.pace.gap_s > 60 for visitor in found.visitors):
        yield "a pace below one request per minute is enforced as one request per minute: nginx has no slower rate"


def _server(site: ExportedSite, found: SiteVisitors, prefix: str) -> str:
    stop = f"if (${prefix}_stop) {{\n    return 403;\n}}\n"
    lines = ""
    for limit in _limits(site, found, prefix):
        extra = min(limit.burst - 1, MOST_BURST)
        lines += f"limit_req zone={prefix}_{limit.name}{f' burst={extra} nodelay' if extra else ''};\n"
    if not lines:
        return stop
    text = comment(
        "A location with its own limit_req needs these lines too. nginx takes limit_req_status once: leave it out if "
        "your server block has it already."
    )
    return f"{stop}{text}{lines}limit_req_status 429;\n"
