"""Which XML is well-formed, and where it stops to be."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.well_formed import MAX_DEPTH, MAX_NAMES, MAX_TOKEN_BYTES, WellFormedness, XmlFlaw

CUT = "its XML breaks off"
BAD = "its XML is not well-formed ({})"


def flaw_of(*blocks: str) -> XmlFlaw | None:
    checking = WellFormedness()
    assert [*checking.passing(blocks)] == [*blocks]
    return checking.flaw


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ('<?xml version="1.0"?>\n<urlset><url><loc>http://h.example/?a&amp;b</loc></url></urlset>\n', None),
        ('\ufeff<?xml version="1.0" encoding="utf-16"?><urlset>\xe4</urlset>', None),
        ("<urlset><url><loc>http://h.exam", (CUT, 1, 32)),
        ("<urlset>\n</url", (CUT, 2, 1)),
        ("<urlset>\n<loc>\xe4&b</loc></urlset>", (BAD.format("invalid token"), 2, 9)),
        ("<urlset>\n<url></urlset>", (BAD.format("mismatched tag"), 2, 8)),
        ("<urlset>&nbsp;</urlset>", (BAD.format("undefined entity"), 1, 9)),
        ("<urlset/><p>", (BAD.format("junk after document element"), 1, 10)),
        ("\n<?xml version='1.0'?><urlset/>", (BAD.format("XML or text declaration not at start of entity"), 2, 1)),
    ],
)
def test_flaws(text: str, flaw: tuple[str, int, int] | None) -> None:
    assert flaw_of(text) == flaw
    assert flaw_of(*text) == flaw


def test_nothing_is_checked_from_a_doctype_on() -> None:
    assert flaw_of('<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><x>&c;') is None


def repeated(text: str, count: int) -> Iterator[str]:
    yield "<x>"
    yield from (text.format(number) for number in range(count))


@pytest.mark.parametrize(
    "blocks",
    [
        repeated("<x>", MAX_DEPTH),
        repeated("<x{}/>", MAX_NAMES),
        repeated('<x a{}=""/>', MAX_NAMES),
        ["<x><!--", *[" " * MAX_TOKEN_BYTES] * 2],
    ],
    ids=["deep", "many elements", "many attributes", "long"],
)
def test_beyond_the_limits_nothing_is_checked(blocks: Iterable[str]) -> None:
    assert flaw_of(*blocks, "</wrong>") is None


@given(
    st.lists(st.sampled_from(["<a>", "</a>", "<!", "<!--", "<![CDATA[", "<?", ">", "&", "\0", "\ud800"]) | st.text())
)
def test_no_text_makes_it_fail(blocks: list[str]) -> None:
    flaw_of(*blocks)
