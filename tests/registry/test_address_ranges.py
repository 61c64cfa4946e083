"""Lists of addresses, as operators publish them and as goodbot stores them."""

import json
from datetime import date
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import DamagedError, InputError
from goodbot.registry import AddressBook, AddressList, ListName, day_of, list_for, parse_ranges
from goodbot.registry.address_ranges import LIST_BYTES, MAX_RANGES, format_list

GOOGLE = {
    "creationTime": "2026-11-01T15:46:05.000000",
    "prefixes": [{"ipv6Prefix": "2001:4860:4801:10::/64"}, {"ipv4Prefix": "66.249.64.0/27"}],
}


@pytest.mark.parametrize(
    ("body", "ranges"),
    [
        (json.dumps(GOOGLE), ["66.249.64.0/27", "2001:4860:4801:10::/64"]),
        (
            json.dumps({"ips": [{"ip_address": "5.39.1.224/27"}, {"ip_address": "5.39.1.1"}]}),
            ["5.39.1.1/32", "5.39.1.224/27"],
        ),
        (json.dumps(["8.8.8.8", "8.8.8.8/32"]), ["8.8.8.8/32"]),
        (json.dumps({"a": {"b": [["9.9.9.9/24"]]}}), ["9.9.9.0/24"]),
        ("8.8.8.8\r\n9.9.9.0/24 # theirs\n\n# comment\n", ["8.8.8.8/32", "9.9.9.0/24"]),
        ("8.8.8.8/32,Pingdom,Oslo\n2a00:1450::/32;", ["8.8.8.8/32"]),
        ("\ufeff8.8.8.8", ["8.8.8.8/32"]),
        ("# https://x.example/\n# 2026-01-01\n8.8.8.0/24\n", ["8.8.8.0/24"]),
    ],
)
def test_published_formats(body: str, ranges: list[str]) -> None:
    if ";" in body:
        with pytest.raises(InputError, match="line 2"):
            parse_ranges(body.encode(), "list")
        return
    assert [str(network) for network in parse_ranges(body.encode(), "list")] == ranges


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "contains no address ranges"),
        (b"{}", "contains no address ranges"),
        (b'{"prefixes": []}', "contains no address ranges"),
        (b"<!DOCTYPE html><p>Not found", "line 1 of list does not begin with an address range"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'["0.0.0.0/0"]', "too wide"),
        (b'["8.0.0.0/7"]', "too wide"),
        (b'["2000::/3"]', "too wide"),
        (b'["64:ff9b::a00:0/104"]', "not a public range"),
        (b'["2002:a00::/24"]', "not a public range"),
        (b'["4000::/19"]', "not a public range"),
        (b'83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "-"', "line 1 of"),
        (b'["17.0.0.0/8", "20.0.0.0/24"]', "contains 0.39 % of all IPv4 addresses, which is too much"),
        (b'["2600::/19", "2a00::/20"]', "contains 0.00029 % of all IPv6 addresses, which is too much"),
        (b'["127.0.0.1"]', "not a public range"),
        (b'["10.1.2.0/24"]', "not a public range"),
        (b'["fe80::/64"]', "not a public range"),
        (b'["224.0.0.1"]', "not a public range"),
        (b"\x00\xff\xfe", "does not begin with"),
        (b"x" * (LIST_BYTES + 1), "too long for a list of addresses"),
        pytest.param(
            "\n".join(f"8.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(MAX_RANGES + 1)).encode(),
            "more than",
            marks=pytest.mark.long,
        ),
    ],
)
def test_malformed_lists_are_refused_with_one_line(body: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        parse_ranges(body, "list")
    assert "\n" not in str(caught.value)


@given(
    st.one_of(
        st.binary(max_size=2000),
        st.recursive(
            st.one_of(st.none(), st.integers(), st.text(max_size=20), st.ip_addresses().map(str)),
            lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(max_size=5), inner)),
            max_leaves=20,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_any_bytes_are_a_list_or_an_input_error(body: bytes) -> None:
    day_of(body)
    try:
        networks = parse_ranges(body, "list")
    except InputError:
        return
    assert networks
    assert all(network.is_global for network in networks)


PUBLIC = st.integers(min_value=8 << 24, max_value=(9 << 24) - 1).flatmap(
    lambda start: st.integers(min_value=8, max_value=32).map(lambda length: ip_network((start, length), strict=False))
)


@given(st.lists(PUBLIC, min_size=1, max_size=30), st.integers(min_value=(8 << 24) - 9, max_value=(9 << 24) + 9))
def test_the_search_agrees_with_a_linear_search(networks: list, number: int) -> None:  # type: ignore[type-arg]
    known = AddressList("x", "https://x.example/", "2026-01-01", tuple(networks))
    address = str(ip_network((number, 32)).network_address)
    held = known.find(address)
    assert (held is not None) == any(ip_network(address).subnet_of(network) for network in networks)
    assert parse_ranges(format_list(known).encode(), "x") == tuple(sorted(set(networks)))


def test_a_stored_list_is_read_again_and_a_damaged_one_is_reported(tmp_path: Path) -> None:
    book = AddressBook(tmp_path)
    file = book.keep(AddressList("bingbot", "https://x.example/", "2026-11-01", parse_ranges(b'["9.9.9.9"]', "x")))
    assert [path.name for path in tmp_path.iterdir()] == ["bingbot.txt"]
    again = AddressBook(tmp_path).get("bingbot")
    assert again is not None
    assert (again.as_of, again.url, [str(net) for net in again.networks]) == (
        "2026-11-01",
        "https://x.example/",
        ["9.9.9.9/32"],
    )
    file.write_text("rubbish")
    with pytest.raises(DamagedError, match=r"bingbot\.txt"):
        AddressBook(tmp_path).get("bingbot")
    assert AddressBook(tmp_path).get("ccbot") == AddressBook().get("ccbot")


@pytest.mark.parametrize(
    ("body", "day"),
    [
        (json.dumps(GOOGLE), "2026-11-01"),
        (json.dumps({"prefixes": [], "creationTime": "2025-04-16"}), "2025-04-16"),
        ('{"creationTime": "2026-13-01T00:00"}', None),
        ('{"creationTime": 20261101}', None),
        ('{"creationTime": ""}', None),
        ("# https://x.example/\n# 2026-01-01\n8.8.8.0/24\n", "2026-01-01"),
        ("8.8.8.0/24 # 2026-01-01\n# 2026-01-02", None),
        ("", None),
    ],
)
def test_the_date_of_a_list(body: str, day: str | None) -> None:
    assert day_of(body.encode()) == day


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("https://openai.com/gptbot.json", "openai-gptbot"),
        ("/home/me/gptbot.json", "openai-gptbot"),
        ("googlebot.json", "google-common"),
        ("google-common.txt", "google-common"),
        ("https://mirror.example/lists/bingbot.json", "bingbot"),
        ("-", None),
        ("", None),
        ("whatever.json", None),
    ],
)
def test_lists_are_found_by_url_or_file_name(source: str, name: str | None) -> None:
    found = list_for(source)
    assert (found.name if found else None) == name


