"""Adds the same pages to goodbot's index and to one of plain Tantivy, and measures the cost. For `bench_search_speed`.

Plain Tantivy has the same fields with the same fast fields and the same stored bytes; its own analysis (`en_stem`)
makes the terms. It gets the stored bytes ready-made, or (`+ encoding`) encodes them as goodbot does. goodbot finds the
language of each page, makes terms, numbers and stored bytes, and deletes an earlier version of the page. All have one
writer thread and the same memory, and commit once. The figures are those of a process of its own, with all its threads.
"""

import pickle
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path

import tantivy

from goodbot.crawl_folder import open_archive, open_ledger
from goodbot.errors import DamagedError
from goodbot.index import TantivyIndex, index_statistics, prepare, refresh_links
from goodbot.index.index_writer import HEAP_BYTES
from goodbot.index.keys import address_words
from goodbot.index.schema import LABELS, NUMBERS, STORED, WEIGHTS
from goodbot.index.stored_page import decode_links, decode_page, encode_links, encode_page
from goodbot.page import read_page
from goodbot.robot.crawl.indexable import document_of, index_refusal
from goodbot.search_values import Document, PreparedDocument
from goodbot.url import parse_url
from goodbot.values import RecordRef
from settings import UsageError

READ_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class Indexed:
    """The cost of adding `pages` pages. `prepare_cpu_s` is the part that workers of a crawl do; `refresh_cpu_s`: making
    the link texts. Bytes are those of a page on disk, without and with link texts."""

    program: str
    pages: int
    wall_s: float
    cpu_s: float
    prepare_cpu_s: float
    bytes_per_page: float
    bytes_with_links: float = 0.0
    refresh_cpu_s: float = 0.0
    parts: dict[str, int] | None = None

    @property
    def rate(self) -> float:
        """Pages per second of elapsed time."""
        return self.pages / self.wall_s

    @property
    def cpu_rate(self) -> float:
        """Pages per second of CPU time."""
        return self.pages / self.cpu_s

    def row(self) -> str:
        """Returns a line of the table."""
        links = f"{self.bytes_with_links:>8,.0f} {self.refresh_cpu_s:>9.1f}" if self.bytes_with_links else ""
        return (
            f"{self.program:<14} {self.pages:>7,} {self.wall_s:>8.1f} {self.rate:>8,.0f} {self.cpu_s:>8.1f} "
            f"{self.cpu_rate:>8,.0f} {self.prepare_cpu_s:>10.1f} {self.bytes_per_page:>9,.0f} {links}"
        ).rstrip()


HEAD = (
    f"{'':<14} {'pages':>7} {'s':>8} {'pages/s':>8} {'CPU s':>8} {'p/CPU s':>8} {'prep CPU s':>10} {'B/page':>9} "
    f"{'w. links':>8} {'refresh':>9}"
)


def read_documents(copy: Path, crawl: Path, most: int) -> list[Document]:
    """Reads up to `most` pages from the archive of a crawl, chosen by the digests of their URLs. `copy` is a copy of it
    without the archive."""
    with open_ledger(copy) as ledger:
        visited = [
            (blake2b(one.url.text.encode(), digest_size=8).digest(), one.url, one.record)
            for one in ledger.records()
            if one.state == "visited" and one.status == 200 and one.record is not None
        ]
    documents: list[Document] = []
    with open_archive(crawl) as archive:
        for _, url, record in sorted(visited, key=lambda one: one[0]):
            if len(documents) == most:
                break
            assert isinstance(record, RecordRef)
            try:
                archived = archive.read(record)
            except DamagedError:
                continue
            response = archived.response
            if archived.headers_only or response.media_type not in ("text/html", "text/plain"):
                continue
            page = read_page(url, response, "goodbot", READ_BYTES)
            if index_refusal(page, response, archived.fetched_at) is None:
                documents.append(document_of(page, response, archived.fetched_at))
    if not documents:
        raise UsageError(f"the archive in {crawl} has no pages to index; give a crawl with an archive as CRAWL")
    return documents


