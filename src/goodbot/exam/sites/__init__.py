"""Finds the hard sites: one module each, in the folders `robots`, `pages`, `trees`, `walls` and `traps`."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from goodbot.errors import InputError
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.sites import pages, robots, traps, trees, walls


def all_sites() -> list[ExamSite]:
    """Returns every site: robots.txt first, then pages, sitemaps and walls, each in the order of their modules. Endless
    traps come last: a crawler that does one site after another has finished all others by then."""
    found = []
    for folder in (robots, pages, trees, walls, traps):
        for module in sorted(iter_modules(folder.__path__), key=lambda module: module.name):
            site = import_module(f"{folder.__name__}.{module.name}").SITE
            assert isinstance(site, ExamSite)  # noqa: S101  (each module of a site names it so)
            found.append(site)
    return found


def chosen_sites(names: Iterable[str] = ()) -> list[ExamSite]:
    """Returns the sites with these names, or all, in the order of the card.

    Raises InputError, with similar names, if a name is unknown.
    """
    sites = {site.name: site for site in all_sites()}
    chosen = frozenset(names)
    for name in sorted(chosen - sites.keys()):
        similar = get_close_matches(name, sites, cutoff=0.5)
        hint = f"did you mean {' or '.join(similar)}?" if similar else "`goodbot exam --list` lists them all"
        raise InputError(f"unknown site {name!r}: {hint}")
    return [site for site in sites.values() if not chosen or site.name in chosen]
