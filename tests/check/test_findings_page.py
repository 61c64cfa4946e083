"""docs/findings.md agrees with the records."""

from programs import ROOT, load

DOCS = ROOT / "docs"


def test_the_page_agrees_with_the_records() -> None:
    """`make docs` writes the page."""
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == load("docs/make_findings.py").page()
