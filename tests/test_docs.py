"""The docs and the code say the same."""

import re
from pathlib import Path

import pytest

import goodbot
from programs import ROOT, load, run_program

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_reference_is_that_of_the_code() -> None:
    """`make docs` writes it anew."""
    made = load("docs/make_reference.py")
    folder = ROOT / "docs" / "reference"
    assert (folder / "commands.md").read_text(encoding="utf-8") == made.commands_page()
    assert (folder / "settings.md").read_text(encoding="utf-8") == made.settings_page()


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_the_public_names_can_be_loaded() -> None:
    assert [name for name in goodbot.__all__ if getattr(goodbot, name) is None] == []


@pytest.mark.parametrize("page", ["README.md", "docs/exclusion.md"])
def test_the_programs_of_a_page(page: str) -> None:
    """The lines of Python do what their comments say; the blocks of a page are one program."""
    run_program((ROOT / page).read_text(encoding="utf-8"))
