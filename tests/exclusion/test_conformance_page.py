"""The conformance pages name tests: each test must exist, and each deviation must be on a page."""

import re
from dataclasses import astuple
from pathlib import Path

import pytest

from goodbot.exclusion import DIALECTS

TESTS = Path(__file__).parent
MODULES = sorted(TESTS.parent.rglob("test_*.py"))
DOCS = TESTS.parents[1] / "docs"
PAGES = [DOCS / "conformance.md", *sorted((DOCS / "conformance").glob("*.md"))]
NAMED = sorted(
    {named for page in PAGES for named in re.findall(r"`(test_\w+\.py)::(test_\w+)`", page.read_text("utf-8"))}
)


@pytest.mark.parametrize(("module", "function"), NAMED)
def test_named_tests_exist(module: str, function: str) -> None:
    files = [path for path in MODULES if path.name == module]  # some names occur in two folders
    assert any(f"def {function}(" in path.read_text("utf-8") for path in files)


def test_every_deviation_is_on_the_page() -> None:
    found = {
        (path.name, function)
        for path in TESTS.rglob("test_*.py")
        for function in re.findall(r"^def (test_deviation_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found
    assert found <= set(NAMED)


def test_every_dialect_has_a_page() -> None:
    others = {"conformance", "records", "preferences", "directives", "crawling", "gate"}
    assert {page.stem for page in PAGES} == others | set(DIALECTS) - {"rfc9309"}


def test_every_page_is_named_on_the_first() -> None:
    first, *others = PAGES
    text = first.read_text("utf-8")
    assert [page.stem for page in others if f"(conformance/{page.name})" not in text] == []


def test_every_section_is_on_a_page() -> None:
    """Every section that a verdict may name is on a page, word for word."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    sections = {section for dialect in DIALECTS.values() for section in astuple(dialect.sections)}
    assert [section for section in sorted(sections) if f"`{section}`" not in text] == []
