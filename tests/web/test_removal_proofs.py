"""What proves that the owner of a site wants a page removed."""

import gzip

import pytest

from goodbot.exclusion import Access, Verdict
from goodbot.url import Url
from goodbot.values import Response
from goodbot.web.public_sites import VisitedDocument
from goodbot.web.visitors.removal_proofs import disallowed, has_token, says_no, token_file_url

URL = Url("https://example.org/a")
NOW = 1_795_000_000.0
HTML = ("Content-Type", "text/html; charset=utf-8")
TOKEN = "0123456789abcdef0123456789abcdef"


def page(body: str, *headers: tuple[str, str], status: int = 200) -> Response:
    return Response(status, (HTML, *headers), body.encode())


SAYS = [
    ("a page", page("<title>x</title>text"), ""),
    ("noindex", page("<meta name=robots content=noindex>"), "noindex in META robots"),
    ("none", page("<meta name=robots content=none>"), "none in META robots"),
    ("noindex for this robot", page("<meta name=goodbot content=noindex>"), "noindex in META goodbot"),
    ("noindex for another robot", page("<meta name=otherbot content=noindex>"), ""),
    ("nofollow alone", page("<meta name=robots content=nofollow>"), ""),
    ("a header", page("x", ("X-Robots-Tag", "noindex")), "noindex in X-Robots-Tag"),
    ("a header for this robot", page("x", ("X-Robots-Tag", "goodbot: noindex")), "noindex in X-Robots-Tag"),
    (
        "a header of a PDF",
        Response(200, (("Content-Type", "application/pdf"), ("X-Robots-Tag", "none")), b"%PDF-"),
        "none",
    ),
    ("a PDF", Response(200, (("Content-Type", "application/pdf"),), b"%PDF-1.4 noindex"), ""),
    ("a date that has passed", page("<meta name=robots content='unavailable_after: 2026-01-01'>"), "unavailable_after"),
    ("a date to come", page("<meta name=robots content='unavailable_after: 2036-01-01'>"), ""),
    ("404", page("not here", status=404), "status 404"),
    ("410", page("", status=410), "status 410"),
    ("403", page("", status=403), ""),
    ("403 with a tag in its page", page("<meta name=robots content=noindex>", status=403), ""),
    ("500", page("", status=500), ""),
    ("a redirect", page("", ("Location", "/b"), status=301), "redirects it to https://example.org/b"),
    ("a redirect elsewhere", page("", ("Location", "https://x.example/"), status=302), "to https://x.example/"),
    ("a redirect to itself", page("", ("Location", "/a#x"), status=302), ""),
    ("a redirect without a target", page("", status=301), ""),
    ("a redirect to a file", page("", ("Location", "file:///etc/passwd"), status=301), ""),
]


@pytest.mark.parametrize(("response", "said"), [row[1:] for row in SAYS], ids=[row[0] for row in SAYS])
def test_what_a_page_says(response: Response, said: str) -> None:
    found = says_no(URL, response, "goodbot", NOW)
    assert said in found
    assert bool(said) == bool(found)


def verdict_of(access: Access) -> Verdict:
    return access.verdict(URL.text, "goodbot")


def test_what_robots_txt_says() -> None:
    text = [("Content-Type", "text/plain")]
    closed = Access.from_response(200, text, b"User-agent: *\nDisallow: /a\n", NOW)
    assert disallowed(verdict_of(closed)).startswith("robots.txt of the site forbids it: Disallow: /a (line 2)")
    assert disallowed(verdict_of(Access.from_response(200, text, b"User-agent: *\nDisallow: /b\n", NOW))) == ""
    assert disallowed(verdict_of(Access.from_response(404, text, b"", NOW))) == ""
    assert disallowed(verdict_of(Access.from_response(503, text, b"", NOW))) == ""
    assert disallowed(verdict_of(Access.from_failure("timeout", NOW))) == ""


TOKEN_FILES = [
    (page(TOKEN), True),
    (page(f"\ufeff {TOKEN}\r\n"), True),
    (Response(200, (HTML, ("Content-Encoding", "gzip")), gzip.compress(TOKEN.encode())), True),
    (page(TOKEN, status=404), False),
    (page(f"<p>no such page: goodbot-removal-{TOKEN}.txt"), False),
    (page(TOKEN * 2), False),
    (page(TOKEN.upper()), False),
    (page(TOKEN + " " * 2000), False),
    (page(""), False),
    (page("\u2603" * 32), False),
    (None, False),
]


@pytest.mark.parametrize(("response", "has"), TOKEN_FILES)
def test_token_files(response: Response | None, has: bool) -> None:
    document = VisitedDocument(URL, verdict_of(Access.from_response(404, [], b"", NOW)), response)
    assert has_token(document, TOKEN) is has


def test_where_the_file_is() -> None:
    assert token_file_url(URL, "ab").text == "https://example.org/goodbot-removal-ab.txt"
