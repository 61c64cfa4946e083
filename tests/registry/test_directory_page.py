"""docs/robots-directory.md is that of the records."""

from programs import ROOT, load

DOCS = ROOT / "docs"


def test_the_directory_is_that_of_the_records() -> None:
    """`python docs/make_robots_directory.py` writes it anew."""
    assert (DOCS / "robots-directory.md").read_text(encoding="utf-8") == load("docs/make_robots_directory.py").page()
