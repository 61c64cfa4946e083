"""Tests how copies are found: by canonical URLs, by their text, by the whole origin."""

import pytest

from goodbot.exclusion import Directives
from goodbot.lesson_values import IndexedPage
from goodbot.robot.lessons.copies import MAX_TITLES, MIRRORED, Copies
from goodbot.url import Url, parse_url
from goodbot.values import Page

HOST = "http://example.org"
TEXT = " ".join(f"word{number}" for number in range(400))


def url(text: str) -> Url:
    """A URL, of this host if it names none."""
    parsed = parse_url(text if "://" in text else HOST + text)
    assert parsed is not None
    return parsed


def page(address: str, title: str = "title", text: str = "", heading: str = "Heading") -> Page:
    """A page."""
    directives = Directives.parse((), (), "goodbot")
    return Page(url(address), directives, title=title, text=text, headings=(heading,))


def names(copies: Copies, address: str, canonical: str, title: str = "title") -> str | None:
    """Whose copy a page is that states this canonical URL."""
    copy = copies.names(page(address, title), url(canonical))
    return copy.of.text.removeprefix(HOST) if copy else None


def same(
    copies: Copies, address: str, text: str, title: str = "title", heading: str = "Heading", digest: str | None = None
) -> str | None:
    """Whose copy a page is by its text."""
    copy = copies.same(page(address, title, text, heading), digest)
    return copy.of.text.removeprefix(HOST) if copy else None


def test_a_page_that_names_another_is_its_copy() -> None:
    assert names(Copies(), "/print/a", "/a") == "/a"


@pytest.mark.parametrize("canonical", ["/a/", "/A", "https://example.org/a", "http://www.example.org/a"])
def test_a_variant_of_its_own_address_is_no_other_page(canonical: str) -> None:
    assert names(Copies(), "/a", canonical) is None


def test_of_a_loop_the_last_is_its_own() -> None:
    copies = Copies()
    assert names(copies, "/a", "/b") == "/b"
    assert names(copies, "/b", "/c") == "/c"
    assert names(copies, "/c", "/a") is None


def test_a_canonical_that_leads_back_or_is_lost_changes_nothing() -> None:
    copies = Copies()
    copies.led(url("/b"), url("/a"))
    copies.lost(url("/d"))
    assert names(copies, "/a", "/b") is None
    assert names(copies, "/c", "/d") is None


def test_who_names_what_leads_on_is_a_copy_of_where_that_ends() -> None:
    copies = Copies()
    copies.led(url("/b"), url("/c"))
    copies.led(url("/c"), url("/d"))
    assert names(copies, "/a", "/b") == "/d"
    copies.lost(url("/d"))
    assert names(copies, "/a", "/b") is None
    assert copies.mistake(url("/a"), url("/b")) == f"there is no page at the canonical URL {HOST}/b"


def test_who_is_named_by_all_pages_is_named_by_mistake() -> None:
    copies = Copies()
    found = [names(copies, f"/{word}", "/", title=word) for word in ("one", "two", "three", "four", "five")]
    assert found == ["/"] * MAX_TITLES + [None, None]
    assert [names(copies, f"/list?page={n}", "/list", title=f"List, page {n}") for n in range(9)] == ["/list"] * 9


def test_an_origin_whose_pages_all_name_the_same_paths_elsewhere_is_a_mirror() -> None:
    copies = Copies()
    found = [copies.mirrors(url(f"http://m.example.org/{n}"), url(f"/{n}")) for n in range(MIRRORED)]
    assert found == [None, None, HOST]


@pytest.mark.parametrize("other", [None, "/elsewhere", "http://m.example.org/own", "http://third.example/9"])
def test_one_page_of_its_own_and_it_is_none(other: str | None) -> None:
    copies = Copies()
    copies.mirrors(url("http://m.example.org/9"), url(other) if other else None)
    assert all(copies.mirrors(url(f"http://m.example.org/{n}"), url(f"/{n}")) is None for n in range(9))
    late = Copies()
    late.mirrors(url("http://m.example.org/1"), url("/1"))
    late.mirrors(url("http://m.example.org/9"), url(other) if other else None)
    assert all(late.mirrors(url(f"http://m.example.org/{n}"), url(f"/{n}")) is None for n in range(9))


