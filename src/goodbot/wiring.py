"""Settings → assembled objects. With `testing`, the only place that names concrete classes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from goodbot.config import FILE_NAME, Settings, load_settings, save_settings
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.ports import Archive, Ledger
from goodbot.robot.clock import SystemClock
from goodbot.robot.crawler import Crawler
from goodbot.robot.guard import AddressGuard, Network, private_range
from goodbot.robot.identity import identity_of
from goodbot.robot.permission import Permission
from goodbot.robot.politeness import Politeness
from goodbot.robot.reading import Reader
from goodbot.robot.replay import replay
from goodbot.robot.scope import Scope
from goodbot.robot.transport import CurlTransport
from goodbot.store.frontier import SqliteFrontier
from goodbot.store.memory import MemoryFrontier
from goodbot.store.warc import WarcArchive
from goodbot.url import Url, is_private_host, parse_url
from goodbot.values import Archived, Discovery, Outcome, Status, UrlRecord

SOFTWARE = f"goodbot/{version('goodbot')}"


class CrawlFolder:
    """Where a crawl keeps what it needs: `goodbot.toml`, `frontier.sqlite`, `warc/`, `index/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings_file = path / FILE_NAME
        self.frontier = path / "frontier.sqlite"
        self.warc = path / "warc"
        self.index = path / "index"

    @property
    def is_crawl(self) -> bool:
        """Whether there is one to resume or to read."""
        return self.frontier.is_file()

    def settings(self, base: Settings) -> Settings:
        """`base`, with what `goodbot.toml` in this folder says, if there is one."""
        return load_settings(self.settings_file, base) if self.settings_file.is_file() else base

    def check(self) -> None:
        """InputError, saying what to do, if there is no crawl here that can be read."""
        try:
            if not self.path.is_dir():
                raise InputError(f"no such folder: {self.path}")
            if not self.is_crawl:
                raise InputError(f"no crawl in {self.path}; start one with: goodbot crawl URL --into {self.path}")
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error

    def create(self) -> None:
        """Makes the folder if it is missing; InputError if it cannot be."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {self.path}: {error.strerror}") from error


# ---- reading a crawl ------------------------------------------------------------------------------------------------


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """What the frontier in `path` knows, read only; the crawl may be running."""
    folder = CrawlFolder(path)
    folder.check()
    frontier = SqliteFrontier.open(folder.frontier, read_only=True)
    try:
        yield frontier
    finally:
        frontier.close()


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive in `path`, read only. Raises InputError if the crawl keeps none."""
    folder = CrawlFolder(path)
    folder.check()
    if not folder.warc.is_dir():
        raise InputError(f"{path} has no archive (it was crawled with --no-archive)")
    archive = WarcArchive(folder.warc, SystemClock(), SOFTWARE, read_only=True)
    try:
        yield archive
    finally:
        archive.close()


def archived_pages(ledger: Ledger, archive: Archive) -> Iterator[Archived]:
    """The last capture of every page visited, in the order found; redirects and what is no page are left out."""
    for record in ledger.records():
        if record.state == "visited" and record.record is not None and 200 <= (record.status or 0) < 300:
            yield archive.read(record.record)


def open_search(path: Path) -> TantivySearch:
    """The index in `path`. Raises InputError if the crawl has none."""
    folder = CrawlFolder(path)
    folder.check()
    if not folder.index.is_dir():
        raise InputError(f"{path} has no index (it was crawled with --no-index)")
    return TantivySearch(folder.index)


# ---- crawling -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl that is open: its loop, its numbers, its seeds."""

    crawler: Crawler
    ledger: Ledger
    settings: Settings
    replayed: int

    def seed_records(self) -> list[UrlRecord]:
        """What became of each seed."""
        urls = (parse_url(seed) for seed in self.settings.seeds)
        records = (self.ledger.record(url) for url in urls if url is not None)
        return [record for record in records if record is not None]

    def status(self) -> Status:
        """The crawl in numbers."""
        return self.ledger.status()


@asynccontextmanager
async def open_crawl(
    path: Path, settings: Settings, observe: Callable[[Outcome], None] = lambda outcome: None
) -> AsyncIterator[Crawl]:
    """A crawl in `path`, begun or resumed with `settings`, whose seeds include those of before."""
    seeds = parse_seeds(settings.seeds)
    networks = opened_networks(settings, seeds)
    identity = identity_of(settings, version("goodbot"))
    if settings.contact is None and (public := next((seed for seed in seeds if _is_public(seed, settings)), None)):
        raise InputError(
            f"{public.host} is a public host: say who you are with --contact (a mail address or a URL), "
            "so that its owner can reach you"
        )
    folder = CrawlFolder(path)
    resumed = folder.is_crawl
    folder.create()
    clock = SystemClock()
    frontier = SqliteFrontier.open(folder.frontier, create=True, now=clock.now)
    archive = index = transport = None
    try:
        save_settings(folder.settings_file, settings)
        archive = WarcArchive(folder.warc, clock, SOFTWARE) if settings.archive else None
        index = TantivyIndex(folder.index) if settings.index else None
        guard = AddressGuard(networks)
        transport = CurlTransport(settings, guard, identity.user_agent, identity.from_, clock)
        scope = Scope(settings.scope, seeds, settings.depth, guard)
        replayed = replay(settings, identity.token, frontier, archive, index) if index is not None else 0
        if resumed:
            frontier.reconsider(scope.refuse)
        frontier.add(Discovery(seed, 0) for seed in seeds)
        crawler = Crawler(
            settings,
            frontier=frontier,
            queue=frontier,
            archive=archive,
            index=index,
            transport=transport,
            permission=Permission(
                settings,
                identity.token,
                transport,
                frontier,
                clock,
                keep=archive.put if archive else lambda capture: None,
            ),
            politeness=Politeness(settings),
            reader=Reader(settings, identity.token, scope, archive),
            clock=clock,
            observe=observe,
        )
        yield Crawl(crawler, frontier, settings, replayed)
    finally:
        if transport is not None:
            await transport.close()
        for part in (index, archive, frontier):
            if part is not None:
                part.close()


def parse_seeds(texts: Iterable[str]) -> list[Url]:
    """The seeds as URLs. Raises InputError for one that is none, saying what it may have meant."""
    seeds = []
    for text in texts:
        url = parse_url(text.strip())
        if url is None:
            _, separator, _ = text.partition("://")
            if separator:
                raise InputError(f"cannot crawl {text!r}: not an http or https URL")
            raise InputError(f"{text!r} is not a URL; did you mean https://{text}/ ?")
        seeds.append(url)
    return seeds


def opened_networks(settings: Settings, seeds: Iterable[Url]) -> list[Network]:
    """The private ranges `--allow-private` opens: those the seeds lie in, by literal, by `--resolve` or by name.

    Raises InputError for a private seed without `--allow-private`.
    """
    networks = []
    for seed in seeds:
        for address in _addresses(seed, settings):
            network = private_range(address)
            if network is None:
                continue
            if not settings.allow_private:
                raise InputError(f"{seed} is on a private address ({address}); add --allow-private if you mean it")
            networks.append(network)
    return networks


def _addresses(seed: Url, settings: Settings) -> list[str]:
    """The addresses of a seed; a name is resolved only to see which private range it opens."""
    pinned = _pinned(seed, settings)
    if pinned:
        return [pinned]
    if not is_private_host(seed.host):
        return _resolved(seed) if settings.allow_private else []
    return _resolved(seed) or ["127.0.0.1"]


def _pinned(seed: Url, settings: Settings) -> str | None:
    for entry in settings.resolve:
        host, _, rest = entry.partition(":")
        port, _, address = rest.partition(":")
        if host.lower() == seed.host and port == str(seed.port):
            return address.strip("[]")
    return None


@lru_cache(maxsize=1024)
def _resolved(seed: Url) -> list[str]:
    """Asked twice of a seed: which range it opens, and whether it is public."""
    try:
        found = socket.getaddrinfo(seed.host, seed.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []  # the crawl itself will say that the name does not resolve
    return sorted({str(entry[4][0]) for entry in found})


def _is_public(seed: Url, settings: Settings) -> bool:
    addresses = _addresses(seed, settings)
    return not (addresses and all(private_range(address) for address in addresses))


def new_settings(folder: CrawlFolder, base: Settings, options: dict[str, object], seeds: Iterable[str]) -> Settings:
    """What is asked of a crawl: `base`, then what the folder remembers, then `options` that were given."""
    settings = folder.settings(base)
    together = tuple(dict.fromkeys([*settings.seeds, *seeds]))
    if not together:
        raise InputError(f"no seed given, and no crawl in {folder.path} to resume")
    return replace(settings, seeds=together, **options)  # type: ignore[arg-type]


# ---- one robots.txt -------------------------------------------------------------------------------------------------


def fetch_access(url: Url) -> Access:
    """The robots.txt in force at the origin of a URL the user typed, private or not."""
    return asyncio.run(_fetch_access(url))


async def _fetch_access(url: Url) -> Access:
    settings = Settings(allow_private=True)
    guard = AddressGuard(opened_networks(settings, [url]))
    identity = identity_of(settings, version("goodbot"))
    transport = CurlTransport(settings, guard, identity.user_agent, identity.from_, SystemClock())
    try:
        permission = Permission(settings, identity.token, transport, MemoryFrontier(), SystemClock())
        access, _ = await permission.access(url)
    finally:
        await transport.close()
    return access
