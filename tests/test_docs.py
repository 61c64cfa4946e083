"""The docs and the code say the same."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import goodbot

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def reference() -> ModuleType:
    """docs/make_reference.py."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_that_of_the_code() -> None:
    """`make docs` writes it anew."""
    made = reference()
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


def test_the_program_of_the_readme() -> None:
    """The lines of Python in the README do what their comments say."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    names: dict[str, object] = {}
    for line in block[1].splitlines():
        code, comment, expected = line.partition("  #")
        if comment:
            assert repr(eval(code.strip(), names)) == expected.strip()
        else:
            exec(code, names)
