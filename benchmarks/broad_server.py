"""Simulates a Web of many small hosts on loopback addresses: an HTTP server on a few addresses, and a name server that
distributes the host names over these addresses.

    broad_server.py HOSTS PAGE_KB LOG

Prints one JSON line with its ports, and runs until SIGTERM. All properties of a host follow from its number, and those
of a page from the number of its host and its path, so every crawl meets the same Web:

- of 1,000 hosts 30 have no address, 20 refuse connections, 10 answer everything with 503, and 5 never answer;
- the others answer after a mean time of 0.05 to 3 s (0.65 s over all hosts; a single answer takes up to 30 % more or
  less), and have 1 to 5,000 pages;
- of 100 robots.txt files 15 do not exist, 2 are answered with 503 and 3 redirect to another host (h1 to r1); the others
  ask for a Crawl-delay of 1 s, and their sizes are distributed as those of 1,000 real files (60 bytes to 60 kB, mean
  7.5 kB);
- of 100 pages 4 do not exist, 1 has status 500, and 5 redirect. A page has 75 links, 15 of them to other hosts.

The server writes a line to LOG for each request: when it came and when it was answered (monotonic time in seconds),
host, kind, status, bytes of the body. The status is 0 if the connection ended without an answer.
"""

import asyncio
import importlib
import importlib.util
import json
import random
import resource
import signal
import struct
import sys
import time
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import IO, NamedTuple, cast
from zlib import crc32

ADDRESSES = tuple(f"127.0.2.{number}" for number in range(1, 9))
REFUSING = "127.0.2.99"
DOMAIN = "broad.test"
DELAY_S = 1.0
ANSWERS_S = (0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.8, 1.2, 3.0)
PAGES = (1, 3, 5, 10, 20, 50, 100, 300, 1000, 5000)
ROBOTS_BYTES = (60, 100, 200, 400, 650, 1_000, 1_900, 4_000, 8_000, 60_000)
PAGE_SHARES = (0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 1.05, 1.4, 1.9, 3.07)
"""Page sizes as multiples of the mean."""
LINKS_BYTES = 4300
PORTAL_LINKS = 5000
KINDS = {"nameless": 30, "refusing": 20, "broken": 10, "silent": 5}
RULES = b"".join(b"Disallow: /no-such-folder/%d/\n" % number for number in range(2000))
REASONS = {200: b"OK", 301: b"Moved Permanently", 404: b"Not Found", 500: b"Internal Error", 503: b"Unavailable"}


class Answer(NamedTuple):
    """What a host answers. `after_s`: after how many seconds; None: never."""

    kind: str
    status: int
    after_s: float | None
    body: bytes = b""
    location: str = ""


def pick(text: str, of: int) -> int:
    """Returns a number from 0 to `of` - 1 that depends only on the text."""
    return crc32(text.encode()) * 2654435761 % (1 << 40) % of


def kind_of(host: int) -> str:
    """Returns the kind of a host: nameless (without address), refusing, broken (only 503), silent or honest."""
    number = pick(f"kind {host}", 1000)
    for kind, below in zip(KINDS, accumulate(KINDS.values()), strict=True):
        if number < below:
            return kind
    return "honest"


def answer_s(host: int) -> float:
    """Returns the mean seconds that a host takes to answer."""
    return ANSWERS_S[pick(f"slow {host}", len(ANSWERS_S))]


@cache
def paragraphs() -> tuple[bytes, ...]:
    """Returns paragraphs of about 100 words. A few words are frequent, as in real languages (Zipf's law)."""
    chance = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(20_000)]
    weights = list(accumulate(1.0 / rank for rank in range(1, len(words) + 1)))
    texts = (" ".join(chance.choices(words, cum_weights=weights, k=48)) for _ in range(4000))
    pairs = zip(texts, texts, strict=True)
    return tuple(f'<div class="text"><p>{a} <em>{b}</em>.</p></div>\n'.encode() for a, b in pairs)


