"""docs/robots-directory.md is that of the records."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_directory_is_that_of_the_records() -> None:
    """`python docs/make_robots_directory.py` writes it anew."""
    spec = importlib.util.spec_from_file_location("make_robots_directory", DOCS / "make_robots_directory.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert (DOCS / "robots-directory.md").read_text(encoding="utf-8") == made.page()
