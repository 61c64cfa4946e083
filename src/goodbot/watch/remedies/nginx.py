"""Writes a remedy for nginx: maps that recognize requests, and a `return` or `limit_req` that stops them."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.watch.remedies.comments import MADE_BY, comment, concerned, curl_test, label, network_lines, sources
from goodbot.watch.remedies.digests import prefix_of
from goodbot.watch.remedies.name_regex import name_regex
from goodbot.watch.remedies.targets import Part, Rate, Remedy, TargetRobot, Targets

SERVER_BLOCK: Final = "in the server block, before its locations and before other lines with return or rewrite"

MIN_BURST: Final = 5

_ROBOTS_TXT: Final = r"~^/robots\.txt(?:\?|$)"
"""The URL as the client sent it: `$uri` is what `rewrite` and `try_files` make of it."""


class _Key(NamedTuple):
    """A variable that is empty for requests that the remedy does not concern. Requests with equal values share a
    rate."""

    name: str
    lines: str
    """What defines the variable."""
    zone_size: str


def nginx_remedy(targets: Targets, rate: Rate | None) -> Remedy:
    """Returns the configuration: 403 for every request except for robots.txt, or 429 above a rate: each named robot has
    the rate for all its addresses together, and each address its own."""
    prefix = prefix_of(lambda prefix: _definitions(targets, rate, prefix))
    place = f"in the http block, such as /etc/nginx/conf.d/{prefix}.conf"
    http = _head(targets, rate) + _definitions(targets, rate, prefix)
    return Remedy("nginx", (Part(place, http), Part(SERVER_BLOCK, _server(targets, rate, prefix))))


def _head(targets: Targets, rate: Rate | None) -> str:
    what = f"Limits to {rate.requests} per {_unit(rate)} (429 above that)" if rate else "Refuses (403)"
    return comment(
        f"{MADE_BY} {what} {concerned(targets)}. robots.txt stays readable for everyone.",
        *sources(targets.impostors),
        "Behind a proxy, set the client's address first (set_real_ip_from, real_ip_header).",
        "Test: nginx -t; after a reload:",
        curl_test(targets, _expected(rate)),
    )


def _definitions(targets: Targets, rate: Rate | None, prefix: str) -> str:
    keys = [*_keys(targets, rate, prefix)]
    lines = "".join(key.lines for key in keys)
    if rate is None:
        every = "".join(f"${key.name}" for key in keys)
        return f"{lines}{_but_for_robots_txt(f'{prefix}_stop', every)}"
    zones = (
        _but_for_robots_txt(f"{key.name}_limit", f"${key.name}")
        + f"limit_req_zone ${key.name}_limit zone={key.name}:{key.zone_size} "
        f"rate={rate.requests}r/{_letter(rate)};\n"
        for key in keys
    )
    return lines + "".join(zones)


def _keys(targets: Targets, rate: Rate | None, prefix: str) -> Iterator[_Key]:
    if targets.robots:
        yield _Key(f"{prefix}_robot", _name_map(f"{prefix}_robot", targets.robots, "robot"), "1m")
    for number, target in enumerate(targets.impostors, 1):
        name = f"{prefix}_impostor_{number}"
        yield _Key(name, _impostor(target, name), "1m")
    if targets.networks:
        name = f"{prefix}_address"
        yield _Key(name, _addresses(targets, name, "$binary_remote_addr" if rate else "1"), "10m")


def _name_map(variable: str, robots: Sequence[TargetRobot], value: str) -> str:
    lines = [
        f'    "~*{regex}" {value}-{number};  # {label(target.name)}\n'
        for number, target in enumerate(robots, 1)
        for pattern in target.patterns
        if (regex := name_regex(pattern))
    ]
    return f'map $http_user_agent ${variable} {{\n    default "";\n{"".join(lines)}}}\n'


def _impostor(target: TargetRobot, name: str) -> str:
    return (
        _name_map(f"{name}_name", (target,), "impostor")
        + f"geo ${name}_genuine {{\n    default 0;\n{network_lines(target.networks, '    ', ' 1;')}}}\n"
        + f'map ${name}_genuine ${name} {{\n    default ${name}_name;\n    1 "";\n}}\n'
    )


def _addresses(targets: Targets, name: str, value: str) -> str:
    return (
        f"geo ${name}_given {{\n    default 0;\n{network_lines(targets.networks, '    ', ' 1;')}}}\n"
        f'map ${name}_given ${name} {{\n    default "";\n    1 {value};\n}}\n'
    )


def _but_for_robots_txt(name: str, value: str) -> str:
    return f'map $request_uri ${name} {{\n    default "{value}";\n    "{_ROBOTS_TXT}" "";\n}}\n'


def _server(targets: Targets, rate: Rate | None, prefix: str) -> str:
    if rate is None:
        return f"if (${prefix}_stop) {{\n    return 403;\n}}\n"
    burst = _burst(rate)
    limits = "".join(f"limit_req zone={key.name} burst={burst} nodelay;\n" for key in _keys(targets, rate, prefix))
    head = comment(
        f"burst: {burst} more requests are answered at once. A location with its own limit_req needs these lines too. "
        "nginx takes limit_req_status once: leave it out if your server block has it already."
    )
    return f"{head}{limits}limit_req_status 429;\n"


def _burst(rate: Rate) -> int:
    return max(MIN_BURST, rate.requests if rate.seconds == 1 else 0)


def _expected(rate: Rate | None) -> str:
    return f"429 if more than {_burst(rate) + 1} come at once" if rate else "403"


def _letter(rate: Rate) -> str:
    return "s" if rate.seconds == 1 else "m"


def _unit(rate: Rate) -> str:
    return "second" if rate.seconds == 1 else "minute"
