"""Files and the codes, lines and columns that are found in them. Each case compares one family of codes."""

import re

import pytest

from goodbot.check import HttpAnswer, Subject, check
from goodbot.check.subject import PageFile
from goodbot.exclusion import DIALECTS, RobotsTxt

SITE = "https://example.org/robots.txt"
TEXT = ("Content-Type", "text/plain")
ALL = b"User-agent: *\nDisallow: /a\n"

Places = list[tuple[str, int, int]]

ROBOTS: list[tuple[str, str, bytes, Places]] = [
    # family, name, body, code line column
    ("R0", "HTML", b"\n <!-- x -->\n<html>\nDisallow: /", [("R003", 1, 1)]),
    ("R0", "only comments", b"# a\n\n# b\n", [("R007", 1, 1)]),
    ("R0", "an empty file, as the robots FAQ recommends", b"", []),
    ("R0", "only blank lines", b"\r\n \n", []),
    ("R0", "a challenge page", b'<html><div id="sec-if-cpt-container"></div>\nDisallow: /\n', [("R010", 1, 1)]),
    ("R0", "an unknown record is a record", b"Foo: bar\n", []),
    ("R1", "mark", b"\xef\xbb\xbf" + ALL, [("R101", 1, 1)]),
    ("R1", "UTF-16 hides other findings", b"\xfe\xff\x00U\x00\r\x00\n", [("R102", 1, 1)]),
    ("R1", "UTF-16 without a mark", ALL.decode().encode("utf-16-le"), [("R102", 1, 1)]),
    ("R1", "UTF-16, big end first", ALL.decode().encode("utf-16-be"), [("R102", 1, 1)]),
    ("R1", "UTF-32 without a mark", ALL.decode().encode("utf-32-le"), [("R102", 1, 1)]),
    ("R1", "UTF-32, big end first", ALL.decode().encode("utf-32-be"), [("R102", 1, 1)]),
    ("R1", "NULs are no UTF-16", b"User-agent: *\nDisallow: /a\x00b\x00\n", [("R103", 2, 13)]),
    ("R1", "control in a rule", b"User-agent: *\nDisallow: /a\x07\n# \x07\n", [("R103", 2, 13)]),
    ("R1", "not UTF-8, not in comments", b"# \xe9\nUser-agent: *\nDisallow: /a\xe9\n", [("R104", 3, 13)]),
    ("R1", "mixed ends", b"User-agent: *\r\nDisallow: /a\n", [("R105", 1, 1)]),
    (
        "R1",
        "C1 controls",
        "User-agent: *\nDisallow: /a\x85\nDisallow: /\x90\n".encode(),
        [("R103", 2, 13), ("R103", 3, 12)],
    ),
    ("R1", "no-break space", "User-agent:\u00a0*\nDisallow: /a\n".encode(), [("R106", 1, 12)]),
    ("R1", "joiner of Persian letters", "User-agent: *\nDisallow: /می\u200cخواهم\n".encode(), []),
    ("R1", "joiner at the end", "User-agent: *\nDisallow: /می\u200c\n".encode(), [("R106", 2, 14)]),
    ("R2", "UTF-16 without a mark has no lines", ALL.decode().encode("utf-16-le"), []),
    ("R2", "no colon", b"User-agent: *\n  Disallow /a\n", [("R201", 2, 3), ("R207", 1, 1)]),
    ("R2", "space before colon", b"User-agent: *\nDisallow  : /a\n", [("R202", 2, 9)]),
    ("R2", "misspelt", b"User-agent: *\n Disalow: /a\n", [("R203", 2, 2), ("R207", 1, 1)]),
    ("R2", "two paths", b"User-agent: *\nDisallow: /a /b\nDisallow: /a b\n", [("R204", 2, 11)]),
    ("R2", "rules of no group", b"Disallow: /a\nAllow:\n\nUser-agent: *\nAllow: /\n", [("R205", 1, 1)]),
    ("R2", "nameless", b"User-agent: # x\nDisallow: /\n", [("R206", 1, 1)]),
    ("R2", "quoted", b'User-agent: "Googlebot"\nDisallow: /\n', [("R206", 1, 13)]),
    ("R2", "no rules", b"User-agent: a\n\nUser-agent: *\nDisallow: /\n", [("R207", 1, 1)]),
    ("R2", "names with comments between", b"User-agent: a\n# b\nUser-agent: b\nDisallow: /\n", []),
    ("R2", "a rule in a comment", b"User-agent: a\n# Disallow: /\nUser-agent: b\nDisallow: /\n", [("R207", 1, 1)]),
    ("R2", "a delay for all", b"User-agent: a\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 5\n", []),
    ("R2", "preferences alone", b"User-agent: a\nContent-Signal: ai-train=no\n", []),
    ("R2", "Content-Usage ends a group", b"User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /\n", []),
    (
        "R2",
        "a group of Content-Usage replaces rules",
        ALL + b"\nUser-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /\n",
        [("R207", 4, 1)],
    ),
    ("R2", "a delay replaces rules", ALL + b"\nUser-agent: a\nCrawl-delay: 5\n", [("R207", 4, 1)]),
    ("R2", "blank lines", b"User-agent: *\n\nDisallow: /\n\n# x\nAllow: /b\n", [("R208", 3, 1), ("R208", 6, 1)]),
    ("R2", "sharp", b"User-agent: *\nDisallow: /a#b\nDisallow: /c #d\n", [("R209", 2, 13)]),
    ("R3", "whole value", b"User-agent: Mozilla/5.0 (x)\nAllow: /\n", [("R301", 1, 13)]),
    ("R3", "version", b"User-agent:  OneBot/1.2\nAllow: /\n", [("R302", 1, 14)]),
    ("R3", "wildcard", b"User-agent: One*\nAllow: /\n", [("R303", 1, 13)]),
    ("R3", "a star after a name", b"User-agent: AhrefsBot*\nAllow: /\n", [("R303", 1, 13)]),
    ("R3", "several names", b"User-agent:  Googlebot, Bingbot\nAllow: /\n", [("R310", 1, 14)]),
    ("R3", "misspelt", b"User-agent: Gogglebot\nAllow: /\n", [("R304", 1, 13)]),
    ("R3", "letters swapped", b"User-agent: GTPBot\nAllow: /\n", [("R304", 1, 13)]),
    ("R3", "short names that resemble others", b"User-agent: AIBOT\nAllow: /\n", []),
    ("R3", "other names that resemble others", b"User-agent: Roverbot\nAllow: /\n", []),
    ("R3", "Yandex is a name of its robots", b"User-agent: Yandex\nAllow: /\n", []),
    ("R3", "twice", b"User-agent: a\nAllow: /\n\nUser-agent: A\nAllow: /\n", [("R305", 4, 13)]),
    ("R4", "full URL", b"User-agent: *\nDisallow: https://example.org/a\n", [("R401", 2, 11)]),
    ("R4", "no slash", b"User-agent: *\nAllow:a\n", [("R402", 2, 7)]),
    ("R4", "regular expression", b"User-agent: *\nDisallow: ^/a.*\n", [("R403", 2, 11)]),
    ("R4", "choice of a shell", b"User-agent: *\nDisallow: /{a,b}/\n", [("R403", 2, 11), ("R406", 2, 12)]),
    ("R4", "quotes", b'User-agent: *\nDisallow: /"x"\n', [("R406", 2, 12)]),
    ("R4", "angle brackets", b"User-agent: *\nDisallow: /<id>\n", [("R406", 2, 12)]),
    ("R4", "bar", b"User-agent: *\nDisallow: /a|b\n", [("R406", 2, 13)]),
    ("R4", "backslash", b"User-agent: *\nDisallow: /a\\b\n", [("R406", 2, 13)]),
    ("R4", "what queries contain unencoded", b"User-agent: *\nDisallow: /?a={b}|c\nDisallow: /a%7Cb\n", []),
    ("R4", "quote in a query", b'User-agent: *\nDisallow: /?a="\n', [("R406", 2, 15)]),
    ("R4", "dollar", b"User-agent: *\nDisallow: /a$*\n", [("R404", 2, 13)]),
    ("R4", "dollar inside a word", b"User-agent: *\nDisallow: /*.php$id\nDisallow: /$id\n", [("R404", 2, 17)]),
    ("R4", "styles anywhere", b"User-agent: *\nDisallow: *.css$\n", [("R409", 2, 11)]),
    ("R4", "last star", b"User-agent: *\nDisallow: /a**\n", [("R405", 2, 13)]),
    (
        "R4",
        "a last star that decides",
        b"User-agent: *\nDisallow: /a\nAllow: /a*\nDisallow: /bcd*\n",
        [("R405", 4, 15)],
    ),
    ("R4", "a last star that makes a tie", b"User-agent: *\nDisallow: /abc*\nAllow: /*bc\n", []),
    (
        "R4",
        "a last star of another group",
        b"User-agent: x\nDisallow: /a\nUser-agent: *\nAllow: /a*\n",
        [("R405", 4, 10)],
    ),
    (
        "R4",
        "folder without a slash",
        b"User-agent: *\nDisallow: /css\nDisallow: /x/js\n",
        [("R409", 2, 11), ("R409", 3, 13)],
    ),
    ("R4", "folder with a star", b"User-agent: *\nDisallow: /css/*$\n", [("R409", 2, 11)]),
    (
        "R4",
        "no folder of styles",
        b"User-agent: *\nDisallow: /css$\nDisallow: /x.css\nDisallow: /jsp\nDisallow: /javascript\n",
        [],
    ),
    ("R4", "letters", "User-agent: *\nDisallow: /é\n".encode(), [("R406", 2, 12)]),
    ("R4", "space", b"User-agent: *\nDisallow: /a b\n", [("R406", 2, 13)]),
    ("R4", "words, no comment", b"User-agent: *\nDisallow: /a please\n", [("R406", 2, 13)]),
    ("R4", "spaces between several paths", b"User-agent: *\nDisallow: /a /b *c\n", []),
    ("R5", "duplicate", ALL + b"Disallow: /a\n", [("R502", 3, 1)]),
    ("R5", "tie", ALL + b"Allow: /a\n", [("R503", 3, 1), ("R510", 2, 1)]),
    (
        "R5",
        "tie, written in two ways",
        b"User-agent: *\nDisallow: /%7Ex\nAllow: /~x\n",
        [("R503", 3, 1), ("R510", 2, 1), ("R510", 2, 1)],
    ),
    ("R5", "all opened by a star", b"User-agent: *\nDisallow: /\nAllow: /*\n", [("R501", 2, 1), ("R510", 2, 1)]),
    ("R5", "a character that is sent encoded", b'User-agent: *\nDisallow: /"x"\n', [("R510", 2, 1), ("R510", 2, 1)]),
    ("R5", "shorter says the same", ALL + b"Disallow: /a/b\n", [("R504", 3, 1)]),
    ("R5", "longer first", b"User-agent: *\nAllow: /a/b\nDisallow: /a\n", [("R510", 2, 1)]),
    ("R5", "all closed", b"User-agent: *\nDisallow: /\n", [("R506", 2, 1)]),
    (
        "R5",
        "all closed in two groups",
        b"User-agent: *\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n",
        [("R504", 5, 1), ("R506", 2, 1)],
    ),
    ("R5", "open to one", b"User-agent: *\nDisallow: /\n\nUser-agent: x\nDisallow: /x\n", []),
    ("R5", "secret", b"User-agent: *\nDisallow: /.git/\n", [("R508", 2, 1)]),
    ("R5", "backup with a date", b"User-agent: *\nDisallow: /backup_2026/\n", [("R508", 2, 1)]),
    ("R5", "dump of a database", b"User-agent: *\nDisallow: /db_dump/\n", [("R508", 2, 1)]),
    ("R5", "no secret", b"User-agent: *\nDisallow: /secretary/\nDisallow: /dumplings/\n", []),
    ("R5", "empty Disallow", ALL + b"Disallow:\n", [("R509", 3, 1)]),
    ("R6", "delay", b"User-agent: x\nCrawl-delay: soon\nDisallow:\nSitemap: https://e.org/s\n", [("R601", 2, 1)]),
    ("R6", "noindex", ALL + b"Noindex: /b\nSitemap: https://e.org/s\n", [("R602", 3, 1)]),
    ("R6", "host", ALL + b"Host: e.org\nSitemap: https://e.org/s\n", [("R603", 3, 1)]),
    ("R6", "relative", ALL + b"Sitemap: s.xml\n", [("R604", 3, 10)]),
    ("R6", "no sitemap after the colon", ALL + b"Sitemap:\n", [("R604", 3, 1)]),
    ("R6", "sitemap without a host", ALL + b"Sitemap: https:///s.xml\n", [("R604", 3, 10)]),
    ("R6", "sitemap of no host", ALL + b"Sitemap: https://e org/s.xml\n", [("R604", 3, 10)]),
    ("R6", "signals of others", ALL + b"Content-Signal: search=yes,use=reference\nSitemap: https://e.org/s\n", []),
    ("R6", "a use stated twice", ALL + b"Content-Signal: Use=Full,use=full\nSitemap: https://e.org/s\n", []),
    (
        "R6",
        "signal with words swapped",
        ALL + b"Content-Signal: train-ai=no\nSitemap: https://e.org/s\n",
        [("R606", 3, 17)],
    ),
    ("R6", "signal without a value", ALL + b"Content-Signal: search\nSitemap: https://e.org/s\n", [("R606", 3, 17)]),
    ("R6", "usage no", ALL + b"Content-Usage: train-ai=no\nSitemap: https://e.org/s\n", [("R606", 3, 16)]),
    ("R6", "usage of a path", ALL + b"Content-Usage: /b search=maybe\nSitemap: https://e.org/s\n", [("R606", 3, 16)]),
    (
        "R6",
        "usage with words swapped",
        ALL + b"Content-Usage: ai-train=n\nSitemap: https://e.org/s\n",
        [("R606", 3, 16)],
    ),
    ("R6", "usage of others", ALL + b"Content-Usage: search=y, bots=n\nSitemap: https://e.org/s\n", []),
    ("R6", "usage of nothing", ALL + b"Content-Usage: /b\nSitemap: https://e.org/s\n", [("R606", 3, 16)]),
    ("R6", "closed sitemap", ALL + b"Sitemap: https://example.org/a.xml\n", [("R605", 3, 10)]),
    ("R6", "none", ALL, [("R608", 1, 1)]),
]


