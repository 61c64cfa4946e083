"""docs/findings.md is that of the records."""

from programs import ROOT, load

DOCS = ROOT / "docs"


def test_the_page_of_findings_is_that_of_the_records() -> None:
    """`make docs` writes it anew."""
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == load("docs/make_findings.py").page()
