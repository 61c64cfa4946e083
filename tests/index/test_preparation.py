"""Tests what is prepared for the index: the language of a text, and links with letters that cannot be encoded."""

import pytest

from goodbot.index.keys import hash_of
from goodbot.index.languages import language_of
from goodbot.index.preparation import prepare
from goodbot.index.stored_page import decode_links
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

DANISH_OR_NORWEGIAN = "jeg har det ikke og du er der som en mann og det var ikke så"


@pytest.mark.parametrize(
    ("stated", "text", "expected"),
    [
        (None, DANISH_OR_NORWEGIAN, "da"),
        ("nb", DANISH_OR_NORWEGIAN, "no"),
        (None, "the cat is not in the house – it is “outside”", "en"),
        ("en", "das ist nicht der Hund, der auf dem Sofa und in dem Bett war", "de"),
        (None, "Λόγος και words like this", "el"),
        (None, "это не то, что было", "ru"),
        ("uk", "это не то, что было і є", "uk"),
        ("en", "このページを見てください and code", "ja"),
        (None, "½ ² ³ 1 2 3 x_y ¶", ""),
    ],
)
def test_the_language_of_a_text(stated: str | None, text: str, expected: str) -> None:
    assert language_of(stated, text) == expected


def test_links_are_stored_with_their_fragments_and_found_by_their_urls() -> None:
    url = Url("http://example.org/a")
    links = (Link(url, "one", (), (("part", "first"),)), Link(Url("http://example.org/b"), "no", ("nofollow",)))
    prepared = prepare(Document("x", "http://example.org/", "title", "text", links=links))
    assert decode_links(dict(prepared.stored)["links"]) == [(url.text, "one", (("part", "first"),))]
    assert dict(prepared.texts)["targets"] == f"{hash_of(url.text):x}"


def test_lone_surrogates_in_links_become_question_marks() -> None:
    links = (Link(Url("http://example.org/a"), "a\ud800", (), (("p\udfff", "t\ud800é"),)),)
    prepared = prepare(Document("x", "http://example.org/", "title", "text", links=links))
    assert decode_links(dict(prepared.stored)["links"]) == [("http://example.org/a", "a?", (("p?", "t?é"),))]
