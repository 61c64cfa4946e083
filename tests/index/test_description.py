"""Which descriptions of pages stand for their text in hits."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index import TantivyIndex, TantivySearch
from goodbot.index.description import is_summary, repeated
from goodbot.index.languages import FREQUENT
from goodbot.search_values import Document, Hit

# description, title, language, whether it is a summary
DESCRIPTIONS = [
    ("How to bake bread at home, with flour, water and salt", "Bread", "en", True),
    ("Bread baked at home.\n Flour, water, salt; no machine needed.", "Bread", "en", True),
    ("Wooden boats, hand-built: repair, restoration, sale!", "Boats", "en", True),
    ("Как испечь хлеб дома: мука, вода, соль и немного терпения", "Хлеб", "ru", True),
    ("A description in English of a page in another language", "Хлеб", "ru", True),
    ("家で焼くパンの作り方" * 5, "パン", "ja", True),
    ("", "", "en", False),
    ("All about bread.", "Bread", "en", False),
    ("All about  bread.                                      ", "Bread", "en", False),
    ("How to bake bread at home, with flour and salt", "How to bake BREAD at home,\nwith flour and salt", "en", False),
    ("declaration: module: java.xml, package: org.w3c.dom, class: Attr", "Attr", "en", False),
    ("bread, flour, water, salt, oven, yeast, baking, dough", "Bread", "en", False),
]


@pytest.mark.parametrize(("description", "title", "language", "expected"), DESCRIPTIONS)
def test_summaries(description: str, title: str, language: str, expected: bool) -> None:
    assert is_summary(description, title, language) is expected


@given(st.text(max_size=200), st.text(max_size=60), st.sampled_from([*FREQUENT, "ja", "", "xx"]))
def test_any_description(description: str, title: str, language: str) -> None:
    assert is_summary(description, title, language) in (True, False)
    assert not is_summary(description, description, language)
    assert repeated([description, title, description]) >= {description}


OWN = "What a qword means to people who build boats by hand, in one long sentence."
EVERYWHERE = "The site about the qword and everything else that people may want to know."
TEMPLATE = "declaration: module: boats.base, package: boats.qword, class: Boat"
TEXT = "The text of the page says qword and more about {}."


def boat(number: int, description: str, **more: object) -> Document:
    url = f"https://boats{number}.example/"
    return Document(url, url, f"Boat {number}", TEXT.format(number), description=description, **more)  # type: ignore[arg-type]


def hits(folder: Path, *pages: Document) -> dict[str, Hit]:
    index = TantivyIndex(folder)
    for page in pages:
        index.add(page)
    index.commit()
    index.close()
    return {hit.id: hit for hit in TantivySearch(folder).search("qword").hits}


def test_the_description_of_a_page_is_its_summary(tmp_path: Path) -> None:
    pages = [boat(1, OWN), boat(2, TEMPLATE), boat(3, OWN.replace("qword", "keyword"))]
    found = hits(tmp_path, *pages)
    assert [found[page.id].snippet for page in pages] == [OWN, TEXT.format(2), TEXT.format(3)]
    (start, end), *others = found[pages[0].id].highlights
    assert (OWN[start:end], others) == ("qword", [])


@pytest.mark.parametrize(("most", "expected"), [(0, ""), (20, "What a qword …"), (None, OWN)])
def test_no_more_of_a_summary_than_its_page_permits(tmp_path: Path, most: int | None, expected: str) -> None:
    page = boat(1, OWN, snippet_chars=most)
    assert hits(tmp_path, page)[page.id].snippet == expected


def test_a_description_that_other_hits_have_too_is_no_summary(tmp_path: Path) -> None:
    pages = [boat(1, EVERYWHERE), boat(2, EVERYWHERE), boat(3, OWN)]
    found = hits(tmp_path, *pages)
    assert [found[page.id].snippet for page in pages] == [TEXT.format(1), TEXT.format(2), OWN]
