"""Writes a remedy for fail2ban: filters for access logs in the common form of nginx and Apache, and their jails.

An attacker chooses the request line, Referer and User-Agent. None of them can name the address to ban: it is taken from
the start of the line, and the expression accounts for every character from there to the User-Agent. Servers escape
quotation marks within a field (nginx as `\\x22`, Apache as `\\"`), so no field can pretend to end.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from goodbot.errors import InputError
from goodbot.registry import KnownRobot
from goodbot.watch.remedies.comments import MADE_BY, comment, concerned, listed, sources
from goodbot.watch.remedies.name_regex import logged_name_regex
from goodbot.watch.remedies.shared_addresses import shared_addresses
from goodbot.watch.remedies.targets import Network, Part, Rate, Remedy, TargetRobot, Targets, address_text, joined

FILTER: Final = "goodbot-robots"
IMPOSTOR_FILTER: Final = "goodbot-impostors"

_FIELD: Final = r'(?:[^"\\]|\\.)*'
"""The inside of a field in quotes."""

_BEFORE: Final = (
    r'(?:\S+:\d+ )?<HOST> \S+ [^"\[]*\[\] "(?!\S+ (?i:https?://[^/\s"]*)?/robots\.txt(?:\?[^\s"]*)?[ "])'
    rf'{_FIELD}" \d{{3}} (?:\d+|-)(?=\s|$)'
)
"""A line up to the status and size, but not that of a request for robots.txt. fail2ban takes the time out before."""

_DATE: Final = r"datepattern = ^[^\[]*\[({DATE})"


def fail2ban_remedy(targets: Targets, rate: Rate | None, known: Iterable[KnownRobot]) -> Remedy:
    """Returns filters and jails. Without a rate, the first request leads to a ban. `known`: all known robots, to warn
    of those that use the same addresses. Raises InputError if there are only ranges of addresses."""
    parts = []
    singles = _singles(targets)
    ranges = [network for network in targets.networks if network.prefixlen < network.max_prefixlen]
    jails = []
    if targets.robots or singles:
        own = Targets(targets.robots, (), tuple(singles))
        expressions = [*_names(targets.robots), *_addresses(singles)]
        parts.append(Part(f"/etc/fail2ban/filter.d/{FILTER}.conf", _filter(FILTER, own, expressions)))
        jails.append(_jail(FILTER, rate, ()))
    if targets.impostors:
        only = Targets((), targets.impostors)
        expressions = list(_names(targets.impostors))
        parts.append(
            Part(f"/etc/fail2ban/filter.d/{IMPOSTOR_FILTER}.conf", _filter(IMPOSTOR_FILTER, only, expressions))
        )
        genuine = joined(network for target in targets.impostors for network in target.networks)
        jails.append(_jail(IMPOSTOR_FILTER, rate, genuine))
    if ranges and not jails:
        raise InputError("fail2ban finds single addresses, not ranges: use goodbot remedy cidr with your firewall")
    if ranges:
        jails.append(_bans(ranges, FILTER if targets.robots or singles else IMPOSTOR_FILTER))
    parts.append(Part("/etc/fail2ban/jail.d/goodbot.conf", _jails_head(targets, rate) + "\n".join(jails)))
    warning = "fail2ban bans addresses: a banned address cannot read robots.txt either, until the ban ends"
    return Remedy("fail2ban", tuple(parts), (warning, *shared_addresses(targets.robots, known)))


def _singles(targets: Targets) -> list[Network]:
    return [network for network in targets.networks if network.prefixlen == network.max_prefixlen]


def _filter(name: str, targets: Targets, expressions: Sequence[str]) -> str:
    head = comment(
        f"{MADE_BY} Finds {concerned(targets)}, in access logs of nginx and Apache (common or combined format, "
        "with or without the virtual host). Requests for robots.txt do not count.",
        f"Test: fail2ban-regex /var/log/nginx/access.log /etc/fail2ban/filter.d/{name}.conf",
    )
    lines = ("\n            ").join(expressions)
    return f"{head}[Definition]\nfailregex = {lines}\nignoreregex =\n{_DATE}\n"


def _names(robots: Iterable[TargetRobot]) -> list[str]:
    """Returns an expression for each pattern: the name is in the third field, the User-Agent."""
    return [
        rf'(?i)^{_BEFORE} "{_FIELD}" "{regex}{_FIELD}"'
        for target in robots
        for pattern in target.patterns
        if (regex := logged_name_regex(pattern))
    ]


def _addresses(networks: Sequence[Network]) -> list[str]:
    texts = "|".join(address_text(network).replace(".", r"\.") for network in networks)
    return [rf"^(?=(?:\S+:\d+ )?(?i:::ffff:)?(?:{texts}) ){_BEFORE}"] if networks else []


def _jails_head(targets: Targets, rate: Rate | None) -> str:
    first = FILTER if targets.robots or _singles(targets) else IMPOSTOR_FILTER
    return comment(
        f"{MADE_BY} {' '.join(_bans_in_words(targets, rate))}",
        *sources(targets.impostors),
        "For Apache, replace nginx_access_log by apache_access_log. Do not use it behind a proxy: the log needs the "
        "addresses of the clients, and the ban must reach them.",
        "Check: fail2ban-client -t",
        "Load: fail2ban-client reload",
        f"Then: fail2ban-client status {first}",
    )


def _bans_in_words(targets: Targets, rate: Rate | None) -> Iterator[str]:
    """Says, in a sentence for each jail and for single addresses, which addresses are banned, when and how long."""
    when = f"when it sends more than {rate.requests} requests in {rate.seconds} s" if rate else "at its first request"
    if targets.robots:
        yield f"Bans every address for one day {when} with the name {listed(targets.names, 'or')} in the User-Agent."
    if targets.impostors:
        name = f"the name {listed((target.name for target in targets.impostors), 'or')} in the User-Agent"
        yield f"Bans every address that the operator does not list for one day {when} with {name}."
    if singles := _singles(targets):
        each = "each of the addresses" if len(singles) > 1 else "the address"
        yield f"Bans {each} {listed(map(address_text, singles))} for one day {when}."


def _jail(name: str, rate: Rate | None, genuine: Sequence[Network]) -> str:
    ignored = "".join(f" {address_text(network)}" for network in genuine)
    return (
        f"[{name}]\nenabled = true\nfilter = {name}\nport = http,https\nlogpath = %(nginx_access_log)s\n"
        + (f"ignoreip = 127.0.0.1/8 ::1{ignored}\n" if genuine else "")
        + f"maxretry = {rate.requests + 1 if rate else 1}\nfindtime = {rate.seconds if rate else 600}\nbantime = 1d\n"
    )


def _bans(ranges: Sequence[Network], jail: str) -> str:
    commands = "".join(f"# fail2ban-client set {jail} banip {address_text(network)}\n" for network in ranges)
    return comment("A filter finds single addresses only. These commands ban the ranges:") + commands