OWN = {
    "bingbot": ListName("bingbot", "https://other.example/bots.json", "Other"),
    "own": ListName("own", "http://127.0.0.1:8000/own.json", "Us"),
}


@pytest.mark.parametrize(
    ("source", "name"),
    [("own.json", "own"), ("http://127.0.0.1:8000/own.json/", "own"), ("bots.json", "bingbot"), ("gptbot.json", None)],
)
def test_only_the_lists_on_record_are_found(source: str, name: str | None) -> None:
    found = list_for(source, OWN)
    assert (found.name if found else None) == name


def test_bundled_ranges_are_not_those_of_an_own_list_of_the_same_name(tmp_path: Path) -> None:
    book = AddressBook(tmp_path, OWN)
    assert book.names is OWN
    assert book.get("bingbot") is None
    assert book.get("own") is None
    assert book.get("ccbot") == AddressBook().get("ccbot")
    book.keep(AddressList("bingbot", OWN["bingbot"].url, "2026-11-01", parse_ranges(b"9.9.9.9", "x")))
    assert AddressBook(tmp_path, OWN).get("bingbot") is not None


@given(st.text(max_size=12), st.dates())
def test_any_date_of_a_list_is_fresh_or_stale(as_of: str, day: date) -> None:
    assert AddressList("x", "https://x.example/", as_of, ()).is_stale(day) in (True, False)
