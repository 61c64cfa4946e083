"""Makes untrusted text safe for a sentence and for a terminal."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis.strategies import characters, text

from goodbot.exclusion.text.shown_text import shown, visible

CASES = [
    ("plain", "Disallow: /ä 日本 e\u0301", "Disallow: /ä 日本 e\u0301"),
    ("C0 and DEL", "\x00\t\n\r\x1b]52;\x07\x7f", r"\x00\t\n\r\x1b]52;\x07\x7f"),
    ("C1", "\x85\x9b31m", r"\x85\x9b31m"),
    ("writing direction", "\u202e\u2066\u200f", r"\u202e\u2066\u200f"),
    ("line and paragraph", "\u2028\u2029", r"\u2028\u2029"),
    ("without width", "\u200b\u200d\ufeff\u00ad", r"\u200b\u200d\ufeff\xad"),
    ("tags", "\U000e0041", r"\U000e0041"),
    ("lone surrogates", "\udc80\ud800", r"\udc80\ud800"),
    ("private and unassigned", "\ue000\U000fffff\ufdd0", r"\ue000\U000fffff\ufdd0"),
    ("spaces of any width", "a\u00a0b\u3000c", "a\u00a0b\u3000c"),
]


@pytest.mark.parametrize(("name", "given_", "seen"), CASES, ids=[case[0] for case in CASES])
def test_invisible_characters_become_escapes(name: str, given_: str, seen: str) -> None:
    assert visible(given_) == seen


@given(text(characters(codec=None)))
def test_no_invisible_character_is_left(given_: str) -> None:
    seen = visible(given_)
    assert visible(seen) == seen
    assert all(character.isprintable() or category(character) == "Zs" for character in seen)
    seen.encode()


def test_long_text_is_cut() -> None:
    assert shown("x" * 200) == "x" * 120 + "…"
    assert shown("\x1b" * 200, 2) == r"\x1b\x1b…"
