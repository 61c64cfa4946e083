"""`--anonymise` leaves no whole address."""

import json
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.report import report_csv, report_json, report_prometheus
from goodbot.watch.report.anonymous import shortened, without_addresses
from watch.labelled_log import make_log
from watch.report.made_reports import GOOGLEBOT, line, report_of

ADDRESSES = [
    ("192.0.2.9", "192.0.2.0/24"),
    ("2001:DB8:1:2::9", "2001:db8:1::/48"),
    ("::1", "::/48"),
    ("::ffff:192.0.2.9", "192.0.2.0/24"),
    ("fe80::1%eth0", "fe80::/48"),
    ("pc-7.dial-up.example.org", "*.example.org"),
    ("pc-7.dial-up.example.org.", "*.example.org"),
    ("example.org", "*.example.org"),
    ("printer", "*"),
    ("-", "*"),
    ("192.0.2.9:8080", "*"),
    ("192.000.002.009", "*"),
    ("192.0.2.9, 192.0.2.8", "*"),
    ("a..b", "*"),
    ("\xff\xfe", "*"),
    ("2002:5db8:d851::1", "2002:5db8:d800::/40"),
    ("64:ff9b::5db8:d851", "93.184.216.0/24"),
    ("fe80::1%eth0", "fe80::/48"),
]


@pytest.mark.parametrize(("address", "short"), ADDRESSES, ids=[address for address, _ in ADDRESSES])
def test_an_address_becomes_its_network(address: str, short: str) -> None:
    assert shortened(address) == short


SENTENCES = [
    (
        "9.9.9.9 is in 9.9.9.8/31, published at https://192.0.2.1/bots.json, as of 2026-09-02",
        "9.9.9.0/24 is in 9.9.9.0/24, published at https://192.0.2.1/bots.json, as of 2026-09-02",
    ),
    ("9.9.9.9 is in 9.9.8.0/22, published", "9.9.9.0/24 is in 9.9.8.0/22, published"),
    ("2001:db8:: is outside the ranges", "2001:db8::/48 is outside the ranges"),
    ("::ffff:9.9.9.9 is not a public address", "9.9.9.0/24 is not a public address"),
    (
        "9.9.9.9 has the reverse DNS name pc-7.example.org, which does not resolve back to it",
        "9.9.9.0/24 has the reverse DNS name *.example.org, which does not resolve back to it",
    ),
    (
        "9.9.9.9 has the reverse DNS name a.b.c.net, not one under yandex.com or yandex.ru",
        "9.9.9.0/24 has the reverse DNS name *.c.net, not one under yandex.com or yandex.ru",
    ),
    ("no answer to the reverse DNS lookup of 9.9.9.9", "no answer to the reverse DNS lookup of 9.9.9.0/24"),
    (
        "the list was made 4,138 days after 2015-05-05, at 10:05:00.",
        "the list was made 4,138 days after 2015-05-05, at 10:05:00.",
    ),
]


@pytest.mark.parametrize(("sentence", "short"), SENTENCES, ids=[sentence for sentence, _ in SENTENCES])
def test_evidence_without_addresses(sentence: str, short: str) -> None:
    assert without_addresses(sentence) == short


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), st.sampled_from(["", ".", ","]))
def test_any_address(address: IPv4Address | IPv6Address, after: str) -> None:
    short = shortened(str(address))
    network = ip_network(short)
    contains_ipv4 = isinstance(address, IPv6Address) and address.sixtofour is not None
    assert network.prefixlen == (24 if network.version == 4 else 40 if contains_ipv4 else 48)
    host = 32 if address.version == 4 else 128
    assert without_addresses(f"from {address} in {address}/{host}{after}") == f"from {short} in {short}{after}"


@given(st.text())
def test_any_text(text: str) -> None:
    assert isinstance(without_addresses(text), str)
    assert shortened(text)


def test_no_form_of_the_report_has_an_address() -> None:
    log = make_log()
    addresses = [f"66.249.66.{number}" for number in range(1, 5)] + ["host-1.dial-up.example.org", "2001:DB8::7"]
    more = "".join(line(number, "/", GOOGLEBOT, address) for number, address in enumerate(addresses))
    report = report_of(log.text() + more.encode(), anonymise=True)
    written = [json.dumps(report_json(report)), report_csv(report), report_prometheus(report)]
    everyone = {*log.people, *log.crawlers, *addresses}
    words = {word.strip('",;()[]') for text in written for word in text.replace("\\", " ").split()}
    assert not words & {*everyone, "2001:db8::7"}
    assert '"203.0.113.0/24"' in written[0]
    assert "*.example.org" in written[0]


def test_addresses_of_one_network_are_added_up() -> None:
    lines = [line(number, "/", GOOGLEBOT, f"9.9.9.{number}") for number in range(30)]
    (robot,) = report_of(lines, anonymise=True).robots
    assert (robot.addresses, robot.busiest) == (30, (("9.9.9.0/24", 30),))


def test_a_group_still_has_its_number_of_addresses() -> None:
    group = next(one for one in report_of(make_log().text(), anonymise=True).undeclared if one.addresses > 1)
    assert (group.addresses, group.members) == (40, ("203.0.114.0/24",))