@pytest.mark.parametrize(("family", "name", "body", "places"), ROBOTS, ids=[f"{case[0]} {case[1]}" for case in ROBOTS])
def test_robots_txt(family: str, name: str, body: bytes, places: Places) -> None:
    found = [(each.code, each.line, each.column) for each in check(Subject(body)) if each.code.startswith(family)]
    assert sorted(found) == sorted(places)


ANSWERS: list[tuple[str, str, HttpAnswer, list[tuple[str, str]]]] = [
    # name, URL, answer, codes with severities
    ("a correct answer", SITE, HttpAnswer(200, (TEXT,), (SITE,)), []),
    ("no answer", SITE, HttpAnswer(None, (), (SITE,), "no address"), [("R001", "error")]),
    ("server error", SITE, HttpAnswer(500, (TEXT,), (SITE,)), [("R001", "error")]),
    ("too many requests", SITE, HttpAnswer(429, (TEXT,), (SITE,)), [("R001", "error")]),
    ("forbidden", SITE, HttpAnswer(403, (TEXT,), (SITE,)), [("R002", "warning")]),
    ("payment required", SITE, HttpAnswer(402, (TEXT,), (SITE,)), [("R001", "error")]),
    ("not modified", SITE, HttpAnswer(304, (TEXT,), (SITE,)), [("R001", "error")]),
    ("unknown status", SITE, HttpAnswer(199, (TEXT,), (SITE,)), [("R001", "error")]),
    ("accepted", SITE, HttpAnswer(202, (TEXT,), (SITE,)), [("R001", "error")]),
    *(
        (f"a wall, {status}", SITE, HttpAnswer(status, (("sg-captcha", "challenge"),), (SITE,)), [("R010", "error")])
        for status in (200, 202, 302, 403, 503)
    ),
    ("not found", SITE, HttpAnswer(404, (TEXT,), (SITE,)), [("R002", "info")]),
    ("no type", SITE, HttpAnswer(200, (), (SITE,)), [("R004", "warning")]),
    ("a redirect to itself", SITE, HttpAnswer(302, (), (SITE, SITE)), [("R005", "error")]),
    (
        "there and back",
        SITE,
        HttpAnswer(301, (), (SITE, "https://www.example.org/robots.txt", SITE)),
        [("R005", "error")],
    ),
    ("six", SITE, HttpAnswer(200, (TEXT,), tuple(f"{SITE}?{n}" for n in range(7))), [("R005", "error")]),
    ("on and on", SITE, HttpAnswer(302, (TEXT,), tuple(f"{SITE}?{n}" for n in range(11))), [("R005", "error")]),
    ("foreign", SITE, HttpAnswer(200, (TEXT,), (SITE, "https://other.example/robots.txt")), [("R005", "warning")]),
    ("to www", SITE, HttpAnswer(200, (TEXT,), (SITE, "https://www.example.org/robots.txt")), []),
    ("a redirect without a target", SITE, HttpAnswer(302, (), (SITE,)), [("R002", "info")]),
    (
        "kept long",
        SITE,
        HttpAnswer(200, (TEXT, ("Cache-Control", "max-age=999999999999")), (SITE,)),
        [("R008", "info")],
    ),
    ("cannot be decoded", SITE, HttpAnswer(200, (TEXT, ("Content-Encoding", "br"))), []),
    ("in a folder", "https://example.org/a/robots.txt", HttpAnswer(200, (TEXT,)), [("R009", "error")]),
    ("in capitals", "https://example.org/Robots.txt", HttpAnswer(200, (TEXT,)), [("R009", "error")]),
]


