"""`goodbot who update`: fetches the address lists that operators publish for their robots."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.command_groups import did_you_mean
from goodbot.cli.options import read_input
from goodbot.cli.own_robots import address_book, data_folder, load_registry
from goodbot.cli.printing import keep_partial_output, say, write_json
from goodbot.errors import DamagedError, GoodbotError, InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_duration
from goodbot.registry import AddressBook, AddressList, ListName, Registry, day_of, list_for, parse_ranges
from goodbot.url import Url, is_private_host, parse_url

SHOWN: Final = 10
"""How many added and removed ranges of an imported list are shown; JSON has all."""

HOST_GAP_S: Final = 1.0
"""Seconds between two lists of one public host: standard crawler etiquette."""

MOST_SHOWN: Final = 500
"""Characters of the name of an imported file that are kept."""

FIRST_LINE_S: Final = 2.0
LINE_EVERY_S: Final = 10.0


@click.command(
    name="update",
    inputs=("source",),
    short_help="Fetch the current address lists of robots",
    cls=Command,
    examples="""
    goodbot who update
    goodbot who update google-common bingbot
    goodbot who update anthropic --from bots.json
    """,
)
@click.argument("lists", nargs=-1, metavar="[LIST...]")
@click.option(
    "--from",
    "source",
    metavar="FILE|URL",
    help="Read the one LIST from FILE or URL instead of the operator's URL. LIST can be left out if the name of FILE "
    "or URL contains it.",
)
def update(lists: tuple[str, ...], source: str | None, as_json: bool) -> None:
    """Fetch the current address lists of robots from the operators' own URLs: those named, or all of them. Lists in
    your own records are included.

    goodbot comes with the lists of many operators. They become out of date: if a request is made more than 90 days
    before or after the date of a list, an address outside the list proves nothing, and `goodbot who` and `goodbot
    watch` call the robot unknown. The new lists are stored in your data folder and used from then on.

    The date of a list is the day on which it was fetched from the operator's own URL; with --from, the date that the
    list states (creationTime), else today. A list is rejected if it is older than the one in use and has other ranges,
    if a range is not public, and if it has more addresses than one IPv4 /8 or one IPv6 /19. Lists are JSON in the
    formats that operators use, or text with one range per line. If a list cannot be fetched or used, the one in use
    stays, and the next LIST is fetched.

    LIST is one of ahrefs, anthropic, applebot, bingbot, ccbot, duckduckbot, google-agents, google-common,
    google-special, google-user, google-user-own, mistralai-user, openai-chatgpt-user, openai-gptbot, openai-searchbot,
    perplexity-user, perplexitybot; or a list in a file of your own records (`goodbot who --help`).

    With --json: an object with done, which is false if a list failed, and lists. Each entry of lists has list,
    operator, url, state (changed, new, unchanged or failed), as_of, ranges, added, removed, file, and error, which is
    null unless it failed.

    Exit status: 0: done; 2: bad input, such as an unknown LIST, or a list given with --from that cannot be used; 3: at
    least one list could not be fetched, used or saved.
    """
    registry = load_registry()
    book = address_book(registry)
    if source is not None:
        if len(lists) > 1:
            raise InputError("--from takes one LIST")
        _print_import(import_list(source, lists[0] if lists else None, registry), as_json)
        return
    chosen = [list_named(name, registry) for name in dict.fromkeys(lists)] or [*registry.lists.values()]
    results: list[Updated | Failed] = []
    for result in _update_each(chosen, book, partial(say, err=True)):
        results.append(result)
        if not as_json:
            say(_line(result))
    failed = sum(isinstance(result, Failed) for result in results)
    if as_json:
        write_json({"done": not failed, "lists": [_json(result) for result in results]})
    if failed:
        keep_partial_output()
        raise RunError(f"{failed} of {counted(len(results), 'list')} could not be updated; the lists in use stay")


# ---- one list -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Updated:
    """A list that is now in use, and the one that was in use before."""

    known: ListName
    before: AddressList | None
    new: AddressList
    file: Path

    @property
    def added(self) -> list[str]:
        """The ranges that the list before did not have."""
        had = set(self.before.networks) if self.before else set()
        return [str(network) for network in self.new.networks if network not in had]

    @property
    def removed(self) -> list[str]:
        """The ranges that only the list before had."""
        has = set(self.new.networks)
        return [str(network) for network in (self.before.networks if self.before else ()) if network not in has]

    @property
    def state(self) -> str:
        """`new`, `changed` or `unchanged`."""
        if self.before is None:
            return "new"
        return "changed" if self.added or self.removed else "unchanged"


@dataclass(frozen=True, slots=True)
class Failed:
    """A list that could not be updated, and why, in one line."""

    known: ListName
    error: str


def list_named(name: str, registry: Registry) -> ListName:
    """Returns a list on record. Raises InputError if there is no list of this name."""
    known = registry.lists.get(name)
    if known is None:
        hint = did_you_mean(name, registry.lists) or f"; the lists are {', '.join(registry.lists)}"
        raise InputError(f"there is no list {name!r}{hint}")
    return known


def import_list(source: str, name: str | None, registry: Registry) -> Updated:
    """Reads a list from a file or URL, and keeps it. `name`: the list, if the source does not show which it is. Raises
    InputError or RunError."""
    known = list_named(name, registry) if name else list_for(source, registry.lists)
    if known is None:
        names = ", ".join(registry.lists)
        raise InputError(f"the name {source} contains no list's name: add the LIST, one of {names}")
    url = parse_url(source)
    return _kept(known, _fetched(url) if url is not None else read_input(source), source, address_book(registry))


def _kept(known: ListName, body: bytes, source: str, book: AddressBook) -> Updated:
    try:
        before = book.get(known.name)
    except DamagedError:  # the new list replaces the damaged file
        before = None
    new = _newer(known, before, body, source)
    try:
        return Updated(known, before, new, book.keep(new))
    except OSError as error:
        raise RunError(f"cannot write {error.filename or data_folder()}: {error.strerror}") from error


def _newer(known: ListName, before: AddressList | None, body: bytes, source: str) -> AddressList:
    """Returns the list to use from now on. Raises InputError for a list older than `before`, unless it comes from the
    operator's own URL: what is published there is current, whenever it was made."""
    today = datetime.now(UTC).date().isoformat()
    is_operators = source.rstrip("/") == known.url.rstrip("/")
    as_of = today if is_operators else min(day_of(body) or today, today)
    imported_from = "" if is_operators else shown("standard input" if source == "-" else source, MOST_SHOWN)
    new = AddressList(known.name, known.url, as_of, parse_ranges(body, source), imported_from)
    if is_operators or before is None or not new.as_of < before.as_of <= today:
        return new
    if set(new.networks) == set(before.networks):
        return before
    raise InputError(
        f"{source} has the date {new.as_of} and is older than the list in use ({before.as_of}), which stays in use"
    )


