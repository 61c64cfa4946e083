"""Measures the import of a WARC file of another program: pages per second, CPU time and memory.

    make bench-import PAGES=20000 CORPUS=folder-of-html-files

Without CORPUS the benchmark generates the pages. fastwarc writes them to a file, one gzip member per record. Two
tables:

1. Reading alone: every record is decompressed, the HTTP header of each response parsed, and the digest of its block
   compared. goodbot's reader, which survives damage, beside fastwarc and warcio.
2. All of it: `goodbot archive import` reads the file, writes an archive of its own with an index, keeps URLs, links and
   decisions in a frontier that survives kill -9, finds copies, indexes the pages and counts their links. Beside it a
   program of 40 lines that only does the main part: fastwarc reads the file and writes another, lxml reads title, text
   and links, Tantivy indexes and stores them.

Each program runs in a process of its own, three times; the run with the least CPU time counts.
"""

import io
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from goodbot.store.foreign.capture_reader import read_archive
from goodbot.store.foreign.foreign_values import ForeignCapture
from settings import UsageError, corpus, installed, save, start, whole

CORPUS = corpus("**/*.htm*", "HTML files to import instead of the generated pages")
PAGES = whole("PAGES", 5000, "pages in the file; those of a corpus are repeated under other URLs", 100, 10_000_000)
HOSTS = 50
ROUNDS = 3
BODY_LIMIT = 10 << 20


class Cost(NamedTuple):
    """What a program took: seconds of wall and CPU time, and the most memory in MB."""

    wall_s: float
    cpu_s: float
    memory_mb: float


# ---- the file -------------------------------------------------------------------------------------------------------


def generated(count: int) -> Iterator[bytes]:
    """Pages of about 12 kB, with 30 links each."""
    choose = random.Random(1)
    firsts, lasts = ("ro", "cra", "fron", "inde", "pa", "li"), ("bot", "wl", "tier", "x", "ge", "nk")
    words = [f"{first}{last}" for first in firsts for last in lasts]
    for number in range(count):
        items = "".join(
            f'<div class="card"><a href="/{choose.randrange(count)}.html">{" ".join(choose.choices(words, k=4))}</a>'
            f"<p>{' '.join(choose.choices(words, k=40))} {choose.random()}</p></div>"
            for _ in range(30)
        )
        yield f"<!doctype html><html lang=en><title>Page {number}</title><body><main>{items}</main></html>".encode()


def pages(folder: Path | None, count: int) -> Iterator[bytes]:
    if folder is None:
        yield from generated(count)
        return
    files = sorted(path for path in folder.rglob("*.htm*") if path.is_file())
    if not files:
        raise UsageError(f"CORPUS: there are no HTML files in {str(folder)!r}")
    for number in range(count):
        yield files[number % len(files)].read_bytes()


def packed(record: WarcRecord) -> bytes:
    """Returns a record with its digests, as a gzip member."""
    plain = io.BytesIO()
    record.write(plain, checksum_data=True)
    return isal_zlib.compress(plain.getvalue(), 1, 31)


def write_warc(path: Path, folder: Path | None, count: int) -> int:
    """Writes the file; returns the bytes of all pages."""
    size = 0
    with path.open("wb") as file:
        for number, body in enumerate(pages(folder, count)):
            made = WarcRecord()
            made.init_headers(WarcRecordType.response)
            made.headers["WARC-Target-URI"] = f"http://host{number % HOSTS}.example/{number}.html"
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
            made.set_bytes_content(head + body)
            made.is_http = True
            file.write(packed(made))
            size += len(body)
    return size


# ---- reading --------------------------------------------------------------------------------------------------------


def read_by_goodbot(path: Path) -> int:
    with path.open("rb") as file:
        return sum(isinstance(item, ForeignCapture) for item in read_archive(file, "f", BODY_LIMIT))


