"""Documents looked up by their ids."""

from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError
from goodbot.index import TantivyIndex
from goodbot.index.document_lookup import DocumentLookup
from goodbot.search_values import Document

NOW = 1_795_000_000.0
IDS = ["https://example.org/", "https://example.org/" + "x" * 2000, "an imported document", "\ud800"]


def test_documents_come_and_go(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.commit()
    lookup = DocumentLookup(tmp_path)
    assert [lookup.find(name, NOW) is not None for name in IDS] == [False] * 4
    for name in IDS:
        index.add(Document(name, "https://example.org/", "A title", "some words"))
    assert lookup.find(IDS[0], NOW) is None
    index.commit()
    assert [lookup.find(name, NOW) is not None for name in IDS] == [True] * 4
    assert lookup.find("https://example.org", NOW) is None
    index.remove(IDS[0])
    index.commit()
    assert [lookup.find(name, NOW) is not None for name in IDS] == [False, True, True, True]
    index.close()


@pytest.mark.parametrize(("until", "is_found"), [(None, True), (NOW + 1, True), (NOW, False), (NOW - 1, False)])
def test_a_document_whose_time_is_over(tmp_path: Path, until: float | None, is_found: bool) -> None:
    index = TantivyIndex(tmp_path)
    index.add(Document("a", "https://example.org/", "A title", "some words", available_until=until, has_copy=True))
    index.commit()
    index.close()
    found = DocumentLookup(tmp_path).find("a", NOW)
    assert (found is not None) == is_found
    if found is not None:
        assert (found.title, found.has_copy) == ("A title", True)


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
        lookup.find("a", NOW)
