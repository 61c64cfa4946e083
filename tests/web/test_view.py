import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.search_values import Hit, OtherPage, SectionLink
from goodbot.web.pages.messages import Piece
from goodbot.web.pages.property_names import type_name
from goodbot.web.pages.view import (
    Run,
    as_sentence,
    capitalised,
    duration,
    page_numbers,
    pieces,
    readable_url,
    runs,
    site_of,
    view_hit,
)

SPANS = st.lists(st.tuples(st.integers(-9, 40), st.integers(-9, 40))).map(tuple)


@pytest.mark.parametrize(
    ("text", "highlights", "expected"),
    [
        ("a robot", [(2, 7)], [("a ", False), ("robot", True)]),
        ("robot", [(0, 5)], [("robot", True)]),
        ("robots", [(0, 5)], [("robot", True), ("s", False)]),
        ("ab", [(1, 2), (0, 1)], [("a", True), ("b", True)]),
        ("abcdef", [(0, 3), (2, 5)], [("abc", True), ("de", True), ("f", False)]),
        ("abc", [(1, 99)], [("a", False), ("bc", True)]),
        ("abc", [(2, 1), (7, 9), (-3, 0)], [("abc", False)]),
        ("", [(0, 1)], []),
    ],
)
def test_pieces(text: str, highlights: list[tuple[int, int]], expected: list[tuple[str, bool]]) -> None:
    assert list(pieces(text, highlights)) == expected


@given(st.text(max_size=30), SPANS)
def test_pieces_joined_are_the_text(text: str, highlights: tuple[tuple[int, int], ...]) -> None:
    assert "".join(piece for piece, _ in pieces(text, highlights)) == text


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/", "example.org"),
        ("http://127.0.0.1:8031/a/", "127.0.0.1:8031/a/"),
        ("https://example.org/?q=a", "example.org/?q=a"),
        ("https://example.org/%D0%BE%D0%B1%20%2F%25", "example.org/об%20%2F%25"),
        ("https://example.org/caf%c3%a9", "example.org/café"),
        ("https://example.org/%FF%41", "example.org/%FF%41"),
        ("https://example.org/%E2%80%AEgpj.exe", "example.org/%E2%80%AEgpj.exe"),
        ("https://example.org/%C2%A0", "example.org/%C2%A0"),
        ("https://xn--e1afmkfd.xn--p1ai/", "xn--e1afmkfd.xn--p1ai"),
        ("notes-17", "notes-17"),
        ("", ""),
    ],
)
def test_readable_url(url: str, expected: str) -> None:
    assert readable_url(url) == expected


@given(st.text())
def test_readable_url_takes_anything(url: str) -> None:
    assert len(readable_url(url)) <= len(url)


@pytest.mark.parametrize(
    ("url", "title", "shown_title", "href"),
    [
        ("https://example.org/a", "A title", "A title", "https://example.org/a"),
        ("HTTP://example.org/a", "A title", "A title", "HTTP://example.org/a"),
        ("https://example.org/a", " \n", "example.org/a", "https://example.org/a"),
        ("https://example.org/a", "\u00ad\u200b\u2060\u202e", "example.org/a", "https://example.org/a"),
        ("https://example.org/a", "©", "©", "https://example.org/a"),
        ("javascript:alert(1)", "A title", "A title", None),
        ("data:text/html,x", "", "data:text/html,x", None),
        ("//example.org/", "A title", "A title", None),
        ("", "", "id-7", None),
        ("https://example.org/" + "a" * 500, "t" * 500, "t" * 159 + "…", "https://example.org/" + "a" * 500),
    ],
)
def test_hits(url: str, title: str, shown_title: str, href: str | None) -> None:
    view = view_hit(Hit(id="id-7", url=url, title=title, snippet="", score=1.0))
    assert (view.title, view.href) == (shown_title, href)
    assert len(view.shown_url) <= 120


@pytest.mark.parametrize(
    ("page", "pages", "expected"),
    [
        (1, 1, [1]),
        (1, 2, [1, 2]),
        (1, 3, [1, 2, 3]),
        (1, 5, [1, 2, None, 5]),
        (3, 5, [1, 2, 3, 4, 5]),
        (4, 7, [1, 2, 3, 4, 5, 6, 7]),
        (5, 9, [1, None, 4, 5, 6, None, 9]),
        (100, 100, [1, None, 99, 100]),
    ],
)
def test_page_numbers(page: int, pages: int, expected: list[int | None]) -> None:
    assert page_numbers(page, pages) == expected


