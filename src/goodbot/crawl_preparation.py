"""Prepares a crawl before its objects are made: its settings, its seeds, and the number of its processes."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.database_address import without_password
from goodbot.errors import InputError, SettingError, StoreAwayError, option_of
from goodbot.files import is_same_folder
from goodbot.human import counted
from goodbot.places.opening import open_place
from goodbot.ports import CrawlStore, Rehearsal, Say
from goodbot.robot.crawl.settings_check import check_files
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.settings_file import crawl_values
from goodbot.store.control.writer_id import find_writer_id
from goodbot.url import Url
from goodbot.values import Discovery, UrlRecord

if TYPE_CHECKING:
    from goodbot.cluster.postgres.shared_settings import SharedCrawl

AWAY_S: Final = 60.0
"""How long a crawl that starts waits for the server of its database."""
AGAIN_S: Final = 2.0
"""The time between two attempts."""

SEEDS_AT_ONCE: Final = 10_000
"""How many seeds are added in one transaction."""


def new_settings(
    folder: CrawlFolder,
    base: Settings,
    options: dict[str, object],
    seeds: Iterable[str],
    *,
    listed: bool = False,
    say: Say = lambda text: None,
    away_s: float = AWAY_S,
) -> Settings:
    """Merges the settings of a crawl: `options` override the folder's `goodbot.toml`, which overrides `base`. If
    machines share the crawl, the settings in its database override those of the file. `listed`: there are seeds in a
    file. `say` gets a line if the server of that database does not answer, and this waits for it. Raises InputError for
    an invalid name of the folder, setting or seed, and without a seed; StoreAwayError after `away_s`."""
    folder.check_name()
    seeds = tuple(seeds)
    settings = folder.settings(base, options)
    before = folder.settings_before().frontier
    if before is None and settings.frontier is not None and folder.frontier.is_file():
        raise InputError(
            f"the crawl in {folder.path} has its frontier in the folder, and cannot move to a database:"
            " crawl into another folder"
        )
    shared = shared_crawl(folder, settings, say, away_s)
    if before is not None and settings.frontier is not None:
        _check_database(folder, before, settings.frontier, shared)
    if shared is not None:
        settings = joined(settings, shared, options)
        if shared.others and seeds:
            _check_seeds(settings, shared, parse_seeds(seeds))
            seeds = ()  # the crawl has them, perhaps spelled differently
    together = tuple(dict.fromkeys([*settings.seeds, *seeds]))
    if not (together or listed or folder.seeds or (shared is not None and shared.has_lists)):
        without = f"{folder.path} has none" if folder.frontier.is_file() else f"no crawl in {folder.path} to resume"
        raise InputError(f"no seed given, and {without}")
    settings = replace(settings, seeds=together)
    with folder.naming_lines(options):
        check_files(settings)
        _check_archive_place(folder, settings)
    scope = Scope(settings, (), AddressGuard())
    for seed in parse_seeds(seeds):
        scope.check_seed(seed)
    return settings


def _check_database(folder: CrawlFolder, before: str, now: str, shared: "SharedCrawl | None") -> None:
    """Raises InputError if the crawl in the folder has another database than `before`: it would begin anew, unnoticed.
    A database that knows the folder may have a new address, such as one with another role."""
    before, now = without_password(before), without_password(now)
    if before != now and not (shared is not None and shared.knows_folder):
        raise InputError(f"{folder.path} belongs to the crawl in {before}, not to {now}: crawl into another folder")


def _check_archive_place(folder: CrawlFolder, settings: Settings) -> None:
    """Raises SettingError if the archive would be moved into the folder of a crawl or of imported documents, where
    commands change and remove files, and count all WARC files as those of that crawl."""
    place = None if settings.archive_to is None else open_place(settings.archive_to).folder
    if place is None:
        return
    real = Path(os.path.realpath(place))
    above = [real, *real.parents]
    own = [Path(os.path.realpath(each)) for each in (folder.path, folder.warc, folder.index)]
    for each in above:
        if CrawlFolder(each).is_of_goodbot or any(is_same_folder(each, one) for one in own):
            message = f"--archive-to: {place} is in {each}, the folder of a crawl or an index: use another URL"
            raise SettingError("archive_to", message)


def shared_crawl(folder: CrawlFolder, settings: Settings, say: Say, away_s: float = AWAY_S) -> "SharedCrawl | None":
    """Returns the crawl in the database that keeps the frontier; None: there is none yet, or the folder keeps the
    frontier. Raises InputError if psycopg is missing, or for a database that cannot be used; StoreAwayError if its
    server has not answered for `away_s`."""
    if settings.frontier is None:
        return None
    if settings.render:
        raise SettingError("render", "--render works only with a frontier in the folder, not with --frontier")
    from goodbot.cluster.postgres.shared_settings import load_shared  # noqa: PLC0415  (loads psycopg)

    writer, until = find_writer_id(folder.path) or "", time.monotonic() + away_s
    is_said = False
    while True:
        try:
            return load_shared(settings.frontier, writer)
        except StoreAwayError as error:
            if time.monotonic() >= until:
                raise
            if not is_said:
                say(f"{error}; trying again for {away_s:.0f} s")
                is_said = True
            time.sleep(AGAIN_S)


def joined(settings: Settings, shared: "SharedCrawl", options: Mapping[str, object]) -> Settings:
    """Returns the settings of a machine that takes part in a crawl: those of the crawl, and its own. Raises InputError
    if options would change the crawl while other machines work on it."""
    of_crawl = crawl_values(shared.settings)
    changed = [name for name in options if name in of_crawl and options[name] != of_crawl[name]]
    if shared.others and changed:
        raise _changes(f"--{option_of(changed[0])}", shared.others)
    return replace(settings, **{name: value for name, value in of_crawl.items() if name not in options})


def check_listed(folder: CrawlFolder, settings: Settings, listed: Iterable[Url]) -> None:
    """Raises InputError if other machines work on the crawl, and one of the `listed` seeds is new to it. Raises as
    `shared_crawl`, and does not wait for the server."""
    shared = shared_crawl(folder, settings, lambda text: None, 0)
    if shared is not None and shared.others:
        _check_seeds(settings, shared, listed)


def _check_seeds(settings: Settings, shared: "SharedCrawl", seeds: Iterable[Url]) -> None:
    from goodbot.cluster.postgres.shared_settings import unknown_seed  # noqa: PLC0415  (loads psycopg)

    typed = {seed.text for seed in parse_seeds(crawl_values(shared.settings)["seeds"])}
    new = unknown_seed(settings.frontier or "", (seed for seed in seeds if seed.text not in typed))
    if new is not None:
        raise _changes(f"the seed {new}", shared.others)


def _changes(what: str, others: Sequence[str]) -> InputError:
    return InputError(
        f"{what} would change the crawl on which {counted(len(others), 'other machine')}"
        f" {'works' if len(others) == 1 else 'work'} ({', '.join(others[:3])}{', …' if len(others) > 3 else ''}):"
        " stop them first, or leave it out"
    )


def workers_of(settings: Settings, seeds: Iterable[Url]) -> int:
    """Returns the number of worker processes: `settings.workers`, by default the number of cores. If the scope is
    limited to the seeds' hosts, it is at most their number, since each host belongs to one process."""
    most = 1 if settings.render else settings.workers or os.cpu_count() or 1
    if settings.scope not in ("page", "prefix", "host"):
        return most
    hosts: set[str] = set()
    for seed in seeds:
        hosts.add(seed.host_key)
        if len(hosts) >= most:
            break
    return max(len(hosts), 1)


