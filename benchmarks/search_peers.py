"""The searches that `bench_search` compares: goodbot, SQLite FTS5, bm25s and Tantivy with its own analysis.

Each takes documents and returns a function from a query, a number and the reader's languages to the ids of that many
documents, best first. The peers get title and text, and the words of a query as alternatives; they have no use for
languages.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import tantivy

from goodbot.index import Ranking, TantivyIndex, TantivySearch, refresh_links
from goodbot.search_values import Document

Search = Callable[[str, int, Sequence[str]], list[str]]
WORD = re.compile(r"\w+")
HEAP_BYTES = 128_000_000


def index_goodbot(documents: Sequence[Document], folder: Path) -> None:
    """Indexes documents as a crawl does, with the texts of links."""
    index = TantivyIndex(folder)
    for document in documents:
        index.add(document)
    index.commit()
    index.close()
    refresh_links(folder)


def search_goodbot(folder: Path, without: str = "") -> Search:
    """Searches an index of `index_goodbot`, without a part of the ranking if one is named."""
    search = TantivySearch(folder, Ranking(frozenset({without} - {""})))

    def find(query: str, limit: int, languages: Sequence[str]) -> list[str]:
        hits = search.search(query, limit, languages=languages).hits
        return [hit.id for hit in hits]

    return find


def fts5(documents: Sequence[Document], folder: Path) -> Search:
    """SQLite FTS5 with Porter's stemmer and its BM25."""
    connection = sqlite3.connect(folder / "fts5.sqlite")
    connection.execute("CREATE VIRTUAL TABLE pages USING fts5(id UNINDEXED, title, text, tokenize='porter unicode61')")
    connection.executemany("INSERT INTO pages VALUES (?, ?, ?)", ((one.id, one.title, one.text) for one in documents))
    connection.commit()

    def find(query: str, limit: int, _: Sequence[str]) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(WORD.findall(query)))
        if not words:
            return []
        select = "SELECT id FROM pages WHERE pages MATCH ? ORDER BY bm25(pages) LIMIT ?"
        return [row[0] for row in connection.execute(select, (words, limit))]

    return find


def bm25s(documents: Sequence[Document], folder: Path) -> Search:
    """bm25s, Lucene's variant, English stop words and stemmer, as its documentation recommends."""
    library = import_module("bm25s")
    stemmer = import_module("Stemmer").Stemmer("english")
    ids = [document.id for document in documents]
    texts = [f"{document.title} {document.text}" for document in documents]
    retriever = library.BM25(method="lucene")
    retriever.index(library.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)

    def find(query: str, limit: int, _: Sequence[str]) -> list[str]:
        tokens = library.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = retriever.retrieve(tokens, k=min(limit, len(ids)), show_progress=False)
        return [ids[number] for number in found[0]]

    return find


def tantivy_one(documents: Sequence[Document], folder: Path) -> Search:
    """Tantivy with its English analysis, title and text in one field."""
    return _tantivy(documents, folder / "tantivy-one", lambda one: {"text": f"{one.title} {one.text}"})


def tantivy_two(documents: Sequence[Document], folder: Path) -> Search:
    """Tantivy with its English analysis, title and text in two fields."""
    return _tantivy(documents, folder / "tantivy-two", lambda one: {"title": one.title, "text": one.text})


def _tantivy(documents: Sequence[Document], folder: Path, fields_of: Callable[[Document], dict[str, str]]) -> Search:
    folder.mkdir()
    builder = tantivy.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    names = list(fields_of(Document("", "", "", "")))
    for name in names:
        builder.add_text_field(name, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(HEAP_BYTES, num_threads=1)
    for document in documents:
        writer.add_document(tantivy.Document(id=document.id, **fields_of(document)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def find(query: str, limit: int, _: Sequence[str]) -> list[str]:
        words = " ".join(WORD.findall(query)).lower()  # upper-case OR and AND would be operators
        if not words:
            return []
        hits = searcher.search(index.parse_query(words, names), limit).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    return find


PEERS: dict[str, Callable[[Sequence[Document], Path], Search]] = {
    "sqlite-fts5": fts5,
    "bm25s": bm25s,
    "tantivy-1": tantivy_one,
    "tantivy-2": tantivy_two,
}
