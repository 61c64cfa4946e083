"""Prepares a crawl before its objects are made: its settings, its seeds, and the number of its processes."""

import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError
from goodbot.ports import Ledger
from goodbot.robot.crawl.settings_check import check_files
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery

SEEDS_AT_ONCE: Final = 10_000
"""How many seeds are added in one transaction."""


def new_settings(
    folder: CrawlFolder, base: Settings, options: dict[str, object], seeds: Iterable[str], *, listed: bool = False
) -> Settings:
    """Merges the settings of a crawl: `options` override the folder's `goodbot.toml`, which overrides `base`. `listed`:
    there are seeds in a file. Raises InputError for an invalid name of the folder, setting or seed, and without a
    seed."""
    folder.check_name()
    seeds = tuple(seeds)
    settings = folder.settings(base, options)
    together = tuple(dict.fromkeys([*settings.seeds, *seeds]))
    if not (together or listed or folder.seeds):
        raise InputError(f"no seed given, and no crawl in {folder.path} to resume")
    settings = replace(settings, seeds=together)
    with folder.naming_lines(options):
        check_files(settings)
    scope = Scope(settings, (), AddressGuard())
    for seed in parse_seeds(seeds):
        scope.check_seed(seed)
    return settings


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


def add_seeds(frontier: SqliteFrontier, scope: Scope, seeds: Iterable[Url], same_answers: bool) -> None:
    """Adds seeds to the frontier, `SEEDS_AT_ONCE` in a transaction; globs may refuse some. `same_answers` has the same
    meaning as in `reconsider`."""
    has_refused = same_answers and frontier.status().states["out-of-scope"] > 0

    def refusal(seed: Url) -> str | None:
        return scope.refuse(seed, 0) or (_refused_answer(frontier, seed) if has_refused else None)

    found = (Discovery(seed, 0, refused=refusal(seed)) for seed in seeds)
    while batch := list(islice(found, SEEDS_AT_ONCE)):
        frontier.add(batch)


def reconsider(file: Path, frontier: SqliteFrontier, scope: Scope, same_answers: bool) -> None:
    """Makes URLs ready that were out of scope and are in scope now. `same_answers`: the limits of type and size have
    not changed, so URLs whose answers exceeded them stay refused."""
    with SqliteFrontier.open(file, read_only=True) as before:

        def judge(url: Url, depth: int) -> str | None:
            return scope.refuse(url, depth) or (_refused_answer(before, url) if same_answers else None)

        frontier.reconsider(judge)


def answer_limits(settings: Settings) -> tuple[object, ...]:
    """Returns the settings that limit which answers are kept."""
    return settings.types, settings.max_size


def _refused_answer(ledger: Ledger, url: Url) -> str | None:
    """Returns why the answer of a URL was refused for its type or size; None if it was not."""
    record = ledger.record(url)
    return record.why if record and record.state == "out-of-scope" and record.status is not None else None
