"""Chains of redirects and canonical URLs, and language tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.audit.site_facts import MAX_HOPS, follow, is_language_tag

TAGS = [
    *[(tag, True) for tag in ("en", "EN-us", "pt-BR", "zh-Hant-TW", "sr-Latn", "es-419", "de-1996", "sl-rozaj-biske")],
    *[(tag, True) for tag in ("x-klingon", "i-navajo", "en-u-ca-gregory", "de-x-own", "zh-cmn-Hans-CN", "haw")],
    *[(tag, False) for tag in ("", "english", "en_US", "en-", "-en", "e", "en us", "en,de", "en-toolongsubtag", "12")],
    *[(tag, False) for tag in ("en-x", "de-a", "x" * 101, "en\n", "{{ lang }}")],
]


@pytest.mark.parametrize(("tag", "is_one"), TAGS)
def test_language_tags(tag: str, is_one: bool) -> None:
    assert is_language_tag(tag) is is_one


@given(st.text(max_size=300) | st.from_regex(r"\A([a-z0-9]{1,8}-){0,40}[a-z]{0,3}\Z"))
def test_no_text_makes_it_fail(text: str) -> None:
    is_language_tag(text)


def test_chains() -> None:
    targets = {"a": "b", "b": "c", "d": "e", "e": "d", "f": "f", "g": "d"}
    assert follow("a", targets.get) == (("a", "b", "c"), False)
    assert follow("d", targets.get) == (("d", "e", "d"), True)
    assert follow("f", targets.get) == (("f", "f"), True)
    assert follow("g", targets.get) == (("g", "d", "e", "d"), True)
    assert follow("c", targets.get) == (("c",), False)
    endless = follow("0", lambda url: str(int(url) + 1))
    assert len(endless.urls) == MAX_HOPS + 1
    assert endless.text == "0 → 1 → 2 → 3 → 4 → … → 20"