@pytest.mark.parametrize(
    ("took_ms", "expected"),
    [
        (0.0, "under 1 ms"),
        (0.99, "under 1 ms"),
        (12.4, "12 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (61_000, "61.0 s"),
    ],
)
def test_duration(took_ms: float, expected: str) -> None:
    assert duration(took_ms) == expected


def test_sections_and_other_versions_of_a_hit() -> None:
    url = "https://example.org/de/faq"
    sections = (SectionLink(f"{url}#delay", "d" * 200), SectionLink("javascript:alert(1)#x", "x"))
    others = (
        OtherPage("https://example.org/ru/faq", "ru"),
        OtherPage("https://example.org/b", "de"),
        OtherPage("ftp:x", ""),
    )
    view = view_hit(Hit("1", url, "FAQ", "", 1.0, sections=sections, others=others, language="de"))
    assert view.sections == (("d" * 79 + "…", f"{url}#delay"),)
    assert view.others == (("русский", "https://example.org/ru/faq", "ru"), ("copy", "https://example.org/b", "de"))


DAY = 86_400.0


@pytest.mark.parametrize(
    ("modified_at", "fetched_at", "changed_at", "shown_fetched_at"),
    [
        (None, 0.0, None, None),
        (None, 9 * DAY, None, 9 * DAY),
        (3 * DAY, 9 * DAY, 3 * DAY, 9 * DAY),
        (3 * DAY, 0.0, 3 * DAY, None),
        (9.5 * DAY, 9 * DAY, 9.5 * DAY, 9 * DAY),
        (11 * DAY, 9 * DAY, None, 9 * DAY),
        (0.0, 9 * DAY, None, 9 * DAY),
        (-5.0, -5.0, None, None),
        (1e300, 0.0, 1e300, None),
    ],
)
def test_a_page_cannot_have_been_changed_after_it_was_fetched(
    modified_at: float | None, fetched_at: float, changed_at: float | None, shown_fetched_at: float | None
) -> None:
    view = view_hit(Hit("1", "https://x.example/", "", "", 1.0, fetched_at=fetched_at, modified_at=modified_at))
    assert (view.changed_at, view.fetched_at) == (changed_at, shown_fetched_at)


@pytest.mark.parametrize(
    ("url", "site", "path"),
    [
        ("https://example.org/a/b?c", "example.org", "/a/b?c"),
        ("https://example.org/", "example.org", ""),
        ("http://[::1]:8020/a", "[::1]:8020", "/a"),
        ("javascript:alert(1)/x", "", "javascript:alert(1)/x"),
        ("notes-17", "", "notes-17"),
        ("https://" + "a" * 200 + "/", "a" * 119 + "…", ""),
    ],
)
def test_site_and_path(url: str, site: str, path: str) -> None:
    view = view_hit(Hit("1", url, "", "", 1.0))
    assert (view.shown_site, view.shown_path) == (site, path)
    assert view.shown_url == site + path


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://Example.org:8443/a", "example.org:8443"),
        ("https://somebody:secret@example.org/", "example.org"),
        ("https://[broken/", ""),
        ("notes", ""),
    ],
)
def test_site_of(url: str, site: str) -> None:
    assert site_of(url) == site


@given(st.text())
def test_any_url_and_type_can_be_shown(text: str) -> None:
    view = view_hit(Hit("1", f"https://{text}", text, text, 1.0, media_type=text, language=text))
    assert len(view.shown_url) <= 120
    assert isinstance(type_name(text), str)


@pytest.mark.parametrize(
    ("media_type", "shown"),
    [
        ("", ""),
        ("text/html", ""),
        ("application/xhtml+xml", ""),
        ("application/pdf", "PDF"),
        ("text/plain", "plain text"),
        ("application/x-odd", "application/x-odd"),
    ],
)
def test_the_type_of_a_hit_is_shown_unless_it_is_html(media_type: str, shown: str) -> None:
    assert view_hit(Hit("1", "https://x.example/", "", "", 1.0, media_type=media_type)).type == shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("the query is empty", "The query is empty."),
        ("site: needs a host.", "site: needs a host."),
        ("robots.txt forbids it (line 5)", "robots.txt forbids it (line 5)."),
        ("robots obey", "Robots obey."),
        ("", "."),
    ],
)
def test_a_message_becomes_a_sentence(text: str, sentence: str) -> None:
    assert capitalised(text) == sentence


RUNS: list[tuple[list[Piece], str]] = [
    ([Piece("run `goodbot` now", "text")], "Run [goodbot] now."),
    ([Piece("", "text"), Piece("`a`", "value"), Piece(" is here", "text")], "<`a`> is here."),
    ([Piece("see ", "text"), Piece("https://x.example/.", "value"), Piece("", "text")], "See <https://x.example/.>."),
    ([Piece("`", "text"), Piece("a", "value"), Piece("` is no URL.", "text")], "[a] is no URL."),
    ([Piece("one ` alone, `two` and", "English"), Piece(" `", "text")], "One [ alone, ]two[ and][ ]."),
    ([Piece("three `a` b ` c", "text")], "Three [a] b ` c."),
    ([Piece("site", "value"), Piece(": needs a host", "text")], "<site>: needs a host."),
    ([Piece("", "text")], ""),
]


@pytest.mark.parametrize(("message", "shown"), RUNS)
def test_pieces_become_a_sentence_with_code(message: list[Piece], shown: str) -> None:
    """[code], <a value>."""
    found = runs(as_sentence(message))
    assert "".join(_marked(run) for run in found) == shown


def _marked(run: Run) -> str:
    return f"[{run.text}]" if run.is_code else f"<{run.text}>" if run.kind == "value" else run.text


@given(st.lists(st.builds(Piece, st.text("`a. "), st.sampled_from(["text", "value", "English"]))))
def test_no_text_of_a_message_is_lost(message: list[Piece]) -> None:
    whole = "".join(piece.text for piece in message)
    ticks = sum(piece.text.count("`") for piece in message if piece.kind != "value")
    cut = "".join(run.text for run in runs(message))
    assert len(cut) == len(whole) - (ticks - ticks % 2)
