"""Every kind of finding occurs in its own example, and the checker survives any input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.check import Finding, HttpAnswer, Kind, Subject, check
from goodbot.check.checker import KINDS
from goodbot.check.findings import SEVERITIES
from goodbot.check.page_tags import page_text
from goodbot.exclusion.robotstxt.lines import split_lines

FAMILIES = {0: 10, 1: 8, 2: 9, 3: 10, 4: 9, 5: 10, 6: 8, 7: 7}
"""How many kinds each family of codes has."""

HOSTILE: list[tuple[str, bytes]] = [
    ("empty", b""),
    ("NUL", b"\x00" * 10_000),
    ("every octet", bytes(range(256)) * 20),
    ("UTF-16", "User-agent: *\nDisallow: /é\n".encode("utf-16")),
    ("UTF-16 broken off", b"\xff\xfe" + b"U\x00s\x00e"),
    ("UTF-32", "User-agent: *\n".encode("utf-32")),
    ("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\n"),
    ("half a mark", b"\xef\xbbUser-agent: *\nDisallow: /\n"),
    ("CR and CR LF", b"User-agent: *\r\r\nDisallow: /\r\n\r"),
    ("controls", b"\x1b[2J\x07User-agent: \x1b]0;x\x07\nDisallow: /\x1b[31m\n"),
    ("braces", b"User-agent: {0}\nDisallow: /{kind}/{}%s\nSitemap: {x}\nHost: {y}\n{z}\nCrawl-delay: {}\n"),
    ("colons", b":" * 5_000 + b"\n" + b": /x\n" * 50),
    ("sharps", b"User-agent: *\nDisallow: /" + b"#" * 5_000 + b"\n"),
    ("percent signs", b"User-agent: *\nDisallow: /" + b"%" * 3_000 + b"\n"),
    ("stars", b"User-agent: *\nDisallow: /" + b"*a" * 3_000 + b"$\nAllow: /" + b"*" * 3_000 + b"\n"),
    ("brackets", b"Sitemap: http://[\nDisallow: http://[/\nUser-agent: *\nDisallow: http://[::\nLicense: http://[\n"),
    ("other line ends", "User-agent: *\u2028Disallow: /\x85\x0b\x0c\x1c\n".encode()),
    ("surrogates", "Disallow: /\ud800".encode("utf-8", "surrogatepass")),
    ("many names", b"".join(b"User-agent: gogle%dbot\n" % n for n in range(500)) + b"Disallow: /\n"),
    (
        "a list of names",
        b"User-agent: " + b"a{0}, " * 5_000 + b"b\nUser-agent: " + b"a;\x1b, " * 5_000 + b"\nDisallow: /\n",
    ),
    ("robots and spaces", b"User-agent: " + b"abot " * 5_000 + b"x" * 5_000 + b"bot\nDisallow: /\n"),
    ("long robots", (b"User-agent: " + (b"x" * 35 + b"bot,") * 500 + b"*\nDisallow: /\n") * 2),
    ("one rule many times", b"User-agent: *\n" + b"Disallow: /a\n" * 3_000),
    ("nested rules", b"User-agent: *\n" + b"".join(b"Disallow: /%s\n" % (b"a" * n) for n in range(300))),
    ("one group many times", b"User-agent: *\nDisallow: /a\n" * 1_000),
    ("HTML", b"<!DOCTYPE html><html><head>" + b"<meta name=robots content=index,noindex>" * 300),
    ("unclosed tags", b"<meta name=robots content='noindex" * 50 + b"<template><noscript><svg><meta name=robots"),
    ("long content", b"<meta name=robots content='" + b"noindx," * 5_000 + b"'>"),
]


def test_every_code_exists_once() -> None:
    codes = [kind.code for kind in KINDS.values()]
    assert list(KINDS) == codes == sorted(set(codes))
    expected = [f"R{family}{number:02}" for family, most in FAMILIES.items() for number in range(1, most + 1)]
    assert codes == expected


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_the_example_hits_and_the_near_miss_does_not(kind: Kind) -> None:
    found = [finding for finding in check(kind.example) if finding.code == kind.code]
    assert found
    assert kind.code not in {finding.code for finding in check(kind.near_miss)}
    for finding in found:
        assert finding.message
        assert "{" not in finding.message + finding.affected + (finding.fix or "")
        assert finding.severity in SEVERITIES
    assert all(text and text == text.strip() for text in (kind.title, kind.affected, kind.source))


def assert_in_the_file(finding: Finding, lines: list[str]) -> None:
    """Asserts that a finding is at a place in the file; in an empty file at line 1, column 1."""
    assert 1 <= finding.line <= max(len(lines), 1)
    line = lines[finding.line - 1] if lines else ""
    assert 1 <= finding.column <= len(line) + 1
    assert finding.end_column is None or finding.column <= finding.end_column <= len(line) + 1


def lines_of(subject: Subject) -> list[str]:
    if subject.is_page:
        return split_lines(page_text(subject.body, subject.answer.headers if subject.answer else ()))
    return [line.text for line in subject.lines]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_the_places_of_findings_exist(kind: Kind) -> None:
    for subject in (kind.example, kind.near_miss):
        for finding in check(subject):
            assert_in_the_file(finding, lines_of(subject))


@pytest.mark.parametrize(("name", "body"), HOSTILE, ids=[case[0] for case in HOSTILE])
def test_hostile_files(name: str, body: bytes) -> None:
    for subject in (Subject(body), Subject(body, "https://example.org/x.html", is_page=True, robots=body)):
        found = check(subject)
        assert len(found) < 2_000
        for finding in found:
            assert_in_the_file(finding, lines_of(subject))
            assert finding.message.isprintable()
            assert len(finding.message) < 600
            assert (finding.fix or "").isprintable()
            assert finding.affected.isprintable()


WORDS = st.sampled_from(
    [
        *(
            b"User-agent",
            b"Disallow",
            b"Allow",
            b"Sitemap",
            b"Disalow",
            b"Crawl-delay",
            b"Noindex",
            b"Host",
            b"License",
        ),
        *(b"License", b"Clean-param", b"Request-rate", b"Visit-time", b"Content-Signal", b"Content-Usage", b":", b": "),
        *(b" : ", b"\n", b"\r\n", b"\r", b"\n\n", b"#", b" ", b"\t", b"*", b"$", b"/", b"/a", b"/a/", b"/*.pdf$"),
        *(
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\x00",
            b"\xe9",
            b"%",
            b"%2",
            b"%25",
            b"{",
            b"}",
            b"https://example.org/s.xml",
        ),
        *(
            b"https://example.org/s.xml",
            b"ai-train=no",
            b"train-ai=n",
            b"1/10",
            b"0600-0845",
            b"# goodbot: ignore R2",
            b"<meta name=robots content=",
        ),
        *(b"'noindex'", b"'index,", b">", b"</head>", b"<body>", b"<link rel=canonical href=", b"<noscript>"),
    ]
)
BODIES = st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=80).map(b"".join))
URLS = st.sampled_from([None, "https://example.org/robots.txt", "https://example.org/a/b"])


@settings(deadline=None, max_examples=300)
@given(body=BODIES, robots=BODIES, url=URLS, is_page=st.booleans())
def test_any_bytes(body: bytes, robots: bytes, url: str | None, is_page: bool) -> None:
    answer = HttpAnswer(200, (("X-Robots-Tag", robots.decode("latin-1")), ("Content-Type", "text/html")))
    subject = Subject(body, url, answer if is_page else None, is_page=is_page, robots=robots)
    found = check(subject)
    assert found == sorted(found, key=lambda each: (each.line, each.column, each.code))
    for finding in found:
        assert_in_the_file(finding, lines_of(subject))
        assert finding.message.isprintable()