def add_seeds(frontier: CrawlStore | Rehearsal, scope: Scope, seeds: Iterable[Url], same_answers: bool) -> None:
    """Adds seeds to the frontier, `SEEDS_AT_ONCE` in a transaction; globs may refuse some. `same_answers` has the same
    meaning as in `reconsider`."""
    has_refused = same_answers and frontier.status().states["out-of-scope"] > 0

    def refusal(seed: Url) -> str | None:
        return scope.refuse(seed, 0) or (_refused_answer(frontier.record(seed)) if has_refused else None)

    found = (Discovery(seed, 0, refused=refusal(seed)) for seed in seeds)
    while batch := list(islice(found, SEEDS_AT_ONCE)):
        frontier.add(batch)


def reconsider(folder: CrawlFolder, frontier: CrawlStore | Rehearsal, scope: Scope, same_answers: bool) -> None:
    """Makes URLs ready that were out of scope and are in scope now. `same_answers`: the limits of type and size have
    not changed, so URLs whose answers exceeded them stay refused."""
    with folder.open_reader() as before:

        def judge(url: Url, depth: int) -> str | None:
            return scope.refuse(url, depth) or (_refused_answer(before.record(url)) if same_answers else None)

        frontier.reconsider(judge)


def answer_limits(settings: Settings) -> tuple[object, ...]:
    """Returns the settings that limit which answers are kept."""
    return settings.types, settings.max_size


def _refused_answer(record: UrlRecord | None) -> str | None:
    """Returns why the answer of a URL was refused for its type or size; None if it was not."""
    return record.why if record and record.state == "out-of-scope" and record.status is not None else None
