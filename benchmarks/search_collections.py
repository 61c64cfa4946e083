"""Collections of documents with queries whose answers are known: for `bench_search`.

`cranfield` has judged questions, `debian` known items: queries in English and Russian with the one page that answers
each. Others are manuals of the local web whose own index says which page explains which term: the terms are the
queries. Pages of the index are left out of the collection.

`web` is a crawl of all sites of the local web. Its queries are terms of the manuals, each after the name of its manual.
`translations` is the same crawl. Its queries are titles of pages that are in several languages; the reader's language
is that of the page, which is the right one.
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

import tantivy

from goodbot.index.keys import REGIONAL
from goodbot.index.stored_page import StoredPage, decode_page
from goodbot.page import read_page
from goodbot.robot.crawl.indexable import document_of
from goodbot.search_values import Document
from goodbot.url import parse_url
from goodbot.values import Response
from settings import UsageError

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

NAMES = {"python": "python", "postgres": "postgresql", "django": "django", "linux": "linux kernel", "krb5": "kerberos"}
"""What somebody would call a manual in a query, if not by its name here."""
WEB_ITEMS = 60
"""The terms of each manual among the queries of `web`."""
PAGES_AT_ONCE = 10_000
_LANGUAGE_FOLDER = re.compile(r"/([a-z]{2})(?:-[A-Za-z]{2})?/")


@dataclass
class Collection:
    """Documents, queries by id, and for each query the relevant documents by id, with their grades, and the reader's
    languages, if it has any. `index`: the folder of an index that has the documents."""

    name: str
    documents: list[Document]
    queries: dict[str, str]
    relevant: dict[str, dict[str, int]] = field(default_factory=dict)
    languages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    index: Path | None = None


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


def debian(data: Path, packages: Path) -> Collection:
    """Reads the known items of `data`/ir/known_items_open.jsonl, and all HTML pages in `packages`, which has the files
    of Debian's packages."""
    lines = (data / "ir" / "known_items_open.jsonl").read_text(encoding="utf-8").splitlines()
    items = {str(value["id"]): value for value in map(json.loads, lines)}
    site = "http://localhost"
    documents = [
        _document(f"{site}/{file.relative_to(packages).as_posix()}", file.read_bytes())
        for file in _html_files(packages)
    ]
    return Collection(
        "debian",
        documents,
        {number: str(item["query"]) for number, item in items.items()},
        {number: {f"{site}{target}": 1 for target in item["targets"]} for number, item in items.items()},
    )


def manual(name: str, sites: Path) -> Collection:
    """Reads a manual of the local web in `sites`, and chooses `ITEMS` terms of its index by their digests."""
    documents = [_document(url, file.read_bytes()) for url, file in _files(name, sites) if not _is_index(name, url)]
    targets = _targets(name, sites, {document.id for document in documents})
    queries = {str(number): term for number, term in enumerate(_chosen(targets, ITEMS))}
    return Collection(
        name, documents, queries, {number: dict.fromkeys(targets[term], 1) for number, term in queries.items()}
    )


def web(crawl: Path, sites: Path) -> Collection:
    """Reads a crawl of the local web without the index pages of the manuals. Pages with the same text are equally
    right."""
    pages = list(_stored_pages(crawl))
    same: dict[str, list[str]] = {}
    for page in pages:
        same.setdefault(page.text, []).append(page.url)
    alike = {url: urls for text, urls in same.items() if text for url in urls}
    made = _crawled("web", crawl, pages)
    for name in MANUALS:
        targets = _targets(name, sites, set(alike))
        for term in _chosen(targets, WEB_ITEMS):
            number = str(len(made.queries))
            made.queries[number] = f"{NAMES.get(name, name)} {term}"
            made.relevant[number] = {url: 1 for target in targets[term] for url in alike[target]}
    return made


