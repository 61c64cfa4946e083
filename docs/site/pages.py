"""A hook of MkDocs: adds the pages of the repository that are outside docs/, and adapts links between all pages.

The Markdown has the links that work in the repository. Here, each of them gets the path of its target in the site.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[2]
HANDBOOK: Final = PurePosixPath("src/goodbot/demo/sites/handbook")
PROJECT: Final = {
    "README.md": "project/goodbot.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
}
"""Pages outside docs/: path in the repository → path in the site."""
INDEXES: Final = ("index.md", "README.md")
BOOSTS: Final = {
    ("how-to/", "start/", "handbook/"): 2,
    ("conformance/", "exam.md"): 0.3,
    ("decisions/", "project/"): 0.01,
}
"""For the search: paths of pages → by how much their scores are multiplied. Few users look for the last ones."""
ICON: Final = "src/goodbot/web/static/icon.svg"

_LINK: Final = re.compile(r"(?<=\]\()[^)\s#]+")
_CELL: Final = re.compile(r"<td.*?</td>", re.DOTALL)
_FENCE: Final = re.compile(r"\s*(```|~~~)")


def brought() -> dict[str, str]:
    """Returns all pages outside docs/, with those of the handbook: path in the repository → path in the site."""
    handbook = [page for folder in (".", "ru") for page in sorted((ROOT / HANDBOOK / folder).glob("*.md"))]
    pages = (page.relative_to(ROOT / HANDBOOK).as_posix() for page in handbook)
    return PROJECT | {str(HANDBOOK / page): f"handbook/{page}" for page in pages}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replaces each entry of the navigation that is a pattern by the pages that it matches."""
    pages = {path.relative_to(ROOT / "docs").as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
    pages |= {page: ROOT / source for source, page in brought().items()}
    config.nav = list(_expanded(config.nav or [], pages))
    return config


def _expanded(entries: list[Any], pages: dict[str, Path]) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, dict):
            yield {
                title: list(_expanded(below, pages)) if isinstance(below, list) else below
                for title, below in entry.items()
            }
        elif "*" in entry:
            yield from _ordered({page: path for page, path in pages.items() if PurePosixPath(page).match(entry)})
        else:
            yield entry


def _ordered(pages: dict[str, Path]) -> list[str]:
    """Returns the pages of a folder: its index, then the others in the order in which the index links them."""
    index = next((page for page in pages if PurePosixPath(page).name in INDEXES), None)
    if index is None:
        return list(pages)
    text = pages.pop(index).read_text(encoding="utf-8")
    linked = _LINK.findall(text)
    places = {name: place for place, name in enumerate(linked)}
    return [index, *sorted(pages, key=lambda page: places.get(PurePosixPath(page).name, len(linked)))]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages outside docs/."""
    for source, page in (brought() | {ICON: "site/icon.svg"}).items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Adapts the links of a page, and says how early it comes in the search."""
    for folders, boost in BOOSTS.items():
        if page.file.src_uri.startswith(folders):
            page.meta.setdefault("search", {"boost": boost})
    sites = brought()
    sources = {place: source for source, place in sites.items()}
    folder = posixpath.dirname(sources.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def adapted(link: re.Match[str]) -> str:
        if ":" in link[0]:
            return link[0]
        source = posixpath.normpath(posixpath.join(folder, link[0]))
        place = sites.get(source, source.removeprefix("docs/"))
        return posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")

    return "".join(line if code else _LINK.sub(adapted, line) for line, code in _lines(markdown))


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yields each line, and whether it belongs to a code block with fences."""
    fenced = False
    for line in markdown.splitlines(keepends=True):
        fence = _FENCE.match(line) is not None
        yield line, fenced or fence
        fenced ^= fence


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    r"""Shows `\|` in code of table cells as `|`, as other readers of Markdown do; links a page of the handbook to its
    translation, and names the language of a Russian one."""
    html = _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)
    if not page.file.src_uri.startswith("handbook/"):
        return html
    language, other, name = ("ru", "en", "In English") if "/ru/" in page.file.src_uri else ("en", "ru", "По-русски")
    if translation := page.meta.get("translation"):
        link = f'<a href="{translation.removesuffix("md")}html" hreflang="{other}" lang="{other}">{name}</a>'
        html = f'<p class="translation">{link}</p>{html}'
    return f'<div lang="{language}">{html}</div>'


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Leaves out the sitemap, which would be empty: the site has no fixed URL. Gives 404.html a title of its own."""
    if template_name == "sitemap.xml":
        return ""
    return output.replace("<title>goodbot</title>", "<title>No such page - goodbot</title>")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Gives parts of the search the names that the theme leaves out or uses twice, and a page its own language; names
    the handbook in the titles of its pages."""
    if "/ru/" in page.file.src_uri:
        output = output.replace('<html lang="en"', '<html lang="ru"')
    if page.file.src_uri.startswith("handbook/") and PurePosixPath(page.file.src_uri).name not in INDEXES:
        book = "Роботы, справочник" if "/ru/" in page.file.src_uri else "Robots, a handbook"
        output = output.replace(" - goodbot</title>", f" - {book} - goodbot</title>")
    named = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    return named.replace('"md-search__options" aria-label="Search"', '"md-search__options" aria-label="Sharing"')
