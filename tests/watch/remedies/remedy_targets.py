"""Robots and addresses for remedies, on loopback where servers are asked."""

from ipaddress import ip_network
from typing import Final

from goodbot.registry import AddressList, KnownRobot, find_token
from goodbot.watch.remedies.targets import TargetRobot, Targets

GENUINE: Final = "127.0.0.66"
"""An address that the operator of Googlebot has listed here."""
BLOCKED: Final = "127.0.0.7"

NASTY: Final = (
    'x"; } evil',
    "a\\",
    "{$HOME} bot",
    "${PATH} {env.HOME} $http_host bot",
    "%(here)s bot",
    "# x ; y",
    "new\nline\r\nDisallow: /",
    "Робот É",
    "quo'te`d\" <bot> \\",
    ")(?:|.*+ bot",
    "\u202ebot\x00\x1b[2J",
    "b" * 450,
    "two  words/of.it-all_here",
)


def known(token: str) -> KnownRobot:
    """Returns a robot on record."""
    robot = find_token(token)
    assert robot is not None
    return robot


def made_robot(name: str, *patterns: str) -> KnownRobot:
    """Returns a robot that nobody has recorded."""
    return KnownRobot(
        name=name, operator=None, purpose="other", patterns=patterns, looked_up=2026, source="https://example.org/"
    )


def made_list(*networks: str) -> AddressList:
    return AddressList("made", "https://example.org/ips.json", "2026-11-01", tuple(map(ip_network, networks)), "a\\\nb")


ON_LOOPBACK: Final = Targets(
    (TargetRobot(known("GPTBot")), TargetRobot(made_robot("Two Words", "Two Words", "^Begins"))),
    (TargetRobot(known("Googlebot"), (made_list("127.0.0.64/28", "2001:db8::/32"),)),),
    (ip_network(BLOCKED), ip_network("127.0.5.0/24"), ip_network("2001:db8:1::/48")),
)
NASTY_TARGETS: Final = Targets(
    tuple(TargetRobot(made_robot(name, name)) for name in NASTY),
    tuple(TargetRobot(made_robot(name, name), (made_list("127.0.0.64/28"),)) for name in NASTY[:4]),
    (ip_network(BLOCKED),),
)
