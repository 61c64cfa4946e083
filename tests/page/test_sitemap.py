"""Sitemaps, indexes, feeds and lists of URLs: what they list, in whatever spelling, broken, lying or hostile."""

import itertools
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.sitemap import FEED_TEXT_CHARS, MAX_ENTRIES, MAX_LIST_BYTES, ListReader, parse_list_date, read_lines
from goodbot.page.text_blocks import text_blocks
from goodbot.url import Url
from goodbot.values import ListedUrl

BASE = Url("http://h.example/maps/sitemap.xml")
SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
DAY = 86_400.0


def listed(document: str | bytes, base: Url | None = BASE, content_type: str | None = None) -> list[ListedUrl]:
    body = document.encode() if isinstance(document, str) else document
    return list(ListReader(base).read(text_blocks([body], content_type)))


def urls(document: str | bytes, base: Url | None = BASE, content_type: str | None = None) -> list[str]:
    return [entry.url.text for entry in listed(document, base, content_type)]


ONE = ["http://h.example/1"]
TWO = ["http://h.example/1", "http://h.example/2"]

SPELLINGS = {
    "as the protocol has it": (
        f'<?xml version="1.0"?><urlset xmlns="{SITEMAPS}"><url><loc>/1</loc></url></urlset>',
        ONE,
    ),
    "an index": ("<sitemapindex><sitemap><loc>/1</loc></sitemap><sitemap><loc>/2</loc></sitemap></sitemapindex>", TWO),
    "a prefix": (f'<s:urlset xmlns:s="{SITEMAPS}"><s:url><s:loc>/1</s:loc></s:url></s:urlset>', ONE),
    "capitals": ("<URLSET><URL><LOC>/1</LOC></URL></URLSET>", ONE),
    "blanks and lines": ("<urlset>\n<url >\n<loc\n>\n  /1\n</loc >\n</url\n></urlset>", ONE),
    "a section": ("<urlset><url><loc><![CDATA[/1]]></loc></url></urlset>", ONE),
    "a comment within": ("<urlset><url><loc>/<!-- x -->1</loc></url></urlset>", ONE),
    "an entry commented out": ("<urlset><!-- <url><loc>/0</loc></url> --><url><loc>/1</loc></url></urlset>", ONE),
    "references": ("<urlset><url><loc>/?a=1&amp;b=&#50;</loc></url></urlset>", ["http://h.example/?a=1&b=2"]),
    "a bare ampersand": ("<urlset><url><loc>/?a=1&copy=2</loc></url></urlset>", ["http://h.example/?a=1&copy=2"]),
    "images beside": (
        "<urlset><url><image:image><image:loc>/0.png</image:loc></image:image><loc>/1</loc></url></urlset>",
        ONE,
    ),
    "images of no prefix": ("<urlset><url><image><loc>/0.png</loc></image><loc>/1</loc></url></urlset>", ONE),
    "two locs": ("<urlset><url><loc>/1</loc><loc>/2</loc></url></urlset>", ONE),
    "no loc": ("<urlset><url><lastmod>2026</lastmod></url><url><loc>/1</loc></url><url/></urlset>", ONE),
    "no loc and a comment": (
        "<urlset><!-- --><url><lastmod>2026</lastmod></url><url><loc>/1</loc></url></urlset>",
        ONE,
    ),
    "other schemes": (
        "<urlset><url><loc>ftp://x/</loc></url><url><loc>javascript:1</loc></url><url><loc>/1</loc></url></urlset>",
        ONE,
    ),
    "another host": (
        "<urlset><url><loc>https://other.example/ü</loc></url></urlset>",
        ["https://other.example/%C3%BC"],
    ),
    "cut in a URL": ("<urlset><url><loc>/1</loc></url><url><loc>/2", ONE),
    "cut after a URL": ("<urlset><url><loc>/1</loc></url><url><loc>/2</loc>", TWO),
    "an end tag missing": ("<urlset><url><loc>/1<lastmod>2026</lastmod></url><url><loc>/2</loc></urlset>", TWO),
    "entries not closed": ("<urlset><url><loc>/1</loc><url><loc>/2</loc></urlset>", TWO),
    "tags crossed": ("<urlset><url><loc>/1</url></loc><url><loc>/2</loc></url></urlset>", TWO),
    "broken between": ("<urlset><url><loc>/1</loc></url><<&&>><url><loc>/2</loc></url></urlset>", TWO),
    "control characters": ("<urlset><url><loc>/1</loc></url>\x00\x0b\x1b<url><loc>/2</loc></url></urlset>", TWO),
    "rubbish before": ("\n\nrubbish <urlset><url><loc>/1</loc></url></urlset>", ONE),
    "a byte order mark": ("\ufeff<urlset><url><loc>/1</loc></url></urlset>", ONE),
    "RSS 2.0": ("<rss version='2.0'><channel><item><title>t</title><link>/1</link></item></channel></rss>", ONE),
    "RSS 0.91 with its DTD": (
        (
            '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://n.example/d.dtd"><rss><channel><item>'
            "<link>/1</link></item></channel></rss>"
        ),
        ONE,
    ),
    "RSS with a guid": ("<rss><channel><item><guid>http://h.example/1</guid></item></channel></rss>", ONE),
    "RSS with a guid that is no link": (
        "<rss><channel><item><guid isPermaLink='false'>/0</guid></item><item><link>/1</link></item></channel></rss>",
        ONE,
    ),
    "RSS 1.0": (
        (
            '<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>c</title></channel>'
            '<item rdf:about="/0"><title>t</title><link>/1</link></item></rdf:RDF>'
        ),
        ONE,
    ),
    "RSS with Atom in it": (
        "<rss><channel><atom:link href='/0'/><item><link>/1</link><atom:link href='/0'/></item></channel></rss>",
        ONE,
    ),
    "a feed's own page": (
        "<rss><channel><link>/1</link><image><link>/0</link></image><item><link>/2</link></item></channel></rss>",
        TWO,
    ),
    "Atom": (
        (
            '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/0"/><entry><link rel="edit" href="/0"/>'
            '<link href="/1"/><id>urn:x</id></entry></feed>'
        ),
        ONE,
    ),
    "Atom with a prefix": ("<a:feed><a:entry><a:link href='/1'/></a:entry></a:feed>", ONE),
    "Atom with a base": (
        "<feed xml:base='/blog/'><link href='.'/><entry xml:base='2026/'><link href='a'></link></entry></feed>",
        ["http://h.example/blog/", "http://h.example/blog/2026/a"],
    ),
    "Atom with what it was taken from": (
        "<feed><entry><source><link href='/0'/></source><link href='/1'/></entry></feed>",
        ONE,
    ),
}


