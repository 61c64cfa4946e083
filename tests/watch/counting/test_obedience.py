"""Requests are judged by the robots.txt in force; both counters judge alike."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import Access, RobotsTxt
from goodbot.watch.counting import obedience_judge
from goodbot.watch.counting.column_counter import ColumnCounter
from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.obedience.counts import LINE_CHARS, MOST_LINES, MOST_RULES, ObedienceCounts
from goodbot.watch.obedience.nofollow_pages import NofollowPages, PageCopy
from goodbot.watch.obedience.pace import Limit
from goodbot.watch.obedience.rules_in_force import RulesInForce
from watch.counting.log_lines import TEN, combined_logs, mixed_logs
from watch.counting.tallies import IDENTITIES, OPTIONS, figures, tally_of

H: Final = 3600

BODY: Final = b"""\
User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 10

User-agent: Googlebot
Disallow: /g/

User-agent: mybrowser
Disallow: /mine
"""


def line(
    target: str,
    agent: str = "GPTBot/1.2",
    at: int = TEN,
    address: str = "192.0.2.1",
    method: str = "GET",
    referrer: str = "-",
) -> bytes:
    when = datetime.fromtimestamp(at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'{address} - - [{when}] "{method} {target} HTTP/1.1" 200 100 "{referrer}" "{agent}"'.encode()


def access(body: bytes, at: float = 0.0) -> Access:
    return Access.from_response(200, (), body, at)


def count(rules: RulesInForce, *blocks: bytes, nofollow: NofollowPages | None = None) -> Tally:
    """Counts with both counters."""
    options = replace(OPTIONS, rules=rules, nofollow=nofollow)
    standard = tally_of(LineCounter(IDENTITIES, options), blocks)
    assert figures(tally_of(ColumnCounter(IDENTITIES, options), blocks)) == figures(standard)
    return standard


def judged(tally: Tally, name: str = "GPTBot") -> ObedienceCounts:
    (found,) = (totals.obedience for key, totals in tally.robots.items() if key.name == name)
    return found


@pytest.mark.parametrize(
    ("agent", "name", "target", "disallowed_by"),
    [
        ("GPTBot/1.2", "GPTBot", "/private/x", 2),
        ("GPTBot/1.2", "GPTBot", "/private/open", None),
        ("GPTBot/1.2", "GPTBot", "/%70rivate/x?q=1", 2),
        ("GPTBot/1.2", "GPTBot", "http://www.example.org/private/x", 2),
        ("GPTBot/1.2", "GPTBot", "/private", None),
        ("Googlebot/2.1", "Googlebot", "/g/1", 7),
        ("Googlebot/2.1", "Googlebot", "/private/x", None),
        # its operator says that it ignores groups for *
        ("AdsBot-Google (+http://www.google.com/adsbot.html)", "AdsBot-Google", "/private/x", None),
    ],
)
def test_which_rule_disallows(agent: str, name: str, target: str, disallowed_by: int | None) -> None:
    tally = count(RulesInForce.always(access(BODY)), line(target, agent))
    found = judged(tally, name)
    assert (found.judged, found.disallowed) == (1, int(disallowed_by is not None))
    assert [*found.versions[0.0].rules] == ([] if disallowed_by is None else [disallowed_by])


@pytest.mark.parametrize(
    ("target", "method", "judged_requests"),
    [
        ("/robots.txt", "GET", 0),
        ("*", "OPTIONS", 0),
        ("example.org:443", "CONNECT", 0),
        ("/private/x", "HEAD", 1),
        ("/private/x", "POST", 1),
        ("/private/%2e%2e/x", "GET", 1),
    ],
)
def test_what_is_judged(target: str, method: str, judged_requests: int) -> None:
    found = judged(count(RulesInForce.always(access(BODY)), line(target, method=method)))
    assert found.judged == judged_requests


def test_evidence() -> None:
    lines = [line(f"/private/{number}", at=TEN + 60 * number) for number in range(5)]
    found = judged(count(RulesInForce.always(access(BODY)), b"\n".join(lines[:2]), b"\n".join(lines[2:])))
    broken = found.versions[0.0].rules[2]
    assert (broken.rule, broken.group, broken.requests, broken.bytes) == ("Disallow: /private/", ("*",), 5, 500)
    assert (broken.first_at, broken.last_at) == (TEN, TEN + 240)
    assert [line.text.encode("latin-1") for line in broken.lines] == lines[:MOST_LINES]


def test_evidence_is_bounded() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d$\n" % number for number in range(500))
    lines = [line(f"/{number}") for number in range(500)] + [line("/7?" + "x" * 5000), line("/7")]
    version = judged(count(RulesInForce.always(access(body)), b"\n".join(lines))).versions[0.0]
    assert version.disallowed == 501
    assert len(version.rules) == MOST_RULES
    assert version.left_out == 501 - sum(broken.requests for broken in version.rules.values())
    assert version.rules[9].requests == 2  # the rule with most requests is kept
    assert max(len(line.text) for broken in version.rules.values() for line in broken.lines) <= LINE_CHARS


VERSIONS: Final = RulesInForce.of_copies(
    [access(b"User-agent: *\nDisallow: /old", TEN), access(b"User-agent: *\nDisallow: /new", TEN + 100 * H)]
)


@pytest.mark.parametrize(
    ("target", "hour", "expected"),
    [
        pytest.param("/old", -1, (0, 0, 0), id="before the first copy"),
        pytest.param("/old", 1, (1, 0, 1), id="the change may have come that opens it"),
        pytest.param("/new", 1, (1, 0, 0), id="perhaps closed already"),
        pytest.param("/new", 101, (1, 0, 1), id="in force, but the older one may be obeyed"),
        pytest.param("/old", 101, (1, 0, 0), id="open again"),
        pytest.param("/new", 124, (1, 1, 0), id="a day later"),
    ],
)
def test_versions(target: str, hour: int, expected: tuple[int, int, int]) -> None:
    found = judged(count(VERSIONS, line(target, at=TEN + hour * H)))
    in_grace = sum(version.in_grace for version in found.versions.values())
    assert (found.judged, found.disallowed, in_grace) == expected
    assert found.not_known == (hour < 0)


def test_robots_txt_is_requested_late_or_never() -> None:
    rules = RulesInForce.always(access(BODY))
    late = [line("/1"), line("/2", at=TEN + 1), line("/robots.txt", at=TEN + 2), line("/3", at=TEN + 3)]
    found = judged(count(rules, late[0], b"\n".join(late[1:]), line("/4", at=TEN + 4)))
    assert (found.before, found.robots_txt_at) == (2, TEN + 2)
    found = judged(count(rules, line("/1"), line("/2")))
    assert (found.before, found.robots_txt_at) == (2, None)


@pytest.mark.parametrize(
    ("records", "seconds", "expected"),
    [
        pytest.param(b"Crawl-delay: 10", [0, 5, 15], {Limit(1, 10.0): (2, 1)}, id="delay"),
        pytest.param(b"Request-rate: 1/20", [0, 5, 25], {Limit(1, 20.0): (2, 1)}, id="rate of one"),
        pytest.param(b"Crawl-delay: 5\nRequest-rate: 1/20", [0, 6], {Limit(1, 20.0): (1, 1)}, id="the stricter one"),
        pytest.param(b"Request-rate: 2/60", [0, 1, 2, 80], {Limit(2, 60.0): (2, 1)}, id="rate of several"),
        pytest.param(b"Request-rate: 1/20 1100-1200", [0, 5], {}, id="rate of other hours"),
        pytest.param(b"Request-rate: 1/20 1000-1100", [0, 5], {Limit(1, 20.0): (1, 1)}, id="rate of these hours"),
        pytest.param(b"Crawl-delay: 0", [0, 0], {}, id="no delay"),
        pytest.param(b"Crawl-delay: x", [0, 0], {}, id="no number"),
    ],
)
def test_pace(records: bytes, seconds: list[int], expected: dict[Limit, tuple[int, int]]) -> None:
    rules = RulesInForce.always(access(b"User-agent: *\n" + records))
    lines = [line("/robots.txt"), *(line(f"/{second}", at=TEN + second) for second in seconds)]
    (version,) = judged(count(rules, b"\n".join(lines))).versions.values()
    assert {pace.limit: (pace.closed().judged, pace.closed().broken) for pace in version.paces} == expected


def test_another_token_of_the_operator_counts_if_its_own_is_missing() -> None:
    agent, name = "Googlebot-Image/1.0", "Googlebot-Image"
    for body, disallowed in ((BODY, 1), (BODY + b"\nUser-agent: Googlebot-Image\nDisallow: /h/\n", 0)):
        tally = count(RulesInForce.always(access(body)), line("/g/1", agent))
        assert judged(tally, name).disallowed == disallowed


def test_google_ignores_crawl_delay() -> None:
    tally = count(RulesInForce.always(access(BODY)), b"\n".join([line("/", "Googlebot/2.1")] * 2))
    assert not judged(tally, "Googlebot").versions[0.0].paces


def test_the_longer_delay_is_not_asked_within_a_day() -> None:
    versions = [access(b"User-agent: *\nCrawl-delay: 5", TEN), access(b"User-agent: *\nCrawl-delay: 20", TEN + 1)]
    lines = [line("/", at=TEN + second) for second in (0, 10, 20)]
    found = judged(count(RulesInForce.of_copies(versions), b"\n".join(lines))).versions.values()
    assert {pace.limit for version in found for pace in version.paces} == {Limit(1, 5.0)}


@pytest.mark.parametrize(
    ("window", "outside"),
    [
        ("0900-1100", 0),
        ("0900-0958", 0),  # within 5 minutes
        ("0900-0954", 1),
        ("2200-1000", 0),
        ("2200-0954", 1),
        ("0000-2359", 0),
        ("0000-2400", 0),
    ],
)
def test_visit_time(window: str, outside: int) -> None:
    rules = RulesInForce.always(access(f"User-agent: *\nVisit-time: {window}".encode()))
    visits = judged(count(rules, line("/"))).versions[0.0].visits
    assert (visits.requests, visits.outside, len(visits.lines)) == (1, outside, outside)


P: Final = "https://example.org/p"
JSON_LINE: Final = (
    '{"time_local":"15/Sep/2026:10:00:00 +0000","remote_addr":"192.0.2.1","request":"GET /a HTTP/1.1","status":"200",'
    f'"body_bytes_sent":"1","http_referrer":"{P}","http_user_agent":"GPTBot/1.2"}}'
).encode()


@pytest.mark.parametrize(
    ("log_line", "followed"),
    [
        (line("/a", referrer=P), 1),
        (JSON_LINE, 1),
        (line("/a", referrer=f"{P}/other"), 0),
        (line("/a"), 0),
        (line(P), 0),
        (line("/a", at=TEN - 1, referrer=P), 0),
        (line("/robots.txt", referrer=P), 0),
    ],
    ids=["followed", "JSON", "another page", "no Referer", "the page itself", "before its first copy", "robots.txt"],
)
def test_links_of_nofollow_pages(log_line: bytes, followed: int) -> None:
    nofollow = NofollowPages([PageCopy(P, TEN, (("robots", "nofollow"),), ())])
    found = judged(count(RulesInForce.always(access(BODY)), log_line, nofollow=nofollow)).followed
    assert (found.requests, len(found.lines)) == (followed, followed)


def test_other_addresses() -> None:
    lines = [
        line("/private/1", "Mozilla/5.0", address="192.0.2.7"),
        line("/mine", "Mozilla/5.0", address="192.0.2.7"),
        line("/mine", "MyBrowser/1.0", address="192.0.2.8"),
        line("/private/2", "-", address="192.0.2.9"),
        line("/mine", "Mozilla/5.0 (X11) AppleWebKit/537 MyBrowser/1.0", address="192.0.2.10"),
    ]
    tally = count(RulesInForce.always(access(BODY)), b"\n".join(lines))
    assert tally.disallowed.requests.counts == {f"192.0.2.{number}": 1 for number in (7, 8, 9, 10)}
    assert [(one.rule, one.line) for one in tally.disallowed.evidence["192.0.2.8"]] == [("Disallow: /mine", 10)]
    assert tally.disallowed.evidence["192.0.2.9"][0].log_line.encode() == lines[3]


def test_impostors_are_not_the_robot_they_imitate() -> None:
    now = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp())
    lines = [
        line("/g/1", "Googlebot/2.1", address="66.249.66.1", at=now),
        *[line("/g/2", "Googlebot/2.1", address="203.0.113.5", at=now)] * 2,
    ]
    tally = count(RulesInForce.always(access(BODY)), b"\n".join(lines))
    found = {key.tier: totals.obedience.disallowed for key, totals in tally.robots.items()}
    assert found == {"verified": 1, "impostor": 2}


def test_forgetting_answers_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = RulesInForce.always(access(BODY))
    blocks = [line(f"/private/{number}", at=TEN + number) for number in range(6)]
    expected = figures(count(rules, *blocks))
    monkeypatch.setattr(obedience_judge, "MOST_TERMS", 0)
    monkeypatch.setattr(obedience_judge, "MOST_CACHED", 0)
    assert figures(count(rules, *blocks)) == expected


BODIES: Final = [
    BODY,
    b"",
    b"User-agent: GPTBot\nDisallow: /b",
    b"<html>",
    b"\xff\x00",
    b"User-agent: *\nDisallow: /*.css$",
]


@given(combined_logs | mixed_logs, st.lists(st.tuples(st.integers(-40, 40), st.sampled_from(BODIES)), max_size=4))
def test_any_log_is_judged_alike(log: bytes, copies: list[tuple[int, bytes]]) -> None:
    rules = RulesInForce.of_copies([access(body, TEN + hour * H) for hour, body in copies])
    tally = count(rules, log)
    for totals in tally.robots.values():
        found = totals.obedience
        requests = found.judged + found.not_known + found.not_judged + sum(totals.robots_txt.values())
        assert requests == totals.counts.requests


TARGETS: Final = ["/", "/a", "/a/b", "/b.css", "/private/x", "/private/open", "/robots.txt", "/g/", "/%61", "/a?x"]
PATTERNS: Final = ["/", "/a", "/a$", "/*.css", "/private/", "/g", "/*x", "/%61/", "", "/robots.txt"]


@given(
    st.lists(st.tuples(st.sampled_from(["Disallow", "Allow"]), st.sampled_from(PATTERNS)), max_size=6),
    st.lists(st.sampled_from(TARGETS), min_size=1, max_size=20),
)
def test_the_count_is_that_of_single_verdicts(rules: list[tuple[str, str]], targets: list[str]) -> None:
    body = "User-agent: GPTBot\n" + "".join(f"{field}: {value}\n" for field, value in rules)
    robots = RobotsTxt.parse(body)
    expected = sum(not robots.verdict(target, "GPTBot").allowed for target in targets)
    tally = count(RulesInForce.always(access(body.encode())), b"\n".join(map(line, targets)))
    assert judged(tally).disallowed == expected


VHOST: Final = b"www.example.org:443 " + line("/private/x")


@pytest.mark.parametrize(
    ("log_line", "site", "judged_requests"),
    [
        (VHOST, "www.example.org", 1),
        (VHOST, "other.example", 0),
        (VHOST, None, 1),
        (VHOST.replace(b"www.", b"WWW."), "www.example.org", 1),
        (b"other.example:443 " + line("/private/x"), "www.example.org", 0),
        (line("http://www.example.org/private/x"), "www.example.org", 1),
        (line("http://www.example.org:8080/private/x"), "www.example.org", 1),
        (line("http://other.example/private/x"), "www.example.org", 0),
        (line("/private/x"), "www.example.org", 1),
    ],
)
def test_requests_to_other_hosts(log_line: bytes, site: str | None, judged_requests: int) -> None:
    options = replace(OPTIONS, rules=RulesInForce.always(access(BODY)), host=site)
    tallies = [tally_of(counter(IDENTITIES, options), [log_line]) for counter in (LineCounter, ColumnCounter)]
    assert figures(tallies[0]) == figures(tallies[1])
    found = judged(tallies[0])
    assert (found.judged, found.not_judged) == (judged_requests, 1 - judged_requests)


def test_other_hosts_are_counted() -> None:
    options = replace(OPTIONS, rules=RulesInForce.always(access(BODY)), host="www.example.org")
    lines = [VHOST, b"a.example " + line("/private/x"), b"a.example:80 " + line("/private/x", "Mozilla/5.0")]
    tally = tally_of(LineCounter(IDENTITIES, options), [b"\n".join(lines)])
    assert tally.elsewhere.counts == {"a.example": 2}
    assert not tally.disallowed.requests.counts


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("WWW.Example.org:443", "www.example.org"),
        ("example.org.", "example.org"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("user@example.org", "example.org"),
        ("b\xc3\xbccher.example:443", "xn--bcher-kva.example"),
        ("\xff\xfe", "\xff\xfe"),
        ("", ""),
    ],
)
def test_host_names(authority: str, host: str) -> None:
    assert host_name(authority) == host


@given(st.text(st.characters(max_codepoint=255)))
def test_any_host_name(authority: str) -> None:
    assert isinstance(host_name(authority), str)
