"""Which robot, and whether it is genuine: as `registry.verify` says, but faster."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry import AddressBook, KnownRobot, find_token, robots, verify
from goodbot.watch.addresses import is_local, packed_address
from goodbot.watch.counting.identities import DAY_S, Identities

BOOK = AddressBook()
FRESH = int(datetime(2026, 9, 10, tzinfo=UTC).timestamp())
LONG_AGO = int(datetime(2015, 5, 17, tzinfo=UTC).timestamp())


def robot_of(token: str) -> KnownRobot:
    robot = find_token(token)
    assert robot is not None
    return robot


def address_of(list_name: str, version: int = 4) -> str:
    known = BOOK.get(list_name)
    assert known is not None
    return str(next(network.network_address for network in known.networks if network.version == version))


GOOGLE = address_of("google-common")

CASES = [
    ("genuine", "Googlebot", GOOGLE, FRESH, "verified"),
    ("genuine, IPv6", "Googlebot", address_of("google-common", 6), FRESH, "verified"),
    ("genuine, written as IPv6", "Googlebot", f"::ffff:{GOOGLE}", FRESH, "verified"),
    ("genuine, in an old log", "Googlebot", GOOGLE, LONG_AGO, "verified"),
    ("outside", "Googlebot", "203.0.113.9", FRESH, "impostor"),
    ("outside, in an old log", "Googlebot", "203.0.113.9", LONG_AGO, "unknown"),
    ("outside, IPv6", "Googlebot", "2001:db8::1", FRESH, "impostor"),
    ("behind a proxy", "Googlebot", "10.0.0.1", FRESH, "declared"),
    ("behind a proxy, written as IPv6", "Googlebot", "::ffff:172.17.0.1", FRESH, "declared"),
    ("behind a proxy, IPv6", "Googlebot", "fd00::1", FRESH, "declared"),
    ("on the same machine", "Googlebot", "127.0.0.1", FRESH, "declared"),
    ("a name", "Googlebot", "crawl-1.googlebot.com", FRESH, "declared"),
    ("a zone", "Googlebot", "fe80::1%eth0", FRESH, "declared"),
    ("NUL", "Googlebot", "a\0b", FRESH, "declared"),
    ("no list", "YandexBot", "203.0.113.9", FRESH, "declared"),
    ("a control token", "Google-Extended", "203.0.113.9", FRESH, "impostor"),
]


@pytest.mark.parametrize(
    ("token", "address", "at", "tier"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_tier(token: str, address: str, at: int, tier: str) -> None:
    identities = Identities()
    assert identities.key_of(robot_of(token), address, at).tier == tier
    assert identities.identity_of(robot_of(token), address, at).tier == tier


def test_a_name_that_only_begins_like_a_robots_does_not_change_its_tier() -> None:
    identities = Identities()
    tiers = []
    for agent in ("GPTBotty/1", "GPTBot/1.3"):
        robot = identities.robot_of(agent)
        tiers.append(identities.key_of(robot, "203.0.113.9", FRESH).tier if robot else None)
    assert tiers == [None, "impostor"]


def test_a_local_address_is_explained() -> None:
    evidence = Identities().identity_of(robot_of("Googlebot"), "10.0.0.1", FRESH).evidence
    assert evidence[-1] == "10.0.0.1 is a local address, so a proxy or a program of your own sent the request"


def test_names_and_addresses_do_not_decide_for_each_other() -> None:
    for order in (["host.example", "203.0.113.9"], ["203.0.113.9", "host.example"]):
        identities = Identities()
        tiers = {address: identities.key_of(robot_of("Googlebot"), address, FRESH).tier for address in order}
        assert tiers == {"host.example": "declared", "203.0.113.9": "impostor"}


addresses = st.integers(0, (1 << 32) - 1).map(lambda number: str(IPv4Address(number))) | st.integers(
    0, (1 << 128) - 1
).map(lambda number: str(IPv6Address(number)))
verifiable = [robot for robot in robots() if robot.address_lists or robot.control]
published = [
    str(network[edge])
    for robot in verifiable
    for name in robot.address_lists
    if (known := BOOK.get(name)) is not None
    for network in known.networks[:3]
    for edge in (0, -1)
]


@given(st.sampled_from(verifiable), addresses | st.sampled_from(published), st.integers(0, 40_000_000_000))
def test_the_tier_is_that_of_the_registry(robot: KnownRobot, address: str, at: int) -> None:
    day = datetime.fromtimestamp(at // DAY_S * DAY_S, UTC).date()
    packed = packed_address(address)
    assert packed is not None
    seen = None if is_local(packed) else address
    assert Identities().key_of(robot, address, at) == (robot.name, verify(robot, seen, BOOK, day).tier)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_none(text: str) -> None:
    packed = packed_address(text)
    assert packed is None or len(packed) in (4, 16)


def test_the_day_of_the_request_decides() -> None:
    """The bundled list of bingbot is of 2026-09-02."""
    identities = Identities()
    day = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp())
    tiers = [
        identities.key_of(robot_of("bingbot"), "203.0.113.9", day + hours * 3600).tier for hours in (0, 23, 24, 47)
    ]
    assert tiers == ["impostor", "impostor", "unknown", "unknown"]


def test_a_copy_on_another_machine_has_the_address_lists_of_this_one(tmp_path: Path) -> None:
    """Where the list that the user has fetched is missing."""
    book = AddressBook(tmp_path)
    robot = robot_of("GPTBot")
    bundled = book.get(robot.address_lists[0])
    assert bundled is not None
    file = book.keep(replace(bundled, networks=(ip_network("9.9.9.0/24"),)))
    identities = Identities(book=AddressBook(tmp_path))
    identities.load_lists()
    copied = pickle.dumps(identities)
    file.unlink()
    assert pickle.loads(copied).key_of(robot, "9.9.9.9", DAY_S * 20_000).tier == "verified"
