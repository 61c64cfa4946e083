"""Serves example sites of the audit, crawls them with goodbot, and returns what the audit finds."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from goodbot.audit.kind import SitePage
from journey.goodbot_process import HASTY, goodbot
from store.foreign.foreign_samples import members, response
from webserver import Exchange, Route, WebServer, answer


def routes_of(pages: Iterable[SitePage], site: str) -> dict[str, Route]:
    """The answers of a site whose origin is `site`."""
    routes: dict[str, Route] = {}
    for page in pages:
        fields = [("Content-Type", page.media_type)]
        fields += [("Location", page.location)] if page.location else []
        routes[page.path] = _after(page.taken_s, answer(page.sent_body(site), page.status, fields))
    return routes


def _after(seconds: float, sent: bytes) -> Route:
    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await exchange.send(sent)

    return slow if seconds else sent


async def crawled(server: WebServer, folder: Path, *options: str, start: str = "/") -> Path:
    """Crawls the site of a server into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "goodbot.toml").write_text(HASTY + "tries = 1\n")
    into = folder / "crawl"
    ended = await goodbot("crawl", server.url(start), "--into", into, "--allow-private", *options, folder=folder)
    assert ended.status == 0, ended.err
    return into


async def crawled_at_ports(folder: Path) -> Path:
    """A crawl of one public host with several schemes and ports, from an archive. Each page has its own title, and none
    has a language; one of http://h.example asks not to be indexed."""
    places = ("http://h.example/1", "http://h.example/2", "https://h.example/", "http://h.example:8080/")
    urls = (*places, "http://h.example:8443/", "https://h.example:8443/")
    records = [response(url, f"<title>{url}</title><p>{url}".encode()) for url in urls]
    hidden = response("http://h.example/hidden", b'<title>Hidden</title><meta name="robots" content="noindex">')
    file = folder / "ports.warc.gz"
    file.write_bytes(members([*records, hidden]))
    ended = await goodbot("archive", "import", file, "--into", folder / "crawl")
    assert ended.status == 0, ended.err
    return folder / "crawl"


async def audited(crawl: Path, *options: str) -> list[dict[str, Any]]:
    """The findings about a crawl, as JSON."""
    ended = await goodbot("audit", "--in", crawl, "--json", *options)
    assert ended.status in (0, 1), ended.err
    found: list[dict[str, Any]] = json.loads(ended.out)
    return found
