"""Merges the settings of a crawl in cycles: options override those in the store, which override the user's defaults."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from goodbot.cluster.spark.table_version import TableVersion, settings_of
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.crawl.settings_check import check_files, check_form
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds, typed_seeds


def crawl_settings(
    before: TableVersion | None,
    base: Settings,
    options: Mapping[str, Any],
    seeds: Iterable[str],
    *,
    listed: bool = False,
    url: str = "",
) -> Settings:
    """Returns the settings of the crawl, with all its typed seeds. `before`: the current version of the crawl table;
    None: the crawl is new. `listed`: there are seeds in a file. `url`: of the store, for messages. Raises InputError
    for an invalid value or seed, or if a new crawl has no seed, DamagedError for settings that cannot be read."""
    kept = replace(base, frontier=None, archive_to=None, render=False, workers=None)
    if before is not None:
        kept = settings_of(before, url, kept)
    settings = replace(kept, **options)
    together = tuple(dict.fromkeys([*settings.seeds, *seeds]))
    if before is None and not (together or listed):
        raise InputError(f"no seed given, and no crawl in {url} to continue")
    settings = replace(settings, seeds=together)
    check_form(settings)
    check_files(settings)
    typed_seeds(settings)
    scope = Scope(settings, (), AddressGuard())
    for seed in parse_seeds(together):
        scope.check_seed(seed)
    return settings