@pytest.mark.parametrize(("name", "url", "answer", "codes"), ANSWERS, ids=[case[0] for case in ANSWERS])
def test_answers(name: str, url: str, answer: HttpAnswer, codes: list[tuple[str, str]]) -> None:
    found = check(Subject(ALL, url, answer), ["R5", "R6"])
    assert [(each.code, each.severity) for each in found] == codes


def page(head: str, body: str = "") -> bytes:
    return f"<!DOCTYPE html>\n<title>x</title>\n{head}\n<p>{body}".encode()


INDEX, NOINDEX = '<meta name="robots" content="index">', '<meta name="robots" content="noindex">'
CLOSED = b"User-agent: *\nDisallow: /old/\n"
GOOGLE_CLOSED = b"User-agent: googlebot\nDisallow: /old/\n"
BING = '<meta name="bingbot" content="noindex">'
XNOINDEX = ("X-Robots-Tag", "noindex")

PAGES: list[tuple[str, bytes, bytes | None, tuple[tuple[str, str], ...], Places]] = [
    # name, body, robots.txt, headers, code line column
    ("nothing", page(""), None, (), []),
    ("no page", b"\x00\xff\x00", None, (), []),
    ("in one tag", page("<meta name=ROBOTS content='NoIndex,INDEX'>"), None, (), [("R701", 3, 1)]),
    ("in two", page(f"{NOINDEX} {INDEX}"), None, (), [("R701", 3, 40), ("R702", 3, 40)]),
    ("none and follow", page("<meta name=robots content='follow, none'>"), None, (), [("R701", 3, 1)]),
    ("one robot less, by a header", page(INDEX), None, (("X-Robots-Tag", "bingbot: noindex"),), []),
    ("one robot more, by a header", page(NOINDEX), None, (("X-Robots-Tag", "bingbot: index"),), [("R706", 3, 1)]),
    (
        "both to one robot",
        page(BING.replace("no", "")),
        None,
        (("X-Robots-Tag", "bingbot: noindex"),),
        [("R706", 3, 1)],
    ),
    ("limits", page("<meta name=robots content='max-snippet:9, max-snippet:8'>"), None, (), [("R701", 3, 1)]),
    ("one robot less", page(INDEX + "<meta name=bingbot content=noindex>"), None, (), []),
    ("one robot more", page(NOINDEX + "<meta name=bingbot content=index>"), None, (), [("R701", 3, 39)]),
    ("names that are no robots", page("<meta name=author content='index'>" * 2), None, (), []),
    ("in the body", page("", NOINDEX), None, (), [("R703", 4, 4)]),
    ("after text", f"text {NOINDEX}".encode(), None, (), [("R703", 1, 6)]),
    ("in a script", page("", f"<script>'{NOINDEX}'</script><!-- {NOINDEX} -->"), None, (), []),
    ("in noscript", page(f"<noscript>\n {INDEX}{NOINDEX}</noscript>"), None, (), [("R701", 4, 38), ("R702", 4, 38)]),
    ("misspelt", page("<meta name=robots content='noindex nofolow, max-snippet: x'>"), None, (), [("R704", 3, 1)] * 2),
    ("wide signs before", page(f"<link title='日本'>{INDEX.replace('index', 'x')}"), None, (), [("R704", 3, 18)]),
    ("closed", page(NOINDEX), CLOSED, (), [("R705", 3, 1)]),
    ("closed to one that is not meant", page(BING), CLOSED + b"User-agent: bingbot\nDisallow:\n", (), []),
    ("closed to the one that is meant", page(BING), CLOSED, (), [("R705", 3, 1)]),
    (
        "field for one that is closed",
        page(""),
        GOOGLE_CLOSED,
        (("X-Robots-Tag", "googlebot: noindex"),),
        [("R705", 1, 1)],
    ),
    ("field for one that is open", page(""), GOOGLE_CLOSED, (("X-Robots-Tag", "bingbot: noindex"),), []),
    ("closed by a header", page(""), CLOSED, (XNOINDEX,), [("R705", 1, 1)]),
    ("closed, and to be indexed", page(INDEX), CLOSED, (), []),
    ("open to search engines", page(NOINDEX), CLOSED + b"User-agent: googlebot\nUser-agent: bingbot\nAllow: /", (), []),
    ("closed to one", page(NOINDEX), b"User-agent: bingbot\nDisallow: /", (), [("R705", 3, 1)]),
    ("header", page(INDEX), None, (XNOINDEX,), [("R706", 3, 1)]),
    ("header for one robot", page(INDEX), None, (("x-robots-tag", "otherbot: noindex"),), []),
    ("the other way round", page(NOINDEX), None, (("x-robots-tag", "all"),), [("R706", 3, 1)]),
    ("canonical", page("<link rel=canonical href=b.html>"), CLOSED, (), [("R707", 3, 1)]),
    ("canonical in a field", page(""), CLOSED, (("Link", "</old/b>; rel=canonical"),), [("R707", 1, 1)]),
    ("canonical is itself", page("<link rel=canonical href=a.html>"), CLOSED, (), []),
    ("canonical elsewhere", page("<link rel=canonical href=//e.org/old/>"), CLOSED, (), []),
]


