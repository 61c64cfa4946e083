"""Tests which addresses the guard permits, and how it explains each refusal."""

import ipaddress
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.robot.fetch.guard import AddressGuard, private_range

LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
LOOPBACK_6 = ipaddress.ip_network("::1/128")

RANGES = [
    ("127.0.0.1", "127.0.0.0/8"),
    ("127.255.1.2", "127.0.0.0/8"),
    ("10.1.2.3", "10.0.0.0/8"),
    ("172.16.0.1", "172.16.0.0/12"),
    ("172.31.255.255", "172.16.0.0/12"),
    ("192.168.1.1", "192.168.0.0/16"),
    ("169.254.169.254", "169.254.0.0/16"),
    ("100.64.0.1", "100.64.0.0/10"),
    ("0.1.2.3", "0.0.0.0/8"),
    ("0.0.0.0", "0.0.0.0/8"),  # connects to this machine
    ("198.18.0.1", "198.18.0.0/15"),
    ("203.0.113.9", "203.0.113.0/24"),
    ("224.0.0.1", "224.0.0.0/4"),
    ("250.0.0.1", "240.0.0.0/4"),
    ("255.255.255.255", "255.255.255.255/32"),
    ("::1", "::1/128"),
    ("::", "::/128"),
    ("fc00::1", "fc00::/7"),
    ("fd12:3456::1", "fc00::/7"),
    ("fe80::1", "fe80::/10"),
    ("fe80::1%eth0", "fe80::/10"),
    ("fec0::1", "fec0::/10"),
    ("ff02::1", "ff00::/8"),
    ("2001:db8::1", "2001:db8::/32"),
    ("2001:0:1::1", "2001::/23"),
    ("::ffff:127.0.0.1", "127.0.0.0/8"),
    ("::ffff:10.0.0.1", "10.0.0.0/8"),
    ("::ffff:0.0.0.0", "0.0.0.0/8"),
    ("::127.0.0.1", "::7f00:1/128"),
    ("64:ff9b::192.168.0.1", "64:ff9b::c0a8:1/128"),
    ("64:ff9b:1::10.0.0.1", "64:ff9b:1::a00:1/128"),
    ("2002:7f00:1::", "2002:7f00:1::/128"),
    ("2002:a00:1::5", "2002:a00:1::5/128"),
]

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "192.0.0.9",  # global inside 192.0.0.0/24 (RFC 7723)
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::",
]

UNREADABLE = [
    "",
    "localhost",
    "127.1",
    "2130706433",
    "0x7f.1",
    "127.0.0.1:80",
    "[::1]",
    "1.2.3.4.5",
    "::ffff::1",
    "%eth0",
]


@pytest.mark.parametrize(("address", "network"), RANGES)
def test_private_range(address: str, network: str) -> None:
    assert private_range(address) == ipaddress.ip_network(network)
    guard = AddressGuard()
    assert not guard.permits(address, public_only=False)
    refusal = guard.refusal(address, public_only=False)
    assert refusal is not None
    assert address in refusal
    assert network in refusal
    assert "--allow-private" in refusal


def test_where_private_ranges_are_open_only_the_seed_is_advised() -> None:
    refusal = AddressGuard([LOOPBACK]).refusal("10.9.9.10", public_only=False)
    assert refusal == (
        "10.9.9.10 is in the private range 10.0.0.0/8, which is not open: to allow it, give its URL yourself"
    )


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(address: str) -> None:
    assert private_range(address) is None
    assert AddressGuard().permits(address, public_only=True)
    assert AddressGuard().refusal(address, public_only=True) is None


@pytest.mark.parametrize("address", UNREADABLE)
def test_what_is_no_address_is_refused(address: str) -> None:
    assert private_range(address) is None
    assert not AddressGuard([LOOPBACK, LOOPBACK_6]).permits(address, public_only=False)


@pytest.mark.parametrize(
    ("address", "permitted"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("::1", False),
        ("::", False),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("8.8.8.8", True),
    ],
)
def test_an_opened_range_opens_nothing_else(address: str, permitted: bool) -> None:
    assert AddressGuard([LOOPBACK]).permits(address, public_only=False) is permitted


def test_public_only_closes_what_was_opened() -> None:
    guard = AddressGuard([LOOPBACK])
    assert not guard.permits("127.0.0.1", public_only=True)
    assert "a public host led there" in str(guard.refusal("127.0.0.1", public_only=True))
    assert guard.permits("127.0.0.1", public_only=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_without_a_contact_public_addresses_are_refused(address: str) -> None:
    guard = AddressGuard([LOOPBACK], public=False)
    for made in (guard, pickle.loads(pickle.dumps(guard))):
        assert not made.permits(address, public_only=False)
        assert made.permits("127.0.0.1", public_only=False)
        failure = made.failure("www.example", address, public_only=False)
        assert (failure.kind, failure.detail.partition(":")[0]) == (
            "no-contact",
            "www.example is public, and no contact is set",
        )


@given(st.text(max_size=60))
def test_never_raises_on_any_text(address: str) -> None:
    guard = AddressGuard([LOOPBACK])
    assert guard.permits(address, public_only=False) is (guard.refusal(address, public_only=False) is None)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_every_address_is_public_or_in_the_range_named(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    network = private_range(str(ip))
    assert AddressGuard().permits(str(ip), public_only=False) is (network is None)
    if network is not None:
        assert AddressGuard([network]).permits(str(ip), public_only=False)