def _fetched(url: Url) -> bytes:
    from goodbot.one_shot import fetch_document  # noqa: PLC0415  (a list in a file needs no network)

    return fetch_document(url)


# ---- several lists --------------------------------------------------------------------------------------------------


def _update_each(
    lists: Iterable[ListName], book: AddressBook, tell: Callable[[str], None]
) -> Iterator[Updated | Failed]:
    """Updates one list after another. Those of one public host wait for each other."""
    chosen = [*lists]
    started = time.monotonic()
    next_line_at = started + FIRST_LINE_S
    fetched_at: dict[str, float] = {}
    for number, known in enumerate(chosen):
        if number and time.monotonic() >= next_line_at:
            next_line_at = time.monotonic() + LINE_EVERY_S
            left = human_duration((time.monotonic() - started) / number * (len(chosen) - number))
            tell(f"fetched {number} of {counted(len(chosen), 'list')}, about {left} left")
        yield _updated(known, book, fetched_at)


def _updated(known: ListName, book: AddressBook, fetched_at: dict[str, float]) -> Updated | Failed:
    url = parse_url(known.url)
    if url is None:
        return Failed(known, f"{known.url} is not an http or https URL")
    if url.host in fetched_at and not is_private_host(url.host):
        time.sleep(max(0.0, fetched_at[url.host] + HOST_GAP_S - time.monotonic()))
    try:
        return _kept(known, _fetched(url), known.url, book)
    except GoodbotError as error:
        return Failed(known, str(error))
    finally:
        fetched_at[url.host] = time.monotonic()


# ---- what is printed ------------------------------------------------------------------------------------------------


def _line(result: Updated | Failed) -> str:
    head = f"{result.known.name} of {result.known.operator}"
    if isinstance(result, Failed):
        return f"{head}: failed: {result.error}"
    ranges = counted(len(result.new.networks), "range")
    if result.state != "changed":
        return f"{head}: {result.state}, {ranges}"
    return f"{head}: {ranges}, {len(result.added):,} added, {len(result.removed):,} removed"


def _json(result: Updated | Failed) -> Mapping[str, object]:
    known = result.known
    head = {"list": known.name, "operator": known.operator, "url": known.url}
    if isinstance(result, Failed):
        nothing = dict.fromkeys(("as_of", "ranges", "added", "removed", "file"))
        return {**head, "state": "failed", **nothing, "error": result.error}
    return {
        **head,
        "state": result.state,
        "as_of": result.new.as_of,
        "ranges": len(result.new.networks),
        "added": result.added,
        "removed": result.removed,
        "file": str(result.file),
        "error": None,
    }


def _print_import(result: Updated, as_json: bool) -> None:
    if as_json:
        write_json({"done": True, "lists": [_json(result)]})
    else:
        print_imported(result)


def imported_json(result: Updated) -> Mapping[str, object]:
    """Returns the JSON of `goodbot who --refresh`: the one list, without its state."""
    whole = _json(result)
    return {"done": True, **{name: value for name, value in whole.items() if name not in ("state", "error")}}


def print_imported(result: Updated) -> None:
    """Prints an imported list, with the ranges that were added and removed."""
    known, before, new = result.known, result.before, result.new
    was = f"; before: {len(before.networks):,}, as of {before.as_of}" if before else "; there was none before"
    say(f"{known.name} of {known.operator}: {counted(len(new.networks), 'range')}, as of {new.as_of}{was}")
    for sign, changed in (("+", result.added), ("-", result.removed)):
        for network in changed[:SHOWN]:
            say(f"  {sign} {network}")
        if len(changed) > SHOWN:
            say(f"  {sign} {len(changed) - SHOWN:,} more")
    if result.state == "unchanged":
        say("  nothing has changed")
    say(f"saved to {result.file}")
