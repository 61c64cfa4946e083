"""Collections of documents with queries whose answers are known: for `bench_search`.

`cranfield` has judged questions. The others are manuals of the local web whose own index says which page explains which
term: the terms are the queries. Pages of the index are left out of the collection.
"""

import html
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from goodbot.page import read_page
from goodbot.robot.crawl.indexable import document_of
from goodbot.search_values import Document
from goodbot.url import parse_url
from goodbot.values import Response

ITEMS = 200
MOST_TARGETS = 3
"""A term with more pages than this is no known item."""
MISSPELT_CHARS = 5
READ_BYTES = 2 * 1024 * 1024
FETCHED_AT = 1_700_000_000.0
HTML = (("Content-Type", "text/html"),)

MANUALS = {
    "python": ("127.0.0.11", "genindex"),
    "postgres": ("127.0.0.13", "bookindex"),
    "django": ("127.0.0.22", "genindex"),
    "linux": ("127.0.0.25", "genindex"),
    "krb5": ("127.0.0.32", "genindex"),
    "cmake": ("127.0.0.33", "genindex"),
}
"""The manuals: the address of the site, and how the names of its index pages begin."""


@dataclass
class Collection:
    """Documents, queries by id, and for each query the relevant documents by id, with their grades."""

    name: str
    documents: list[Document]
    queries: dict[str, str]
    relevant: dict[str, dict[str, int]] = field(default_factory=dict)


def cranfield(data: Path) -> Collection:
    """Reads the Cranfield collection in `data`/ir/cranfield."""
    folder = data / "ir" / "cranfield"
    documents = [
        Document(id=value["id"], url="", title=value["title"], text=value["text"])
        for value in map(json.loads, (folder / "docs.jsonl").read_text(encoding="utf-8").splitlines())
    ]
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {str(value["id"]): str(value["text"]) for value in map(json.loads, lines)}
    made = Collection("cranfield", documents, queries)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        made.relevant.setdefault(query, {})[document] = int(grade)
    return made


def manual(name: str, sites: Path) -> Collection:
    """Reads a manual of the local web in `sites`, and chooses `ITEMS` terms of its index by their digests."""
    address, index = MANUALS[name]
    top = sites / name / "usr" / "share"
    documents: list[Document] = []
    entries: list[tuple[str, str]] = []
    for file in _html_files(top):
        url = f"http://{address}:8800/{file.relative_to(top).as_posix()}"
        body = file.read_bytes()
        if file.name.startswith(index):
            entries += _entries(name, url, body.decode("utf-8", "replace"))
        elif parsed := parse_url(url):
            response = Response(200, HTML, body)
            documents.append(document_of(read_page(parsed, response, "goodbot", READ_BYTES), response, FETCHED_AT))
    known = {document.id for document in documents}
    targets: dict[str, set[str]] = {}
    for term, target in entries:
        if target in known and len(term) > 1:
            targets.setdefault(term, set()).add(target)
    chosen = sorted((term for term, pages in targets.items() if len(pages) <= MOST_TARGETS), key=_digest)[:ITEMS]
    queries = {str(number): term for number, term in enumerate(chosen)}
    return Collection(
        name, documents, queries, {number: dict.fromkeys(targets[term], 1) for number, term in queries.items()}
    )


def misspelt(made: Collection) -> Collection:
    """Returns the collection with one wrong letter in a word of each query, chosen by its digest: one left out,
    doubled, replaced or exchanged with the next. Queries without a word of `MISSPELT_CHARS` letters are left out."""
    queries = {number: wrong for number, query in made.queries.items() if (wrong := _with_error(query)) is not None}
    relevant = {number: made.relevant[number] for number in queries}
    return Collection(f"{made.name}, misspelt", made.documents, queries, relevant)


def _with_error(query: str) -> str | None:
    words = list(re.finditer(rf"(?<![^\W_])[A-Za-z]{{{MISSPELT_CHARS},}}(?![^\W_])", query))
    if not words:
        return None
    digest = _digest(query)
    word = words[digest[0] % len(words)]
    at = word.start() + 1 + digest[1] % (len(word[0]) - 2)
    letter, following = query[at], query[at + 1]
    other = chr(ord("a") + (ord(letter.lower()) - ord("a") + 1 + digest[2] % 25) % 26)
    kinds = ["", letter * 2, other] if letter == following else ["", letter * 2, other, following + letter]
    wrong = kinds[digest[3] % len(kinds)]
    return query[:at] + wrong + query[at + (2 if len(wrong) == 2 and wrong != letter * 2 else 1) :]


def _html_files(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        if not os.path.islink(folder):
            yield from (Path(folder, name) for name in sorted(names) if name.endswith((".html", ".htm")))


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


def _entries(name: str, url: str, source: str) -> Iterator[tuple[str, str]]:
    """Yields the terms of an index page, each with the page it leads to."""
    entries = _docbook_entries(source) if name == "postgres" else _sphinx_entries(source)
    for term, href in entries:
        yield term, urldefrag(urljoin(url, href))[0]


def _docbook_entries(source: str) -> Iterator[tuple[str, str]]:
    """Terms are `dt`, those of a lower level in a `dl` of their own, and belong to the term above them."""
    depth, above = 0, dict[int, str]()
    for found in re.finditer(r"<dl>|</dl>|<dt[^>]*>(.*?)</dt>", source, re.DOTALL):
        if found[1] is None:
            depth += 1 if found[0] == "<dl>" else -1
            continue
        above[depth] = _text(re.split(r",\s*<a", found[1])[0])
        term = f"{above.get(depth - 1, '')} {above[depth]}".strip()
        yield from ((term, href) for href in re.findall(r'<a class="indexterm" href="([^"]+)"', found[1]))


def _sphinx_entries(source: str) -> Iterator[tuple[str, str]]:
    """Terms are `li`, those of a lower level in a `ul` inside."""
    above: list[str] = []
    for found in re.finditer(r"<ul[^>]*>|</ul>|<li>(.*?)(?=<ul|</li>|<li>)", source, re.DOTALL):
        if found[0].startswith("<ul"):
            above.append("")
        elif found[0] == "</ul>":
            del above[-1:]
        elif above:
            above[-1] = _text(re.sub(r", <a.*", "", found[1], flags=re.DOTALL))
            term = " ".join(text for text in above[-2:] if text)
            yield from ((term, href) for href in re.findall(r'href="([^"]+)"', found[1]))


def _text(source: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", source)).split())