@pytest.mark.parametrize(("document", "expected"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_spellings(document: str, expected: list[str]) -> None:
    assert urls(document) == expected


@pytest.mark.parametrize(("document", "expected"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_cut_anywhere_a_file_lists_the_same(document: str, expected: list[str]) -> None:
    for cut in range(len(document)):
        assert [entry.url.text for entry in ListReader(BASE).read([document[:cut], document[cut:]])] == expected


@pytest.mark.parametrize(
    "document",
    ["", "<", "text", "<html><url><loc>/1</loc></url></html>", "<!-- <urlset>", '{"a": 1}', "\0\1\2", "</urlset>"],
)
def test_what_is_no_list(document: str) -> None:
    reader = ListReader(BASE)
    assert list(reader.read([document])) == []
    assert reader.kind is None


def test_without_a_base_relative_urls_are_passed_over() -> None:
    reader = ListReader(None)
    document = "<urlset><url><loc>/1</loc></url><url><loc>http://x.example/</loc></url></urlset>"
    assert [entry.url.text for entry in reader.read([document])] == ["http://x.example/"]
    assert reader.skipped == 1


ENCODED = [
    ("utf-8", '<?xml version="1.0"?>', None, "é"),
    ("windows-1251", '<?xml version="1.0" encoding="windows-1251"?>', None, "ж"),
    ("koi8-r", '<?xml version="1.0" encoding="KOI8-R"?>', None, "привет, это новая страница о роботах"),
    ("windows-1251", "", "text/xml; charset=windows-1251", "ж"),
    ("utf-8", '<?xml version="1.0" encoding="iso-8859-1"?>', None, "é"),
    ("windows-1251", '<?xml version="1.0" encoding="utf-8"?>', None, "привет, это новая страница о роботах"),
    ("utf-16", '<?xml version="1.0" encoding="utf-16"?>', None, "é"),
    ("utf-16-le", '<?xml version="1.0" encoding="utf-16"?>', None, "é"),
    ("utf-16-be", '<?xml version="1.0"?>', None, "é"),
    ("utf-8", '<?xml version="1.0" encoding="utf-16"?>', None, "é"),
    ("utf-8-sig", '<?xml version="1.0" encoding="ascii"?>', None, "é"),
    ("shift_jis", '<?xml version="1.0" encoding="Shift_JIS"?>', None, "表示"),
    ("gbk", '<?xml version="1.0" encoding="gb2312"?>', None, "中文"),
    ("iso-2022-jp", '<?xml version="1.0" encoding="iso-2022-jp"?>', None, "日本"),
    ("utf-8", '<?xml version="1.0" encoding="klingon"?>', None, "é"),
    ("utf-8", '<?xml version="1.0" encoding="rot13"?>', "text/xml; charset=hex", "é"),
]


@pytest.mark.parametrize(("encoding", "declaration", "content_type", "title"), ENCODED)
def test_encodings_said_or_not(encoding: str, declaration: str, content_type: str | None, title: str) -> None:
    filler = "<item><title>x</title><link>/0</link></item>" * 3000
    document = f"{declaration}<rss><channel>{filler}<item><title>{title}</title><link>/1</link></item></channel></rss>"
    body = document.encode(encoding)
    pieces = (body[at : at + 1000] for at in range(0, len(body), 1000))
    *_, last = ListReader(BASE).read(text_blocks(pieces, content_type))
    assert last == ListedUrl(Url("http://h.example/1"), title)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("<lastmod>2026-01-02</lastmod>", {"modified_at": 1767312000.0}),
        ("<lastmod>2026-01-02T03:04:05Z</lastmod>", {"modified_at": 1767323045.0}),
        ("<lastmod> 2026-01-02T03:04:05.678901+01:00 </lastmod>", {"modified_at": 1767319445.678901}),
        ("<lastmod>2026-01</lastmod>", {"modified_at": 1767225600.0}),
        ("<lastmod>2026</lastmod>", {"modified_at": 1767225600.0}),
        ("<lastmod>Fri, 02 Jan 2026 03:04:05 GMT</lastmod>", {"modified_at": 1767323045.0}),
        ("<lastmod>99999-01-01</lastmod>", {"odd_date": "99999-01-01"}),
        ("<lastmod>2026-02-30</lastmod>", {"odd_date": "2026-02-30"}),
        ("<lastmod>0000</lastmod>", {"odd_date": "0000"}),
        ("<lastmod>0001-01-01T00:00:00+14:00</lastmod>", {"modified_at": -62135647200.0}),
        ("<lastmod>" + "9" * 8000 + "</lastmod>", {"odd_date": "9" * 200}),
        ("<lastmod/>", {}),
        ("<changefreq>daily</changefreq>", {"interval_s": DAY}),
        ("<changefreq> Weekly\n</changefreq>", {"interval_s": 7 * DAY}),
        ("<changefreq>always</changefreq>", {"interval_s": DAY / 24}),
        ("<changefreq>never</changefreq>", {"interval_s": 3650 * DAY}),
        ("<changefreq>sometimes</changefreq>", {}),
        ("<priority>0.8</priority>", {"priority": 0.8}),
        ("<priority>1</priority>", {"priority": 1.0}),
        ("<priority>.5</priority>", {"priority": 0.5}),
        ("<priority>7</priority>", {"priority": 1.0}),
        ("<priority>-1</priority>", {}),
        ("<priority>nan</priority>", {}),
        ("<priority>1e3</priority>", {}),
        ("<priority>0." + "3" * 400 + "</priority>", {"priority": 0.3333333333}),
        ("<priority>" + "9" * 400 + "</priority>", {"priority": 1.0}),
        ("<priority>٥</priority>", {}),
    ],
)
@pytest.mark.parametrize("comment", ["", "<!-- read tag by tag -->"])
def test_hints(said: str, hint: dict[str, Any], comment: str) -> None:
    (entry,) = listed(f"<urlset><url><loc>/1</loc>{comment}{said}</url></urlset>")
    assert entry == ListedUrl(Url(ONE[0]), **hint)


@given(st.text(max_size=80))
def test_any_date_is_read_or_none(text: str) -> None:
    at = parse_list_date(text)
    assert at is None or isinstance(at, float)


FEEDS = {
    "RSS": """<rss><channel><title>A &amp;amp; B</title><link>/</link>
        <description>About &lt;b&gt;it&lt;/b&gt;</description>
        <language>de</language><image><title>no</title></image>
        <item><title><![CDATA[First <i>one</i>]]></title><link>/1</link><pubDate>Thu, 01 Jan 1970 00:01:00 GMT</pubDate>
        <description>&lt;p&gt;It &amp;eacute;s&lt;/p&gt;&lt;script&gt;no&lt;/script&gt;</description>
        </item></channel></rss>""",
    "RDF": """<rdf:RDF><channel><title>A &amp; B</title><link>/</link><description>About it</description>
        <dc:language>de</dc:language></channel><image><title>no</title></image>
        <item><title>First one</title><link>/1</link><dc:date>1970-01-01T00:01:00Z</dc:date>
        <content:encoded><![CDATA[<p>It és</p>]]></content:encoded></item></rdf:RDF>""",
    "Atom": """<feed xml:lang="de"><title type="html">A &amp;amp; B</title><link href="/"/><subtitle>About it</subtitle>
        <author><name>no</name></author><entry><title>First one</title><link href="/1"/>
        <updated>1970-01-01T00:01:00Z</updated>
        <content type="xhtml"><div>It <b>és</b></div></content></entry></feed>""",
}


@pytest.mark.parametrize("document", FEEDS.values(), ids=FEEDS.keys())
def test_a_feed_is_a_document_of_titles_and_summaries(document: str) -> None:
    reader = ListReader(BASE)
    assert list(reader.read([document])) == [
        ListedUrl(Url("http://h.example/"), "A & B"),
        ListedUrl(Url("http://h.example/1"), "First one", modified_at=60.0),
    ]
    assert (reader.kind, reader.title, reader.language) == ("feed", "A & B", "de")
    assert " ".join(reader.text.split()) == "A & B About it First one It és"


def test_without_text_a_feed_has_none() -> None:
    reader = ListReader(BASE, text=False)
    assert len(list(reader.read([FEEDS["RSS"]]))) == 2
    assert reader.text == ""


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
ENTRY = "<url><loc>/1</loc></url>"
BOMBS = {
    "billion laughs": f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{LAUGHS}]><urlset>{ENTRY}<url>&l9;</url></urlset>',
    "quadratic blow-up": f'<!DOCTYPE u [<!ENTITY a "{"x" * 50_000}">]><urlset>{ENTRY}{"&a;" * 50_000}</urlset>',
    "an external entity": f'<!DOCTYPE u [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset>{ENTRY}&a;</urlset>',
    "an external subset": f'<!DOCTYPE u SYSTEM "http://x.example/" [<!ENTITY % a "b"> %a;]><urlset>{ENTRY}</urlset>',
    "an entity that would be an entry": f'<!DOCTYPE u [<!ENTITY a "<url><loc>/0">]><urlset>&a;{ENTRY}</urlset>',
}


@pytest.mark.parametrize("document", BOMBS.values(), ids=BOMBS.keys())
def test_entities_are_neither_expanded_nor_fetched(document: str) -> None:
    reader = ListReader(BASE)
    assert [entry.url.text for entry in reader.read([document])] == ONE
    assert reader.error == "it declares entities, which are not expanded"


def test_a_sitemap_has_50_000_urls_at_most() -> None:
    entry = "<url><loc>/1</loc></url>"
    reader = ListReader(BASE)
    assert sum(1 for _ in reader.read(itertools.chain(["<urlset>"], [entry * 100] * 501))) == MAX_ENTRIES
    assert reader.error.startswith("it lists more than 50000 URLs")
    all_of_them = ListReader(BASE, max_entries=None)
    assert sum(1 for _ in all_of_them.read(itertools.chain(["<urlset>"], [entry * 100] * 501))) == 50_100
    assert all_of_them.error == ""


def test_relative_urls_do_not_grow_into_more_than_a_sitemap_may_be_long() -> None:
    base = Url("http://h.example/" + "d" * 8000 + "/s.xml")
    reader = ListReader(base)
    found = list(reader.read(["<urlset>", "<url><loc>1</loc></url>" * MAX_ENTRIES]))
    assert sum(len(entry.url.text) for entry in found) <= MAX_LIST_BYTES
    assert len(found) < MAX_ENTRIES
    assert reader.error


def test_a_url_of_any_length_costs_no_memory() -> None:
    blocks = itertools.chain(["<urlset><url><loc>http://h.example/"], itertools.repeat("x" * 65_536, 200))
    tracemalloc.start()
    try:
        assert list(ListReader(BASE).read(blocks)) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_a_feed_of_any_length_has_a_text_of_bounded_length() -> None:
    item = f"<item><title>t</title><link>/1</link><description>{'x' * 30_000}</description></item>"
    reader = ListReader(BASE)
    for _ in reader.read(itertools.chain(["<rss><channel>"], itertools.repeat(item, 200))):
        pass
    assert FEED_TEXT_CHARS <= len(reader.text) < FEED_TEXT_CHARS + 1000


PARTS = [
    "<urlset>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "/1",
    "<rss>",
    "<item>",
    "</item>",
    "<link>",
    "<title>",
    "]]>",
]
PARTS += [
    "<feed>",
    "<entry>",
    "<link href='/1'/>",
    "<![CDATA[",
    "<!--",
    "-->",
    "&amp;",
    "<content>",
    "</content>",
    "é",
    "\0",
]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=40), st.integers(1, 64))
def test_anything_is_read(parts: list[str], size: int) -> None:
    body = "".join(parts).encode()
    reader = ListReader(BASE)
    for entry in reader.read(text_blocks(body[at : at + size] for at in range(0, len(body), size))):
        assert entry.url.text.startswith("http")
    assert len(reader.text) <= 2 * len(body)


