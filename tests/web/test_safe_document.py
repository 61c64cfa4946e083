"""Pages from the archive, made safe to show in a frame."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.encoding import decode_text
from goodbot.page.html import read_html
from goodbot.url import Url
from goodbot.visitor_values import CachedCopy
from goodbot.web.visitors.safe_document import COPY_POLICY, safe_document

URL = Url("https://example.org/a/b?c=1&d='%22")
HEAD = re.compile(rb"<!doctype html><meta charset=utf-8><base href=\"([^\"<>]*)\" target=_top>")


def copy(html: str | None, base: Url = URL) -> CachedCopy:
    return CachedCopy(URL, 1.0, "text/html", "A page", base, html=html)


def test_the_page_itself_is_not_changed() -> None:
    page = "<html lang=ru><title>Кот</title><script>x()</script><p onclick=y()>мяу"
    document = safe_document(copy(page))
    head = HEAD.match(document)
    assert head is not None
    assert document[head.end() :].decode() == page


CONNECTING = [
    ("<link rel=preconnect href=//x/>", '<link rel="" rel=preconnect href=//x/>'),
    ("<LINK/rel=dns-prefetch href=//x/>", '<LINK rel=""/rel=dns-prefetch href=//x/>'),
    ("<linker><link>", '<linker><link rel="">'),
    ("<iframe\tsrc=//x/></iframe>", '<iframe srcdoc=""\tsrc=//x/></iframe>'),
    ("<frameset><Frame src=//x/>", '<frameset><Frame src="about:blank" src=//x/>'),
]


@pytest.mark.parametrize(("html", "emptied"), CONNECTING)
def test_links_and_frames_lead_nowhere(html: str, emptied: str) -> None:
    assert safe_document(copy(html)).decode().endswith(emptied)


BASES = [
    (copy("x"), None, b"https://example.org/a/b?c=1&amp;d=&#x27;%22"),
    (copy("x", Url("https://example.org/base/")), None, b"https://example.org/base/"),
    (copy("x", Url("https://example.org/base/")), Url("https://other.example/"), b"https://other.example/"),
]


@pytest.mark.parametrize(("page", "base_url", "base"), BASES)
def test_the_base(page: CachedCopy, base_url: Url | None, base: bytes) -> None:
    head = HEAD.match(safe_document(page, base_url))
    assert head is not None
    assert head[1] == base


HOSTILE = [
    "",
    "\ufeff<title>x</title>",
    '<meta charset="koi8-r"><meta http-equiv=Content-Type content="text/html; charset=utf-16">',
    "<base href=https://evil.example/ target=_blank><a href=x>x</a>",
    "--><base href=//evil.example/>",
    "</head></html><base href=//evil.example/>",
    '"><base href=//evil.example/>',
    "\x00\ud800\udfff",
    "<frameset><frame src=//evil.example/>",
    "<plaintext>",
]


@pytest.mark.parametrize("html", HOSTILE)
def test_hostile_pages(html: str) -> None:
    check(html)


@given(st.text() | st.lists(st.sampled_from([*HOSTILE, "<", ">", "<!--", "'", '"', "<title>"])).map("".join))
def test_every_page(html: str) -> None:
    check(html)


def check(html: str) -> None:
    """What the page says about its encoding and its base comes too late."""
    document = safe_document(copy(html))
    assert HEAD.match(document)
    text, encoding = decode_text(document)
    assert encoding == "utf-8"
    assert read_html(text).base == URL.text
    assert len(document) < 200 + 6 * len(html)


def test_a_copy_without_html() -> None:
    assert safe_document(copy(None)) == b""


def test_the_policy_permits_neither_scripts_nor_requests() -> None:
    policy = dict(part.strip().partition(" ")[::2] for part in COPY_POLICY.split(";"))
    allowed = "allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
    assert policy["sandbox"] == allowed
    assert policy["default-src"] == "'none'"
    assert set(policy) == {"sandbox", "default-src", "style-src", "img-src"}