def translations(crawl: Path) -> Collection:
    """Reads the same crawl. The reader of each query, chosen by a digest, types the title of the page in the own
    language."""
    pages = list(_stored_pages(crawl))
    groups: dict[str, dict[str, list[StoredPage]]] = {}
    for page in pages:
        if (folders := _LANGUAGE_FOLDER.findall(page.url)) and folders[0] in REGIONAL:
            group = groups.setdefault(_LANGUAGE_FOLDER.sub("/*/", page.url), {})
            group.setdefault(folders[0], []).append(page)
    made = _crawled("translations", crawl, pages)
    for address in sorted(groups, key=_digest):
        own = {language: pages[0] for language, pages in groups[address].items() if len(pages) == 1 and pages[0].title}
        if len(own) < 2 or len(made.queries) == ITEMS:
            continue
        language, number = sorted(own)[_digest(address)[0] % len(own)], str(len(made.queries))
        made.queries[number] = own[language].title
        made.languages[number] = (language,)
        made.relevant[number] = {own[language].url: 1}
    return made


def _crawled(name: str, crawl: Path, pages: list[StoredPage]) -> Collection:
    documents = [Document(id=page.id, url=page.url, title=page.title, text=page.text) for page in pages]
    return Collection(name, documents, {}, index=crawl / "index")


def _stored_pages(crawl: Path) -> Iterator[StoredPage]:
    """Yields the pages of a crawl's index."""
    searcher = tantivy.Index.open(str(crawl / "index")).searcher()
    for offset in range(0, searcher.num_docs, PAGES_AT_ONCE):
        for _, address in searcher.search(tantivy.Query.all_query(), PAGES_AT_ONCE, count=False, offset=offset).hits:
            page = decode_page(bytes(searcher.doc(address).get_first("shown") or b""))
            if any(_is_index(name, page.url) for name in MANUALS):
                raise UsageError(f"the crawl has {page.url}: crawl again with the options that --help shows")
            yield page


def _files(name: str, sites: Path) -> Iterator[tuple[str, Path]]:
    """Yields the URLs of a manual's pages, and their files."""
    top = sites / name / "usr" / "share"
    for file in _html_files(top):
        yield f"http://{MANUALS[name][0]}:8800/{file.relative_to(top).as_posix()}", file


def _is_index(name: str, url: str) -> bool:
    address, index = MANUALS[name]
    return url.startswith(f"http://{address}:8800/") and url.rpartition("/")[2].startswith(index)


def _targets(name: str, sites: Path, known: set[str]) -> dict[str, set[str]]:
    """Returns the terms of a manual's index, each with those `known` pages to which it leads."""
    targets: dict[str, set[str]] = {}
    for url, file in _files(name, sites):
        if _is_index(name, url):
            for term, target in _entries(name, url, file.read_text(encoding="utf-8", errors="replace")):
                if target in known and len(term) > 1:
                    targets.setdefault(term, set()).add(target)
    return targets


def _chosen(targets: dict[str, set[str]], most: int) -> list[str]:
    return sorted((term for term, pages in targets.items() if len(pages) <= MOST_TARGETS), key=_digest)[:most]


def _document(url: str, body: bytes) -> Document:
    parsed, response = parse_url(url), Response(200, HTML, body)
    assert parsed is not None, url
    return document_of(read_page(parsed, response, "goodbot", READ_BYTES), response, FETCHED_AT)


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
    """Terms are `li`, those of a lower level in a `ul` inside. `(in module threading)` below `getprofile() (in module
    sys)` stands for `getprofile() (in module threading)`."""
    above: list[str] = []
    for found in re.finditer(r"<ul[^>]*>|</ul>|<li>(.*?)(?=<ul|</li>|<li>)", source, re.DOTALL):
        if found[0].startswith("<ul"):
            above.append("")
        elif found[0] == "</ul>":
            del above[-1:]
        elif above:
            above[-1] = _text(re.sub(r", <a.*", "", found[1], flags=re.DOTALL))
            outer = above[-2] if len(above) > 1 else ""
            if above[-1].startswith("("):
                outer = outer.partition(" (")[0]
            term = f"{outer} {above[-1]}".strip()
            yield from ((term, href) for href in re.findall(r'href="([^"]+)"', found[1]))


def _text(source: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", source)).split())
