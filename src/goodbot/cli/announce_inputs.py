"""Reads what `goodbot announce` is to send, to whom, and with which key."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import realpath
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.announce.announce_values import Change, Service, Unread
from goodbot.announce.key import default_location
from goodbot.announce.services import KNOWN, service_named
from goodbot.announce.sitemap_fetching import SitemapFetcher
from goodbot.announce.sitemap_reading import Sitemap, sitemap_in_file
from goodbot.announce.sources import crawl_changes, listed_changes, url_lines
from goodbot.announce.typed_urls import refuse_login, stated_url, whole_url
from goodbot.announce.worklist import Worklist
from goodbot.cli.command_groups import did_you_mean
from goodbot.cli.options import opened_input, site_meant
from goodbot.cli.printing import say_folded
from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.url import Url, is_private_host

MOST_OPENED: Final = 20
"""Sites whose names are looked up to find out whether they are on a private network."""

UNREAD_SHOWN: Final = 20
"""Sitemaps that could not be read, with a message each; JSON has all."""

UNREAD_NAMED: Final = 3
"""Sitemaps that the last message names."""

STATE_NAME: Final = "announced.sqlite"
"""The state file in the folder of a crawl."""


# ---- services and key -----------------------------------------------------------------------------------------------


def services_named(texts: Iterable[str]) -> list[Service]:
    """Returns the services that the user named, each once. Raises InputError."""
    found: dict[Url, Service] = {}
    for text in texts:
        service = service_named(text)
        if service is None:
            hint = did_you_mean(text, KNOWN) or f": give the URL of a service, or one of {', '.join(KNOWN)}"
            raise InputError(f"there is no service {shown(text)!r}{hint}")
        found.setdefault(service.url, service)
    return list(found.values())


def sharing_note(services: Iterable[Service]) -> str:
    """Says that one of several well-known services is enough; empty if that does not apply."""
    shared = [service.name for service in services if service.name in KNOWN]
    if len(shared) < 2:
        return ""
    return f"{', '.join(shared[:-1])} and {shared[-1]} pass announcements on to each other: one of them is enough"


def key_locations(work: Worklist, hosts: Mapping[str, str], key: str, given: Url | None) -> dict[str, Url]:
    """Returns where each host serves the key: at `given` for its host, else in the root folder. `hosts`: host → origin.
    Raises InputError if `given` is of none of the hosts, or does not apply to one of the pages."""
    if given is not None and hosts:
        _check_location(work, given, hosts)
    locations: dict[str, Url] = {}
    for host, origin in hosts.items():
        location = given if given is not None and given.authority == host else default_location(origin, key)
        if location is None:
            raise InputError(f"{origin}/{key}.txt is longer than a URL may be")
        locations[host] = location
    return locations


def _check_location(work: Worklist, given: Url, hosts: Iterable[str]) -> None:
    if given.authority not in hosts:
        raise InputError(f"--key-location {given} is on another host than the URLs")
    folder = given.path[: given.path.rindex("/") + 1]
    page = work.page_outside(given.authority, folder)
    if page is not None:
        raise InputError(f"the key at {given} applies to URLs in its folder only, and {page} is not in {folder}")


def check_reach(work: Worklist, services: Iterable[Service], hosts: Mapping[str, str]) -> None:
    """Raises InputError if a service on a public address would get URLs of a private one, which it cannot fetch.
    `hosts`: host → origin."""
    public = next((service for service in services if not is_private_host(service.url.host)), None)
    private = next((host for host, origin in hosts.items() if is_private_host(Url(f"{origin}/").host)), None)
    if public is not None and private is not None:
        raise InputError(f"{public.name} cannot fetch {work.first_page(private)}: the address is private")


# ---- pages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the pages to announce are, as the user gave it."""

    urls: Sequence[str] = ()
    lists: Sequence[str] = ()
    sitemaps: Sequence[str] = ()
    crawl: Path | None = None

    def check(self, *, only_changed: bool) -> None:
        """Raises InputError if there is no source, no crawl in its folder, or a source that cannot show what has
        changed."""
        if not (self.urls or self.lists or self.sitemaps or self.crawl):
            raise InputError("give URLs, a list of them with --urls, a sitemap with --sitemap, or a crawl with --in")
        if only_changed and (self.urls or self.lists):
            raise InputError(
                "--changed needs a sitemap (--sitemap) or a crawl (--in): a list of URLs does not say what has changed"
            )
        if self.crawl is not None:
            from goodbot.crawl_folder import CrawlFolder  # noqa: PLC0415  (imports the index and the robot)

            CrawlFolder(self.crawl).check()


