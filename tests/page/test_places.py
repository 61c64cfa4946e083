"""Headings and terms with their anchors, the terms of definition lists, and menus, as they are read from a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page import read_page
from goodbot.page.places import MAX_PLACE_CHARS, MAX_PLACES, MAX_TERMS
from goodbot.page.tokens import MAX_HEADINGS
from goodbot.url import Url
from goodbot.values import Page, Response

HERE = Url("http://example.org/dir/page.html")


def read(html: str) -> Page:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return read_page(HERE, Response(200, headers, html.encode("utf-8", "surrogatepass")), "goodbot", 16 << 20)


def places(page: Page) -> list[str]:
    """The sections, written `anchor|text`, with a star if it is a term."""
    return [f"{one.anchor}|{one.text}{'*' * one.is_term}" for one in page.sections]


SECTIONS = [
    ("id of the heading", "<h2 id=a>One</h2>", ["a|One"]),
    ("id of the element that it begins", "<section id=a>\n <h2>One</h2></section>", ["a|One"]),
    ("the innermost of them", "<div id=a><div id=b><h2>One</h2></div></div>", ["b|One"]),
    ("not if there is text between", "<div id=a>text<h2>One</h2></div>", []),
    ("name of a link inside", "<h2><a name=a>One</a></h2>", ["a|One"]),
    ("id of a link inside", "<h2><a id=a></a>One</h2>", ["a|One"]),
    ("name of a link before", "<a name=a></a><h2>One</h2>", ["a|One"]),
    ("the heading's own id comes first", "<a name=a></a><h2 id=b><a name=c>One</a></h2>", ["b|One"]),
    ("no anchor", "<h2>One</h2>", []),
    ("an empty id", "<h2 id=''>One</h2>", []),
    ("no text", "<h2 id=a> <img src=x></h2>", []),
    ("headings of four levels", "".join(f"<h{n} id=a{n}>x</h{n}>" for n in "123456"), ["a1|x", "a2|x", "a3|x", "a4|x"]),
    ("mark of a permanent link", "<h2 id=a>One<a href='#a'>¶</a></h2>", ["a|One"]),
    ("spaces and tags", "<h2 id=a>One <b>\n two</b></h2>", ["a|One two"]),
    ("percent encoding", "<h2 id='a%20b'>One</h2>", ["a b|One"]),
    ("letters", "<h2 id=ключ>Ключ</h2>", ["ключ|Ключ"]),
    ("one anchor, two headings", "<div id=a><h2>One</h2><h3>Two</h3></div>", ["a|One"]),
    ("never closed", "<h2 id=a>One<h2 id=b>Two", ["a|One", "b|Two"]),
    ("in a template", "<template><h2 id=a>One</h2></template><h2 id=b>Two</h2>", ["b|Two"]),
    ("term", "<dl><dt id=a>One<dd>text</dl>", ["a|One*"]),
    ("terms that are not closed", "<dl><dt id=a>1<dt id=b>2<dd>text<dt id=c>3</dl>", ["a|1*", "b|2*", "c|3*"]),
    ("term after an anchor", "<dl><dt><a name=a></a>One</dt></dl>", ["a|One*"]),
    ("term without an anchor", "<dl><dt>One</dt></dl>", []),
    ("a heading kept out of snippets", "<div data-nosnippet><h2 id=a>1</h2></div><h2 id=b>2</h2>", ["b|2"]),
    ("up to the end of the page", "<div data-nosnippet><h2 id=a>1</h2><h4 id=b>2</h4><dl><dt id=c>3", []),
    ("a part of a heading", "<h2 id=a>One <span data-nosnippet>two</span> three</h2>", ["a|One three"]),
    ("all of a heading's text", "<h2 id=a><span data-nosnippet>One</span></h2><h2 id=b>2</h2>", ["b|2"]),
    ("a part of a heading of level 4", "<h4 id=a>One <span data-nosnippet>two</span></h4>", ["a|One"]),
    ("a term kept out of snippets", "<dl><div data-nosnippet><dt id=a>1<dd>x</div><dt id=b>2</dl>", ["b|2*"]),
    ("a part of a term", "<dl><dt id=a>One <span data-nosnippet>two</span><dd>x</dl>", ["a|One*"]),
    ("hidden before the heading", "<p><span data-nosnippet>0</span><h2 id=a>One</h2>", ["a|One"]),
    ("a heading in a hidden fallback", "<div data-nosnippet><noscript><h2 id=a>1</h2></noscript></div>", []),
    ("hidden in a fallback", "<noscript><div data-nosnippet><h2 id=a>1</h2></noscript><h2 id=b>2</h2>", ["b|2"]),
    ("heading and term", "<h2 id=a>1</h2><dl><dt id=b>2<dd>text</dl><h2 id=c>3</h2>", ["a|1", "b|2*", "c|3"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "html", "expected"), SECTIONS, ids=[row[0] for row in SECTIONS])
def test_headings_and_terms_with_their_anchors(name: str, html: str, expected: list[str]) -> None:
    assert places(read(html)) == expected


TERMS = [
    ("terms without anchors too", "<dl><dt>One<dd>text<dt id=b>Two<dd>text</dl>", ("One", "Two")),
    ("tags and spaces", "<dl><dt><code>join</code>(\n<em>path</em>)<dd>x</dl>", ("join( path)",)),
    ("mark of a permanent link", "<dl><dt id=a>One<a href='#a'>¶</a><dd>x</dl>", ("One",)),
    ("no text", "<dl><dt><dd>x</dl>", ()),
    ("no list around it", "<dt>One<dd>text", ("One",)),
    ("at the end", "<dl><dt>One", ("One",)),
    ("in a template", "<template><dl><dt>One</dl></template>", ()),
    ("no definition list", "<ul><li>One</ul>", ()),
]


@pytest.mark.parametrize(("name", "html", "expected"), TERMS, ids=[row[0] for row in TERMS])
def test_the_terms_of_definition_lists(name: str, html: str, expected: tuple[str, ...]) -> None:
    assert read(html).terms == expected


def menus(page: Page) -> list[str]:
    text = page.text if page.shown is None else page.shown
    return [text[start:end] for start, end in page.menus]


BODY = "<p>The page's own text.</p>"
ROW = "<p>" + " ".join(f"<a href=x{letter}>{letter}</a>" for letter in "abcdef") + "</p>"
MENUS = [
    ("nav", f"<nav><a href=x>Home</a></nav>{BODY}", ["Home"]),
    ("footer and aside", f"<aside>Also</aside>{BODY}<footer>Imprint</footer>", ["Also", "Imprint"]),
    ("class", f"<div class='top navbar-left'>Home</div>{BODY}", ["Home"]),
    ("id", f"<div id=sidebar>Home</div>{BODY}", ["Home"]),
    ("role", f"<div role=Navigation>Home</div>{BODY}", ["Home"]),
    ("another role", f"<div role=note>Home</div>{BODY}", []),
    ("a name that says there is none", f"<div class=no-sidebar>Home</div>{BODY}", []),
    ("another name", f"<div class=navy>Home</div>{BODY}", []),
    ("the names of Read the Docs", f"<div class=wy-grid-for-nav><div class=wy-nav-content>{BODY}</div></div>", []),
    ("a name that misleads, with links", f"<div class=menu>{BODY * 3}{ROW}{BODY * 3}</div>", ["a b c d e f"]),
    ("a name that is too long", f"<div class='menu {'x' * 200}'>Home</div>{BODY}", []),
    ("Publican's", f"<ul class='docnav top'><li>Prev<li>Next</ul>{BODY}", ["Prev\nNext"]),
    ("one inside the other", f"<nav><div class=menu><nav>Home</nav></div> More</nav>{BODY}", ["Home\nMore"]),
    ("an element of the same name inside", f"<div class=menu><div>Home</div>More</div>{BODY}", ["Home\nMore"]),
    ("an empty one", f"<nav></nav>{BODY}", []),
    ("no other text", "<nav>Home and much more than this</nav>", []),
    ("almost no other text", f"<nav>{'Home ' * 100}</nav><p>x", []),
    ("text of main first", f"<nav>Home</nav><main>{BODY}</main><footer>Imprint</footer>", ["Home", "Imprint"]),
    ("a menu in main", f"<nav>Home</nav><main><nav>Parts</nav>{BODY}</main>", ["Parts", "Home"]),
    ("a menu around main", f"<div class=menu>Home<main>Own</main></div>{BODY}", ["Own", "Home"]),
    ("a text kept out of snippets", f"<div data-nosnippet>Secret</div>{BODY}<nav>Home</nav>", ["Home"]),
    ("kept out of snippets inside a menu", f"{BODY}<nav>Home<div data-nosnippet>Secret</div></nav>", ["Home"]),
    ("a row of links", f"{BODY}{ROW}{BODY}", ["a b c d e f"]),
    ("a list of links", f"<ul>{'<li><a href=x>a</a>' * 6}</ul>{BODY}", ["\n".join("aaaaaa")]),
    ("links with separators", f"<p>{' | '.join(['<a href=x>a</a>'] * 6)}</p>{BODY}", ["a | a | a | a | a | a"]),
    ("few links", f"<p>{'<a href=x>a</a> ' * 5}</p>{BODY}", []),
    ("links with words between", f"<p>{'<a href=x>a</a> and ' * 9}</p>{BODY}", []),
    ("links in a sentence", f"<p>See {'<a href=x>a</a>, ' * 9}</p>{BODY}", []),
    ("a row that begins in a sentence", f"<p>See {ROW}</p>{BODY}", ["a b c d e f"]),
    ("links and definitions", f"<dl>{'<dt><a href=x>a</a><dd>What it is' * 9}</dl>{BODY}", []),
    ("a row in a menu", f"<nav>More: {ROW}</nav>{BODY}", ["More:\na b c d e f"]),
    ("links in a template", f"<template>{ROW}</template>{BODY}", []),
    ("in a template", f"<template><nav>Home</nav></template>{BODY}", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "html", "expected"), MENUS, ids=[row[0] for row in MENUS])
def test_menus_are_ranges_of_the_text_that_is_shown(name: str, html: str, expected: list[str]) -> None:
    assert menus(read(html)) == expected


def test_a_menu_that_is_never_closed_does_not_take_the_page() -> None:
    """Browsers close a `div` at the end of the element around it; here it is open to the end of the page, which then
    has no menu."""
    assert menus(read(f"<section><div class=menu>Home</section>{BODY * 30}")) == []


def test_all_is_bounded() -> None:
    page = read("".join(f"<dl><dt id=t{n}>Term {n}<dd>x</dl>" for n in range(max(MAX_PLACES, MAX_TERMS) + 10)))
    assert (len(page.sections), len(page.terms)) == (MAX_PLACES, MAX_TERMS)
    page = read("".join(f"<h2 id=h{n}>Heading {n}</h2>" for n in range(MAX_HEADINGS + 10)))
    assert len(page.sections) == MAX_HEADINGS
    page = read(f"<h2 id={'a' * 1000}>{'b ' * 1000}</h2><dl><dt id=t>{'c ' * 1000}</dl>")
    assert max(len(text) for one in page.sections for text in (one.anchor, one.text)) <= MAX_PLACE_CHARS
    assert max(map(len, page.terms)) <= MAX_PLACE_CHARS
    assert len(page.sections) == 2


TAGS = st.sampled_from([
    *("<h1>", "<h2 id=a>", "</h2>", "<h4 id=b>", "</h4>", "<dl>", "<dt id=c>", "<dt>", "</dt>", "<dd>", "</dl>"),
    *("<nav>", "</nav>", "<div class=menu>", "<div id=d>", "<div data-nosnippet>", "</div>", "<main>", "</main>"),
    *("<a name=e>", "<a href='#f'>", "</a>", "<template>", "</template>", "<script>", "</script>"),
    *("text", "¶", " ", "ё"),
])  # fmt: skip


def test_what_is_kept_out_of_snippets_is_searched_all_the_same() -> None:
    page = read("<div data-nosnippet><h2 id=a>Heading</h2><dl><dt id=b>Term<dd>x</dl></div><p>Text")
    assert (page.headings, page.terms, page.sections) == (("Heading",), ("Term",), ())
    assert (page.text, page.shown) == ("Heading\nTerm\nx\nText", "Text")


@given(st.lists(TAGS, max_size=40).map("".join))
def test_no_place_has_a_text_that_is_kept_out_of_snippets(html: str) -> None:
    page = read(f"<div data-nosnippet>{html}")
    assert page.shown is None or page.shown == "" or "</div>" in html
    if "</div>" not in html:
        assert page.sections == ()


@given(st.lists(TAGS, max_size=40).map("".join))
def test_any_markup_has_menus_inside_the_text_and_places_with_texts(html: str) -> None:
    page = read(html)
    shown = page.text if page.shown is None else page.shown
    last = 0
    for start, end in page.menus:
        assert last <= start < end <= len(shown)
        assert shown[start:end] == shown[start:end].strip()
        assert shown[:start].endswith("\n") or not start
        assert shown[end:].startswith("\n") or end == len(shown)
        last = end
    assert all(one.anchor and one.text.strip() for one in page.sections)
    assert all(term.strip() for term in page.terms)


TRANSLATIONS = [
    ("link", "<link rel=alternate hreflang=de href=/de/x>", (("de", "/de/x"),)),
    ("a", "<a rel=alternate hreflang=DE href=/de/x#top>Deutsch</a>", (("de", "/de/x"),)),
    ("a without rel", "<a hreflang=de href=/de/x>Deutsch</a>", ()),
    ("a for something else", "<a rel=nofollow hreflang=de href=/de/x>Deutsch</a>", ()),
]


@pytest.mark.parametrize(("name", "html", "expected"), TRANSLATIONS, ids=[row[0] for row in TRANSLATIONS])
def test_the_translations_that_a_page_names(name: str, html: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert tuple((language, url.path) for language, url in read(html).alternates) == expected
