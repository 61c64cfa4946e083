"""Whose address counts: that of the last client before the proxies, and nothing that a client made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.gates import PROXIES, PROXY
from goodbot.gate.gate_request import read_request
from goodbot.watch.addresses import AddressRanges, packed_address
from goodbot.watch.remedies.targets import parse_address_or_range

CHAIN = AddressRanges([parse_address_or_range(text) for text in ("127.0.0.0/8", "::1", "198.51.100.0/24", "fd00::/8")])


def client_of(
    *forwarded_for: str, real_ip: str | None = None, peer: str | None = PROXY, proxies: AddressRanges = CHAIN
) -> str | None:
    fields = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded_for]
    if real_ip is not None:
        fields.append((b"x-real-ip", real_ip.encode("latin-1")))
    return read_request("GET", "/", fields, peer, proxies).client


CASES = [
    ("one address", "192.0.2.1", "192.0.2.1"),
    ("spaces", "  192.0.2.1 ", "192.0.2.1"),
    ("spoofed ones in front", "66.249.66.1, 10.0.0.1, 192.0.2.1", "192.0.2.1"),
    ("a proxy behind it", "192.0.2.1, 198.51.100.7", "192.0.2.1"),
    ("several proxies behind it", "192.0.2.1, 198.51.100.7, 127.0.0.1, fd00::5", "192.0.2.1"),
    ("spoofed in front, proxies behind", "66.249.66.1, 192.0.2.1, 198.51.100.7", "192.0.2.1"),
    ("a spoofed proxy in front", "198.51.100.7, 192.0.2.1", "192.0.2.1"),
    ("garbage in front", "unknown, \x00, 192.0.2.1", "192.0.2.1"),
    ("garbage behind the proxies", "66.249.66.1, unknown, 198.51.100.7", None),
    ("garbage alone", "unknown", None),
    ("a name", "host.example", None),
    ("a number", "3221225985", None),
    ("leading zeros", "192.0.02.1", None),
    ("empty entries", ", ,192.0.2.1,, ", "192.0.2.1"),
    ("no entry", "", None),
    ("a port", "192.0.2.1:4711", "192.0.2.1"),
    ("IPv6", "2001:db8::1", "2001:db8::1"),
    ("IPv6 in brackets", "[2001:db8::1]", "2001:db8::1"),
    ("IPv6 with a port", "[2001:db8::1]:4711", "2001:db8::1"),
    ("a zone", "fe80::1%eth0", "fe80::1"),
    ("a zone in brackets", "[fe80::1%25eth0]:80", "fe80::1"),
    ("an empty zone", "2001:db8::1%", "2001:db8::1"),
    ("IPv4 in IPv6", "::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ("a proxy as IPv4 in IPv6", "192.0.2.1, ::ffff:198.51.100.7", "192.0.2.1"),
    ("a proxy with a port", "192.0.2.1, 198.51.100.7:8080", "192.0.2.1"),
    ("only proxies", "198.51.100.7, 127.0.0.1", None),
    ("a long entry", f"192.0.2.1, {'9' * 1000}", None),
]


@pytest.mark.parametrize(("field", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_x_forwarded_for(field: str, expected: str | None) -> None:
    assert client_of(field) == expected


def test_repeated_fields_are_one_list() -> None:
    assert client_of("66.249.66.1", "192.0.2.1, 198.51.100.7", "127.0.0.1") == "192.0.2.1"


@pytest.mark.parametrize("peer", ["192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7"])
def test_a_peer_that_is_no_proxy_is_never_believed(peer: str) -> None:
    assert client_of("66.249.66.1", real_ip="66.249.66.1", peer=peer) == peer
    assert client_of(peer=peer) == peer


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", None])
def test_a_proxy_or_a_unix_socket_is_believed(peer: str | None) -> None:
    assert client_of("192.0.2.1", peer=peer, proxies=PROXIES) == "192.0.2.1"


def test_x_real_ip() -> None:
    assert client_of(real_ip=" 192.0.2.1 ") == "192.0.2.1"
    assert client_of(real_ip="[2001:db8::1]:80") == "2001:db8::1"
    assert client_of(real_ip="unknown") is None
    assert client_of() is None


def test_x_forwarded_for_counts_before_x_real_ip() -> None:
    assert client_of("192.0.2.1", real_ip="66.249.66.1") == "192.0.2.1"
    assert client_of("127.0.0.1", real_ip="192.0.2.1") == "192.0.2.1"
    assert client_of("unknown", real_ip="66.249.66.1") is None


def test_without_trusted_proxies_only_the_connection_counts() -> None:
    nobody = AddressRanges(())
    assert client_of("192.0.2.1", peer="127.0.0.1", proxies=nobody) == "127.0.0.1"
    assert client_of("192.0.2.1", peer=None, proxies=nobody) == "192.0.2.1"


def test_a_field_of_64_kb_is_read() -> None:
    assert client_of("127.0.0.1," * 6500 + "192.0.2.1, " + "127.0.0.1," * 40) == "192.0.2.1"
    assert client_of("192.0.2.1, " + "127.0.0.1," * 6500) is None
    assert client_of("," * 65_536) is None


@given(st.text(st.characters(max_codepoint=255), max_size=60), st.sampled_from(["192.0.2.1", "2001:db8::1"]))
def test_whatever_a_client_sends_the_proxy_adds_the_address_that_counts(sent: str, address: str) -> None:
    assert client_of(f"{sent}, {address}, 198.51.100.7") == address
    assert client_of(sent, address) == address


@given(st.text(st.characters(max_codepoint=255), max_size=60), st.text(st.characters(max_codepoint=255), max_size=60))
def test_a_client_is_an_address_or_not_known(forwarded_for: str, real_ip: str) -> None:
    client = client_of(forwarded_for, real_ip=real_ip)
    assert client is None or packed_address(client) is not None