@pytest.mark.parametrize(("name", "body", "robots", "headers", "places"), PAGES, ids=[case[0] for case in PAGES])
def test_pages(
    name: str, body: bytes, robots: bytes | None, headers: tuple[tuple[str, str], ...], places: Places
) -> None:
    url = "https://example.org/old/a.html"
    found = check(Subject(body, url, HttpAnswer(200, headers), is_page=True, robots=robots))
    assert [(each.code, each.line, each.column) for each in found] == places


@pytest.mark.parametrize(("name", "body", "robots", "headers", "places"), PAGES, ids=[case[0] for case in PAGES])
def test_r507_and_r705_agree(
    name: str, body: bytes, robots: bytes | None, headers: tuple[tuple[str, str], ...], places: Places
) -> None:
    page_file = PageFile("https://example.org/old/a.html", body, headers)
    found = [each.code for each in check(Subject(robots or b"", SITE, pages=(page_file,)))]
    assert ("R507" in found) == ("R705" in [code for code, _, _ in places])


USES = "`use=immediate`, `use=reference`, `use=full`"
GONE = "then no longer applies"
FIXES: list[tuple[str, str, str | None, str]] = [
    # code, line, where the file lies, fix
    ("R401", "Disallow: http://other.example/", None, "remove it: a robots.txt applies only to its own host"),
    ("R401", "Disallow: http://other.example", None, "remove it: a robots.txt applies only to its own host"),
    ("R401", "Disallow: https://example.org/*", SITE, "remove it: a robots.txt applies only to its own host"),
    ("R401", "Disallow: https://e.org/a?b", SITE, "remove it: a robots.txt applies only to its own host"),
    ("R401", "Disallow: https://www.example.org/a?b", SITE, "write `/a?b`: a robots.txt applies only to its own host"),
    ("R402", "Disallow: id=3*", None, "write `/*id=3`: the rule then matches"),
    ("R402", "Disallow: .php", None, "write `/*.php`: the rule then matches"),
    ("R402", "Disallow: ?id=", None, "write `/*?id=`: the rule then matches"),
    ("R402", "Disallow: ./a", None, "write `/a`: the rule then matches"),
    ("R402", "Disallow: ./", None, "remove it: under RFC 9309 nothing changes"),
    ("R402", "Disallow: 404.html", None, "write `/404.html`: the rule then matches"),
    (
        "R406",
        "Disallow: /a%2520b",
        None,
        "if you mean a space, write `/a%20b`: the rule then matches those URLs instead",
    ),
    (
        "R406",
        "Disallow: /caf%25C3%25A9",
        None,
        "if you mean `%C3`, write `/caf%C3%A9`: the rule then matches those URLs instead",
    ),
    (
        "R408",
        "Disallow: /#!b",
        SITE,
        f"remove it, because robots.txt cannot match fragments; `Disallow: /`, which disallows the whole site, {GONE}",
    ),
    (
        "R408",
        "Disallow: /a#!b",
        None,
        f"remove it, because robots.txt cannot match fragments; `Disallow: /a` {GONE}",
    ),
    ("R406", "Disallow: /a|b", None, "write %7C: under RFC 9309 nothing changes"),
    ("R406", "Disallow: /a\\b", None, "write `/`: the rule then matches other URLs"),
    ("R206", 'User-agent: "Googlebot"', None, "write `Googlebot`: the rules then apply"),
    ("R206", "User-agent: [gptbot]", None, "write `GPTBot`: the rules then apply"),
    ("R206", "User-agent: - GPTBot", None, "write `GPTBot`: the rules then apply"),
    ("R206", "User-agent: '360spider'", None, "write `360Spider`: the rules then apply"),
    ("R304", "User-agent: Google bot", None, "did you mean `Googlebot`?"),
    ("R304", "User-agent: Apple Bot", None, "did you mean `Applebot`?"),
    ("R304", "User-agent: all", None, "did you mean `*`?"),
    ("R304", "User-agent: All robots", None, "did you mean `*`?"),
    ("R304", "User-agent: ClaudBot", None, "did you mean `ClaudeBot`?"),
    ("R304", "User-agent: AhrefBot", None, "did you mean `AhrefsBot`?"),
    ("R304", "User-agent: BingBott", None, "did you mean `bingbot`?"),
    ("R304", "User-agent: GPTBott", None, "did you mean `GPTBot`?"),
    ("R304", "User-agent: Baiduspidr", None, "did you mean `Baiduspider`?"),
    ("R304", "User-agent: Amazonbt", None, "did you mean `Amazonbot`?"),
    ("R304", "User-agent: SemrushBott", None, "did you mean `SemrushBot`?"),
    ("R307", "User-agent: msnbot", None, "write `bingbot`: the group then still applies to it"),
    (
        "R307",
        "User-agent: msnbot\nUser-agent: Bingbot",
        None,
        "remove this line: verdicts then change only for a robot called msnbot",
    ),
    ("R606", "Content-Signal: train-ai=no", None, "did you mean `ai-train`?"),
    ("R606", "Content-Signal: use=bogus", None, f"write one of {USES}"),
    ("R606", "Content-Signal: search=yes, use=", None, f"write one of {USES}"),
    ("R606", "Content-Signal: use=full, use=reference", None, "write `use=reference` alone"),
    ("R606", "Content-Signal: ai-train=no;use=full", None, "write `ai-train=no, use=full`"),
    ("R606", "Content-Signal: ai-train=no search = yes", None, "write `ai-train=no, search=yes`"),
    ("R606", "Content-Signal: search=maybe", None, "write `search=yes` or `search=no`"),
    ("R606", "Content-Signal: ai-train=nope, use=full", None, "write `ai-train=yes` or `ai-train=no`"),
    ("R606", "Content-Signal: ai-train=nope; search=yes", None, "write `ai-train=yes` or `ai-train=no`"),
    ("R606", "Content-Signal: search=yes, ai-train", None, "write `ai-train=yes` or `ai-train=no`"),
    ("R606", "Content-Signal: no", None, "write each signal as `key=yes` or `key=no`"),
    ("R606", "Content-Usage: train-ai=no", None, "write `train-ai=n` or `train-ai=y`"),
]


