"""The languages and types from which a search may choose."""

from pathlib import Path

from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.choices import MAX_LANGUAGES, MAX_TYPES
from goodbot.search_values import Choices, Document, Filters


def document(name: str, language: str = "", media_type: str = "", url: str = "") -> Document:
    return Document(
        name, url or f"https://a.example/{name}", "", f"kettle {name}", language=language or None, media_type=media_type
    )


PAGES = [
    document("a.html", "de", "text/html"),
    document("b", "de", "application/xhtml+xml"),
    document("c.htm", "de"),
    document("d.php", "en-GB", "text/html"),
    document("e.pdf", "fr", "application/pdf"),
    document("f", "fr", "application/pdf"),
    document("g.txt", "en", "text/plain"),
    document("release-1.2", "en", "application/x-thing"),
    document("i"),
]


def written(folder: Path, pages: list[Document]) -> TantivySearch:
    index = TantivyIndex(folder)
    for page in pages:
        index.add(page)
    index.commit()
    index.close()
    return TantivySearch(folder)


def test_languages_and_types_the_most_frequent_first(tmp_path: Path) -> None:
    search = written(tmp_path, PAGES)
    choices = search.choices()
    assert choices == Choices(
        (("de", 3), ("en", 3), ("fr", 2)), (("html", 4), ("pdf", 2), ("application/x-thing", 1), ("txt", 1))
    )
    for code, count in choices.languages:
        assert search.search("kettle", filters=Filters(language=code)).total == count
    for name, count in choices.types:
        assert search.search("kettle", filters=Filters(filetype=name)).total == count


def test_they_follow_the_index(tmp_path: Path) -> None:
    search = written(tmp_path, PAGES)
    assert search.choices() is search.choices()
    index = TantivyIndex(tmp_path)
    index.remove("e.pdf")
    index.add(document("f", "de", "text/html"))
    index.commit()
    index.close()
    assert search.choices() == Choices((("de", 4), ("en", 3)), (("html", 5), ("application/x-thing", 1), ("txt", 1)))


def test_an_empty_index_has_none(tmp_path: Path) -> None:
    assert written(tmp_path, []).choices() == Choices()


def test_there_are_only_so_many(tmp_path: Path) -> None:
    codes = [f"{first}{second}" for first in "qxyz" for second in "abcdefghijklmnop"]
    pages = [document(str(number), code, f"text/x-{number}") for number, code in enumerate(codes)]
    choices = written(tmp_path, pages).choices()
    assert (len(choices.languages), len(choices.types)) == (MAX_LANGUAGES, MAX_TYPES)
