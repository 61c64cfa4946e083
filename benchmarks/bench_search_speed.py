"""Measures how fast searches are over HTTP, in peace and while a crawl writes, and how fast pages are indexed.

    make bench-search-speed CRAWL=folder SEED=http://127.0.0.10:8800/ PARTS="quiet crawl index"

`quiet`: `goodbot serve` of a copy of the crawl in CRAWL, without its archive. QUERIES queries go to /api/search, then
to /search, one after another on one connection, after a warm-up of 20. They come from titles, headings and texts of the
pages: one to four words, some phrases, some misspelt, some with site:. `CPU ms/q` is the CPU time of the server for a
query.

`crawl`: a new crawl from SEED with two workers, up to CRAWL_PAGES pages, and a server on its folder as soon as it has
pages. The same queries go to both paths in turn until the crawl ends.

`index`: the same PAGES pages of the crawl's archive are added to goodbot's index and to one of plain Tantivy with its
own analysis, RUNS times in turn; the medians of each are compared. See `search_indexing`.

No part takes more than LIMIT seconds; SEED and the servers are on loopback. All times but CPU times depend on what else
the machine does: `load` is the number of processes that ran or waited in the minute before.
"""

import os
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from crawl_web import is_loopback
from search_indexing import HEAD as INDEX_HEAD
from search_indexing import PROGRAMS, Indexed, measure_indexing, read_documents
from search_latency import CRAWL, HEAD, PATHS, Client, copied, cpu_s, crawling, documents, latency, serving, summary
from search_queries import draw_queries
from settings import Setting, choice, save, start, whole

WARM_UP = 20
FIRST_PAGES = 100
"""The pages that a crawl must have in its index before the server is asked."""


def _portal(text: str) -> str:
    if not is_loopback(text):
        raise ValueError(text)
    return text


SEED = Setting(
    "SEED",
    "http://127.0.0.10:8800/",
    "where the crawl begins that writes",
    "a URL on loopback, such as http://127.0.0.10:8800/",
    _portal,
)
QUERIES = whole("QUERIES", 400, "queries to each path", 10, 100_000)
CRAWL_PAGES = whole("CRAWL_PAGES", 30_000, "pages of the crawl that writes", 1000, 100_000_000)
PAGES = whole("PAGES", 5_000, "pages to index", 10, 1_000_000)
RUNS = whole("RUNS", 3, "how often the pages are indexed", 1, 100)
LIMIT = whole("LIMIT", 240, "seconds after which a part ends", 10, 100_000)
PARTS = choice("PARTS", "quiet crawl index", "what is measured", ("quiet", "crawl", "index"))


def _load() -> float:
    return round(os.getloadavg()[0], 2)


def quiet(folder: Path, queries: list[str]) -> dict[str, Any]:
    """Asks a server of a crawl that does not run."""
    until = time.monotonic() + LIMIT.value()
    with serving(folder) as (url, server):
        pages = documents(url)
        print(f"goodbot serve, {pages:,} pages, no crawl (load {_load()})\n{HEAD}", flush=True)
        rows = []
        for path in PATHS:
            warm = Client(url)
            for query in queries[:WARM_UP]:
                warm.ask(path, query)
            warm.close()
            row = latency(url, server, path, queries, lambda sent: sent < len(queries) and time.monotonic() < until)
            rows.append(row)
            print(row.row(), flush=True)
        return {"load": _load(), "pages": pages, "paths": [asdict(row) for row in rows]}


