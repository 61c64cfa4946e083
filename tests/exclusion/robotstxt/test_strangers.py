"""Any bytes and texts: no error, and an answer that follows the valid rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, RobotsTxt, format_robotstxt
from goodbot.exclusion.text.shown_text import visible
from goodbot.vectors.tables.unreadable import UNREADABLE

RULES = "User-agent: *\nDisallow: /x\n"

BODIES: list[tuple[str, bytes | str, bool]] = [
    # name, body, is /x allowed
    *((name, body, allowed) for name, body, allowed, _ in UNREADABLE),
    ("lone surrogates", "# \ud800\n" + RULES + "Allow: /\udfff", False),
    ("line ends", b"\n" * 20_000 + RULES.encode(), False),
    ("10 MB of one line", b"User-agent: *\nDisallow: /x\nDisallow: /" + b"y" * 10_000_000, False),
    ("10 MB of lines", b"User-agent: *\nDisallow: /x\n" + (b"#" * 99 + b"\n") * 20_000, False),
    ("1 MB of blanks", b"User-agent: *\nDisallow:" + b" " * 1_000_000 + b"/x\n", False),
    ("20,000 groups", "".join(f"User-agent: bot{n}\nDisallow: /\n" for n in range(20_000)) + RULES, False),
    ("20,000 rules", RULES + "".join(f"Allow: /{n}\n" for n in range(20_000)), False),
    ("20,000 rules with wildcards", RULES + "".join(f"Allow: /*{n}$\n" for n in range(20_000)), False),
    ("1,000 nested prefixes", RULES + "".join(f"Allow: /{'y' * n}\n" for n in range(1_000)), False),
]


@pytest.mark.parametrize(("name", "body", "allowed"), BODIES, ids=[case[0] for case in BODIES])
def test_bad_input(name: str, body: bytes | str, allowed: bool) -> None:
    robots = RobotsTxt.parse(body)
    assert robots.allows("/x", "me") is allowed
    verdict = robots.verdict("https://example.org/x", "me")
    assert verdict.allowed is allowed
    assert verdict.reason.encode()


def test_octets_that_are_not_utf_8_are_shown_encoded() -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /\xff*x")
    assert robots.verdict("/caf%E9", "me").rule == "Disallow: /caf%E9"
    assert not robots.allows("/%ff/x", "me")
    assert robots.allows("/café", "me")  # which is %C3%A9


def test_a_reason_holds_no_control_characters() -> None:
    verdict = RobotsTxt.parse(b"User-agent: *\nDisallow: /\x1b[2J\x07x").verdict("/\x1b[2J\x07x", "\udcff")
    assert verdict.reason.startswith(r"Disallow: /\x1b[2J\x07x (line 2)")


@pytest.mark.parametrize("end", ["", "$", "b$", "b"])
def test_a_hostile_wildcard_takes_one_pass(end: str) -> None:
    pattern = "/" + "*a" * 60 + "*" + end
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}")
    assert robots.allows("/" + "a" * 20_000, "me") is end.startswith("b")
    assert not robots.allows("/" + "a" * 20_000 + "b", "me")


HOSTILE_PATTERNS = ["/" + "*a" * 5_000 + "*b$", "/*" + "a" * 90 + "b", "/*" + "ab" * 5_000 + "c", "*" * 20_000 + "b$"]


@pytest.mark.parametrize("pattern", HOSTILE_PATTERNS, ids=range(len(HOSTILE_PATTERNS)))
def test_hostile_patterns_against_a_long_url(pattern: str) -> None:
    matcher = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}").matcher("me")
    assert matcher.allows("/" + "a" * 200_000)
    assert matcher.allows("/?" + "=a&" * 60_000)
    assert matcher.allows("http://h/" + "%61" * 60_000 + "#" * 60_000)


URLS = [
    "\ud800",
    "/\udfff?\ud800=\udc00#\ud800",
    "http://\ud800/x",
    "\x00",
    "::::",
    "http://",
    "%",
    "/%%%zz",
    "/" + "?" * 9,
]


@pytest.mark.parametrize("url", URLS)
def test_any_url_is_answered(url: str) -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: /\nAllow: /*q*z$")
    assert robots.allows(url, "me") is False
    assert robots.verdict(url, "me").url == url


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)), st.text(max_size=40), st.text(max_size=20))
def test_never_raises(body: bytes | str, url: str, agent: str) -> None:
    robots = RobotsTxt.parse(body)
    verdict = robots.verdict(url, agent)
    assert verdict.allowed is robots.allows(url, agent) is robots.matcher(agent).allows(url)
    assert robots.crawl_delay(agent) == verdict.delay_s
    assert verdict.reason.isprintable()
    assert all(sitemap.encode() for sitemap in robots.sitemaps)


LINES = st.sampled_from(
    [
        b"User-agent:",
        b"user-agent: me",
        b"Disallow: /",
        b"Allow: *",
        b"Disallow: ",
        b":",
        b"#",
        b"\xff",
        b"\x00",
        b"Crawl-delay: 1",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n", b" ", b"\xe2\x80\xa8"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=20), st.text(max_size=20))
def test_never_raises_on_nearly_good_files(lines: list[tuple[bytes, bytes]], url: str) -> None:
    robots = RobotsTxt.parse(b"".join(line + end for line, end in lines))
    for agent in ("me", "you"):
        assert robots.verdict(url, agent).allowed is robots.allows(url, agent)


# ---- the same strangers in every dialect

HOSTILE: list[tuple[str, bytes | str]] = [
    *((name, body) for name, body, _ in BODIES),
    ("20,000 agents in a group", "".join(f"User-agent: bot{n}\n" for n in range(20_000)) + "Disallow: /x\n"),
    ("20,000 agents on a line", "User-agent: " + "bot " * 20_000 + "\nDisallow: /x\n"),
    ("20,000 paths on a line", "User-agent: *\nDisallow: " + "/y " * 20_000 + "/x\n"),
    ("100 kB of blanks in a User-agent line", "User-agent: me" + " \t" * 50_000 + "you\nDisallow: /x\n"),
    ("100 kB of slashes in one", "User-agent: me" + "/ " * 50_000 + "\nDisallow: /x\n"),
    ("one word of 1 MB", "x" * 1_000_000),
    ("two words of 1 MB", "x" * 500_000 + " " * 500_000 + "y"),
    ("20,000 records of version 2", "User-agent: *\nRobot-version: 2.0\nDisallow: *x*y\n\n" * 20_000),
    (
        "20,000 versions of index.html",
        "User-agent: *\n" + "".join(f"Allow: /{n}/index.html\n" for n in range(20_000)),
    ),
    ("percent signs", "User-agent: *\nDisallow: /" + "%" * 1_000_000 + "\n"),
]


MANY = ("100,000 groups", "100,000 records of version 2", "100,000 agents in a group", "100,000 rules with wildcards")
"""They take half a second and more in each dialect."""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("name", "body"),
    [pytest.param(*case, id=case[0], marks=[pytest.mark.long] * (case[0] in MANY)) for case in HOSTILE],
)
def test_bad_input_in_every_dialect(name: str, body: bytes | str, dialect: str) -> None:
    robots = RobotsTxt.parse(body, dialect)
    for agent in ("bot99999/1.0", "") if "agents" in name else ("me",):
        verdict = robots.verdict("https://example.org/x", agent)
        assert verdict.allowed is robots.allows("/x", agent)
        assert verdict.reason.isprintable()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hostile_wildcard_in_every_dialect(dialect: str) -> None:
    text = "User-agent: *\nRobot-version: 2.0\nDisallow: /*a*a*a*a*a*a*b$\n"
    for pattern in ("/*a*a*a*a*a*a*b$", "/*a*a*a*a*a*a*b", *HOSTILE_PATTERNS):
        if dialect == "google" and len(pattern) > 16_000:  # read in part only
            continue
        matcher = RobotsTxt.parse(text.replace("/*a*a*a*a*a*a*b$", pattern), dialect).matcher("me")
        assert matcher.allows("/" + "a" * 20_000)
        assert matcher.verdict("/" + "%61" * 20_000).allowed


@pytest.mark.parametrize("dialect", DIALECTS)
@given(
    body=st.one_of(st.binary(max_size=200), st.text(max_size=200)), url=st.text(max_size=40), agent=st.text(max_size=20)
)
def test_never_raises_in_any_dialect(dialect: str, body: bytes | str, url: str, agent: str) -> None:
    robots = RobotsTxt.parse(body, dialect)
    verdict = robots.verdict(url, agent)
    assert verdict.allowed is robots.allows(url, agent) is robots.matcher(agent).allows(url)
    assert robots.crawl_delay(agent) == verdict.delay_s
    assert verdict.reason == visible(verdict.reason)
    assert RobotsTxt.parse(format_robotstxt(robots), dialect).allows(url, agent) is verdict.allowed


@pytest.mark.parametrize("dialect", DIALECTS)
@given(lines=st.lists(st.tuples(LINES, ENDS), max_size=20), url=st.text(max_size=20))
def test_nearly_good_files_in_every_dialect(dialect: str, lines: list[tuple[bytes, bytes]], url: str) -> None:
    robots = RobotsTxt.parse(b"".join(line + end for line, end in lines), dialect)
    for agent in ("me", "you"):
        assert robots.verdict(url, agent).allowed is robots.allows(url, agent)