@pytest.mark.parametrize(
    ("name", "text", "title", "heading", "expected"),
    [
        ("the same", TEXT, "title", "Heading", "/a"),
        ("under another heading", TEXT, "title", "Other", "/a"),
        ("one word of many", TEXT.replace("word7 ", "bird "), "title", "Heading", "/a"),
        ("a third of the words", TEXT.replace("word1", "bird1"), "title", "Heading", None),
        ("one word, and another title", TEXT.replace("word7 ", "bird "), "title 2", "Heading", None),
        ("one word, and another heading", TEXT.replace("word7 ", "bird "), "title", "Heading 2", None),
        ("the same text under another title", TEXT, "other", "Heading", None),
        ("another text", TEXT.replace("word", "bird"), "title", "Heading", None),
    ],
)
def test_texts(name: str, text: str, title: str, heading: str, expected: str | None) -> None:
    copies = Copies()
    assert same(copies, "/a", TEXT) is None
    assert same(copies, "/b", text, title, heading) == expected, name
    assert same(copies, "http://other.example/b", text, title, heading) is None


def test_short_texts_are_copies_only_if_they_are_the_same() -> None:
    copies = Copies()
    hundred = " ".join(f"word{number}" for number in range(100))
    assert same(copies, "/d", hundred) is None
    assert same(copies, "/e", f"{hundred} bird") is None
    assert same(copies, "/a", "Berth 17 is free.") is None
    assert same(copies, "/b", "Berth 18 is free.") is None
    assert same(copies, "/c", "Berth 17 is free.") == "/a"


def test_the_same_bytes_are_known_on_every_host() -> None:
    copies = Copies()
    assert same(copies, "/a", TEXT, digest="sha1:x") is None
    assert same(copies, "http://other.example/b", TEXT, digest="sha1:x") == "/a"
    assert same(copies, "/a", TEXT, digest="sha1:x") is None


def test_the_reason_says_how_alike_they_are() -> None:
    copies = Copies()
    copies.same(page("/a", text=TEXT), None)
    copy = copies.same(page("/b", text=TEXT.replace("word7 ", "bird ")), None)
    assert copy is not None
    assert copy.reason.startswith("almost the same text as http://example.org/a (9")


def test_a_representative_that_has_changed_loses_its_copies() -> None:
    copies = Copies()
    assert same(copies, "/a", TEXT, digest="1") is None
    assert same(copies, "/b", TEXT, digest="2") == "/a"
    assert same(copies, "/a", "Now it says something else.", digest="3") is None
    assert same(copies, "/b", TEXT, digest="2") is None
    assert same(copies, "/a", TEXT, digest="1") == "/b"


def test_pages_of_an_earlier_run_are_known_by_their_digests() -> None:
    copies = Copies()
    copies.remember(IndexedPage(url("/a"), "sha1:a", "00"))
    copies.remember(IndexedPage(url("/twin"), "sha1:a", "00"))
    assert (said(copies, "/b", digest="sha1:a"), said(copies, "/b", "00")) == ("/a", "/a")
    assert said(copies, "http://other.example/b", digest="sha1:a") == "/a"
    assert said(copies, "http://other.example/b", "00") is None
    assert said(copies, "/a", "02", "sha1:a2") is None, "it says something else now"
    assert (said(copies, "/c", digest="sha1:a"), said(copies, "/c", "00")) == (None, None)


def test_what_was_read_in_this_run_is_known_better() -> None:
    copies = Copies()
    assert said(copies, "/a", "01", "sha1:b") is None
    copies.remember(IndexedPage(url("/a"), "sha1:a", "00"))
    copies.remember(IndexedPage(url("/c"), "sha1:b", None))
    assert (said(copies, "/b", "00", "sha1:a"), said(copies, "/d", digest="sha1:b")) == (None, "/a")


def test_a_page_that_is_what_it_was_stays_a_copy_unless_the_other_is_known_to_differ() -> None:
    before = url("/a")
    assert said(Copies(), "/b", before=before) == "/a"
    copies = Copies()
    copies.lost(before)
    assert said(copies, "/b", before=before) is None
    copies = Copies()
    assert same(copies, "/a", TEXT) is None
    assert said(copies, "/b", before=before) is None
    assert same(copies, "/c", TEXT) == "/a"


def said(
    copies: Copies, address: str, text: str | None = None, digest: str | None = None, before: Url | None = None
) -> str | None:
    """Whose copy a page is that says what no other does, but for these digests."""
    copy = copies.same(page(address, text=f"words of {address} {text} {digest}"), digest, text, before)
    return copy.of.text.removeprefix(HOST) if copy else None
