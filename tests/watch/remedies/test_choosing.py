"""Whom a remedy concerns."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.registry import AddressBook, bundled_registry
from goodbot.watch.remedies import Chosen, Records, choose_given, choose_reported, parse_rate, parse_report
from watch.remedies.saved_reports import REPORT, TEXT, robot

FRESH = date(2026, 9, 20)
RECORDS = Records(bundled_registry(), AddressBook(), FRESH)
LATER = Records(bundled_registry(), AddressBook(), date(2028, 1, 1))


def reported(*names: str, undeclared: bool = False, records: Records = RECORDS, text: str = TEXT) -> Chosen:
    return choose_reported(parse_report(text.encode(), "report.json"), names, undeclared, records)


def addresses(chosen: Chosen) -> list[str]:
    return [str(network).removesuffix("/32").removesuffix("/128") for network in chosen.targets().networks]


def test_a_report_gives_who_disobeyed_and_impostors() -> None:
    """Not who obeyed, nor who fetches for users; and an address of nobody but the impostor."""
    chosen = reported()
    assert [*chosen.robots] == ["GPTBot"]
    assert [*chosen.impostors] == ["Googlebot"]
    assert addresses(chosen) == ["203.0.113.9", "2001:db8::1"]
    left_out = "\n".join(chosen.warnings)
    for text in ("ChatGPT-User", "10.0.0.1", "203.0.113.0/24", "*.example.org", "20.171.206.5 (openai-gptbot)"):
        assert f"{text} is left out" in left_out


@pytest.mark.parametrize(
    ("found", "too_fast", "warnings"),
    [
        ([("GPTBot", "verified")], False, []),
        ([("GPTBot", "verified"), ("GPTBot", "declared")], False, []),
        (
            [("CCBot", "declared")],
            False,
            ["CCBot was not verified: others may have sent its requests, and the remedy affects the genuine robot too"],
        ),
        (
            [("YandexBot", "verified"), ("bingbot", "declared"), ("CCBot", "declared")],
            False,
            [
                (
                    "YandexBot and bingbot are robots of search engines: blocking them may remove your pages from "
                    "their results"
                ),
                (
                    "bingbot and CCBot were not verified: others may have sent their requests, and the remedy affects "
                    "the genuine robots too"
                ),
            ],
        ),
        ([("YandexBot", "verified")], True, []),
        (
            [("bingbot", "verified")],
            False,
            ["bingbot is a robot of a search engine: blocking it may remove your pages from its results"],
        ),
        (
            [("curl", "verified"), ("Chrome", "verified"), ("Safari", "verified")],
            False,
            [
                "other robots also have the name curl in their User-Agent; a rule by name stops them too",
                "Chrome and Safari are left out: browsers have their names in the User-Agent too",
            ],
        ),
    ],
    ids=["verified", "also verified", "declared", "search engines", "a rate", "one search engine", "names"],
)
def test_one_warning_lists_all_that_it_is_about(
    found: list[tuple[str, str]], too_fast: bool, warnings: list[str]
) -> None:
    text = json.dumps({"robots": [robot(name, tier, disallowed=1) for name, tier in found]})
    report = parse_report(text.encode(), "report.json")
    assert [*choose_reported(report, (), False, RECORDS, too_fast=too_fast).warnings] == warnings


@pytest.mark.parametrize(("low", "too_fast", "chosen"), [(0.3, True, ["CCBot"]), (0.01, True, []), (0.3, False, [])])
def test_robots_that_were_only_too_fast(low: float, too_fast: bool, chosen: list[str]) -> None:
    share = {"value": 0.5, "low": low, "high": 0.9}
    obedience = {"crawl_delay": [{"asked_s": 10, "gaps": 9, "short": 4, "share": share}]}
    one = {"name": "CCBot", "tier": "declared", "disallowed": 0, "obedience": obedience}
    report = parse_report(json.dumps({"robots": [one]}).encode(), "report.json")
    assert [*choose_reported(report, (), False, RECORDS, too_fast=too_fast).robots] == chosen


def test_old_address_lists_make_no_rule_by_name() -> None:
    chosen = reported(records=LATER)
    assert not chosen.impostors
    assert addresses(chosen) == ["203.0.113.9", "2001:db8::1"]


def test_addresses_that_are_left_out_are_listed_by_reason() -> None:
    busiest = [{"address": address} for address in ("10.0.0.1", "x", "127.0.0.1", "20.171.206.5", "66.249.66.1", "y")]
    chosen = reported(text=json.dumps({"robots": [robot("Twitterbot", "impostor", 3, busiest_addresses=busiest)]}))
    assert chosen.warnings == (
        "10.0.0.1 and 127.0.0.1 are left out: local addresses are those of proxies or programs of your own",
        "x and y are left out: they are not addresses",
        (
            "20.171.206.5 (openai-gptbot) and 66.249.66.1 (google-common) are left out: operators list them, so they "
            "may be those of genuine robots"
        ),
    )


def test_an_impostor_is_never_stopped_by_name_alone() -> None:
    """Twitterbot has no address lists on record."""
    chosen = reported(text=json.dumps({"robots": [robot("Twitterbot", "impostor", 3)]}))
    assert (chosen.robots, chosen.impostors, addresses(chosen)) == ({}, {}, ["198.51.100.7"])


@pytest.mark.parametrize(
    ("names", "robots", "impostors"),
    [
        (["GPTBot"], ["GPTBot"], []),
        (["gptbot", "CCBot"], ["GPTBot"], []),
        (["googlebot"], [], ["Googlebot"]),
        (["bingbot"], [], []),
    ],
)
def test_names_narrow_a_report(names: list[str], robots: list[str], impostors: list[str]) -> None:
    chosen = reported(*names)
    assert ([*chosen.robots], [*chosen.impostors]) == (robots, impostors)


def test_undeclared_addresses_if_they_are_sure() -> None:
    added = {*addresses(reported(undeclared=True))} - {*addresses(reported())}
    assert added == {"192.0.2.1", "192.0.2.129", "192.0.2.130"}


def test_a_robot_that_is_not_on_record_is_found_by_its_name() -> None:
    chosen = reported(text=json.dumps({"robots": [robot("Own Robot", disallowed=1), robot("Chrome", disallowed=1)]}))
    assert [*chosen.robots] == ["Own Robot"]
    assert "Chrome is left out: browsers have its name" in next(iter(chosen.warnings))


@pytest.mark.parametrize(
    ("names", "given", "impostors", "message"),
    [
        (["Gogolebot"], [], False, "did you mean Googlebot"),
        (["zzz"], [], False, "goodbot who --list"),
        ([], ["192.0.2"], False, "must be an address"),
        ([], ["0.0.0.0/0"], False, "a large part of the Internet"),
        ([], ["::/0"], False, "a large part of the Internet"),
        (["Twitterbot"], [], True, "not all addresses of Twitterbot"),
    ],
)
def test_what_cannot_be_chosen(names: list[str], given: list[str], impostors: bool, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_given(names, given, impostors, RECORDS)


@pytest.mark.parametrize(
    ("given", "network"),
    [
        ("::ffff:192.0.2.66", "192.0.2.66/32"),
        ("[::FFFF:c000:242]", "192.0.2.66/32"),
        ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
        ("2001:db8::1", "2001:db8::1/128"),
        ("::192.0.2.1", "::c000:201/128"),
    ],
)
def test_ipv4_within_ipv6_is_ipv4(given: str, network: str) -> None:
    assert [str(one) for one in choose_given([], [given], False, RECORDS).targets().networks] == [network]


def test_ipv4_within_ipv6_in_a_report_is_ipv4() -> None:
    busiest = [{"address": f"::ffff:{address}"} for address in ("203.0.113.9", "10.0.0.1", "66.249.66.1")]
    text = json.dumps({"robots": [robot("Googlebot", "impostor", busiest_addresses=busiest)]})
    assert addresses(reported(text=text)) == ["203.0.113.9"]


def test_all_of_ipv4_within_ipv6_is_too_much() -> None:
    with pytest.raises(InputError, match="a large part of the Internet"):
        choose_given([], ["::ffff:0.0.0.0/96"], False, RECORDS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["66.249.66.1"], "the address 66.249.66.1 (Googlebot and 8 more) is on an operator's list"),
        (["::ffff:66.249.66.1"], "the address 66.249.66.1 (Googlebot and 8 more) is on an operator's list"),
        (["66.249.64.0/19"], "the address 66.249.64.0/19 (Googlebot and"),
        (["192.0.2.1"], ""),
    ],
)
def test_addresses_of_genuine_robots_are_named(given: list[str], said: str) -> None:
    warnings = "".join(choose_given([], given, False, RECORDS).warnings)
    assert said in warnings
    assert bool(said) == bool(warnings)


def test_a_name_that_no_robot_sends_is_left_out() -> None:
    chosen = choose_given(["Google-Extended", "CCBot"], [], False, RECORDS)
    assert [*chosen.robots] == ["CCBot"]
    assert "a rule for Google-Extended does not help: no robot sends this name" in chosen.warnings[0]


def test_what_looks_for_no_names_need_not_warn_of_them() -> None:
    assert not choose_given(["curl", "Google-Extended"], [], False, RECORDS, by_name=False).warnings


def test_what_the_user_gives() -> None:
    chosen = choose_given(["CCBot", "curl"], ["192.0.2.1", "192.0.2.0/24", "[2001:db8::1]", "10.0.0.9"], False, RECORDS)
    assert [*chosen.robots] == ["CCBot", "curl"]
    assert addresses(chosen) == ["10.0.0.9", "192.0.2.0/24", "2001:db8::1"]
    assert "other robots also have the name curl" in next(iter(chosen.warnings))
    assert not choose_given(["Googlebot"], [], True, RECORDS).robots
    assert "out of date" in "".join(choose_given(["Googlebot"], [], True, LATER).warnings)


@pytest.mark.parametrize(("text", "delay"), [("2/s", 1), ("30/m", 2), ("1/m", 60), (" 7R/M ", 9), ("9999/s", 1)])
def test_rates(text: str, delay: int) -> None:
    assert parse_rate(text).delay_s == delay


@pytest.mark.parametrize("text", ["", "0/s", "1", "1/h", "-1/s", "1.5/s", "10000/s", "1/s; evil", "\u0661/s"])
def test_no_rates(text: str) -> None:
    with pytest.raises(InputError, match="--rate must be"):
        parse_rate(text)


# ---- reading a report -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"robots": 1}',
        b'{"robots": [{"name": "x"}]}',
        b'{"robots": [{"name": "x", "tier": "y", "disallowed": "z"}]}',
        TEXT.encode() * 2,
        b'{"robots": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"robots": [{"name": "\xff", "tier": ""}]}',
        Path(__file__).read_bytes(),
    ],
    ids=["empty", "object", "list", "number", "no tier", "text", "two", "nested", "not UTF-8", "Python"],
)
def test_what_is_not_a_report(body: bytes) -> None:
    with pytest.raises(InputError, match=r"report\.json is not the JSON of one report"):
        parse_report(body, "report.json")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*REPORT, *robot("x"), "address", "verdict", "members"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(body=st.binary(max_size=60) | _JSON.map(lambda value: json.dumps({"robots": value}).encode()))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        report = parse_report(body, "x")
    except InputError:
        return
    choose_reported(report, (), True, RECORDS).targets()


@given(name=st.text(max_size=30), address=st.text(max_size=30), tier=st.sampled_from(["declared", "impostor", "x"]))
def test_any_robot_is_chosen_or_left_out(name: str, address: str, tier: str) -> None:
    made = robot(name, tier, 1, busiest_addresses=[{"address": address}])
    reported(text=json.dumps({"robots": [made], "undeclared": []}))