def index_goodbot(documents: Path, folder: Path) -> Indexed:
    """Adds documents as a crawl does: `prepare`, `add_prepared`, and one commit."""
    found: list[Document] = pickle.loads(documents.read_bytes())
    index = TantivyIndex(folder)
    began, before, prepared_s = time.monotonic(), _cpu_s(), 0.0
    for document in found:
        from_s = time.thread_time()
        prepared = prepare(document)
        prepared_s += time.thread_time() - from_s
        index.add_prepared(prepared)
    index.commit()
    index.close()
    wall_s, cpu_s = time.monotonic() - began, _cpu_s() - before
    size = index_statistics(folder).size
    before = _cpu_s()
    refresh_links(folder)
    refresh_s, after = _cpu_s() - before, index_statistics(folder)
    count = len(found)
    return Indexed(
        "goodbot", count, wall_s, cpu_s, prepared_s, size / count, after.size / count, refresh_s, after.parts
    )


def index_plain(documents: Path, folder: Path) -> Indexed:
    """Adds documents to an index of plain Tantivy."""
    return _index_plain(documents, folder, "plain Tantivy", encodes=False)


def index_plain_encoding(documents: Path, folder: Path) -> Indexed:
    """Adds documents to an index of plain Tantivy, and encodes what is stored."""
    return _index_plain(documents, folder, "+ encoding", encodes=True)


def _index_plain(documents: Path, folder: Path, name: str, *, encodes: bool) -> Indexed:
    found: list[Document] = pickle.loads(documents.read_bytes())
    pairs = [(document, prepare(document)) for document in found]
    stored = [dict(prepared.stored) for _, prepared in pairs]
    decoded = [(decode_page(one["shown"]), decode_links(one.get("links", b""))) for one in stored] if encodes else []
    folder.mkdir()
    index = tantivy.Index(_plain_schema(), path=str(folder))
    writer = index.writer(HEAP_BYTES, num_threads=1)
    began, before = time.monotonic(), _cpu_s()
    for number, (document, prepared) in enumerate(pairs):
        data = stored[number]
        if encodes:
            page, links = decoded[number]
            data = {"shown": encode_page(page), **({"links": encode_links(links)} if links else {})}
        writer.add_document(_plain(document, prepared, data))
    writer.commit()
    writer.wait_merging_threads()
    wall_s, cpu_s = time.monotonic() - began, _cpu_s() - before
    size = sum(file.stat().st_size for file in folder.iterdir())
    return Indexed(name, len(found), wall_s, cpu_s, 0.0, size / len(found))


def _plain_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in LABELS:
        builder.add_text_field(name, tokenizer_name="whitespace" if name == "targets" else "raw", index_option="basic")
    for name in WEIGHTS:
        builder.add_text_field(name, tokenizer_name="en_stem", index_option="position")
    for name in NUMBERS:
        builder.add_unsigned_field(name, indexed=name in ("number", "date"), fast=True)
    for name in STORED:
        builder.add_bytes_field(name, stored=True)
    return builder.build()


def _plain(document: Document, prepared: PreparedDocument, stored: dict[str, bytes]) -> tantivy.Document:
    made = tantivy.Document()
    url = parse_url(document.url)
    texts = {
        "title": document.title,
        "headings": document.headings,
        "terms": document.terms,
        "body": document.text,
        "summary": document.description,
        "address": address_words(url) if url else "",
        "alternatives": document.alternative_texts,
        "keywords": document.keywords,
    }
    for name, text in texts.items():
        if text:
            made.add_text(name, text)
    for name, text in prepared.texts:
        if name in LABELS:
            made.add_text(name, text)
    for name, data in stored.items():
        made.add_bytes(name, data)
    for name, number in prepared.numbers:
        made.add_unsigned(name, number)
    return made


def _cpu_s() -> float:
    """Returns the CPU time of all threads of this process, also of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


PROGRAMS = {"goodbot": index_goodbot, "plain Tantivy": index_plain, "+ encoding": index_plain_encoding}


def measure_indexing(documents: list[Document], program: str) -> Indexed:
    """Indexes the documents in a process of its own, which a Ctrl-C ends too."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "documents"
        file.write_bytes(pickle.dumps(documents))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(PROGRAMS[program], file, Path(place) / "index").result()
