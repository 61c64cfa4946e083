"""Queries drawn from the pages of an index, for `bench_search_speed`: the same pages give the same queries."""

import random
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import tantivy

from goodbot.index.stored_page import StoredPage, decode_page
from settings import UsageError

WORD = re.compile(r"[^\W\d_]{2,30}")
KINDS = ("title 1", "title 2", "heading 3", "text 4", "phrase", "misspelt", "site", "text 1", "text 2", "title 4")
"""What query number n is made of, n modulo 10. `title 4`: up to four words that follow one another in a title;
`text 2`: two words from anywhere in a text; `phrase`: two or three words of a text in quotes; `misspelt`: one or two
words of a title, one of them with two letters in the wrong order; `site`: one or two words of a title, and the host.
"""
PAGES_AT_ONCE = 10_000
SPARE = 3
"""How many pages are looked at for each query: some have no words."""


def draw_queries(folder: Path, number: int) -> list[str]:
    """Returns `number` different queries from the pages of the index in `folder`."""
    queries: dict[str, None] = {}
    for page in _pages(folder, SPARE * number):
        if len(queries) == number:
            break
        query = make_query(page, KINDS[len(queries) % len(KINDS)], random.Random(page.url))
        if query:
            queries[query] = None
    if not queries:
        raise UsageError(f"the index in {folder} has no pages with words; give a crawl of more pages as CRAWL")
    return list(queries)


def make_query(page: StoredPage, kind: str, chance: random.Random) -> str:
    """Returns a query of one of the `KINDS` from a page; empty if the page has no words for it."""
    name, _, count = kind.partition(" ")
    title = WORD.findall(page.title)
    if kind == "text 2":
        words = WORD.findall(page.text)
        return " ".join(chance.sample(words, min(2, len(words))))
    if name in ("title", "text"):
        return " ".join(_run(title if name == "title" else WORD.findall(page.text), int(count), chance))
    if name == "heading":
        headings = [text for _, text in page.sections if WORD.search(text)]
        return " ".join(_run(WORD.findall(chance.choice(headings)), int(count), chance)) if headings else ""
    if name == "phrase":
        lines = [words for line in page.text.splitlines() if len(words := re.findall(r"\w+", line)) > 3]
        return f'"{" ".join(_run(chance.choice(lines), chance.choice((2, 3)), chance))}"' if lines else ""
    words = _run(title, chance.choice((1, 2)), chance)
    if name == "site":
        return f"{' '.join(words)} site:{urlsplit(page.url).hostname}" if words else ""
    return " ".join(_misspelt(words, chance))


def _run(words: Sequence[str], most: int, chance: random.Random) -> list[str]:
    """Returns up to `most` words that follow one another."""
    first = chance.randrange(max(1, len(words) - most + 1))
    return list(words[first : first + most])


def _misspelt(words: list[str], chance: random.Random) -> list[str]:
    """Exchanges two letters of the longest word; returns nothing if it is short."""
    longest = max(words, key=len, default="")
    if len(longest) < 5:
        return []
    at = chance.randrange(1, len(longest) - 2)
    wrong = longest[:at] + longest[at + 1] + longest[at] + longest[at + 2 :]
    return [wrong if word == longest else word for word in words]


def _pages(folder: Path, most: int) -> list[StoredPage]:
    """Returns the pages with the lowest numbers, which are digests of their URLs, in the order of these."""
    index = tantivy.Index.open(str(folder))
    searcher = index.searcher()
    numbered: list[tuple[int, int]] = []
    addresses: list[tantivy.DocAddress] = []
    for offset in range(0, searcher.num_docs, PAGES_AT_ONCE):
        hits = searcher.search(tantivy.Query.all_query(), PAGES_AT_ONCE, count=False, offset=offset).hits
        some = [address for _, address in hits]
        numbers = searcher.fast_field_values("number", some)
        numbered += [(int(value or 0), len(addresses) + place) for place, value in enumerate(numbers)]
        addresses += some
    chosen = [addresses[place] for _, place in sorted(numbered)[:most]]
    return [decode_page(bytes(searcher.doc(address).get_first("shown") or b"")) for address in chosen]