def read_by_fastwarc(path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
            assert record.verify_block_digest(consume=False)
            record.parse_http()
            record.reader.read()
            count += 1
    return count


def read_by_warcio(path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for record in WarcioIterator(file, check_digests="raise"):
            if record.rec_type == "response":
                record.content_stream().read()
                count += 1
    return count


# ---- all of it ------------------------------------------------------------------------------------------------------


def import_by_goodbot(path: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "goodbot", "archive", "import", str(path), "--into", str(folder), "--json"]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.executable, command)


def import_by_hand(path: Path, folder: Path, count: int) -> None:
    """Imports with fastwarc, lxml and Tantivy."""
    import lxml.html  # noqa: PLC0415  (it may not be installed)
    import tantivy  # noqa: PLC0415

    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    for name in ("url", "title", "text"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw" if name == "url" else "en_stem")
    (folder / "index").mkdir()
    index = tantivy.Index(builder.build(), path=str(folder / "index"))
    writer = index.writer(128 << 20, 1)
    links: set[str] = set()
    with path.open("rb") as file, (folder / "copy.warc.gz").open("wb") as copy:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
            assert record.verify_block_digest(consume=False)
            block = record.reader.read()
            url = record.headers["WARC-Target-URI"]
            body = block.partition(b"\r\n\r\n")[2]
            tree = lxml.html.document_fromstring(body, base_url=url)
            tree.make_links_absolute()
            links.update(link for _, name, link, _ in tree.iterlinks() if name == "href")
            title = tree.findtext(".//title") or ""
            for node in tree.xpath("//script | //style"):
                node.drop_tree()
            text = " ".join(tree.text_content().split())
            writer.add_document(tantivy.Document(url=url, title=title, text=text))
            kept = WarcRecord()
            kept.init_headers(WarcRecordType.response)
            kept.headers["WARC-Target-URI"], kept.headers["WARC-Date"] = url, record.headers["WARC-Date"]
            kept.set_bytes_content(block)
            kept.is_http = True
            copy.write(packed(kept))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    assert index.searcher().num_docs == count


# ---- measuring ------------------------------------------------------------------------------------------------------


def cost_of(work: Callable[[], Any]) -> Cost:
    """Runs `work` in a process of its own."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the child must not go on
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status, used = os.wait4(child, 0)
    if status:
        raise UsageError("a program failed, see above")
    return Cost(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def best_of(work: Callable[[int], Any], rounds: int) -> Cost:
    return min((cost_of(lambda number=number: work(number)) for number in range(rounds)), key=lambda cost: cost.cpu_s)  # type: ignore[misc]


def table(title: str, costs: dict[str, Cost], count: int, size: int) -> dict[str, Any]:
    print(f"\n{title}\n{'':<28}{'pages/s':>10}{'MB/s':>8}{'CPU ms/page':>13}{'memory MB':>11}")
    rows = {}
    for name, cost in costs.items():
        rows[name] = {
            "pages_per_s": round(count / cost.wall_s),
            "mb_per_s": round(size / cost.wall_s / 1e6, 1),
            "cpu_ms_per_page": round(cost.cpu_s / count * 1000, 3),
            "memory_mb": round(cost.memory_mb),
        }
        row = rows[name].values()
        print(f"{name:<28}" + "".join(f"{value:>{width}}" for value, width in zip(row, (10, 8, 13, 11), strict=True)))
    return rows


def main() -> int:
    """Prints both tables and writes them as JSON."""
    count = PAGES.value()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warc = folder / "pages.warc.gz"
        size = write_warc(warc, CORPUS.value(), count)
        print(f"{count:,} pages, {size / count / 1000:.1f} kB each, {warc.stat().st_size / 1e6:.1f} MB as WARC file")
        readers = {
            "goodbot": read_by_goodbot,
            f"fastwarc {version('fastwarc')}": read_by_fastwarc,
            f"warcio {version('warcio')}": read_by_warcio,
        }
        reading = {name: best_of(lambda _, read=read: read(warc), ROUNDS) for name, read in readers.items()}  # type: ignore[misc]
        read_rows = table("Reading alone", reading, count, size)
        importing = {"goodbot archive import": best_of(lambda n: import_by_goodbot(warc, folder / f"ours{n}"), ROUNDS)}
        if len(installed(["lxml", "tantivy"])) == 2:
            by_hand = best_of(lambda n: import_by_hand(warc, folder / f"hand{n}", count), ROUNDS)
            importing["fastwarc + lxml + Tantivy"] = by_hand
        rows = table("All of it", importing, count, size)
    save("import", {"pages": count, "mean_kb": round(size / count / 1000, 1), "reading": read_rows, "importing": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (CORPUS, PAGES), main))
