"""The client behind proxies: the address that the nearest proxy of one's own saw."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting.real_client import MOST_READ, real_client

PROXY = "10.0.0.1"
CASES = [
    ("one", "8.8.8.8", "8.8.8.8"),
    ("an invented one before it", "1.1.1.1, 8.8.8.8", "8.8.8.8"),
    ("private proxies after it", "8.8.8.8, 10.0.0.7, 192.168.0.1", "8.8.8.8"),
    ("one's own proxy after it", "8.8.8.8, 9.9.9.9", "8.8.8.8"),
    ("only private ones", "10.0.0.7, 10.0.0.8", "10.0.0.7"),
    ("a port", "8.8.8.8:4711", "8.8.8.8"),
    ("IPv6", "2a00:1450::1", "2a00:1450::1"),
    ("IPv6 with a port", "[2a00:1450::1]:443", "2a00:1450::1"),
    ("junk before it", "<script>, 8.8.8.8", "8.8.8.8"),
    ("junk after it", "8.8.8.8, unknown", PROXY),
    ("junk before private ones", "unknown, 10.0.0.7", "10.0.0.7"),
    ("nothing", "", PROXY),
    ("commas", ",,,", PROXY),
    ("a bracket", "[", PROXY),
]


@pytest.mark.parametrize(("forwarded", "client"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_client(forwarded: str, client: str) -> None:
    assert real_client(PROXY, forwarded, [ip_network("9.9.9.0/24")]) == client


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        pytest.param("127.0.0.1", "8.8.8.8", id="local"),
        pytest.param("::ffff:10.0.0.1", "8.8.8.8", id="local, written as IPv6"),
        pytest.param("9.9.9.9", "8.8.8.8", id="trusted"),
        pytest.param("unix:", "8.8.8.8", id="a socket"),
        pytest.param("1.1.1.1", "1.1.1.1", id="past the proxies"),
        pytest.param("proxy.example", "proxy.example", id="a name"),
    ],
)
def test_only_proxies_are_believed(peer: str, client: str) -> None:
    assert real_client(peer, "8.8.8.8", [ip_network("9.9.9.0/24")]) == client


@given(st.text(st.sampled_from("0123456789abc.:[], %\0é"), max_size=80) | st.text(max_size=80))
def test_any_text_gives_an_address(forwarded: str) -> None:
    ip_address(real_client(PROXY, forwarded, [ip_network("2001:db8::/32")]))


def test_a_long_field_is_read_from_its_end() -> None:
    assert real_client(PROXY, "8.8.8.8, " + "10.0.0.7, " * MOST_READ + "10.0.0.8") == "10.0.0.7"