@pytest.mark.parametrize(("code", "line", "url", "fix"), FIXES, ids=[f"{case[0]} {case[1]}" for case in FIXES])
def test_how_to_fix_it(code: str, line: str, url: str | None, fix: str) -> None:
    found = check(Subject(f"User-agent: *\n{line}\nDisallow: /z\n".encode(), url))
    assert [each.fix for each in found if each.code == code] == [fix]


HTML_RULES: list[tuple[bytes, str]] = [
    (b"<html><p>Not found", "robots find no rules in it and treat the whole site as allowed"),
    (b"<html>\nUser-agent: *\nDisallow:\n", "robots find no rules in it and treat the whole site as allowed"),
    (b"<html>\nUser-agent: *\nDisallow: /\n", "robots obey the rules that they find in it, `Disallow: /` (line 3)"),
    (b"<html>\nUser-agent: *\nAllow: /a\nDisallow: /\n", "they find in it, `Allow: /a` (line 3) and 1 more"),
]


@pytest.mark.parametrize(("body", "said"), HTML_RULES)
def test_the_message_about_a_web_page_shows_the_rules_that_robots_find(body: bytes, said: str) -> None:
    (found,) = check(Subject(body))
    assert found.message.startswith("this is an HTML page, not a robots.txt: ")
    assert found.message.endswith(said)