@dataclass(slots=True)
class Reading:
    """Reads sources into a list of pages. `sites` are URLs of hosts that the user named, up to `MOST_OPENED`: these
    may be on private addresses. `left_out` counts entries of sitemaps that cannot be used; `unread` are sitemaps that
    were not read, or only in part."""

    work: Worklist
    sites: dict[str, Url] = field(default_factory=dict)
    left_out: int = 0
    unread: list[Unread] = field(default_factory=list)
    _indexes: list[tuple[str, Sitemap]] = field(default_factory=list)

    def read_local(self, sources: Sources) -> None:
        """Reads all sources but sitemaps on servers. Raises InputError, or RunError."""
        self.work.add(self._named(Change(_typed(text)) for text in sources.urls))
        for name in sources.lists:
            with opened_input(name, or_site=True) as file:
                self.work.add(self._named(Change(url) for url in url_lines(file, name)))
        for name in sources.sitemaps:
            refuse_login(name)
            if (url := stated_url(name)) is not None:
                self._name(url)
            else:
                with opened_input(name, or_site=True) as file:
                    self._add_sitemap(file, name)
        if sources.crawl is not None:
            self._add_crawl(sources.crawl)

    def fetches(self, sources: Sources) -> bool:
        """Whether a sitemap must be fetched."""
        return bool(self._indexes) or any(stated_url(name) is not None for name in sources.sitemaps)

    async def read_fetched(self, sources: Sources, fetcher: SitemapFetcher) -> None:
        """Reads the sitemaps that are on servers, those named by local files too. Raises InputError, or RunError."""
        for name in sources.sitemaps:
            if (url := stated_url(name)) is not None:
                await self._add_fetched(fetcher.sitemaps(url))
        for name, index in self._indexes:
            await self._add_fetched(fetcher.named_by(name, index))

    async def _add_fetched(self, found: AsyncIterator[Sitemap]) -> None:
        async for sitemap in found:
            self.work.add(listed_changes(sitemap.entries))

    def finished(self, name: str, sitemap: Sitemap) -> None:
        """Prints what was not read or left out of a sitemap, after its last entry."""
        self.left_out += sitemap.invalid + sitemap.refused
        if sitemap.unread:
            self._lacks(Unread(name, f"only a part was read: {sitemap.unread}"))
        for note in sitemap.notes(name):
            say_folded(note, err=True)

    def failed(self, unread: Unread) -> None:
        """Prints that a sitemap named by an index could not be read."""
        self._lacks(unread)
        if len(self.unread) <= UNREAD_SHOWN:
            say_folded(f"left out: {unread.why}", err=True)

    def _lacks(self, unread: Unread) -> None:
        self.unread.append(unread)
        self.work.is_partial = True

    def _add_crawl(self, path: Path) -> None:
        from goodbot.crawl_folder import CrawlFolder, open_ledger  # noqa: PLC0415  (imports the index and the robot)

        is_indexed = CrawlFolder(path).settings_before().index
        with open_ledger(path) as ledger:
            self.work.add(self._named(crawl_changes(ledger.records(), is_indexed=is_indexed)))

    def _add_sitemap(self, file: BinaryIO, name: str) -> None:
        sitemap = sitemap_in_file(file)
        if sitemap is None:
            raise InputError(f"{name} is not a sitemap")
        if sitemap.kind == "sitemap index":
            entries = list(sitemap.entries)
            for entry in entries:
                self._name(entry.url)
            sitemap.entries = iter(entries)
            self._indexes.append((name, sitemap))
            return
        self.work.add(self._named(listed_changes(sitemap.entries)))
        self.finished(name, sitemap)

    def _named(self, changes: Iterable[Change]) -> Iterator[Change]:
        for change in changes:
            self._name(change.url)
            yield change

    def _name(self, url: Url) -> None:
        if len(self.sites) < MOST_OPENED:
            self.sites.setdefault(url.authority, url)


def _typed(text: str) -> Url:
    try:
        return whole_url(text)
    except InputError as error:
        meant = site_meant(text) if text else None
        raise InputError(f"{error}; did you mean {meant}?" if meant else str(error)) from error


# ---- the state file -------------------------------------------------------------------------------------------------


def state_path(state: Path | None, crawl: Path | None, *, only_changed: bool) -> Path | None:
    """Returns the state file to use; None: none. Raises InputError if options contradict each other, or one is
    missing."""
    if not only_changed:
        if state is not None:
            raise InputError("--state belongs to --changed")
        return None
    if state is None and crawl is None:
        raise InputError("--changed needs a file that keeps what was accepted: --state announced.sqlite")
    return state if state is not None else crawl / STATE_NAME if crawl is not None else None


def files_of_state(state: Path) -> list[str]:
    """Returns the names of the state file, and of those that SQLite may make beside it."""
    return [f"{path}{end}" for path in (state, realpath(state)) for end in ("", "-journal", "-wal", "-shm")]


def nothing_found(sources: Sources, reading: Reading) -> GoodbotError | None:
    """Returns the error for sources without a page; None if they are sitemaps that list none."""
    if reading.unread:
        return RunError(f"there is no URL to announce: {unread_line(reading.unread)}")
    if reading.left_out:
        return InputError("there is no URL to announce: all that was found is left out")
    if sources.crawl is not None:
        return InputError(f"the crawl in {sources.crawl} has no page to announce yet")
    return InputError("there is no URL to announce") if sources.lists else None


def unread_line(unread: Sequence[Unread]) -> str:
    """Says that sitemaps were not read, or only in part, and names the first."""
    names = list(dict.fromkeys(each.sitemap for each in unread))
    more = f" and {len(names) - UNREAD_NAMED:,} more" if len(names) > UNREAD_NAMED else ""
    what = f"{counted(len(names), 'sitemap')} could not be read, or not completely"
    return f"{what}: {', '.join(map(shown, names[:UNREAD_NAMED]))}{more}"
