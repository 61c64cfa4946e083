"""The gate decides about any bytes in any field, with any robots.txt: it never raises, and says 200, 403 or 429."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.gates import (
    CURL,
    EXAMPLEBOT,
    FIREFOX,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    HOST,
    NOW,
    PROXIES,
    PROXY,
    STRANGER,
    Key,
    asked_for,
    clients_with,
    decided,
    gate_with,
    site_of,
)
from goodbot.gate.answers import answer_to
from goodbot.gate.decision import STATUS
from goodbot.gate.gate_request import read_request
from goodbot.gate.policy import Browsers, Impostors, Limited, Policy, Undeclared
from goodbot.gate.rate_limits import RateLimits

KEY = Key(b"k")
CLIENTS = clients_with([KEY.directory("keys", "GPTBot")])

NAMES = [
    *(b"x-original-uri", b"x-forwarded-uri", b"x-original-url", b"x-original-method", b"x-forwarded-method"),
    *(b"x-goodbot-server", b"x-forwarded-host", b"host", b"user-agent", b"x-forwarded-for", b"x-real-ip"),
    *(b"signature-input", b"signature", b"signature-agent", b"cookie"),
]

PARTS = [
    *(
        b"/",
        b"//",
        b"/../",
        b"%2e",
        b"%2F",
        b"\\",
        b"?",
        b"#",
        b"*",
        b"$",
        b"://",
        b"http://a.test",
        b"/robots.txt",
        b",",
    ),
    *(
        b"127.0.0.1",
        b"::1",
        b"[",
        b"]",
        b":",
        b"%eth0",
        b"192.0.2.1",
        b"66.249.66.1",
        b"example.org",
        b".",
        b" ",
        b"\t",
    ),
    *(GPTBOT.encode(), FIREFOX.encode(), b"Googlebot", b"curl/8", b"bot", b"Mozilla/5.0 (", b"compatible;", b"nginx"),
    *(b"\x00", b"\xff", b"\xc3\xa9", b"\xa0", b"\xf0\x9f\x98\x80", b"a" * 300, b'sig1=("@authority")', b"sig1=:AA==:"),
]

octets = st.binary(max_size=30) | st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join)
fields = st.lists(st.tuples(st.sampled_from(NAMES), octets), max_size=12)

LINES = [
    *(b"User-agent: *", b"User-agent: GPTBot", b"user-agent: googlebot", b"User-agent: curl", b"User-agent:"),
    *(b"Disallow: /", b"Disallow:", b"Allow: /a", b"Disallow: /*a*a*a$", b"Disallow: /%ff", b"Disallow: \xff"),
    *(b"Crawl-delay: 1", b"Crawl-delay: 1e999", b"Crawl-delay: 0.00000001", b"Crawl-delay: " + b"9" * 400),
    *(b"Request-rate: 1/1d", b"Request-rate: 99999999999/1", b"Request-rate: 0/0", b"Visit-time: 0000-2400"),
    *(b"Visit-time: 2300-0100", b"Visit-time: 1000-1000", b"Visit-time: 9999", b"\x00", b"\xef\xbb\xbf", b"<html>"),
]
robots_txts = st.binary(max_size=60) | st.lists(st.sampled_from(LINES), max_size=10).map(b"\n".join)

policies = st.builds(
    Policy,
    mode=st.sampled_from(["observe", "enforce"]),
    unknown_rules=st.sampled_from(["allow", "refuse"]),
    contact=st.sampled_from(["", "me@a.test"]),
    impostors=st.builds(Impostors, st.sampled_from(["allow", "refuse"])),
    unverified=st.builds(Limited, st.sampled_from(["allow", "limit", "refuse"]), st.just(1.0), st.just(1)),
    undeclared=st.builds(
        Undeclared, st.sampled_from(["allow", "limit", "refuse"]), rules=st.sampled_from(["named", "all"])
    ),
    browsers=st.builds(Browsers, st.sampled_from(["allow", "limit"]), st.just(1.0), st.just(1)),
    robots=st.dictionaries(st.sampled_from(["GPTBot", "curl", ""]), st.sampled_from(["allow", "rules", "refuse"])),
)

peers = st.sampled_from([PROXY, STRANGER, GOOGLE, "::1", "2001:db8::9", "fe80::1%eth0", "::ffff:127.0.0.1", None])
times = st.floats(0, 4e9, allow_nan=False)


@given(st.lists(st.tuples(fields, peers, times), min_size=1, max_size=4), robots_txts, policies, octets)
def test_the_gate_decides_about_anything(
    requests: list[tuple[list[tuple[bytes, bytes]], str | None, float]], robots_txt: bytes, policy: Policy, own: bytes
) -> None:
    by_host = {HOST: site_of(robots_txt), "a.test": None}
    gate = gate_with(robots_txt, policy, by_host, CLIENTS)
    for number, (sent, peer, now) in enumerate(requests):
        request = read_request("GET", own.decode("latin-1"), sent, peer, PROXIES)
        decision = gate.decide(request, now, number / 10)
        assert decision.status in (200, 403, 429)
        assert decision.status == STATUS[decision.code]
        assert 0 <= decision.retry_after_s <= 86_400
        assert (decision.retry_after_s > 0) == (decision.status == 429)
        answer = answer_to(request, decision, policy)
        assert answer.status in (200, 403, 429)
        assert all(value.isascii() and value.isprintable() for _, value in answer.fields)
        assert policy.mode == "enforce" or answer.status == 200


@given(robots_txts, octets, st.sampled_from([EXAMPLEBOT, CURL, GPTBOT, GOOGLEBOT, ""]))
def test_the_same_request_gets_the_same_rules_each_time(robots_txt: bytes, uri: bytes, agent: str) -> None:
    request = read_request("GET", "/", [(b"x-original-uri", uri), (b"user-agent", agent.encode())], PROXY, PROXIES)
    gate = gate_with(robots_txt, clients=CLIENTS)
    found = [gate.decide(request, NOW, number * 1e9).code == "disallowed" for number in range(3)]
    assert len(set(found)) == 1


@given(octets)
def test_no_octets_in_front_make_a_closed_site_open(uri: bytes) -> None:
    """Everything but robots.txt is closed, however it is written."""
    request = read_request("GET", "/", [(b"x-original-uri", uri), (b"user-agent", b"abot")], PROXY, PROXIES)
    code = decided(gate_with("User-agent: *\nDisallow: /\n", clients=CLIENTS), request).code
    is_robots_txt = all(target.partition("?")[0] == "/robots.txt" for target in request.targets)
    opened = is_robots_txt or request.target.partition("#")[0] == "/robots.txt"
    assert code == ("allowed" if opened else "disallowed")


LONG = 65_536


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", [b"a", b",", b"/", b"%2e", b"\xff", b"bot", b"(", b'"', b":", b"=;", b"a.", b"+http"])
def test_a_field_of_64_kb_is_decided(name: bytes, unit: bytes) -> None:
    value = unit * (LONG // len(unit))
    request = asked_for("/private", EXAMPLEBOT, more=[(name, value)])
    long_first = request._replace(user_agent=value.decode("latin-1")) if name == b"user-agent" else request
    gate = gate_with("User-agent: *\nDisallow: /*a*b*c*d$\nDisallow: /private\n", clients=CLIENTS)
    assert decided(gate, long_first).status in (200, 403, 429)


def test_a_thousand_fields_are_decided() -> None:
    for name in NAMES:
        request = asked_for(more=[(name, b"/%d" % number) for number in range(1000)])
        assert decided(gate_with(clients=CLIENTS), request).status in (200, 403)


def test_long_user_agents_take_bounded_memory() -> None:
    """The gate remembers which robot a User-Agent names, but not texts of any length."""
    gate = gate_with("User-agent: *\nCrawl-delay: 1\n", limits=RateLimits(1000))
    decided(gate, asked_for("/", EXAMPLEBOT))
    tracemalloc.start()
    try:
        for number in range(300):
            gate.decide(asked_for("/", f"{number}bot{'x' * LONG}"), NOW, float(number))
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept_bytes < 300 * 8192
