"""Sitemaps as they are written: read back by an XML parser and by our own reader, within the limits of the protocol."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from goodbot.audit.sitemap_files import SitemapEntry, divide, format_date, format_entry, format_index, format_sitemap
from goodbot.page.sitemap import ListReader
from goodbot.url import Url, parse_url
from goodbot.values import ListedUrl

NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LINK = "{http://www.w3.org/1999/xhtml}link"


def read_back(body: bytes) -> tuple[str | None, list[ListedUrl]]:
    reader = ListReader(Url("https://site.example/sitemap.xml"))
    listed = list(reader.read([body.decode()]))
    assert (reader.error, reader.skipped) == ("", 0)
    return reader.kind, listed


def test_entries() -> None:
    entry = SitemapEntry("https://site.example/?a=1&b='<", 1_700_000_000.5, (("de", 'https://site.example/"d&'),))
    body = b"".join(format_sitemap([entry, SitemapEntry("https://site.example/")]))
    urls = ElementTree.fromstring(body).findall(f"{NS}url")
    assert [url.findtext(f"{NS}loc") for url in urls] == [entry.url, "https://site.example/"]
    assert [url.findtext(f"{NS}lastmod") for url in urls] == ["2023-11-14T22:13:20Z", None]
    assert [link.attrib for link in urls[0].findall(LINK)] == [
        {"rel": "alternate", "hreflang": "de", "href": 'https://site.example/"d&'}
    ]
    kind, listed = read_back(body)
    assert kind == "sitemap"
    assert [(item.url.text, item.modified_at) for item in listed] == [
        ("https://site.example/?a=1&b=%27%3C", 1_700_000_000.0),
        ("https://site.example/", None),
    ]


def test_an_index() -> None:
    body = b"".join(format_index([("https://site.example/s-1.xml?a&b", 0.0), ("https://site.example/s-2.xml", None)]))
    kind, listed = read_back(body)
    assert kind == "sitemap index"
    assert [(item.url.text, item.modified_at) for item in listed] == [
        ("https://site.example/s-1.xml?a&b", 0.0),
        ("https://site.example/s-2.xml", None),
    ]
    assert len(ElementTree.fromstring(body)) == 2


def test_a_time_beyond_the_calendar_is_left_out() -> None:
    assert format_date(1e300) == format_date(float("nan")) == ""
    assert "lastmod" not in format_entry(SitemapEntry("https://site.example/", 1e300))


def test_files_have_50000_urls_at_most() -> None:
    entries = [SitemapEntry(f"https://site.example/{number}") for number in range(120_001)]
    assert divide(entries) == [50_000, 50_000, 20_001]
    assert divide([]) == []


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(700, 2000), st.integers(1, 10))
def test_files_keep_the_limits(lengths: list[int], most_bytes: int, most_entries: int) -> None:
    entries = [SitemapEntry(f"https://site.example/{'x' * length}", 1.0) for length in lengths]
    counts = divide(entries, most_entries, most_bytes)
    assert sum(counts) == len(entries)
    start = 0
    for count in counts:
        part = entries[start : start + count]
        start += count
        assert 0 < count <= most_entries
        assert len(b"".join(format_sitemap(part))) <= most_bytes


@given(st.text(), st.text(max_size=5), st.floats(allow_nan=True))
def test_any_url_is_written_and_read(path: str, language: str, at: float) -> None:
    url = parse_url(f"https://site.example/{path}")
    if url is not None:
        entry = SitemapEntry(url.text, at, (("de", url.text),))
        (found,) = ElementTree.fromstring(b"".join(format_sitemap([entry])))
        assert found.findtext(f"{NS}loc") == url.text
