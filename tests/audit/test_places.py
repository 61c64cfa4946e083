"""Where links and other parts are in their documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.audit.list_places import record_places, sitemap_places
from goodbot.audit.page_places import find_places, places_of
from goodbot.url import Url

PAGE = Url("http://site.example/dir/page")
B = "http://site.example/b"

# markup, (line, column, text) of the links to /b
LINKS = [
    ("", []),
    ("<a href=/b>text</a>", [(1, 1, "text")]),
    ("<p>é\u3042\U0001f600 <a\n href='/b#part'>a <b>b</b>\n c</a>", [(1, 8, "a b c")]),
    ("<p>\r\n\r\n  <a href=../b>x</a>", [(3, 3, "x")]),
    ("<a href=/b>one</a><a href=/c>no</a>\n<a href=/b rel=nofollow>two", [(1, 1, "one"), (2, 1, "two")]),
    ("<a href=/b>open <a href=/c>other</a>", [(1, 1, "open")]),
    ("<base href=http://site.example/x/>\n<a href=../b>x</a>", [(2, 1, "x")]),
    ("<a href=b>x</a>", []),
    ("<a href=/b><img src=i alt='a picture'></a>", [(1, 1, "a picture")]),
    ("<map><area href=/b alt=map></map><iframe src=/b title=frame></iframe>", [(1, 6, "map"), (1, 34, "frame")]),
    ("<meta http-equiv=refresh content='3; url=/b'>", [(1, 1, "")]),
    ("<link rel=next href=/b>", [(1, 1, "")]),
    ("<link rel=canonical href=/b>", []),
    ("<link rel=stylesheet href=/b>", []),
    ("<noscript>\n <a href=/b>x</a></noscript><a href=/b>y</a>", [(2, 2, "x"), (2, 29, "y")]),
    ("<template><a href=/b>x</a></template>", []),
    ("<script>'<a href=/b>'</script><!-- <a href=/b> -->", []),
    ("\0<a href=/b>x</a>", [(1, 2, "x")]),
    ("<svg><a xlink:href=/b>x</a></svg>", [(1, 6, "x")]),
    ("<A HREF=HTTP://SITE.EXAMPLE/b>x", [(1, 1, "x")]),
]


@pytest.mark.parametrize(("html", "expected"), LINKS)
def test_links(html: str, expected: list[tuple[int, int, str]]) -> None:
    found = places_of(find_places(html, PAGE), "link", B)
    assert [(*link.place, link.text) for link in found] == expected


def test_other_parts() -> None:
    html = (
        '<!doctype html>\n<html lang="xx">\n <title>T</title><meta name=robots content="index">\n'
        '<meta name=robots content="NoIndex, nofollow"><link rel="canonical" href=/b>'
    )
    places = find_places(html, PAGE)
    assert (places.html, places.title, places.robots, places.canonical) == ((2, 1), (3, 2), (4, 1), (4, 47))
    assert [link.place for link in places_of(places, "canonical", B)] == [(4, 47)]
    early = find_places(html + "<a href=/b>", PAGE, ("title", "html"))
    assert (early.html, early.title, early.robots, early.links) == ((2, 1), (3, 2), None, [])
    assert find_places(html + "<a href=/b>", PAGE, ("title", "translation")).links
    none = find_places("<p>text", PAGE)
    assert (none.html, none.title, none.robots, none.canonical, none.links) == (None, None, None, None, [])


PIECES = """<a href=/b>|</a>|<noscript>|</noscript>|<template>|</template>|<base href=|é|<script>|<title>|<html lang=
|<!--|<meta name=robots content=none>|<iframe src=/b>|<link rel=canonical href=|<|>|x|'|<area href=//
|<svg>|<plaintext>"""
MARKUP = st.lists(st.sampled_from([*PIECES.split("|"), "\n", "\r", "\0", "\ud800"]))


@given(MARKUP.map("".join) | st.text())
def test_no_markup_makes_it_fail(html: str) -> None:
    places = find_places(html, PAGE)
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for link in places.links:
        assert lines[link.place.line - 1][link.place.column - 1] == "<"
        assert len(link.text) <= 300


# ---- lists ----------------------------------------------------------------------------------------------------------

SITEMAP = """<?xml version="1.0"?>
<urlset>
  <url><loc>http://site.example/a</loc></url>
  <url><ns:loc>
    http://site.example/b?x=1&amp;y=2 </ns:loc></url> <url><loc><![CDATA[/c]]></loc></url>
  <url><loc>http://site.example/a</loc></url>
</urlset>"""


def test_entries_of_a_sitemap() -> None:
    base = Url("http://site.example/s.xml")
    wanted = ["http://site.example/b?x=1&y=2", "http://site.example/a", "http://site.example/c", "http://x.example/"]
    found = {entry.url: entry.place for entry in sitemap_places(SITEMAP, base, wanted)}
    assert found == {wanted[1]: (3, 13), wanted[0]: (5, 5), wanted[2]: (5, 74)}
    lines = "http://site.example/a\r\n\r\nhttp://site.example/b\n"
    assert [tuple(entry.place) for entry in sitemap_places(lines, base, [B])] == [(3, 1)]


def test_records_of_robots_txt() -> None:
    body = b"User-agent: *\nDisallow:\n\n  Sitemap :  /s.xml # here\nSitemap: http://x.example/t.xml\n"
    base = Url("http://site.example/robots.txt")
    wanted = ["http://site.example/s.xml", "http://x.example/t.xml", "http://x.example/none"]
    assert [tuple(entry.place) for entry in record_places(body, base, wanted)] == [(4, 14), (5, 10)]


@given(
    st.text()
    | st.lists(st.sampled_from(["<loc>", "</loc>", "<url>", "/a", "<![CDATA[", "\n", "<x:loc ", "&"])).map("".join)
)
def test_no_list_makes_it_fail(text: str) -> None:
    base = Url("http://site.example/s.xml")
    list(sitemap_places(text, base, ["http://site.example/a"]))
    list(record_places(text.encode("utf-8", "surrogatepass"), base, ["http://site.example/a"]))
