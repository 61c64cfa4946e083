"""Documents looked up by their ids."""

from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError
from goodbot.index import TantivyIndex
from goodbot.index.document_lookup import DocumentLookup
from goodbot.search_values import Document

IDS = ["https://example.org/", "https://example.org/" + "x" * 2000, "an imported document", "\ud800"]


def test_documents_come_and_go(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.commit()
    lookup = DocumentLookup(tmp_path)
    assert [lookup.has(name) for name in IDS] == [False] * 4
    for name in IDS:
        index.add(Document(name, "https://example.org/", "A title", "some words"))
    assert not lookup.has(IDS[0])
    index.commit()
    assert [lookup.has(name) for name in IDS] == [True] * 4
    assert not lookup.has("https://example.org")
    index.remove(IDS[0])
    index.commit()
    assert [lookup.has(name) for name in IDS] == [False, True, True, True]
    index.close()


def test_without_an_index(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        DocumentLookup(tmp_path / "index")


def test_a_damaged_index(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(Document("a", "https://example.org/", "A title", "some words"))
    index.commit()
    index.close()
    lookup = DocumentLookup(tmp_path)
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(DamagedError):
        lookup.has("a")
