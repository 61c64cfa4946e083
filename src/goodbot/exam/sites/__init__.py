"""The hard sites, one module each, found by their place in the folders and listed by name."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from goodbot.errors import InputError
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.sites import pages, robots, traps, trees, walls


def all_sites() -> list[ExamSite]:
    """Every site: robots.txt first, then pages, sitemaps and walls; within each in the order of their names. Endless
    traps come last: a crawler that does one site after another has done all others by then."""
    found = []
    for folder in (robots, pages, trees, walls, traps):
        for module in sorted(iter_modules(folder.__path__), key=lambda module: module.name):
            site = import_module(f"{folder.__name__}.{module.name}").SITE
            assert isinstance(site, ExamSite)  # noqa: S101  (each module of a site names it so)
            found.append(site)
    return found


def chosen_sites(names: Iterable[str] = ()) -> list[ExamSite]:
    """The sites of these names, or all, in the order of the card.

    Raises InputError, with names that are near, if there is none of a name.
    """
    sites = {site.name: site for site in all_sites()}
    wanted = frozenset(names)
    for name in sorted(wanted - sites.keys()):
        near = get_close_matches(name, sites, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`goodbot exam --list` names them"
        raise InputError(f"there is no site {name!r}: {hint}")
    return [site for site in sites.values() if not wanted or site.name in wanted]
