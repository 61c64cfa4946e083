"""Elements of a page, by CSS selectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.page.bounded_tree import MAX_COPIES, MAX_TREE_TAGS
from goodbot.page.select import Tree
from goodbot.page.webpage import WebPage
from goodbot.values import Response

PAGE = """<!doctype html><title>T</title><body>
<h1 class="a b" ID=top data-x>Old <b>cl</b>ocks<script>no()</script></h1>
<table><tr><td>1<td>2</table>
<template><p>unseen</p></template>
<ul><li>one<li><a href="/x">t<i>w</i>o</a></ul>
<div><p>in</p><p>out<br>side</p></div>"""


@pytest.mark.parametrize(
    ("css", "texts"),
    [
        ("h1", ["Old clocks"]),
        ("h1.a.b#top[data-x]", ["Old clocks"]),
        ("table > tbody > tr > td", ["1", "2"]),
        ("tr", ["1 2"]),
        ("li", ["one", "two"]),
        ("li a[href^='/']", ["two"]),
        ("p", ["in", "out side"]),
        ("li:nth-child(2), h1", ["Old clocks", "two"]),
        ("div:has(br)", ["in out side"]),
        ("em", []),
    ],
)
def test_what_a_selector_finds(css: str, texts: list[str]) -> None:
    assert [element.text for element in Tree(PAGE).select(css)] == texts


def test_an_element_has_tag_attributes_and_elements_inside() -> None:
    tree = Tree(PAGE)
    (heading,) = tree.select("h1")
    assert heading.tag == "h1"
    assert dict(heading.attributes) == {"class": "a b", "id": "top", "data-x": ""}
    assert (heading.get("CLASS"), heading.get("href"), heading.get("href", "none")) == ("a b", "", "none")
    assert [found.text for found in heading.select("b")] == ["cl"]
    assert tree.select("h1") == [heading]
    assert repr(heading) == "<h1 {'class': 'a b', 'id': 'top', 'data-x': ''}>"
    with pytest.raises(TypeError):
        heading.attributes["class"] = "c"  # type: ignore[index]


@pytest.mark.parametrize("css", ["", "h1[", "::", "a:unknown(", "p:nth-child(x)", ":not(" * 10_000, ">" * 10_000, "\0"])
def test_what_is_no_selector_is_an_error(css: str) -> None:
    for tree in (Tree(PAGE), Tree("<p>" * (MAX_TREE_TAGS + 1))):
        with pytest.raises(InputError, match="is not a CSS selector"):
            tree.select(css)


N = MAX_TREE_TAGS // 2 - 1


@pytest.mark.long
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * (2 * N),
        "<p>x" * (2 * N),
        "<table>" + "<tr><td>x" * N,
        "<b><i>" * N + "</b></i>" * N,
        "<a><div>" * N,
        "<font><p>" * N,
        "<font><table>" * N,
        "<p>" + "".join(f"<font x={number}>" for number in range(5)) + "<p>x" * (2 * N - 5),
        "<div " + " ".join(f"a{number}=1" for number in range(100_000)) + ">",
        "<template>" * N + "<svg>" * N,
    ],
)
def test_a_hostile_page_within_the_bound_makes_a_tree_that_is_read(html: str) -> None:
    tree = Tree(html)
    assert tree.refused is None
    found = tree.select("*")
    assert 0 < len(found) < MAX_COPIES
    assert found[0].tag == "html"
    assert len(found[0].text) < 1_000_000


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<br>" * (MAX_TREE_TAGS + 1), "tags"),
        ("<p>" + "".join(f"<font x={number}>" for number in range(5000)) + "<p>x" * 5000, "formatting"),
        ("<p>" + "".join(f"<b a{number}>" for number in range(1000)) + "<p>x" * 1000, "formatting"),
    ],
)
def test_a_page_whose_tree_would_explode_is_refused_with_a_reason(html: str, why: str) -> None:
    tree = Tree(html)
    assert tree.select("*") == []
    assert tree.refused
    assert why in tree.refused


@given(st.binary(max_size=400), st.sampled_from(["text/html", "text/plain", "", "image/png", "text/html; charset=x"]))
def test_strangers_bytes_never_raise(body: bytes, kind: str) -> None:
    page = WebPage("https://example.org/", Response(200, (("content-type", kind), ("content-encoding", "gzip")), body))
    assert isinstance(page.text + page.title + page.source, str)
    assert all(isinstance(element.text, str) and element.tag for element in page.select("*"))
    assert page.unselectable is None


@given(st.text("<>/abdpfontisrlhe ='\"x1&;!-\0", max_size=300), st.text("*a[]():.#>+~ ,'nthcild-o123\\\0", max_size=30))
def test_any_markup_and_any_selector_give_elements_or_one_error(html: str, css: str) -> None:
    try:
        assert all(isinstance(element.text, str) for element in Tree(html).select(css))
    except InputError:
        pass  # what is no selector


def test_what_is_no_html_has_no_elements() -> None:
    page = WebPage("https://example.org/", Response(200, (("content-type", "text/plain"),), b"<p>text"))
    assert (page.select("p"), page.text, page.source) == ([], "<p>text", "<p>text")
