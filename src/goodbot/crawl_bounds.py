"""Says which submitted URLs belong to a crawl, without reading its settings and seeds for each of them."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.robot.crawl.submissions import Refuse
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import Seeding, guard_of, opened_networks, parse_seeds
from goodbot.url import Url

FORGOTTEN: Final = "its host is forgotten (goodbot forget HOST --undo)"

_Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a crawl. `settings` are those of its folder; `scope` allows the private addresses of its seeds.

    `authorities` are the hosts of seeds, with port if it is not the default. Only there a URL that a stranger names may
    lead to a private address. If the crawl allows no private address at all, listed seeds are not among them. `origins`
    are those of the same seeds.
    """

    settings: Settings
    scope: Scope
    authorities: frozenset[str]
    origins: frozenset[str]

    @property
    def check(self) -> Callable[[Url], None]:
        """Raises InputError for a URL that this crawl may never request: a public one if it has no contact."""
        return Seeding(self.settings).check


class CrawlBounds:
    """Reads the bounds of the crawl in a folder, again only if its settings or seeds have changed. Several threads may
    use it."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._known: tuple[_Stamp, Bounds] | None = None

    def current(self) -> Bounds:
        """Returns the bounds. Raises InputError if a setting or a seed is invalid."""
        with self._lock:
            stamp = self._stamp()
            if self._known is None or self._known[0] != stamp:
                self._known = stamp, bounds_of(self._folder)
            return self._known[1]

    def _stamp(self) -> _Stamp:
        files = [self._folder.settings_file, *sorted(self._folder.seeds.path.glob("*.txt"))]
        return tuple(map(_stamp_of, files))


def _stamp_of(file: Path) -> tuple[str, int, int]:
    try:
        status = file.stat()
    except FileNotFoundError:  # a running crawl renames its lists
        return file.name, 0, 0
    return file.name, status.st_mtime_ns, status.st_size


def bounds_of(folder: CrawlFolder) -> Bounds:
    """Reads the bounds of a crawl. It resolves the names of typed seeds if the crawl may reach private addresses."""
    settings = folder.settings(Settings())
    typed, listed = parse_seeds(settings.seeds), folder.seeds
    networks = {*opened_networks(settings, typed), *Seeding(settings).networks(listed)}
    scope = Scope(settings, chain(typed, listed), guard_of(settings, networks))
    named = chain(typed, listed) if settings.allow_private else typed
    origins = frozenset(seed.origin for seed in named)
    return Bounds(settings, scope, frozenset(Url(f"{origin}/").authority for origin in origins), origins)


def refusal_of(bounds: Bounds, folder: CrawlFolder, urls: Iterable[Url]) -> Refuse:
    """Returns the function that refuses submitted URLs. Unlike seeds, they open no private address range. Raises
    InputError for a public URL if the crawl has no contact."""
    in_scope, check = bounds.scope.refuse, bounds.check
    with folder.open_reader() as ledger:
        forgotten = ledger.forgotten_hosts()

    def refuse(url: Url, depth: int) -> str | None:
        return FORGOTTEN if url.host_key in forgotten else in_scope(url, depth)

    for url in urls:
        if refuse(url, 0) is None:
            check(url)
    return refuse
