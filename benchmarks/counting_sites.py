"""Many sites that note every request: for measuring whether a crawler keeps the delays that they ask for.

    python counting_sites.py SITES PAGES LOG

Each site has a loopback address of its own, asks for a delay in its robots.txt, and has PAGES pages, which link to each
other and to the next site. The program prints the port, which is the same for all sites. LOG gets a line for each
request: the site, the path, and the seconds at which the request came in (the clock that runs since the machine was
started).
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Final, NamedTuple, TextIO

FIRST: Final = (127, 77, 0, 1)
"""The address of the first site; the others follow, 250 in each block."""
DELAYS_S: Final = (0.2, 0.3, 0.5, 0.7, 1.0)
"""The delays that the sites ask for, in turn."""
LINKS: Final = 10


def address_of(site: int) -> str:
    """Returns the loopback address of a site."""
    a, b, c, d = FIRST
    return f"{a}.{b}.{c + site // 250}.{d + site % 250}"


def delay_of(site: int) -> float:
    """Returns the seconds that a site asks crawlers to wait between two requests."""
    return DELAYS_S[site % len(DELAYS_S)]


def start_page(site: int, port: int) -> str:
    """Returns the URL of the page of a site that leads to all others."""
    return f"http://{address_of(site)}:{port}/0"


class Sites:
    """Answers for all sites."""

    def __init__(self, sites: int, pages: int, log: TextIO) -> None:
        self._sites = {address_of(site): site for site in range(sites)}
        self._pages = pages
        self._log = log

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of one connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                at = time.clock_gettime(time.CLOCK_BOOTTIME)
                path = head.split(b" ", 2)[1].decode("ascii")
                address, port = writer.get_extra_info("sockname")
                site = self._sites.get(address)
                if site is None:
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                self._log.write(f"{site} {path} {at:.6f}\n")
                kind, body = self._body(site, port, path)
                writer.write(
                    f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the crawler has closed the connection, or was killed
        finally:
            writer.close()

    def _body(self, site: int, port: int, path: str) -> tuple[str, bytes]:
        if path == "/robots.txt":
            return "text/plain", f"User-agent: *\nCrawl-delay: {delay_of(site)}\n".encode()
        page = int(path[1:]) if path[1:].isdecimal() else 0
        links = [f"/{(page * LINKS + number) % self._pages}" for number in range(1, LINKS + 1)]
        links.append(start_page((site + 1) % len(self._sites), port))
        text = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        return "text/html", f"<title>{site} {page}</title><p>Page {page} of site {site}.</p>{text}".encode()


class Request(NamedTuple):
    """One request that a site has noted, `at` seconds after the machine was started."""

    site: int
    path: str
    at: float


def read_log(log: Path) -> list[Request]:
    """Returns the requests noted in a log, which may still be written."""
    lines = (line.split() for line in log.read_text().split("\n")[:-1])
    return [Request(int(site), path, float(at)) for site, path, at in lines]


def too_soon(requests: list[Request]) -> Iterator[tuple[Request, Request]]:
    """Yields each request that came sooner than the delay of its site after the one before, with that one."""
    for earlier, later in _in_turn(requests):
        if later.at - earlier.at < delay_of(later.site):
            yield earlier, later


def least_spare_s(requests: list[Request]) -> float:
    """Returns by how many seconds the delay of a site was exceeded at least, negative if one was not kept; infinity if
    no site had two requests."""
    gaps = (later.at - earlier.at - delay_of(later.site) for earlier, later in _in_turn(requests))
    return min(gaps, default=inf)


def _in_turn(requests: list[Request]) -> Iterator[tuple[Request, Request]]:
    """Yields each request of a site with the one before."""
    by_site: dict[int, list[Request]] = {}
    for request in sorted(requests, key=lambda item: item.at):
        by_site.setdefault(request.site, []).append(request)
    for made in by_site.values():
        yield from pairwise(made)


def repeated(requests: list[Request]) -> int:
    """Returns how many requests asked for a page that had been asked for before."""
    counts = Counter((request.site, request.path) for request in requests if request.path != "/robots.txt")
    return sum(count - 1 for count in counts.values())


async def serve(sites: int, pages: int, log: TextIO) -> None:
    """Answers until the process is ended."""
    server = await asyncio.start_server(Sites(sites, pages, log).answer, "0.0.0.0", 0, backlog=1000)
    async with server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    with Path(sys.argv[3]).open("a", buffering=1) as opened:  # a line is written before its request is answered
        asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), opened))