@given(st.binary(max_size=300))
def test_any_bytes_are_text(body: bytes) -> None:
    for block in text_blocks([b"<?xml encoding='utf-16'?><rss>", body]):
        assert isinstance(block, str)
    for block in text_blocks([body]):
        assert isinstance(block, str)


@pytest.mark.long
def test_a_gigabyte_is_read_in_flat_memory() -> None:
    """A sixteenth of it, as nothing is kept: the peak is that of the first megabytes."""
    entry = b"<url><loc>https://h.example/%d</loc><lastmod>2026-01-01</lastmod></url>\n"

    def pieces(size: int) -> Iterator[bytes]:
        yield b"<urlset>"
        written = number = 0
        while written < size:
            piece = b"".join(entry % (number + n) for n in range(500))
            number += 500
            written += len(piece)
            yield piece

    def peak_of(size: int) -> int:
        tracemalloc.start()
        try:
            for _ in ListReader(BASE, max_entries=None).read(text_blocks(pieces(size))):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak_of(4_000_000) < 1.5 * peak_of(1_000_000) + 500_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://h.example/1\nhttp://h.example/2", TWO),
        ("\ufeffhttp://h.example/1\r\n\r\n  http://h.example/2  \r\n", TWO),
        ("http://h.example/1\rhttp://h.example/2", TWO),
        ("http://h.example/1\nWelcome\nhttp://h.example/2\n", [ONE[0], None]),
        ("# a comment\nhttp://h.example/1", [None]),
        ("", []),
        ("x" * 100_000, [None]),
    ],
)
def test_lists_with_one_url_a_line(text: str, expected: list[str | None]) -> None:
    assert [url and url.text for url in read_lines(text_blocks([text.encode()]))] == expected
