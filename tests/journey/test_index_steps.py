"""The index follows its crawl through any order of crawls, kills, changes of the site, refreshes, rebuilds and removed
hosts: it has exactly the pages that the frontier has visited and that let themselves be indexed, with their texts."""

import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from journey.goodbot_process import Ended, ended, goodbot, start
from webserver import NOT_FOUND, Exchange, WebServer, answer

LEAVES: Final = 12
STEPS: Final = 36
EVERYWHERE: Final = "zebra"
UNLISTED: Final = "unlisted"
"""A word that a page has as long as it asks not to be indexed, so that its text says so too."""
SETTINGS: Final = "revisit_first = 0\nrevisit_least = 0\nrevisit_most = 0\ngone_tries = 100\n"
HTML: Final = ("Content-Type", "text/html; charset=utf-8")


@dataclass
class Leaf:
    """One page of a site, as it is now. `asks` says where it asks not to be indexed: in META, in a header field, or
    nowhere (empty). It goes away only if the crawl has visited it before (`is_known`): a page that is not there at its
    first visit is not visited again."""

    name: str
    has_tag: bool
    version: int = 0
    asks: str = ""
    is_gone: bool = False
    is_known: bool = False

    @property
    def word(self) -> str:
        """A word that only this version of this page has."""
        return f"{self.name}version{self.version}"

    @property
    def link_word(self) -> str:
        """A word that only the link to this page has."""
        return f"{self.name}linked"

    @property
    def is_listed(self) -> bool:
        return not (self.is_gone or self.asks)

    def change(self, dice: random.Random) -> None:
        """Changes the text, the directive, or both; or the page goes away or comes back."""
        self.is_gone = dice.random() < 0.2 and self.is_known
        self.asks = dice.choice(["", "", "meta", "header"])
        self.version += dice.randint(0, 1)


@dataclass
class Site:
    """A first page with links to all leaves."""

    name: str
    leaves: list[Leaf] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    """All words of versions that the site has ever served."""

    def __post_init__(self) -> None:
        self.leaves = [Leaf(f"{self.name}leaf{number}", has_tag=number % 3 == 0) for number in range(LEAVES)]

    async def __call__(self, exchange: Exchange) -> None:
        await exchange.send(self._answer(exchange))

    def _answer(self, exchange: Exchange) -> bytes:
        target = exchange.target.removeprefix("/")
        if not target:
            links = "".join(f"<p><a href=/{at}>{leaf.link_word}</a>" for at, leaf in enumerate(self.leaves))
            return answer(f"<title>{self.name}</title><p>{EVERYWHERE} {self.name}{links}".encode())
        if not target.isdigit() or self.leaves[int(target)].is_gone:
            return NOT_FOUND
        leaf = self.leaves[int(target)]
        tag = f'"{leaf.word}{leaf.asks}"'
        more = [("ETag", tag)] if leaf.has_tag else []
        if leaf.has_tag and exchange.header("If-None-Match") == tag:
            return answer(b"", 304, more)
        if leaf.asks == "header":
            more.append(("X-Robots-Tag", "noindex"))
        self.words.add(leaf.word)
        head = "<meta name=robots content=noindex>" if leaf.asks == "meta" else ""
        text = f"{EVERYWHERE} {leaf.word} {UNLISTED if leaf.asks else ''}"
        return answer(f"<title>{leaf.name}</title>{head}<p>{text}".encode(), headers=[HTML, *more])


