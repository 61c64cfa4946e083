"""Which answers are sitemaps, feeds and lists, told by content within the types they are sent with."""

import gzip
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page import read_page
from goodbot.page.sitemap import MAX_LIST_BYTES
from goodbot.url import Url
from goodbot.values import Page, Response

packed = partial(gzip.compress, mtime=0)

SITEMAP = b"<urlset><url><loc>/1</loc></url></urlset>"
FEED = b"<rss><channel><title>News</title><item><title>One</title><link>/1</link></item></channel></rss>"
LINES = b"http://h.example/1\nhttp://h.example/2\n"
HTML = b"<html><title>t</title><a href=/1>one</a></html>"


def read(body: bytes, media_type: str, path: str = "/x", *fields: tuple[str, str], text: bool = True) -> Page:
    response = Response(200, (("Content-Type", media_type), *fields), body)
    return read_page(Url("http://h.example" + path), response, "goodbot", 1 << 21, text=text)


@pytest.mark.parametrize(
    ("body", "media_type", "path", "listed"),
    [
        (SITEMAP, "text/xml", "/x", 1),
        (SITEMAP, "application/xml; charset=utf-8", "/x", 1),
        (SITEMAP, "application/vnd.example+xml", "/x", 1),
        (FEED, "application/rss+xml", "/x", 1),
        (SITEMAP, "", "/s.xml", 1),
        (SITEMAP, "application/octet-stream", "/s.xml?a=1", 1),
        (SITEMAP, "text/plain", "/s.XML", 1),
        (SITEMAP, "text/html", "/s.xml", 1),
        (FEED, "text/html", "/index.rss", 1),
        (packed(SITEMAP), "application/gzip", "/x", 1),
        (packed(SITEMAP), "application/x-gzip", "/s.xml.gz", 1),
        (packed(SITEMAP), "text/xml", "/s.xml.gz", 1),
        (packed(SITEMAP), "application/octet-stream", "/s.xml.gz", 1),
        (SITEMAP, "application/gzip", "/s.xml.gz", 1),
        (LINES, "text/plain", "/urls.txt", 2),
        (LINES, "text/plain", "/sitemap", 2),
        (packed(LINES), "application/gzip", "/urls.txt.gz", 2),
        # and what is none
        (SITEMAP, "text/html", "/x", 0),
        (SITEMAP, "text/plain", "/x", 0),
        (SITEMAP, "image/png", "/s.xml", 0),
        (SITEMAP, "image/svg+xml", "/s.xml", 0),
        (HTML, "text/xml", "/x", 0),
        (b"<data><url><loc>/1</loc></url></data>", "text/xml", "/x", 0),
        (LINES, "text/plain", "/x", 0),
        (LINES + b"and more", "text/plain", "/urls.txt", 0),
        (b"User-agent: *\nDisallow:\n", "text/plain", "/robots.txt", 0),
        (b"", "text/plain", "/urls.txt", 0),
        (b"", "text/xml", "/x", 0),
    ],
)
def test_which_answers_list_urls(body: bytes, media_type: str, path: str, listed: int) -> None:
    for text in (True, False):
        page = read(body, media_type, path, text=text)
        assert len(page.listed) == listed
        assert not (page.listed and page.links)


def test_a_page_at_the_address_of_a_sitemap_is_a_page() -> None:
    page = read(HTML, "text/html", "/sitemap.xml")
    assert (page.title, [link.url.text for link in page.links]) == ("t", ["http://h.example/1"])


def test_a_sitemap_says_nothing_and_a_feed_says_its_titles() -> None:
    assert (read(SITEMAP, "text/xml").title, read(SITEMAP, "text/xml").text) == ("", "")
    assert (read(FEED, "text/xml").title, read(FEED, "text/xml").text) == ("News", "News\n\nOne")
    assert read(FEED, "text/xml", text=False).text == ""


def test_headers_speak_for_a_sitemap_too() -> None:
    page = read(SITEMAP, "text/xml", "/x", ("X-Robots-Tag", "noindex, nofollow"))
    assert (page.directives.index, page.directives.follow, len(page.listed)) == (False, False, 1)


@pytest.mark.parametrize(
    ("body", "unread"),
    [
        (packed(SITEMAP * 2000)[:200], "the data ends early"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + SITEMAP, "it declares entities, which are not expanded"),
        (SITEMAP, ""),
    ],
)
def test_what_could_not_be_read_is_said(body: bytes, unread: str) -> None:
    assert read(body, "text/xml").unread == unread


def test_a_sitemap_may_be_longer_than_a_page_and_is_read_to_its_end() -> None:
    body = b"<urlset>" + b"<url><loc>http://h.example/1</loc><x>" + bytes(10_000_000) + b"</x></url>" + SITEMAP
    assert [entry.url.path for entry in read(packed(body), "text/xml").listed] == ["/1", "/1"]


@pytest.mark.long
def test_a_packed_sitemap_cut_at_its_bound_says_so() -> None:
    body = b"<urlset><url><loc>/1</loc></url><!--" + bytes(MAX_LIST_BYTES) + b"--><url><loc>/2</loc></url></urlset>"
    page = read(packed(body), "text/xml")
    assert [entry.url.path for entry in page.listed] == ["/1"]
    assert page.unread == "only the first 52428800 bytes of what is unpacked are read"
    declared = read(packed(b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + body), "text/xml").unread
    assert declared.split("; ") == ["it declares entities, which are not expanded", page.unread]
    lines = read(packed(b"http://h.example/1\n" + b"\n" * MAX_LIST_BYTES), "text/plain", "/s.txt")
    assert (len(lines.listed), lines.unread) == (1, page.unread)


@pytest.mark.long
@pytest.mark.parametrize("start", [b"", b"<urlset>", b"<urlset><!--", b"<rss><channel><title>", b"http://h.example/\n"])
def test_a_bomb_costs_no_memory(start: bytes) -> None:
    body = packed(start + bytes(100_000_000))
    tracemalloc.start()
    try:
        for media_type, path in (("text/xml", "/s.xml"), ("application/gzip", "/s.xml.gz"), ("text/plain", "/s.txt")):
            read(body, media_type, path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


@given(
    st.binary(max_size=200)
    | st.sampled_from([SITEMAP, FEED, LINES, HTML]).map(lambda body: body[:30] + b"\xff" + body[30:]),
    st.sampled_from(["text/xml", "text/plain", "application/gzip", "text/html", ""]),
    st.sampled_from(["/x", "/s.xml", "/s.txt", "/s.xml.gz"]),
)
def test_any_answer_is_read(body: bytes, media_type: str, path: str) -> None:
    read(body, media_type, path)
