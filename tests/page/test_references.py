"""Files someone has: what kind they are, and the URLs in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.references import FileKind, kind_of, reader_of, references, with_head

NETSCAPE = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1><DL><p>
  <DT><A HREF="http://h.example/?a=1&amp;b=2" ADD_DATE="1" ICON="data:image/png;base64,%b">One &lt;</A>
  <DT><A HREF="place:sort=8">Recent</A><DT><A HREF="javascript:x()">Let</A><DT><A>none</A>
  <DT><a href='/relative'>r</a><DT><A HREF="https://h.example/2">Two</A>
</DL>""" % (b"A" * 30_000)

FILES: list[tuple[bytes, FileKind, list[str | None]]] = [
    (NETSCAPE, "bookmarks", ["http://h.example/?a=1&b=2", None, None, None, "https://h.example/2"]),
    (b"\xef\xbb\xbf" + NETSCAPE[:300], "bookmarks", []),
    (b"<!doctype html><a href=http://h.example/1>x</a><a href=/2>y</a>", "web page", ["http://h.example/1", None]),
    (b"<base href=http://h.example/a/><a href=2>y</a>", "web page", ["http://h.example/a/2"]),
    (
        b"<urlset><url><loc>http://h.example/1</loc></url><url><loc>/2</loc></url></urlset>",
        "sitemap",
        ["http://h.example/1", None],
    ),
    (
        b"<sitemapindex><sitemap><loc>http://h.example/1</loc></sitemap></sitemapindex>",
        "sitemap index",
        ["http://h.example/1"],
    ),
    (
        b"<?xml version='1.0'?><feed><entry><link href='http://h.example/1'/></entry></feed>",
        "feed",
        ["http://h.example/1"],
    ),
    (
        "<rss><channel><item><link>http://h.example/1</link></item></channel></rss>".encode("utf-16"),
        "feed",
        ["http://h.example/1"],
    ),
    (b"From a@h.example Thu\nSubject: x\n\nhttp://h.example/1\n", "mail", ["http://h.example/1"]),
    (
        b"# me\nUser-agent: *\nDisallow: /\nSitemap: http://h.example/s.xml\nSitemap: /t.xml\n",
        "robots.txt",
        ["http://h.example/s.xml", None],
    ),
    (b"\n\nsitemap:http://h.example/s.xml", "robots.txt", ["http://h.example/s.xml"]),
]
OTHERS: list[tuple[bytes, FileKind]] = [
    (b"http://h.example/\n", "list"),
    (b"# a list\nhttp://h.example/\n", "list"),
    (b"", "list"),
    (b"\xff\xfeh\0t\0t\0p\0", "binary data"),
    (b"%PDF-1.7\n", "binary data"),
    (b"PK\x03\x04", "binary data"),
    (b"\x7fELF\x02\0", "binary data"),
    (b"<data/>", "list"),
]


@pytest.mark.parametrize(("file", "kind"), [(file, kind) for file, kind, _ in FILES] + OTHERS)
def test_kinds_are_told_by_content(file: bytes, kind: FileKind) -> None:
    assert kind_of(file) == kind


@pytest.mark.parametrize(("file", "kind", "urls"), FILES)
def test_urls_of_each_kind(file: bytes, kind: FileKind, urls: list[str | None]) -> None:
    for size in (7, 100_000):
        pieces = [file[at : at + size] for at in range(0, len(file), size)]
        assert [url and url.text for url in references(kind, pieces)] == urls


def test_a_list_is_not_read_here() -> None:
    with pytest.raises(ValueError, match="not a file with URLs in it: list"):
        references("list", [])


@given(st.lists(st.binary(max_size=50), max_size=8))
def test_pieces_as_a_file(pieces: list[bytes]) -> None:
    assert b"".join(reader_of(pieces)) == b"".join(pieces)
    head, again = with_head(pieces)
    assert head == b"".join(again) == b"".join(pieces)


@given(st.binary(max_size=200), st.sampled_from(["sitemap", "bookmarks", "web page", "mail", "robots.txt"]))
def test_any_file_is_read(file: bytes, kind: FileKind) -> None:
    kind_of(file)
    for url in references(kind, [file]):
        assert url is None or url.text.startswith("http")