class Trial:
    """A crawl of two sites, and what is done to it. `forgotten` are the hosts that were removed, `is_cut` says that the
    last command was killed, so that the index may be behind."""

    def __init__(self, folder: Path, servers: dict[WebServer, Site], dice: random.Random) -> None:
        self.folder = folder
        self.servers = servers
        self.dice = dice
        self.forgotten: set[WebServer] = set()
        self.is_cut = False

    # ---- steps ----

    async def crawl(self) -> None:
        """Visits some more pages; does nothing if all are visited."""
        await self._to_the_end("crawl", "--into", self.folder, "--max-pages", str(self.dice.randint(1, 6)))

    async def come_back(self) -> None:
        """Visits everything again. Then the index has what the sites have now."""
        await self._to_the_end("crawl", "--into", self.folder, "--keep-fresh", "--once")
        found = await self.found()
        for server, site in self.servers.items():
            listed = {server.url(f"/{at}") for at, leaf in enumerate(site.leaves) if leaf.is_listed}
            expected = set() if server in self.forgotten else {server.url("/"), *listed}
            assert {url for url in found if url.startswith(server.origin)} == expected
            for leaf in site.leaves:
                leaf.is_known = server not in self.forgotten
        await self.links_are_found(found)

    async def crawl_and_kill(self) -> None:
        """Kills a crawl after some requests, or while it commits to the index."""
        before, requests = self.index_files(), self.requests() + self.dice.randint(1, LEAVES)
        is_committing = self.dice.random() < 0.5
        workers = self.dice.choice(["1", "2"])
        options = ("--keep-fresh", "--once", "--workers", workers)
        process = await start("crawl", "--into", self.folder, *options, group=True)

        def is_reached() -> bool:
            return bool(self.index_files() - before) if is_committing else self.requests() >= requests

        while not is_reached() and process.returncode is None:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.001)
        await self._kill(process)

    def index_files(self) -> set[str]:
        """The files with which a commit of the index begins."""
        return {file.name for kind in ("del", "store") for file in (self.folder / "index").glob(f"*.{kind}")}

    async def refresh(self) -> None:
        refreshed = await goodbot("index", "refresh", "--in", self.folder)
        assert refreshed.status == 0, refreshed.err
        await self.links_are_found(await self.found())

    async def refresh_and_kill(self) -> None:
        was_cut = self.is_cut
        process = await start("index", "refresh", "--in", self.folder, group=True)
        while not any((self.folder / "index").glob("links-*/*.json")) and process.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await self._kill(process)
        self.is_cut = was_cut

    async def rebuild(self) -> None:
        await self._to_the_end("index", "rebuild", "--in", self.folder)
        await self.links_are_found(await self.found())

    async def rebuild_and_kill(self) -> None:
        process = await start("index", "rebuild", "--in", self.folder, group=True)
        while not (self.folder / "index.new").exists() and process.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await self._kill(process)

    async def change(self) -> None:
        for site in self.servers.values():
            for leaf in self.dice.sample(site.leaves, self.dice.randint(0, LEAVES // 3)):
                leaf.change(self.dice)

    async def forget(self) -> None:
        """Removes the second host, or lets it in again."""
        server = list(self.servers)[-1]
        host = server.origin.removeprefix("http://")
        if server in self.forgotten:
            undone = await goodbot("forget", host, "--in", self.folder, "--undo")
            assert undone.status == 0, undone.err
            submitted = await goodbot("submit", server.url("/"), "--in", self.folder)
            assert submitted.status == 0, submitted
            self.forgotten.clear()
            return
        for leaf in self.servers[server].leaves:
            leaf.is_gone = leaf.is_known = False
        result = await goodbot("forget", host, "--in", self.folder)
        assert result.status == 0, result.err
        self.forgotten.add(server)

    def requests(self) -> int:
        return sum(len(server.exchanges) for server in self.servers)

    async def _kill(self, process: asyncio.subprocess.Process) -> None:
        await asyncio.sleep(self.dice.choice([0, self.dice.uniform(0, 0.3)]))  # in the middle of a commit, too
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(process.pid, signal.SIGKILL)
        await ended(process)
        for server in self.servers:
            await server.deserted()
        self.is_cut = True

    async def _to_the_end(self, *command: str | Path) -> None:
        done = await goodbot(*command)
        assert done.status == 0, done
        self.is_cut = False

    # ---- what holds after each step ----

    async def search(self, query: str) -> Ended:
        return await goodbot("search", query, "--in", self.folder, "--json", "--top", "1000")

    async def found(self) -> set[str]:
        """The URLs of all documents in the index, each once."""
        searched = await self.search(EVERYWHERE)
        assert searched.status == 0, searched.err
        hits = [hit["url"] for hit in searched.json["hits"]]
        assert len(hits) == len(set(hits)) == searched.json["total"]
        return set(hits)

    async def indexable(self) -> tuple[dict[str, str], set[str]]:
        """The texts of the pages that the frontier has visited and whose archived text does not ask to be left out;
        and the pages that it is about to visit again, of which `export` does not give the text."""
        urls = (await goodbot("export", "--in", self.folder, "--what", "urls")).lines
        pages = (await goodbot("export", "--in", self.folder, "--what", "pages")).lines
        texts = {page["url"]: page["text"] for page in pages}
        assert texts.keys() == {line["url"] for line in urls if line["state"] == "visited"}
        waiting = {line["url"] for line in urls if line["state"] in ("ready", "leased") and line["fetched_at"]}
        return {url: text for url, text in texts.items() if UNLISTED not in text}, waiting

    async def check(self) -> None:
        searched = await self.search(EVERYWHERE)
        if searched.status == 3:  # the kill came while a rebuilt index was replacing the old one
            assert self.is_cut, searched.err
            assert "a rebuild was interrupted" in searched.complaint
            return
        found = await self.found()
        assert not [url for url in found for server in self.forgotten if url.startswith(server.origin)]
        if searched.err:  # the index is behind, and the search says so
            assert self.is_cut, searched.err
            assert len(searched.err.splitlines()) == 1
            return
        expected, waiting = await self.indexable()
        assert found - waiting == expected.keys()
        await self.texts_are_found(expected, waiting)

    async def texts_are_found(self, expected: dict[str, str], waiting: set[str]) -> None:
        """Each version of a page is found if and only if it is the one in the archive."""
        words = sorted({word for site in self.servers.values() for word in site.words})
        holders = {word: {url for url, text in expected.items() if word in text.split()} for word in words}
        found = await self._found_by(f'"{word}"' for word in words)
        assert [urls - waiting for urls in found] == [*holders.values()]

    async def links_are_found(self, listed: set[str]) -> None:
        """A word that only the link to a page has finds the page, and the page with the link."""
        asked, expected = list[str](), list[set[str]]()
        for server, site in self.servers.items():
            if (first := server.url("/")) in listed:
                for at, leaf in enumerate(site.leaves):
                    asked.append(leaf.link_word)
                    expected.append({first, server.url(f"/{at}")} & listed)
        assert await self._found_by(asked) == expected

    async def _found_by(self, queries: Iterable[str]) -> list[set[str]]:
        """The URLs of the hits for each query."""
        lines = [json.dumps({"id": str(number), "text": query}) for number, query in enumerate(queries)]
        file = self.folder / "queries.jsonl"
        file.write_text("\n".join(lines))
        answered = await goodbot("search", "--run", file, "--in", self.folder, "--json", "--top", "50")
        assert answered.status == 0, answered.err
        return [{hit["url"] for hit in line["hits"]} for line in answered.lines]


Step = Callable[[Trial], Awaitable[None]]
WEIGHTS: Final[dict[Step, int]] = {
    Trial.change: 8,
    Trial.crawl: 3,
    Trial.come_back: 4,
    Trial.crawl_and_kill: 7,
    Trial.refresh: 2,
    Trial.refresh_and_kill: 1,
    Trial.rebuild: 2,
    Trial.rebuild_and_kill: 2,
    Trial.forget: 3,
}


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_after_any_steps_the_index_has_the_indexable_pages_of_the_frontier(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    config = tmp_path / "settings.toml"
    config.write_text(SETTINGS)
    async with AsyncExitStack() as stack:
        servers = {
            await stack.enter_async_context(WebServer(fallback=site)): site for site in (Site("one"), Site("other"))
        }
        trial = Trial(tmp_path / "crawl", servers, dice)
        seeds = [server.url("/") for server in servers]
        options = ("--config", config, "--allow-private", "--no-duplicates", "--delay", "0.005", "--max-pages", "8")
        first = await goodbot("crawl", *seeds, "--into", trial.folder, *options)
        assert first.status == 0, first.err
        steps = dice.choices([*WEIGHTS], [*WEIGHTS.values()], k=STEPS)
        for step in (*steps, Trial.crawl, Trial.come_back):
            await step(trial)
            await trial.check()
        assert not trial.is_cut