def test_if_the_host_is_unknown_the_fix_offers_both_ways() -> None:
    (found,) = [each for each in check(Subject(b"User-agent: *\nDisallow: http://e.org/a")) if each.code == "R401"]
    assert (found.fix or "").startswith("write `/a` if this is the robots.txt of e.org, otherwise remove it")


def test_bingbot_obeys_groups_of_msnbot() -> None:
    (found,) = [each for each in check(Subject(b"User-agent: msnbot\nDisallow: /a\n")) if each.code == "R307"]
    assert "bingbot obeys this group" in found.message
    assert "bingbot" in found.affected


def test_one_is_written_in_the_singular() -> None:
    said = [
        each.message for each in check(Subject(ALL + b"Crawl-delay: 86400\n" + b"#" * 512_000 + b"\nDisallow: /b\n"))
    ]
    assert any("one page every day" in message for message in said)
    assert any("they ignore one record from here on" in message for message in said)


@pytest.mark.parametrize(("body", "codes"), [(b"", ["R004"]), (b"\x1f\x8b\x08\xff\xff", ["R004"]), (ALL, [])])
def test_a_body_that_cannot_be_decoded_is_not_reported_as_empty(body: bytes, codes: list[str]) -> None:
    answer = HttpAnswer(200, (TEXT, ("Content-Encoding", "gzip")))
    found = [each for each in check(Subject(body, SITE, answer)) if each.code.startswith("R0")]
    assert [each.code for each in found] == codes
    assert all("gzip" in each.message for each in found)


@pytest.mark.parametrize("character", "\u202e\u2066\u180e\u3164\u3000\u2003")
def test_invisible_characters(character: str) -> None:
    found = check(Subject(f"User-agent: *\nDisallow: /a{character}b\n".encode()), ["R4", "R5", "R6"])
    assert [(each.code, each.line, each.column) for each in found] == [("R106", 2, 13)]


def test_only_the_dialect_kollar_reads_several_paths() -> None:
    (found,) = [each for each in check(Subject(b"User-agent: *\nDisallow: /a /b\n")) if each.code == "R204"]
    readers = [
        name for name in DIALECTS if not RobotsTxt.parse(b"User-agent: *\nDisallow: /a /b\n", name).allows("/b", "x")
    ]
    assert readers == ["kollar"]
    assert "kollar" in found.affected


def test_unknown_directives_have_suggestions() -> None:
    body = page("<meta name=robots content='no-index, noyaca, max-image-preview:big, max-video-preview'>")
    fixes = [(each.severity, each.fix) for each in check(Subject(body, is_page=True))]
    assert fixes == [
        ("warning", "did you mean `noindex`?"),
        ("info", "remove it"),
        ("warning", "did you mean `max-image-preview:large`?"),
        ("warning", "did you mean `max-video-preview:-1`?"),
    ]


