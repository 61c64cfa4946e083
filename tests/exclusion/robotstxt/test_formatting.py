"""`format_robotstxt`: normal form, the same verdicts, and formatted again the same bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, RobotsTxt, format_robotstxt

FORMS = [
    # dialect, text, normal form
    ("rfc9309", "", ""),
    ("rfc9309", "# only a comment\n\n<html>\n", ""),
    ("rfc9309", "USER-AGENT :me # us\r\n\r\ndisallow:/x\r\n", "User-agent: me\nDisallow: /x\n"),
    (
        "rfc9309",
        "Host: h\nUser-agent: a\nUser-agent: b\nCRAWL-DELAY:5\nAllow: /\nSitemap: s\nUser-agent: c\nDisallow:\nfoo:bar",
        (
            "Host: h\n\nUser-agent: a\nUser-agent: b\nCrawl-delay: 5\nAllow: /\n\n"
            "User-agent: c\nDisallow:\nfoo: bar\n\n"
            "Sitemap: s\n"
        ),
    ),
    ("rfc9309", "Disallow: /nobody\nCrawl-delay: 9\nUser-agent: a", "Crawl-delay: 9\n\nUser-agent: a\n"),
    ("rfc9309", "\ufeff\ufeffx: 1", "\ufeff\ufeffx: 1\n"),
    ("rfc9309", b"User-agent: *\nDisallow: /\xe9", "User-agent: *\nDisallow: /%E9\n"),
    ("google", "Useragent me\nDisalow /x\nSite-map: s", "User-agent: me\nDisallow: /x\n\nSitemap: s\n"),
    ("google", "\n\uff0fx: 1", "\ufeff\uff0fx: 1\n"),
    ("kollar", "User-Agent: * Rex\nDisallow: /a\t/b #c", "User-agent: * Rex\nDisallow: /a\t/b\n"),
    (
        "1996",
        "User-agent: a\nSitemap: s\nUser-agent: b\nFoo: 1",
        "User-agent: a\nSitemap: s\n\nUser-agent: b\nfoo: 1\n",
    ),
    ("1994", "User-agent: a\nHost: h\n\nDisallow: /x", "Host: h\n"),
    (
        "conner",
        "User-agent: a\nRobot-version: 2.0\nVisit-time: 0600-0845\nDisallow: *",
        "User-agent: a\nRobot-version: 2.0\nVisit-time: 0600-0845\nDisallow: *\n",
    ),
]


@pytest.mark.parametrize(("dialect", "text", "form"), FORMS)
def test_normal_form(dialect: str, text: str | bytes, form: str) -> None:
    formatted = format_robotstxt(RobotsTxt.parse(text, dialect))
    assert formatted.decode() == form
    assert format_robotstxt(RobotsTxt.parse(formatted, dialect)) == formatted


FIELDS = st.sampled_from(
    [
        "User-agent",
        "user-agent ",
        "Allow",
        "Disallow",
        " Disallow",
        "Disalow",
        "Useragent",
        "Sitemap",
        "Crawl-delay",
        "Robot-version",
        "foo",
        "",
        "Ä",
        "\ufeff",
        "／",
        "Disallow x",
        "K",
        "\x0b",
        "\x00",
    ]
)
VALUES = st.sampled_from(
    [
        "*",
        "me",
        "you/1.0",
        "* me",
        "you me",
        "",
        "/",
        "/x",
        "/x /y",
        "/*x$",
        "/%2f",
        "/é",
        "2.0",
        "1",
        "/a/index.html",
        "/x\u2028y",
        "\x00",
        "/\x00x",
        "\x0b/x",
        "/x�",
        "me#x",
        "x:y",
    ]
)
SEPARATORS = st.sampled_from([":", ": ", "\t: ", " ", "", "#", ":#"])
ENDS = st.sampled_from(["\n", "\n", "\n\n", "\r", "\r\n", "\n \n", "\n#\n"])
TEXTS = st.lists(st.tuples(FIELDS, SEPARATORS, VALUES, ENDS), max_size=14).map(
    lambda lines: "".join(part for line in lines for part in line)
)
BODIES = st.one_of(
    TEXTS,
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.tuples(TEXTS, st.binary(max_size=8)).map(lambda both: both[1] + both[0].encode("utf-16", "surrogatepass")),
    st.binary(max_size=80),
)
URLS = ("/", "/x", "/y", "/xx", "/a/", "/%2F", "/%C3%A9", "/robots.txt", "/x%00", "/\u000bx")
AGENTS = ("me", "you/2.0", "other", "")


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=BODIES)
def test_the_verdicts_stay_and_so_does_the_form(dialect: str, body: bytes | str) -> None:
    parsed = RobotsTxt.parse(body, dialect)
    formatted = format_robotstxt(parsed)
    again = RobotsTxt.parse(formatted, dialect)
    assert format_robotstxt(again) == formatted
    assert again.sitemaps == parsed.sitemaps
    assert [group.agents for group in again.groups] == [group.agents for group in parsed.groups]
    for agent in AGENTS:
        assert again.crawl_delay(agent) == parsed.crawl_delay(agent)
        for url in URLS:
            was, now = parsed.verdict(url, agent), again.verdict(url, agent)
            assert (now.allowed, now.rule, now.section) == (was.allowed, was.rule, was.section)


LONG = [
    # lines about as long as Google reads them
    b"disalow:/" + b"x" * 16_654 + b"y",
    b"disalow:/" + b"x" * 16_653 + b"y",
    b"disallow:/" + b"x" * 16_653,
    b"disallow:/" + b"x" * 16_660,
    b"Disallow:/" + b"\xe9" * 16_653,
    b"Disallow:/" + b"%e9" * 5_551,
    b"disalow /" + "é".encode() * 8_327,
    b"useragent:" + b"m" * 16_653,
    b"useragent:" + b"m" * 16_652,
]


@pytest.mark.parametrize("line", LONG, ids=range(len(LONG)))
def test_a_line_as_long_as_google_reads(line: bytes) -> None:
    parsed = RobotsTxt.parse(b"User-agent: *\n" + line + b"\nUser-agent: me\nDisallow: /z\n", "google")
    formatted = format_robotstxt(parsed)
    again = RobotsTxt.parse(formatted, "google")
    assert format_robotstxt(again) == formatted
    for url in (f"/{sign * times}" for sign in ("x", "%E9", "%C3%A9") for times in (8_327, 16_652, 16_653, 16_654)):
        assert again.allows(url, "you") is parsed.allows(url, "you")
    for agent in ("m" * 16_653, "m" * 16_652, "me"):
        assert again.allows("/z", agent) is parsed.allows("/z", agent)
