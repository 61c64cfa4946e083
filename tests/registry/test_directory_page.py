"""docs/robots-directory.md agrees with the records."""

from programs import ROOT, load

DOCS = ROOT / "docs"


def test_the_page_agrees_with_the_records() -> None:
    """`python docs/make_robots_directory.py` writes the page."""
    assert (DOCS / "robots-directory.md").read_text(encoding="utf-8") == load("docs/make_robots_directory.py").page()
