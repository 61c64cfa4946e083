"""How fast requests may come: the buckets, the pace of robots.txt, the limits of the policy, and their memory."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.gates import (
    BYTESPIDER,
    CURL,
    DAY_S,
    EXAMPLEBOT,
    FIREFOX,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    LONG_AGO,
    NOW,
    OPENAI,
    STRANGER,
    address_in,
    asked_for,
    codes,
    decided,
    gate_with,
    site_of,
)
from goodbot.gate.decision import LONGEST_WAIT_S, MOST_BURST, address_of, network_of
from goodbot.gate.gate_request import GateRequest
from goodbot.gate.policy import Browsers, Limited, Policy, Undeclared
from goodbot.gate.rate_limits import Bucket, RateLimits

SLOW = "User-agent: *\nCrawl-delay: 10\n"
UNLIMITED = Policy(unverified=Limited(action="allow"), undeclared=Undeclared(action="allow"))
REQUESTS = 1000


# ---- buckets --------------------------------------------------------------------------------------------------------


def test_a_bucket_gives_its_burst_and_then_one_token_a_gap() -> None:
    limits = RateLimits(100)
    bucket = Bucket(("a",), 2.0, 3)
    assert [limits.take([bucket], 100.0) for _ in range(5)] == [0, 0, 0, 2.0, 2.0]
    assert limits.take([bucket], 101.5) == 0.5
    assert limits.take([bucket], 102.0) == 0
    assert limits.take([bucket], 102.0) == 2.0
    assert [limits.take([bucket], 1000.0) for _ in range(4)] == [0, 0, 0, 2.0]


def test_of_several_buckets_all_must_have_a_token() -> None:
    limits = RateLimits(100)
    one, two = Bucket(("one",), 1.0), Bucket(("two",), 5.0)
    assert limits.take([two], 0.0) == 0
    assert limits.take([one, two], 1.0) == 4.0
    assert limits.take([one], 1.0) == 0, "a refusal takes no token"
    assert limits.take([], 0.0) == 0
    assert limits.take([one, two], 5.0) == 0


def test_keys_have_buckets_of_their_own() -> None:
    limits = RateLimits(100)
    assert [limits.take([Bucket((key,), 9.0)], 0.0) for key in ("a", "b", "a")] == [0, 0, 9.0]


def test_a_request_may_come_a_little_early() -> None:
    limits = RateLimits(100)
    bucket = Bucket(("a",), 10.0, 1, 2.0)
    assert [limits.take([bucket], at) for at in (0.0, 8.0)] == [0, 0]
    assert limits.take([bucket], 16.0) == 2.0, "the seconds gained once are not gained again"
    assert limits.take([bucket], 18.0) == 0


@given(
    st.lists(st.floats(0, 1000, allow_nan=False), min_size=1, max_size=50).map(sorted),
    st.floats(0.001, 100),
    st.integers(1, 20),
)
def test_no_span_has_more_requests_than_the_rate_and_the_burst(times: list[float], gap_s: float, burst: int) -> None:
    limits = RateLimits(100)
    taken = [at for at in times if limits.take([Bucket(("a",), gap_s, burst)], at) == 0]
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            assert last - first + 1 <= burst + (taken[last] - taken[first]) / gap_s + 1e-3


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 5, allow_nan=False)), max_size=60))
def test_who_waits_as_long_as_the_answer_says_is_let_in(requests: list[tuple[int, float]]) -> None:
    limits = RateLimits(100)
    now = 0.0
    for key, pause in requests:
        now += pause
        bucket = Bucket((key,), 3.0, 2)
        if wait_s := limits.take([bucket], now):
            now += wait_s
            assert limits.take([bucket], now + 1e-6) == 0


def test_memory_is_bounded() -> None:
    limits = RateLimits(1000)
    for key in range(20_000):
        limits.take([Bucket((key,), 1.0)], 0.0)
    assert 800 < len(limits) <= 1000


# ---- the pace of robots.txt -----------------------------------------------------------------------------------------


def share_refused(gaps: list[float], robots_txt: str = SLOW, agent: str = EXAMPLEBOT) -> float:
    """The share of requests that are refused as too fast, if they come with these gaps."""
    times = [sum(gaps[:number]) for number in range(len(gaps))]
    found = codes(gate_with(robots_txt, UNLIMITED), asked_for("/", agent), times)
    assert set(found) <= {"allowed", "too-fast"}
    return found.count("too-fast") / len(found)


@pytest.mark.parametrize("delay_s", [0.5, 1, 7, 10, 60, 3600])
def test_a_robot_that_keeps_its_delay_is_never_refused(delay_s: float) -> None:
    robots_txt = f"User-agent: *\nCrawl-delay: {delay_s}\n"
    assert share_refused([delay_s] * REQUESTS, robots_txt) == 0


@pytest.mark.parametrize("delay_s", [0.5, 1, 7, 10])
def test_a_network_that_brings_requests_15_percent_early_or_late_changes_nothing(delay_s: float) -> None:
    shaken = random.Random(1)
    robots_txt = f"User-agent: *\nCrawl-delay: {delay_s}\n"
    request = asked_for("/")
    for least, most in ((-0.15, 0.0), (0.0, 0.15), (-0.09, 0.09)):
        times = [100 + number * delay_s + delay_s * shaken.uniform(least, most) for number in range(REQUESTS)]
        assert set(codes(gate_with(robots_txt, UNLIMITED), request, times)) == {"allowed"}
    early_once = [100 + number * delay_s - (number % 2) * 0.15 * delay_s for number in range(REQUESTS)]
    assert set(codes(gate_with(robots_txt, UNLIMITED), request, early_once)) == {"allowed"}


def test_a_robot_that_is_too_fast_on_average_is_refused_as_often() -> None:
    assert 0.48 <= share_refused([5.0] * REQUESTS) <= 0.52
    assert 0.88 <= share_refused([1.0] * REQUESTS) <= 0.92
    assert 0.30 <= share_refused([8.5] * REQUESTS) <= 0.35, "after a refusal it waits for its next turn"
    assert share_refused([20.0] * REQUESTS) == 0


def test_a_refusal_says_when_to_come_again() -> None:
    gate, request = gate_with(SLOW), asked_for("/")
    assert decided(gate, request).code == "allowed"
    decision = decided(gate, request, 2.5)
    assert (decision.code, decision.status) == ("too-fast", 429)
    assert decision.retry_after_s == 6, "7.5 s, and 2 s of them are let pass"
    assert decision.why == "this site's robots.txt asks for 10 s between two requests"
    assert decided(gate, request, 2.5 + 6).code == "allowed"


def test_a_clock_that_is_set_back_changes_no_pace() -> None:
    gate, request = gate_with(SLOW), asked_for("/")
    walls = [NOW, NOW - DAY_S, NOW - DAY_S, NOW + DAY_S, LONG_AGO, NOW]
    found = [gate.decide(request, wall, 10.0 * number).code for number, wall in enumerate(walls)]
    assert set(found) == {"allowed"}
    assert gate.decide(request, NOW + 10 * DAY_S, 51.0).code == "too-fast"


def test_a_verified_robot_has_one_pace_for_all_its_addresses() -> None:
    gate = gate_with("User-agent: GPTBot\nCrawl-delay: 10\n")
    one, two = asked_for("/", GPTBOT, OPENAI), asked_for("/", GPTBOT, "52.230.152.7")
    assert [decided(gate, one).code, decided(gate, two).code] == ["allowed", "too-fast"]


def test_an_unverified_robot_has_a_pace_in_each_network() -> None:
    gate = gate_with("User-agent: Bytespider\nCrawl-delay: 10\n")
    here, beside, elsewhere = (asked_for("/", BYTESPIDER, f"203.0.{net}") for net in ("113.9", "113.200", "114.9"))
    assert [decided(gate, request).code for request in (here, beside, elsewhere)] == ["allowed", "too-fast", "allowed"]
    six, same, other = (asked_for("/", BYTESPIDER, f"2001:db8:{net}::1") for net in ("1:1", "1:2", "2:1"))
    assert [decided(gate, request).code for request in (six, same, other)] == ["allowed", "too-fast", "allowed"]


@pytest.mark.parametrize("stranger", [STRANGER, "10.0.0.1", None])
@pytest.mark.parametrize("now", [NOW, LONG_AGO])
def test_a_stranger_cannot_use_up_the_pace_of_a_robot(stranger: str | None, now: float) -> None:
    gate = gate_with("User-agent: GPTBot\nCrawl-delay: 10\n", UNLIMITED)
    for number in range(100):
        gate.decide(asked_for("/", GPTBOT, stranger), now, number / 100)
    assert gate.decide(asked_for("/", GPTBOT, OPENAI), now, 1.0).code == "allowed"


def test_each_site_has_a_pace_of_its_own() -> None:
    gate = gate_with(SLOW, by_host={"a.test": site_of(SLOW), "b.test": site_of(SLOW)})
    hosts = ["a.test", "b.test", "c.test", "d.test", "a.test:443"]
    found = [decided(gate, asked_for("/", host=host)).code for host in hosts]
    assert found == ["allowed", "allowed", "allowed", "too-fast", "too-fast"], "hosts without rules are one site"


def test_a_request_rate_may_be_used_at_once() -> None:
    gate = gate_with("User-agent: *\nRequest-rate: 3/30s\n", UNLIMITED)
    request = asked_for("/")
    assert codes(gate, request, [0, 0, 0, 0, 8, 8]) == [*["allowed"] * 3, "too-fast", "allowed", "too-fast"]


def test_the_slower_of_rate_and_delay_counts() -> None:
    gate = gate_with("User-agent: *\nRequest-rate: 60/1m\nCrawl-delay: 20\n", UNLIMITED)
    assert codes(gate, asked_for("/"), [0, 2, 19]) == ["allowed", "too-fast", "allowed"]


def test_a_rate_has_a_largest_burst() -> None:
    gate = gate_with("User-agent: *\nRequest-rate: 100000/1d\n", UNLIMITED)
    found = codes(gate, asked_for("/"), [0.0] * (MOST_BURST + 50))
    assert MOST_BURST <= found.count("allowed") <= MOST_BURST + 1, "one more, as requests may come early"


def test_the_longest_wait_is_a_day() -> None:
    gate = gate_with("User-agent: *\nCrawl-delay: 99999999999999999999\n", UNLIMITED)
    assert decided(gate, asked_for("/")).code == "allowed"
    assert decided(gate, asked_for("/"), 60).retry_after_s == LONGEST_WAIT_S


@pytest.mark.parametrize("delay", ["0", "0.0", "-1", "nan", "inf", "ten", ""])
def test_a_delay_that_asks_for_nothing(delay: str) -> None:
    gate = gate_with(f"User-agent: *\nCrawl-delay: {delay}\n", UNLIMITED)
    assert codes(gate, asked_for("/"), [0.0] * 20) == ["allowed"] * 20


def test_a_delay_for_everyone_is_not_for_googles_robots() -> None:
    special = ("AdsBot-Google (+http://www.google.com/adsbot.html)", address_in("google-special"))
    for agent, address in ((GOOGLEBOT, GOOGLE), special):
        assert codes(gate_with(SLOW), asked_for("/", agent, address), [0, 0, 0]) == ["allowed"] * 3
    bing = asked_for("/", "Mozilla/5.0 (compatible; bingbot/2.0)", address_in("bingbot"))
    assert codes(gate_with(SLOW), bing, [0, 0]) == ["allowed", "too-fast"]


def test_a_delay_for_googlebot_is() -> None:
    gate = gate_with("User-agent: googlebot\nCrawl-delay: 10\n\nUser-agent: *\nDisallow:\n")
    assert codes(gate, asked_for("/", GOOGLEBOT, GOOGLE), [0, 0, 10]) == ["allowed", "too-fast", "allowed"]


# ---- the limits of the policy ---------------------------------------------------------------------------------------


def test_unverified_robots_are_limited_by_name_and_network() -> None:
    policy = Policy(unverified=Limited(per_minute=60, burst=2))
    gate = gate_with("", policy)
    here, beside, elsewhere = (asked_for("/", BYTESPIDER, f"203.0.{net}") for net in ("113.9", "113.200", "114.9"))
    assert codes(gate, here, [0, 0]) == ["allowed"] * 2
    assert (
        decided(gate, beside).why
        == "this site permits 60 requests a minute from one network in the name of a robot that cannot be verified"
    )
    assert decided(gate, elsewhere).code == "allowed"
    assert decided(gate, asked_for("/", EXAMPLEBOT)).code == "allowed", "another robot in the same network"
    assert codes(gate, here, [1, 1, 2]) == ["allowed", "too-fast", "allowed"]


def test_verified_robots_have_no_limit_of_the_policy() -> None:
    gate = gate_with("", Policy(unverified=Limited(per_minute=1, burst=1)))
    assert codes(gate, asked_for("/", GPTBOT, OPENAI), [0.0] * 50) == ["allowed"] * 50


def test_programs_are_limited_by_address_and_by_network() -> None:
    policy = Policy(undeclared=Undeclared(per_minute=60, burst=2, network_per_minute=60, network_burst=3))
    gate = gate_with("", policy)
    one, two, far = (asked_for("/", CURL, f"203.0.{net}") for net in ("113.9", "113.200", "114.9"))
    assert codes(gate, one, [0, 0, 0]) == ["allowed", "allowed", "too-fast"]
    assert codes(gate, two, [0, 0]) == ["allowed", "too-fast"]
    assert decided(gate, far).code == "allowed"
    other_name = asked_for("/", "python-requests/2.32", "203.0.113.9")
    assert decided(gate, other_name).code == "too-fast", "another name is no other client"


def test_an_address_of_ipv6_counts_with_its_64() -> None:
    gate = gate_with("", Policy(undeclared=Undeclared(per_minute=1, burst=1)))
    one, same, other = (asked_for("/", CURL, f"2001:db8:0:{tail}") for tail in ("1::1", "1::2", "2::1"))
    assert [decided(gate, request).code for request in (one, same, other)] == ["allowed", "too-fast", "allowed"]


def test_browsers_are_limited_if_the_policy_says_so() -> None:
    request = asked_for("/", FIREFOX)
    assert codes(gate_with(""), request, [0.0] * 5000) == ["allowed"] * 5000
    gate = gate_with("User-agent: *\nDisallow: /\n", Policy(browsers=Browsers(action="limit", per_minute=60, burst=2)))
    assert codes(gate, request, [0, 0, 0, 1]) == ["allowed", "allowed", "too-fast", "allowed"]
    assert decided(gate, asked_for("/", FIREFOX, "203.0.113.10"), 1).code == "allowed"


@pytest.mark.parametrize("agent", [FIREFOX, CURL, EXAMPLEBOT])
def test_without_an_address_the_policy_limits_nothing(agent: str) -> None:
    policy = Policy(
        unverified=Limited(per_minute=1, burst=1),
        undeclared=Undeclared(per_minute=1, burst=1),
        browsers=Browsers(action="limit", per_minute=1, burst=1),
    )
    assert codes(gate_with("", policy), asked_for("/", agent, None), [0.0] * 10) == ["allowed"] * 10


def test_a_page_that_is_closed_takes_no_token() -> None:
    gate = gate_with("User-agent: *\nCrawl-delay: 10\nDisallow: /private\n")
    assert codes(gate, asked_for("/private"), [0, 1, 2]) == ["disallowed"] * 3
    assert decided(gate, asked_for("/"), 3).code == "allowed"
    assert codes(gate, asked_for("/robots.txt"), [4, 4, 4]) == ["allowed"] * 3


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("addresses", [30_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_million_addresses_take_bounded_memory(addresses: int) -> None:
    policy = Policy(addresses=1000, browsers=Browsers(action="limit"))
    limits = RateLimits(policy.addresses)
    gate = gate_with(SLOW, policy, limits=limits)
    templates = [asked_for("/", agent) for agent in (FIREFOX, CURL, EXAMPLEBOT)]
    most = 0
    for number in range(addresses):
        address = f"{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}.7"
        request: GateRequest = templates[number % 3]._replace(client=address)
        gate.decide(request, NOW, number / 1000)
        if not number % 997:
            most = max(most, len(limits))
    assert 500 < most <= policy.addresses
    assert len(limits) <= policy.addresses


def test_what_counts_as_one_client_and_one_network() -> None:
    assert address_of("192.0.2.1") == address_of("::ffff:192.0.2.1") == bytes([192, 0, 2, 1])
    assert address_of("2001:db8::1") == address_of("2001:db8::ffff:1:2:3") != address_of("2001:db8:0:1::1")
    assert network_of("192.0.2.1") == network_of("192.0.2.255") != network_of("192.0.3.1")
    assert network_of("2001:db8::1") == network_of("2001:db8:0:9::1") != network_of("2001:db8:1::1")
    assert address_of(None) == network_of(None) == address_of("host.example") == network_of("") == b""
