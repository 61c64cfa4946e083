"""`rel` of links and `data-nosnippet`: Google's pages on qualifying links and on robots META tags."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.page.rel import LinkDirectives, hides_snippet, parse_rel

RELS: list[tuple[str | Iterable[str], LinkDirectives, str]] = [
    ("", LinkDirectives(), "HTML"),
    ((), LinkDirectives(), "HTML"),
    ("noopener noreferrer", LinkDirectives(), "HTML"),
    ("nofollow", LinkDirectives(follow=False, endorsed=False), "Google"),
    ("NoFollow", LinkDirectives(follow=False, endorsed=False), "HTML: any case"),
    ("ugc", LinkDirectives(endorsed=False), "Google"),
    ("sponsored", LinkDirectives(endorsed=False), "Google"),
    ("ugc nofollow", LinkDirectives(follow=False, endorsed=False), "Google"),
    ("nofollow,noopener", LinkDirectives(follow=False, endorsed=False), "commas: Google"),
    ("canonical", LinkDirectives(canonical=True), "RFC 6596"),
    (" \t\nnofollow\f", LinkDirectives(follow=False, endorsed=False), "HTML"),
    (("external", "Sponsored"), LinkDirectives(endorsed=False), "words already split"),
    (["external nofollow"], LinkDirectives(follow=False, endorsed=False), "words already split"),
    ("nofollower dofollow", LinkDirectives(), "whole words"),
    ("no follow", LinkDirectives(), "whole words"),
    ("a " * 500_000, LinkDirectives(), "a megabyte"),
    (" " * 1_000_000 + "x", LinkDirectives(), "a megabyte"),
]


@pytest.mark.parametrize(("rel", "expected", "source"), RELS)
def test_rel(rel: str | Iterable[str], expected: LinkDirectives, source: str) -> None:
    assert parse_rel(rel) == expected, source


ELEMENTS = [
    # tag, names of attributes, hidden
    ("span", ["data-nosnippet"], True),
    ("div", ["class", "data-nosnippet"], True),
    ("section", {"data-nosnippet": "false"}, True),
    ("SPAN", ["DATA-NOSNIPPET"], True),
    ("p", ["data-nosnippet"], False),
    ("body", ["data-nosnippet"], False),
    ("span", ["class"], False),
    ("span", [], False),
    ("span", ["data-nosnippets"], False),
]


@pytest.mark.parametrize(("tag", "attributes", "hidden"), ELEMENTS)
def test_data_nosnippet(tag: str, attributes: Iterable[str], hidden: bool) -> None:
    assert hides_snippet(tag, attributes) is hidden


@given(st.text(max_size=60), st.sampled_from(["nofollow", "ugc", "sponsored"]))
def test_never_raises_and_more_words_never_remove_a_restriction(rel: str, word: str) -> None:
    before, after = parse_rel(rel), parse_rel(f"{rel} {word}")
    assert not after.endorsed
    assert before.follow or not after.follow
    assert after.canonical == before.canonical
