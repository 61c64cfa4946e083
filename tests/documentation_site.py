"""The documentation as a site, built for tests, and what its pages contain."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from programs import ROOT

LOADED: Final = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "video": "src",
}
"""Elements whose attribute names something that a browser loads by itself. `link` is one too, by its `rel`."""
NOT_LOADED: Final = {"alternate", "canonical", "next", "prev"}


def build(folder: Path) -> str:
    """Builds the site into a folder, and returns what MkDocs prints; asserts that it finds no fault."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


class SitePage(HTMLParser):
    """A page of the site: its ids, its links, what a browser loads for it, and the elements of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.classes: set[str] = set()
        self.elements: Counter[str] = Counter()
        self.words: list[str] = []
        self._in_text = False
        self._skipped = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.classes |= set(given.get("class", "").split())
        self._note_loaded(tag, given)
        if self._in_text:
            self.elements[tag] += 1
        self._in_text |= tag == "article"
        self._skipped |= given.get("class") in ("headerlink", "translation")

    def handle_endtag(self, tag: str) -> None:
        self._in_text &= tag != "article"
        self._skipped &= tag not in ("a", "p")

    def handle_data(self, data: str) -> None:
        if self._in_text and not self._skipped:
            self.words += data.split()

    def _note_loaded(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "link" and not NOT_LOADED & set(given.get("rel", "").split()):
            self.loaded.append(given.get("href", ""))
        elif tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])
        self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part.split()]
