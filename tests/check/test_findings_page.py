"""docs/findings.md is that of the records."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_findings_is_that_of_the_records() -> None:
    """`make docs` writes it anew."""
    spec = importlib.util.spec_from_file_location("make_findings", DOCS / "make_findings.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == made.page()