NAMES: list[tuple[str, str, str, str]] = [
    # value, what is found, message, fix
    ("Googlebot, Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    (
        "GPTBot CCBot",
        "R310 error",
        "matches GPTBot only: CCBot does not",
        "`User-agent: GPTBot`, `User-agent: CCBot`",
    ),
    ("GPTBot;CCBot; Bytespider", "R310 error", "only: CCBot and Bytespider do not", "`User-agent: Bytespider`"),
    ("Googlebot/2.1, Bingbot/2.0", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("AhrefsBot*, SemrushBot*", "R310 error", "matches AhrefsBot only: SemrushBot does", "`User-agent: SemrushBot`"),
    ("Googlebot, Sogou web spider", "R310 error", "Sogou web spider does not", "`User-agent: Sogou web spider`"),
    ("Googlebot, Bingbot GPTBot", "R310 error", "Bingbot and GPTBot do not", "`User-agent: GPTBot`"),
    ("Googlebot, *", "R310 error", "matches Googlebot only: no other robot finds", "`User-agent: *`"),
    ("*, Googlebot", "R310 error", "matches no robot: all other robots and Googlebot do", "`User-agent: *`"),
    ("Googlebot|Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("Googlebot & Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("Googlebot and Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("GPTBot |CCBot", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("GPTBot and CCBot, Bytespider", "R310 error", "only: CCBot and Bytespider do not", "`User-agent: CCBot`"),
    ("Googlebot+Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("Googlebot/Bingbot", "R310 error", "matches Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("GPTBot 1.1, CCBot", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("GPTBot v1 CCBot", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("Googlebot 2.1, Bingbot 2.0", "R310 error", "matches Googlebot only: Bingbot does", "`User-agent: Bingbot`"),
    (
        '"GPTBot", "CCBot"',
        "R310 error",
        "no robot: GPTBot and CCBot do not",
        "`User-agent: GPTBot`, `User-agent: CCBot`",
    ),
    ('"GPTBot" "CCBot"', "R310 error", "no robot: GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("[GPTBot, CCBot]", "R310 error", "no robot: GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("- GPTBot, CCBot", "R310 error", "no robot: GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("GPTBot，CCBot、Bytespider", "R310 error", "GPTBot only: CCBot and Bytespider do not", "`User-agent: CCBot`"),
    ("Googlebot, Bingbot, Yahoo Slurp", "R310 error", "Bingbot and Slurp do not", "`User-agent: Slurp`"),
    (
        "Kangaroo Bot, GPTBot",
        "R310 error",
        "kangaroo only: KangarooBot and GPTBot",
        "`User-agent: GPTBot`",
    ),
    ("Some Firm, GPTBot", "R310 error", "a robot called some only: GPTBot does not", "`User-agent: GPTBot`"),
    ("GPTBot, CCBot, Common Crawl", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("Googlebot, Yandex Bot", "R310 error", "Googlebot only: YandexBot does not", "`User-agent: YandexBot`"),
    ("Googlebot, Bingbot etc.", "R310 error", "Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("GPTBot CCBot please", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("all robots, GPTBot", "R310 error", "all other robots and GPTBot do not", "`User-agent: *`"),
    ("GPTBot., CCBot.", "R310 error", "CCBot does not", "`User-agent: CCBot`"),
    ("_GPTBot_, CCBot", "R310 error", "CCBot do not", "`User-agent: CCBot`"),
    ("GPTBot\\, CCBot", "R310 error", "CCBot does not", "`User-agent: CCBot`"),
    ("(GPTBot, CCBot)", "R310 error", "no robot: GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("GPTBot (OpenAI), CCBot (Common Crawl)", "R310 error", "CCBot does not", "`User-agent: CCBot`"),
    ("* GPTBot, CCBot", "R310 error", "GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("*CCBot, GPTBot", "R310 error", "CCBot and GPTBot do not", "`User-agent: GPTBot`"),
    ("- CCBot - GPTBot", "R310 error", "CCBot and GPTBot do not", "`User-agent: GPTBot`"),
    ("$GPTBot, CCBot", "R310 error", "GPTBot and CCBot do not", "`User-agent: CCBot`"),
    ("GPTBot:CCBot", "R310 error", "matches GPTBot only: CCBot does not", "`User-agent: CCBot`"),
    ("Googlebot / Bingbot/2.0", "R310 error", "Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("Googlebot User-agent: Bingbot", "R310 error", "Googlebot only: Bingbot does not", "`User-agent: Bingbot`"),
    ("a,b", "R310 error", "matches a only: b does not", "`User-agent: b`"),
    ("AhrefsBot*", "R303 info", "matches AhrefsBot: a name ends before `*`", "write `AhrefsBot`"),
    ("Mediapartners-Google*", "R303 info", "matches Mediapartners-Google:", "write `Mediapartners-Google`"),
    ("ourbot**", "R303 info", "matches ourbot:", "write `ourbot`"),
    (
        "Google*",
        "R303 error",
        "matches a robot called Google only",
        "for each robot you mean: the group then applies",
    ),
    (
        "Semrush*bot",
        "R303 error",
        "matches a robot called Semrush only",
        "for each robot you mean: the group then applies",
    ),
    ("*bot", "R303 error", "matches no robot: `*` means all robots only if it stands alone", "for each robot you"),
]


@pytest.mark.parametrize(("value", "kind", "message", "fix"), NAMES, ids=[case[0] for case in NAMES])
def test_which_robots_a_line_of_several_names_matches(value: str, kind: str, message: str, fix: str) -> None:
    body = f"User-agent: {value}\nDisallow: /a\n".encode()
    (found,) = [each for each in check(Subject(body)) if each.code in ("R303", "R310")]
    assert f"{found.code} {found.severity}" == kind
    assert message in found.message
    assert fix in (found.fix or "")
    for name in re.findall(r"[\w.-]+bot\b", value, re.IGNORECASE):
        is_matched = not RobotsTxt.parse(body).allows("/a", name)
        if found.code == "R310":
            assert is_matched == (f"matches {name} only" in found.message)


ONE_NAME = (
    "SomeBot/1.0 (+http://x; y)",
    "HTTrack [NC,OR]",
    "+Baiduspider/2.0;++http://www.baidu.com/search/spider.html",
    "Screaming Frog SEO Spider",
    "Sogou web spider/4.0",
    "Yahoo! Slurp",
    "IAS crawler",
    "Googlebot/2.1",
    "MJ12bot 1.4",
    *("Googlebot/Mobile", "AT&T bot", "C++bot", "Bot and Spider", "Googlebot +https://e.org/Bingbot", "-"),
    *("Googlebot Image", "Our own crawler", "Googlebot, 2.1", "MyBot; +http://x.example/bot", "Googlebot,", "a, A/2"),
)


@pytest.mark.parametrize("value", ONE_NAME)
def test_one_name_with_spaces_or_a_version_is_not_a_list(value: str) -> None:
    assert "R310" not in {each.code for each in check(Subject(f"User-agent: {value}\nDisallow: /a\n".encode()))}


@pytest.mark.parametrize("value", ["Screaming Frog SEO Spider", "Sogou web spider/4.0", "Yahoo! Slurp", "Googlebot,"])
def test_a_name_that_is_right_has_no_finding(value: str) -> None:
    found = {each.code for each in check(Subject(f"User-agent: {value}\nDisallow: /a\n".encode()))}
    assert found <= {"R302", "R307", "R308", "R608", "R510"}


def test_of_very_many_names_a_few_are_shown() -> None:
    value = ", ".join(f"robot{number}" for number in range(5_000))
    (found,) = [each for each in check(Subject(f"User-agent: {value}\nDisallow: /\n".encode())) if each.code == "R310"]
    assert "robot1, robot2, robot3, robot4, robot5, robot6, robot7, robot8 and 4991 more do not" in found.message
    assert len(found.fix or "") < 400


WHO_READS: list[tuple[str, str, str]] = [
    # file, code, affected
    ("User agent: Foo\nDisallow: /a\n", "R203", "every robot except Google's, which read it as `User-agent`"),
    ("User agent: Foo\nDisallow: /a\n", "R205", "every robot except Google's, which read line 1 as a User-agent line"),
    ("Useragent Foo\nDisallow: /a\n", "R205", "every robot except Google's, which read line 1 as a User-agent line"),
    ("Disallow: /a\nUser agent: Foo\n", "R205", "every robot"),
    ("User-agent: *\nDisalow: /a\n", "R203", "every robot except Google's, which read it as `Disallow`"),
    ("User-agent: *\nAllowance: /a\n", "R203", "every robot except Google's, which read it as `Allow`"),
    ("User-agent: *\nDisaalllow: /a\n", "R203", "every robot"),
    ("User-agent: *\nDisallow /a\n", "R201", "every robot except Google's, which accept a missing colon"),
    ("User-agent: *\nCrawl-delay 5\n", "R201", "every robot"),
    ("User-agent: *\nallow this and that\n", "R201", "every robot"),
]


@pytest.mark.parametrize(
    ("body", "code", "affected"), WHO_READS, ids=[f"{case[1]} {case[0][:16]}" for case in WHO_READS]
)
def test_google_reads_more_lines_than_others(body: str, code: str, affected: str) -> None:
    found = [each for each in check(Subject(body.encode())) if each.code == code]
    assert [each.affected for each in found] == [affected]
    google, other = (
        [record for record in RobotsTxt.parse(body.encode(), name).records if record[1] != "crawl-delay"]
        for name in ("google", "rfc9309")
    )
    assert code == "R205" or ("Google" in affected) == (google != other)


@pytest.mark.parametrize(("value", "robot"), [("- GPTBot", "GPTBot"), ("GPTBot, CCBot", "CCBot")])
def test_names_that_only_older_dialects_read(value: str, robot: str) -> None:
    body = f"User-agent: {value}\nDisallow: /a\n"
    (found,) = [each for each in check(Subject(body.encode())) if each.code in ("R206", "R310")]
    readers = {name for name in DIALECTS if not RobotsTxt.parse(body.encode(), name).allows("/a", robot)}
    assert readers >= {"1996", "conner"}
    assert "rfc9309" not in readers
    assert found.message.startswith("under RFC 9309 ")


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("User-agent:\nDisallow: /a\n", "apply to no robot"),
        ("User-agent:\nUser-agent: A\nDisallow: /a\n", "apply only to the other robots of this group"),
    ],
)
def test_a_nameless_line_beside_a_named_one(body: str, rules: str) -> None:
    (found,) = [each for each in check(Subject(body.encode())) if each.code == "R206"]
    assert found.message.endswith(f"the rules below it {rules}")


def test_a_useless_rule_may_decide_in_older_dialects() -> None:
    """Therefore the fix of R504 promises nothing for other dialects than RFC 9309."""
    body = "User-agent: *\nDisallow: /a/b\nAllow: /a\nDisallow: /a/\n"
    (found,) = [each for each in check(Subject(body.encode())) if each.code == "R504"]
    assert (found.line, found.fix) == (2, "remove it: under RFC 9309 nothing changes; or keep it for human readers")
    without = body.replace("Disallow: /a/b\n", "")
    one, other = (
        [RobotsTxt.parse(each.encode(), name).allows("/a/b", "x") for name in DIALECTS] for each in (body, without)
    )
    changed = [name for name, before, after in zip(DIALECTS, one, other, strict=True) if before is not after]
    assert "1996" in changed
    assert "rfc9309" not in changed


IGNORES = "Bytespider (ByteDance) is known to ignore robots.txt, at least sometimes"
MESSAGES: list[tuple[str, str, str, str]] = [
    # name, file, code, message
    (
        "the token that is matched",
        "User-agent: *\nDisallow: /a\nUser-agent: Slurp, Yandex\nDisallow: /b\n",
        "R306",
        "Slurp has a group of its own, so it ignores a rule for `*`: `Disallow: /a` (line 2)",
    ),
    (
        "every name of a group",
        "User-agent: FacebookBot\nUser-agent: Bytespider\nComment: hi\n",
        "R207",
        "FacebookBot and Bytespider have no rules, so they may fetch everything",
    ),
    (
        "every name above other rules",
        "User-agent: A\nUser-agent: B\n\nUser-agent: C\nDisallow: /\n",
        "R207",
        "A and B have no rules of their own, so the rules for C (line 4) apply to them",
    ),
    (
        "a User-agent line without a name",
        "User-agent: A\n\nUser-agent:\nDisallow: /\n",
        "R207",
        "A has no rules of its own, so the rules below the next User-agent line (line 3) apply to it",
    ),
    (
        "a group that allows everything",
        "User-agent: Bytespider\nAllow: /\n",
        "R308",
        IGNORES,
    ),
    (
        "a group that disallows something",
        "User-agent: Bytespider\nDisallow: /a\n",
        "R308",
        f"{IGNORES}: this group alone does not keep it out",
    ),
    (
        "the path that robots read",
        "User-agent: *\nDisallow: /a\t/b\n",
        "R204",
        "this line contains 2 paths, but robots read one path, `/a%09/b`, so the rule matches none of them",
    ),
]


@pytest.mark.parametrize(("name", "body", "code", "message"), MESSAGES, ids=[case[0] for case in MESSAGES])
def test_messages(name: str, body: str, code: str, message: str) -> None:
    assert [each.message for each in check(Subject(body.encode())) if each.code == code] == [message]


def test_two_paths_are_one_with_an_encoded_space() -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /tmp /var\n")
    assert [robots.allows(url, "x") for url in ("/tmp", "/var", "/tmp%20/var")] == [True, True, False]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_robot_ends_the_match_at_a_dollar_inside(dialect: str) -> None:
    """Therefore R404 affects every robot."""
    assert RobotsTxt.parse(b"User-agent: *\nDisallow: /a$b\n", dialect).allows("/a", "x")
