"""The handbook's files: each page is in both languages, and can be read as Markdown, in the docs and as a site.

`tests/demo/test_sites.py` follows the links of the site, and `tests/journey/test_typed.py` runs the commands.
"""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from demo.asking import PageFacts, ask
from goodbot.demo.markdown_pages import read_markdown
from goodbot.exclusion import RobotsTxt
from programs import ROOT

FOLDER = ROOT / "src/goodbot/demo/sites/handbook"
NAMES = sorted(file.name for file in FOLDER.glob("*.md"))
FILES = sorted(FOLDER.rglob("*.md"))
IDS = [file.relative_to(FOLDER).as_posix() for file in FILES]


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def fields_of(file: Path) -> dict[str, str]:
    front = text_of(file).split("---\n")[1]
    return dict(line.split(": ", 1) for line in front.splitlines())


def prose_of(file: Path) -> str:
    """The text without fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text_of(file).split("---\n", 2)[2], flags=re.DOTALL | re.MULTILINE)


def headings_of(file: Path) -> list[str]:
    return re.findall(r"^#+ .*$", prose_of(file), re.MULTILINE)


def test_both_languages_have_the_same_pages() -> None:
    assert sorted(file.name for file in (FOLDER / "ru").glob("*.md")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_page_and_its_translation_say_the_same(name: str) -> None:
    english, russian = FOLDER / name, FOLDER / "ru" / name
    assert [line.split()[0] for line in headings_of(english)] == [line.split()[0] for line in headings_of(russian)]
    for begin in (r"^\| ", r"^- ", r"^\d\. ", "^```"):
        count = len(re.findall(begin, text_of(english), re.MULTILINE))
        assert count == len(re.findall(begin, text_of(russian), re.MULTILINE)), begin
    assert fields_of(english)["translation"] == f"ru/{name}"
    assert fields_of(russian)["translation"] == f"../{name}"
    assert fields_of(russian)["lang"] == "ru"


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_page_can_be_read_in_all_three_places(file: Path) -> None:
    fields, headings = fields_of(file), headings_of(file)
    assert not [value for value in fields.values() if ": " in value]  # front matter is also read as YAML
    assert headings[0] == f"# {fields['title']}"
    assert not [line for line in headings[1:] if line.startswith("# ")]
    assert "{{" not in text_of(file)
    assert not re.findall(r"^ *<\w", prose_of(file), re.MULTILINE)
    for target in re.findall(r"\]\(([^)]*)\)", prose_of(file)):
        assert target.startswith(("https://", "http://")) or (
            target.endswith(".md") and (file.parent / target).is_file()
        )
    for before, line in pairwise(prose_of(file).splitlines()):
        if re.match(
            r"- |\d+\. |\|", line
        ):  # Python-Markdown takes a list or table as text if no blank line is before it
            assert not before or re.match(r"- |\d+\. |  |\|", before), line


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_page_ends_with_commands(file: Path) -> None:
    assert headings_of(file)[-1] in ("## Try it", "## Попробуйте")
    _, block, _ = text_of(file).rpartition("\n## ")[2].split("```\n")
    assert 1 <= len(block.splitlines()) <= 3
    assert all(command.startswith("goodbot ") for command in block.splitlines())


@pytest.mark.parametrize("language", ["", "ru/"])
def test_contents_and_menu_list_every_page_in_one_order(bases: dict[str, str], language: str) -> None:
    listed = re.findall(r"^- \[(.*)\]\(([a-z-]+)\.md\)$", text_of(FOLDER / language / "index.md"), re.MULTILINE)
    assert sorted(f"{name}.md" for _, name in listed) == [name for name in NAMES if name != "index.md"]
    home = ask(f"{bases['handbook']}/{language}").text
    menu = re.search(r"<nav.*?</nav>", home, re.DOTALL)
    assert menu is not None
    assert re.findall(r'<a href="(.*?)">(.*?)</a>', menu[0]) == [
        (f"/{language}{name}", title) for title, name in listed
    ]
    for title, name in listed:
        assert fields_of(FOLDER / language / f"{name}.md")["title"] == title


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_the_site_shows_the_whole_page(bases: dict[str, str], file: Path) -> None:
    path = file.relative_to(FOLDER).with_suffix("").as_posix()
    url = f"{bases['handbook']}/{path.removesuffix('index') if file.stem == 'index' else path}"
    answer = ask(url)
    facts = PageFacts(url, answer.text)
    assert facts.title.startswith(fields_of(file)["title"])
    assert facts.meta["description"] == fields_of(file)["description"]
    assert answer.text.count("<h1>") == 1
    assert len(re.findall(r'<h2 id="[\w-]+">', answer.text)) == len(headings_of(file)) - 1
    assert ".md" not in re.sub(r"<(code|pre).*?</\1>", "", answer.text, flags=re.DOTALL)


MARKDOWN = """---
title: A
translation: ru/a.md
---

# A

[s](search-index.md) [home](index.md) <https://x.example/y.md>

## Why *b*?
"""
CASES = [
    ("/a", "/ru/a", '<a href="/search-index">s</a> <a href="/">home</a> <a href="https://x.example/y.md">'),
    ("/ru/a", "/ru/ru/a", '<a href="/ru/search-index">s</a> <a href="/ru/">home</a> <a href="https://x.example/y.md">'),
]


@pytest.mark.parametrize(("path", "translation", "links"), CASES)
def test_links_between_files_become_links_between_pages(path: str, translation: str, links: str) -> None:
    fields, html = read_markdown(MARKDOWN, path)
    assert fields == {"title": "A", "translation": translation}
    assert links in html
    assert "<h1>" not in html
    assert '<h2 id="why-b">Why <em>b</em>?</h2>' in html


@pytest.mark.parametrize("language", ["", "ru/"])
def test_the_figures_are_those_of_the_study(language: str) -> None:
    counted = dict(
        re.findall(
            r"^\| (R\d+) \|.*\| ([\d,]+) \| [\d,]+ \|$", text_of(ROOT / "docs/robots-in-the-wild.md"), re.MULTILINE
        )
    )
    stated = re.findall(
        r"^\| .* \| (R\d+) \| (\d+) \|$", text_of(FOLDER / language / "common-mistakes.md"), re.MULTILINE
    )
    assert len(stated) == 14
    assert [(code, counted[code]) for code, _ in stated] == stated
    assert counted["R510"] in text_of(FOLDER / language / "dialects.md")


@pytest.mark.parametrize("language", ["", "ru/"])
def test_the_verdicts_shown_are_those_of_the_rules(language: str) -> None:
    robots = RobotsTxt.parse(text_of(FOLDER / "robots.txt"))
    shown = re.findall(
        r"^\| `(/\S*)` \| .* \| (yes|no|да|нет) \|$", text_of(FOLDER / language / "longest-match.md"), re.MULTILINE
    )
    assert len(shown) == 6
    for path, answer in shown:
        assert robots.verdict(path, "goodbot").allowed == (answer in ("yes", "да")), path
