"""Lists the kinds of remedies, and makes one of any kind but the letter."""

from typing import Final, Literal, get_args

from goodbot.errors import InputError
from goodbot.registry import Registry
from goodbot.watch.remedies.apache import apache_remedy
from goodbot.watch.remedies.caddy import caddy_remedy
from goodbot.watch.remedies.cidr import cidr_remedy
from goodbot.watch.remedies.fail2ban import fail2ban_remedy
from goodbot.watch.remedies.nginx import nginx_remedy
from goodbot.watch.remedies.robots_group import robots_remedy
from goodbot.watch.remedies.targets import Rate, Remedy, Targets

Kind = Literal["robots", "nginx", "apache", "caddy", "fail2ban", "cidr", "letter"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

BY_NAME: Final[frozenset[Kind]] = frozenset(("nginx", "apache", "caddy", "fail2ban"))
"""Remedies that look for names in User-Agents."""

_NO_RATE: Final = {
    "apache": "Apache has no limit of requests without a module of others (mod_ratelimit limits bytes)",
    "caddy": "Caddy has no limit of requests without a plugin",
    "cidr": "a list of networks has no rate",
}


def check_rate(kind: Kind, rate: Rate | None) -> None:
    """Raises InputError if the remedy cannot limit a rate."""
    if rate is not None and kind in _NO_RATE:
        raise InputError(f"{_NO_RATE[kind]}: leave out --rate, or choose nginx or fail2ban")


def configuration(kind: Kind, targets: Targets, rate: Rate | None, registry: Registry) -> Remedy:
    """Returns a remedy of any kind but `letter`. Raises InputError if this kind does not help against the targets."""
    if kind == "robots":
        return robots_remedy(targets, rate, registry.robots)
    if kind == "nginx":
        return nginx_remedy(targets, rate)
    if kind == "fail2ban":
        return fail2ban_remedy(targets, rate, registry.robots)
    if kind == "cidr":
        return cidr_remedy(targets, registry.robots)
    return {"apache": apache_remedy, "caddy": caddy_remedy}[kind](targets)
