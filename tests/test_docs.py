"""Checks the documents against the code."""

import asyncio
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import goodbot
from goodbot.index import PARTS
from journey.practice_site import make
from programs import ROOT, blocks_of, load, run_program

HANDBOOK = ROOT / "src" / "goodbot" / "demo" / "sites" / "handbook"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *HANDBOOK.rglob("*.md")])


def test_the_reference_is_that_of_the_code() -> None:
    """If this fails, run `make docs`."""
    made = load("docs/make_reference.py")
    folder = ROOT / "docs" / "reference"
    assert (folder / "commands.md").read_text(encoding="utf-8") == made.commands_page()
    assert (folder / "settings.md").read_text(encoding="utf-8") == made.settings_page()
    assert (folder / "dialects.md").read_text(encoding="utf-8") == load("docs/make_dialects.py").page()


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_the_public_names_can_be_loaded() -> None:
    assert [name for name in goodbot.__all__ if getattr(goodbot, name) is None] == []


PURE = [
    "README.md",
    "docs/exclusion.md",
    "docs/start/robot-authors.md",
    *(
        f"docs/how-to/{name}.md"
        for name in ("robot-authors", "robot-rules", "protego", "scrapy", "urllib-robotparser", "test-vectors", "who")
    ),
]
"""Pages whose programs send nothing."""


@pytest.mark.parametrize("page", PURE)
def test_the_programs_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a page as one program, and compares each value with its comment."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.startswith("docs/start/"):
        make(text, tmp_path)
    run_program(text)


def test_the_examples_of_the_exam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the first example, with `goodbot.crawl` as the crawler; `exam/test_scrapy_example` runs the spider."""

    async def walk(url: str) -> None:
        async for _ in goodbot.crawl(url, allow_private=True):
            pass

    monkeypatch.setitem(sys.modules, "my_crawler", SimpleNamespace(crawl=lambda url: asyncio.run(walk(url))))
    first, *others = blocks_of((ROOT / "docs/how-to/exam-in-your-tests.md").read_text(encoding="utf-8"))
    exec(first, {})
    for other in others:
        compile(other, "example", "exec")


def test_every_page_with_python_is_run() -> None:
    """Other tests run those that fetch: `journey/test_library_docs`, and the one above."""
    fetching = {"library.md", "tutorial.md", "how-to/requests.md", "how-to/httpx.md", "how-to/exam-in-your-tests.md"}
    pages = {str(page.relative_to(ROOT)) for page in PAGES if blocks_of(page.read_text(encoding="utf-8"))}
    assert pages == {*PURE, *(f"docs/{name}" for name in fetching)}


def test_the_page_on_relevance_has_every_part_of_the_ranking() -> None:
    text = (ROOT / "docs" / "relevance.md").read_text(encoding="utf-8")
    assert [part for part in PARTS if f"| `{part}` |" not in text] == []
