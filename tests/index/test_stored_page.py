"""What is stored of a document, and what older entries give."""

import sys
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from goodbot.index.preparation import prepare
from goodbot.index.stored_page import StoredPage, decode_page, encode_page
from goodbot.search_values import Document
from goodbot.values import Section

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAGE = Document(
    "x",
    "https://a.example/",
    "Title",
    "Some text.",
    modified_at=1.7e9,
    size_bytes=42,
    media_type="Text/HTML",
    has_copy=True,
    sections=(Section("one", "One"),),
)


def stored(**more: Any) -> StoredPage:
    return decode_page(dict(prepare(replace(PAGE, **more)).stored)["shown"])


def test_the_facts_of_a_document_are_stored() -> None:
    page = stored()
    assert (page.modified_at, page.size_bytes, page.media_type, page.has_copy) == (1.7e9, 42, "text/html", True)
    assert page.sections == (("one", "One"),)


@pytest.mark.parametrize("fields", range(4, len(StoredPage.__struct_fields__)))
def test_an_entry_with_fewer_fields_has_defaults_for_the_others(fields: int) -> None:
    whole = StoredPage("x", "https://a.example/", "Title", "Some text.")
    entry: list[Any] = list(msgspec.msgpack.decode(msgspec.msgpack.encode(whole)))
    assert decode_page(zstd.compress(msgspec.msgpack.encode(entry[:fields]))) == whole
    assert decode_page(encode_page(whole)) == whole


@pytest.mark.parametrize("most", [0, 1, 160, 10_000])
def test_a_page_that_limits_its_snippets_has_no_sections(most: int) -> None:
    assert stored(snippet_chars=most).sections == ()