def while_writing(queries: list[str]) -> dict[str, Any]:
    """Asks a server of a crawl that runs, until it ends."""
    until = time.monotonic() + LIMIT.value()
    load = _load()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crawl"
        with crawling(SEED.value(), folder, CRAWL_PAGES.value()) as crawler:
            began = time.monotonic()
            while crawler.poll() is None and not (folder / "index" / "meta.json").exists() and time.monotonic() < until:
                time.sleep(0.1)
            with serving(folder) as (url, server):
                while crawler.poll() is None and (first := documents(url)) < FIRST_PAGES and time.monotonic() < until:
                    time.sleep(0.2)
                family = [psutil.Process(crawler.pid), *psutil.Process(crawler.pid).children(recursive=True)]
                crawl_before, server_before, asked_from = sum(map(cpu_s, family)), cpu_s(server), time.monotonic()
                clients = {path: Client(url) for path in PATHS}
                sent, crawl_cpu = 0, 0.0
                while crawler.poll() is None and time.monotonic() < until:
                    clients[PATHS[sent % 2]].ask(PATHS[sent % 2], queries[sent // 2 % len(queries)])
                    sent += 1
                    if sent % 10 == 0:
                        crawl_cpu = max(crawl_cpu, sum(map(cpu_s, family)) - crawl_before)
                wall_s, spent = time.monotonic() - asked_from, cpu_s(server) - server_before
                ended, crawl_s, last = crawler.poll() is not None, time.monotonic() - began, documents(url)
    print(
        f"goodbot serve while a crawl writes, {first:,} to {last:,} pages in {wall_s:.0f} s, crawl "
        f"{crawl_cpu:.0f} CPU s{'' if ended else ', stopped at the limit'} (load before {load})\n{HEAD}"
    )
    each = spent / max(sent, 1)
    rows = [
        summary(path, client.times_ms, each * len(client.times_ms), wall_s, None) for path, client in clients.items()
    ]
    rows.append(summary("both", [ms for one in clients.values() for ms in one.times_ms], spent, wall_s, None))
    print(*(row.row() for row in rows), sep="\n", flush=True)
    return {
        "load": load,
        "pages": [first, last],
        "crawl_ended": ended,
        "crawl_wall_s": crawl_s,
        "crawl_cpu_s": crawl_cpu,
        "paths": [asdict(row) for row in rows],
    }


def indexing(crawl: Path, copy: Path) -> dict[str, Any]:
    """Indexes the same pages with both programs in turn."""
    until = time.monotonic() + LIMIT.value()
    pages = read_documents(copy, crawl, PAGES.value())
    load = _load()
    print(f"indexing (load before {load})\n{INDEX_HEAD}", flush=True)
    runs: dict[str, list[Indexed]] = {program: [] for program in PROGRAMS}
    for number in range(RUNS.value()):
        if number and time.monotonic() > until:
            break
        for program, made in runs.items():
            made.append(measure_indexing(pages, program))
            print(made[-1].row(), flush=True)
    medians = {
        program: [statistics.median(getattr(one, name) for one in made) for name in ("rate", "cpu_rate")]
        for program, made in runs.items()
    }
    ours, ratios = medians.pop("goodbot"), {}
    for program, theirs in medians.items():
        ratios[program] = dict(zip(("rate", "cpu_rate"), (ours[0] / theirs[0], ours[1] / theirs[1]), strict=True))
        print(f"goodbot / {program}: pages/s {ours[0] / theirs[0]:.2f}, pages/CPU s {ours[1] / theirs[1]:.2f}")
    adding = statistics.median(one.cpu_s - one.prepare_cpu_s for one in runs["goodbot"])
    plain = statistics.median(one.cpu_s for one in runs["plain Tantivy"])
    print(f"CPU of plain Tantivy / CPU of goodbot without preparation: {plain / adding:.2f}")
    parts = runs["goodbot"][-1].parts or {}
    print("bytes per page: " + ", ".join(f"{name} {size / len(pages):,.0f}" for name, size in parts.items()))
    figures = {"ratios": ratios, "without_preparation": plain / adding}
    return {"load": load, **figures, "runs": [asdict(one) for made in runs.values() for one in made]}


def main() -> int:
    """Prints the tables and writes all figures as JSON."""
    crawl, parts = CRAWL.value(), PARTS.value()
    figures: dict[str, Any] = {}
    with copied(crawl) as copy:
        queries = draw_queries(copy / "index", QUERIES.value())
        if "quiet" in parts:
            figures["quiet"] = quiet(copy, queries)
        if "crawl" in parts:
            figures["crawl"] = while_writing(queries)
        if "index" in parts:
            figures["index"] = indexing(crawl, copy)
    save("search_speed", figures)
    return 0


if __name__ == "__main__":
    settings = (CRAWL, SEED, QUERIES, CRAWL_PAGES, PAGES, RUNS, LIMIT, PARTS)
    raise SystemExit(start(__file__, __doc__, settings, main))
