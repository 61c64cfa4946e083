"""Measures how many pages of results `goodbot serve` answers per second, beside a plain search page.

    make bench-serve CRAWL=folder SECONDS=10 CONNECTIONS=8

wrk (`apt install wrk`) requests /search for SECONDS on CONNECTIONS connections, each as soon as the last one is
answered, after a second of warm-up. The queries are those of `bench_search_speed`, drawn from the pages of the crawl:
QUERIES of them, every fifth with its second page of results, every twentieth with its third, as far as there are so
many.

The peer (`peers/tantivy_site.py`) is Starlette, Jinja2 and Tantivy with its own query parser, ranking and snippets,
over titles and texts of the same documents, on the same HTTP server with the same settings and one process. It neither
corrects queries, nor groups copies and translations, nor stems words of other languages than English.

Any response but 2xx, and any broken connection, is a failure: the benchmark then ends with status 1. `CPU ms` is the
CPU time of the server for a request; both programs run on loopback, and wrk takes a core of its own.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psutil
import tantivy

from goodbot.index.stored_page import decode_page
from search_latency import CRAWL, copied, cpu_s, documents, serving, started
from search_queries import PAGES_AT_ONCE, draw_queries
from settings import UsageError, choice, save, start, whole

PROGRAMS_KNOWN = ("goodbot", "tantivy-site")
PEER = Path(__file__).parent / "peers" / "tantivy_site.py"
SCRIPT = Path(__file__).parent / "search_load.lua"
HITS = 10

Serving = Callable[[Path], AbstractContextManager[tuple[str, psutil.Process]]]


SECONDS = whole("SECONDS", 10, "how long each program is asked", 1, 3600)
CONNECTIONS = whole("CONNECTIONS", 8, "requests in flight at once", 1, 200)
QUERIES = whole("QUERIES", 400, "different queries", 1, 100_000)
PROGRAMS = choice("PROGRAMS", " ".join(PROGRAMS_KNOWN), "what is measured", PROGRAMS_KNOWN)


@dataclass(frozen=True)
class Load:
    """The result of one run of wrk. `page_bytes`: the mean size of a response with its header; `not_2xx` counts
    responses, `broken` connections that failed or timed out."""

    program: str
    requests: int
    requests_per_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    page_bytes: float
    server_cpu_s: float
    server_cpu_ms: float
    not_2xx: int
    broken: int

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.program:<14} {self.requests_per_s:>10.1f} {self.p50_ms:>8.1f} {self.p95_ms:>8.1f} "
            f"{self.p99_ms:>8.1f} {self.max_ms:>8.1f} {self.server_cpu_s:>7.1f} {self.server_cpu_ms:>7.2f} "
            f"{self.page_bytes:>8,.0f} {self.not_2xx + self.broken:>7,}"
        )


HEAD = (
    f"{'':<14} {'requests/s':>10} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8} {'CPU s':>7} {'CPU ms':>7} "
    f"{'bytes':>8} {'errors':>7}"
)


def targets(url: str, queries: Sequence[str]) -> list[str]:
    """Returns what is requested: each query with the number of a page of results that exists."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    made = []
    for number, query in enumerate(queries):
        connection.request("GET", f"/api/search?q={quote(query)}")
        pages = int(json.loads(connection.getresponse().read())["pages"])
        wanted = 3 if number % 20 == 19 else 2 if number % 5 == 4 else 1
        made.append(f"/search?q={quote(query)}&page={max(1, min(wanted, pages))}")
    connection.close()
    return made


def load(program: str, url: str, server: psutil.Process, requests: Path) -> Load:
    """Runs wrk against a server."""
    _wrk(url, requests, 1)
    before = cpu_s(server)
    figures = _wrk(url, requests, SECONDS.value())
    spent, count = cpu_s(server) - before, max(1, figures["requests"])
    return Load(
        program,
        figures["requests"],
        figures["requests"] / figures["wall_s"],
        p50_ms=figures["p50_ms"],
        p95_ms=figures["p95_ms"],
        p99_ms=figures["p99_ms"],
        max_ms=figures["max_ms"],
        page_bytes=figures["bytes"] / count,
        server_cpu_s=spent,
        server_cpu_ms=1000 * spent / count,
        not_2xx=figures["not_2xx"],
        broken=figures["broken"],
    )


def _wrk(url: str, requests: Path, seconds: int) -> dict[str, Any]:
    count = CONNECTIONS.value()
    command = ["wrk", "-t1", f"-c{count}", f"-d{seconds}s", "--timeout", "30s", "-s", str(SCRIPT), url]
    environment = {**os.environ, "TARGETS": str(requests)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    return figures


@contextmanager
def serving_peer(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Indexes the documents of a crawl's index with plain Tantivy, and serves them during the block."""
    with tempfile.TemporaryDirectory() as place:
        with subprocess.Popen([sys.executable, PEER, "index", place], stdin=subprocess.PIPE, text=True) as indexing:
            assert indexing.stdin is not None
            for document in _documents(folder):
                indexing.stdin.write(json.dumps(document) + "\n")
            indexing.stdin.close()
        if indexing.returncode:
            raise SystemExit(f"bench-serve: indexing with {PEER.name} failed")
        with started([sys.executable, str(PEER), "serve", place], subprocess.PIPE) as server:
            assert server.stdout is not None
            yield server.stdout.readline().decode().strip(), psutil.Process(server.pid)


def _documents(folder: Path) -> Iterator[dict[str, str]]:
    searcher = tantivy.Index.open(str(folder / "index")).searcher()
    for offset in range(0, searcher.num_docs, PAGES_AT_ONCE):
        for _, address in searcher.search(tantivy.Query.all_query(), PAGES_AT_ONCE, count=False, offset=offset).hits:
            page = decode_page(bytes(searcher.doc(address).get_first("shown") or b""))
            yield {"url": page.url, "title": page.title, "text": page.text}


SERVING: dict[str, Serving] = {"goodbot": serving, "tantivy-site": serving_peer}


def main() -> int:
    """Prints the table and writes all figures as JSON."""
    if shutil.which("wrk") is None:
        raise UsageError("wrk is not installed; apt install wrk")
    before = round(os.getloadavg()[0], 2)
    with copied(CRAWL.value()) as folder, tempfile.TemporaryDirectory() as place:
        requests = Path(place) / "targets"
        with serving(folder) as (url, _):
            pages = documents(url)
            requests.write_text(
                "".join(f"{it}\n" for it in targets(url, draw_queries(folder / "index", QUERIES.value())))
            )
        print(f"{pages:,} pages, {CONNECTIONS.value()} connections (load before {before})\n{HEAD}", flush=True)
        rows = []
        for program in PROGRAMS.value():
            with SERVING[program](folder) as (url, server):
                rows.append(load(program, url, server, requests))
            print(rows[-1].row(), flush=True)
    figures: dict[str, Any] = {"load": before, "pages": pages, "connections": CONNECTIONS.value()}
    if len(rows) == 2:
        ours, theirs = rows
        figures["ratios"] = {
            name: getattr(ours, name) / getattr(theirs, name) for name in ("requests_per_s", "p95_ms", "server_cpu_ms")
        }
        print(
            "goodbot / tantivy-site: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in figures["ratios"].items())
        )
    save("serve", {**figures, "programs": [asdict(row) for row in rows]})
    return 1 if any(row.not_2xx or row.broken for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (CRAWL, SECONDS, CONNECTIONS, QUERIES, PROGRAMS), main))