class Site:
    """Knows the answers of all hosts."""

    def __init__(self, hosts: int, page_bytes: int, port: int) -> None:
        self._hosts = hosts
        self._page_bytes = page_bytes
        self.port = port

    def answer(self, host: str, path: str) -> Answer:
        """Returns the answer to a request."""
        name = host.partition(".")[0]
        if name[:1] not in ("h", "r"):
            return Answer("robots", 404, 0.0) if path == "/robots.txt" else self._portal(path)
        number = int(name[1:])
        kind = "robots" if path == "/robots.txt" else "page"
        nature = kind_of(number)
        if nature == "silent":
            return Answer(kind, 0, None)
        after_s = answer_s(number) * (0.7 + pick(f"time {host}{path}", 601) / 1000)
        if nature == "broken":
            return Answer(kind, 503, after_s)
        return self._robots(name, after_s) if kind == "robots" else self._page(number, path, after_s)

    def url(self, host: int, path: str = "/") -> str:
        return f"http://h{host}.{DOMAIN}:{self.port}{path}"

    def _portal(self, path: str) -> Answer:
        begin = int(path[1:] or 0) * PORTAL_LINKS
        links = [
            f'<a href="{self.url(host)}">{host}</a>' for host in range(begin, min(begin + PORTAL_LINKS, self._hosts))
        ]
        if begin == 0:
            links = [f'<a href="/{page}">more</a>' for page in range(1, -(-self._hosts // PORTAL_LINKS))] + links
        return Answer("portal", 200, 0.0, "\n".join(["<title>portal</title>", *links]).encode())

    def _robots(self, name: str, after_s: float) -> Answer:
        host = int(name[1:])
        number = pick(f"robots {host}", 100)
        if number < 17:
            return Answer("robots", 404 if number < 15 else 503, after_s)
        if number < 20 and name.startswith("h"):
            return Answer("robots", 301, after_s, location=f"http://r{host}.{DOMAIN}:{self.port}/robots.txt")
        size = ROBOTS_BYTES[pick(f"rules {host}", len(ROBOTS_BYTES))]
        return Answer("robots", 200, after_s, b"User-agent: *\nCrawl-delay: 1\n" + RULES[:size])

    def _page(self, host: int, path: str, after_s: float) -> Answer:
        key = f"{host}{path}"
        number = pick(f"status {key}", 100) if path != "/" else 99
        if number < 5:
            return Answer("page", 404 if number else 500, after_s, b"<title>no page</title>")
        if number < 10:
            return Answer("page", 301, after_s, location=self.url(host, f"/p/{pick(key, 1000)}"))
        return Answer("page", 200, after_s, self._text(host, key))

    def _text(self, host: int, key: str) -> bytes:
        seed = pick(f"text {key}", 1 << 30)
        pages = PAGES[pick(f"pages {host}", len(PAGES))]
        links = [f'<li><a href="/p/{(seed * (i + 1) >> 5) % pages}">Part {i}</a></li>' for i in range(60)]
        links += [f'<li><a href="{self.url((seed * (i + 1) >> 3) % self._hosts)}">See {i}</a></li>' for i in range(15)]
        size = int(self._page_bytes * PAGE_SHARES[pick(f"size {key}", len(PAGE_SHARES))])
        texts = paragraphs()
        begin, step = seed % len(texts), 1 + seed % 97
        wanted = max(1, (size - LINKS_BYTES) // len(texts[0]))
        chosen = [texts[(begin + i * step) % len(texts)] for i in range(wanted)]
        head = f"<!doctype html><html lang=en><head><title>{key}</title></head><body><h1>{key}</h1><ul>"
        return b"".join([head.encode(), "\n".join(links).encode(), b"</ul>\n", *chosen, b"</body></html>"])


class Connection(asyncio.Protocol):
    """Answers the requests of one connection, one after the other."""

    def __init__(self, site: Site, log: IO[str]) -> None:
        self._site = site
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._unread = b""
        self._waiting: tuple[asyncio.TimerHandle | None, float, str, Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        head, end, rest = self._unread.partition(b"\r\n\r\n")
        if end and self._waiting is None:
            self._unread = rest
            lines = head.decode("latin-1").split("\r\n")
            host = next((line[5:].strip() for line in lines if line[:5].lower() == "host:"), "")
            answer = self._site.answer(host, lines[0].split(" ")[1])
            timer = None if answer.after_s is None else self._loop.call_later(answer.after_s, self._answer)
            self._waiting = timer, time.monotonic(), host, answer

    def _answer(self) -> None:
        assert self._waiting is not None
        answer = self._waiting[3]
        head = b"HTTP/1.1 %d %s\r\n" % (answer.status, REASONS[answer.status])
        head += b"Content-Type: text/%s\r\n" % (b"plain" if answer.kind == "robots" else b"html; charset=utf-8")
        if answer.location:
            head += f"Location: {answer.location}\r\n".encode()
        self._record(answer.status)  # before the client can have the answer, so that its next request never seems early
        self._transport.write(b"%sContent-Length: %d\r\n\r\n%s" % (head, len(answer.body), answer.body))
        if self._unread:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            if self._waiting[0] is not None:
                self._waiting[0].cancel()
            self._record(0)

    def _record(self, status: int) -> None:
        assert self._waiting is not None
        _, began, host, answer = self._waiting
        self._waiting = None
        print(began, time.monotonic(), host, answer.kind, status, len(answer.body), sep="\t", file=self._log)


class Names(asyncio.DatagramProtocol):
    """Answers DNS queries for the hosts."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str | int, int]) -> None:
        end = data.index(b"\0", 12) + 5  # behind name, type and class
        name, kind = data[13 : 13 + data[12]].decode("latin-1").lower(), data[end - 4 : end - 2]
        nature = kind_of(int(name[1:])) if name[1:].isdigit() else "nameless"
        address = REFUSING if nature == "refusing" else ADDRESSES[pick(name, len(ADDRESSES))]
        records = b"\xc0\x0c\0\1\0\1\0\0\x0e\x10\0\4" + bytes(map(int, address.split(".")))
        found = nature != "nameless" and kind == b"\0\1"
        flags = 0x8183 if nature == "nameless" else 0x8180
        head = data[:2] + struct.pack(">HHHHH", flags, 1, found, 0, 0)
        self._transport.sendto(head + data[12:end] + (records if found else b""), addr)


async def serve(hosts: int, page_bytes: int, log: IO[str]) -> None:
    """Serves pages and names until SIGTERM."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    paragraphs()
    site = Site(hosts, page_bytes, 0)
    listeners = []
    for address in ADDRESSES:
        listener = await loop.create_server(lambda: Connection(site, log), address, site.port, backlog=4096)
        site.port = listener.sockets[0].getsockname()[1]
        listeners.append(listener)
    names, _ = await loop.create_datagram_endpoint(Names, local_addr=(ADDRESSES[0], 0))
    dns = names.get_extra_info("sockname")[1]
    print(json.dumps({"port": site.port, "dns": dns}), flush=True)
    await stopped.wait()
    names.close()
    for listener in listeners:
        listener.close()


def main(hosts: str, page_kb: str, log: str) -> None:
    """Raises the limit for open files, then serves."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    run = importlib.import_module("uvloop").run if importlib.util.find_spec("uvloop") else asyncio.run
    with Path(log).open("w", buffering=1) as file:
        run(serve(int(hosts), int(float(page_kb) * 1000), file))


if __name__ == "__main__":
    main(*sys.argv[1:])
