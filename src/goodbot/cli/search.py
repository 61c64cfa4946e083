"""`goodbot search`: searches pages in the terminal."""

import json
import os
import re
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import folders_option, read_input
from goodbot.cli.printing import end_when_unread, folded, say, say_folded, styled, width, write_json
from goodbot.crawl_folder import index_lag, open_search
from goodbot.errors import InputError, RunError
from goodbot.human import counted
from goodbot.index import PARTS, Ranking, results_json
from goodbot.ports import Search
from goodbot.search_values import Hit, Results

if TYPE_CHECKING:
    from goodbot.cli.search_services import Found

_WHITE: Final = re.compile(r"\s")

MAX_OTHERS: Final = 5
"""The number of translations and copies that are printed for a hit, at most one in each language."""


class _Search(Command):
    """Accepts a query that begins with `-`, such as `-history robots`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `--` before such a query, so that click does not take it for an option."""
        options = {name: param for param in self.get_params(ctx) for name in param.opts}
        for place, text in enumerate(args):
            is_value = place > 0 and _takes_value(options.get(args[place - 1]))
            if text == "--":
                break
            if text.startswith("-") and not text.startswith("--") and text not in options and not is_value:
                args = [*args[:place], *args[place + 1 :], "--", text]
                break
        return super().parse_args(ctx, args)


def _takes_value(param: click.Parameter | None) -> bool:
    return isinstance(param, click.Option) and not param.is_flag


@click.command(
    name="search",
    cls=_Search,
    inputs=("run_file",),
    examples="""
    goodbot search "robots politeness" --in crawl
    goodbot search "site:example.org robots" --in crawl --top 3
    goodbot search "crawl delay" --in crawl --open 1
    goodbot search --run queries.jsonl --in crawl -o run.txt
    goodbot search "crawl delay" --in crawl --with https://search.example.org/
    goodbot search "crawl delay" --in /srv/machine1 --in /srv/machine2
    """,
)
@click.argument("query", required=False)
@folders_option(
    "Folder of a crawl or of imported documents. Repeatable: several are searched as one. With --with it may be "
    "left out."
)
@click.option(
    "--with",
    "services",
    multiple=True,
    metavar="URL",
    help="Also send the query to this search service, and merge its results: its home page, its OpenSearch "
    "description, or a template with {searchTerms}. Repeatable.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0.01, 60),
    metavar="SECONDS",
    help="With --with: leave out services that have not answered by then; default: 2.",
)
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(1, 1000), metavar="N", help="Number of hits to print."
)
@click.option(
    "--run",
    "run_file",
    type=NamedPath(path_type=Path),
    metavar="FILE.jsonl",
    help='Instead of QUERY, search for each {"id", "text"} line of FILE.jsonl (- is standard input). Prints a TREC '
    "run; with --json, one object per line.",
)
@click.option(
    "--open",
    "opened",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Show hit number N in the Web browser, at its best section, instead of printing hits.",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(sorted(PARTS)),
    metavar="PART",
    help=f"Switch off a part of the ranking, to see its effect; may be repeated. Parts: {', '.join(sorted(PARTS))}; "
    "docs/relevance.md explains them.",
)
def command(
    query: str | None,
    folders: tuple[Path, ...],
    services: tuple[str, ...],
    deadline: float | None,
    top: int,
    run_file: Path | None,
    opened: int | None,
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    """Search crawled pages or imported documents.

    \b
    robots politeness         pages with any of these words, in any form; those with all of them first
    "crawl delay"             pages with these words next to each other
    robots -google            pages without google
    robots OR spiders         pages with at least one of the two
    crawl*                    pages with words that begin with crawl
    intitle:robots            pages with robots in the title; inurl: in the URL
    site:example.org          pages of that host and its subdomains
    filetype:pdf, lang:de     documents of that type; in that language
    after:2025-06             pages dated June 2025 or later; before:2025: before 2025
    link:https://example.org  pages that link to this URL

    The date of a page is that of its last change, as its server states it. If that is missing, before 1990 or
    more than a day after the fetch, the date is that of the fetch of the version that is indexed.

    With --with, other search services get the query as typed, on one line, with spaces in place of control characters,
    and nothing else. Before that, goodbot prints on standard error which hosts get it. Pages are ordered by their ranks
    in all sources (reciprocal rank fusion); a page that several sources find is listed once. A service that is late or
    fails is named and left out. Each source gives at most 50 hits. docs/how-to/federated-search.md has the details.

    Several folders, such as those of the machines of one crawl, are searched as one index: hits and their order are
    those of an index of all their pages. A page in several of them is found once, as it was fetched last. For link
    texts and PageRank across folders, run `goodbot index refresh --in DIR1 --in DIR2`.

    If a word is on no page, the search uses a similar one and says so. Pages in the language of your locale
    (LANG) rank higher. DIR/synonyms.txt defines synonyms, in lines such as `robot, crawler, spider`.

    Exit status: 0: done, whether pages were found or not; 2: bad input, such as a DIR with neither a crawl nor an
    index or one that is given twice, a crawl with --no-index, or a URL that is no search service; 3: the index of a
    crawl is missing, an index is damaged, or no source at all answered."""
    if (query is None) == (run_file is None):
        raise InputError("give either a QUERY or --run FILE.jsonl")
    if opened is not None and (run_file is not None or as_json):
        raise InputError("--open needs a QUERY and cannot be used with --json")
    _check_services(folders, services, run_file, deadline, without)
    search = open_search(folders, Ranking(frozenset(without))) if folders else None
    missing = _say_lag(folders)
    if search is None or services:
        own = (search, ", ".join(map(str, folders))) if search is not None else None
        _show_merged(query or "", services, own, deadline, top, opened, as_json=as_json, not_indexed=missing)
        return
    if run_file is not None:
        _run(search, list(_queries(run_file)), top, as_json=as_json)
        return
    results = search.search(query or "", max(top, opened or 0), languages=_languages(os.environ))
    if opened is not None:
        _open(results, opened)
        return
    if as_json:
        write_json({**results_json(results), **({"not_indexed": missing} if missing else {})})
        return
    print_results(results)


def _say_lag(folders: Sequence[Path]) -> int:
    """Says how far the indexes are behind their crawls; returns how many pages they lack."""
    missing = 0
    for folder in folders:
        lag = index_lag(folder)
        missing += lag.missing
        if lag.why:
            say(f"{folder}: {lag.why}" if len(folders) > 1 else lag.why, err=True)
    return missing


def _check_services(
    folders: Sequence[Path],
    services: Sequence[str],
    run_file: Path | None,
    deadline: float | None,
    without: Sequence[str],
) -> None:
    """Raises InputError if there is nothing to search, if many queries would be sent to other services, or if the
    deadline or `without` cannot be used."""
    if not folders and not services:
        raise InputError("give the folder of a crawl or of imported documents with --in DIR")
    if not folders and without:
        raise InputError("--without needs --in DIR: it changes the ranking of your own index")
    if services and run_file is not None:
        raise InputError("--with needs a QUERY: the queries of --run are not sent to other services")
    if deadline is not None and not services:
        raise InputError("--deadline needs --with URL: it limits how long other services may take")
    if deadline is not None and isnan(deadline):
        raise InputError("--deadline must be a number of seconds")


def _run(search: Search, queries: Sequence[tuple[str, str]], top: int, *, as_json: bool) -> None:
    """Prints the hits of many queries for programs."""
    end_when_unread()
    for query_id, text in queries:
        results = search.search(text, top)
        if as_json:
            write_json({"id": query_id, **results_json(results)})
            continue
        for line in _trec_lines(query_id, results):
            say(line)


def _show_merged(
    query: str,
    services: tuple[str, ...],
    own: tuple[Search, str] | None,
    deadline_s: float | None,
    top: int,
    opened: int | None,
    *,
    as_json: bool,
    not_indexed: int = 0,
) -> None:
    """Searches other services, and an index if there is one; shows the hits of all."""
    from goodbot.cli.search_services import OwnIndex, search_services  # noqa: PLC0415  (a search here sends no request)

    index = OwnIndex(*own, _languages(os.environ)) if own is not None else None
    found = search_services(query, services, index, deadline_s, max(top, opened or 0))
    if opened is not None and found.answered:
        _open(found.results, opened)
        return
    if as_json:
        write_json({**found.as_json(), **({"not_indexed": not_indexed} if not_indexed else {})})
    if not found.answered:
        raise RunError("no service answered: " + "; ".join(f"{each.name}: {each.why}" for each in found.sources))
    if not as_json:
        _print_merged(query, found)


def _print_merged(query: str, found: "Found") -> None:
    """Prints the hits of several sources for people to read."""
    sources, took = counted(found.answered, "source"), f"({found.results.took_ms:.0f} ms)"
    if found.hits:
        say_folded(f"results of {sources} for: {query} {took}")
    else:
        say_folded(f"no pages found for: {query}; {sources} answered {took}")
    left_out = (f"left out: {each.name}: {each.why}" for each in found.left_out)
    for text in (*_remarks(found.results, is_merged=True), *left_out):
        say_folded(text)
    _print_hits(found.results.hits, [", ".join(source for source, _ in hit.sources) for hit in found.hits])


def _trec_lines(query_id: str, results: Results) -> Iterator[str]:
    """Yields the lines of a TREC run. Programs that read them order by score, so a score is at most that of the hit
    before; white space in ids becomes `%20`."""
    least = float("inf")
    for rank, hit in enumerate(results.hits, start=1):
        least = min(hit.score, least - 1e-6)
        yield f"{_WHITE.sub('%20', query_id)} Q0 {_WHITE.sub('%20', hit.id)} {rank} {least:.6f} goodbot"


def _languages(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the reader's languages as two-letter codes, from LANGUAGE (a list) or the locale of messages."""
    value = next(
        (environment[name] for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
    )
    codes = (re.split(r"[_.@]", name)[0].lower() for name in value.split(":"))
    return tuple(dict.fromkeys(code for code in codes if len(code) == 2 and code.isascii() and code.isalpha()))


def _open(results: Results, number: int) -> None:
    """Shows a hit in the browser."""
    if number > len(results.hits):
        raise InputError(f"there is no hit {number}: {counted(results.total, 'page')} found")
    hit = results.hits[number - 1]
    url = hit.sections[0].url if hit.sections else hit.url
    if not url.lower().startswith(("http://", "https://")):
        raise InputError(f"hit {number} has no http or https URL; its id is {hit.id}")
    say("opening ", styled(url, fg="cyan"), err=True)
    if not webbrowser.open(url):
        raise RunError(f"no Web browser could be started; the address is {url}")


def _queries(file: Path) -> Iterator[tuple[str, str]]:
    """Yields the id and text of each query. Raises InputError if the file cannot be read, or if a line is not an object
    with an id and a text that is not empty."""
    try:
        lines = read_input(str(file)).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not valid UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            query_id, text = value["id"], str(value["text"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f'{file}, line {number}: not a JSON object with "id" and "text"') from error
        if isinstance(query_id, bool) or not isinstance(query_id, str | int) or query_id == "":
            raise InputError(f"{file}, line {number}: id must be a number, or a string that is not empty")
        if not text.strip():
            raise InputError(f"{file}, line {number}, id {query_id}: the query is empty")
        yield str(query_id), text


def print_results(results: Results) -> None:
    """Prints the hits for people to read, with the matching words in bold where the terminal can."""
    found = f"{counted(results.total, 'page')} found" if results.total else "no pages found"
    found += f" for: {results.corrected or results.query}"
    if results.complete < results.total:
        found += f"; {results.complete:,} with every word"
    for line in folded(f"{found} ({results.took_ms:.0f} ms)", rest="  "):
        say(*line)
    for text in _remarks(results):
        say_folded(text)
    _print_hits(results.hits)


def _print_hits(hits: Sequence[Hit], sources: Sequence[str] = ()) -> None:
    """Prints hits; `sources` says where each comes from."""
    columns = width() - 4
    for number, hit in enumerate(hits, start=1):
        say()
        for line in folded(hit.title or hit.url or hit.id, f"{number:>2}. ", "    ", bold=True):
            say(*line)
        say("    ", styled(hit.url or hit.id, fg="cyan"))
        for parts in _wrapped(hit, columns):
            say("    ", *parts)
        if sources:
            say_folded(sources[number - 1], "    from: ", "    ")
        for section in hit.sections:
            fragment = section.url.partition("#")[2]
            say("    > ", styled(section.text), "  ", styled(f"#{fragment}", fg="cyan"))
        others = hit.one_of_each_language()[:MAX_OTHERS]
        for other in others:
            kind = "copy" if other.language == hit.language else f"in {other.language or 'another language'}"
            say("    ", kind, ": ", styled(other.url, fg="cyan"))
        if more := len(hit.others) - len(others):
            say(f"    {more} more translations or copies" if more > 1 else "    1 more translation or copy")


def _remarks(results: Results, *, is_merged: bool = False) -> Iterator[str]:
    """Yields notes on the query: corrections, suggestions, and parts that could not be read. `is_merged`: services got
    the query too, as typed."""
    if results.corrected and is_merged:
        yield (
            f"not every word of {results.query} is on a page of this index; its results are for: {results.corrected}; "
            "services got the query as typed"
        )
    elif results.corrected:
        yield f"not every word of {results.query} is on a page; these are the results for: {results.corrected}"
    if results.suggestion:
        yield f"did you mean: {results.suggestion}"
    yield from results.notes


def _wrapped(hit: Hit, columns: int) -> Iterator[list[str]]:
    """Yields the snippet in lines of at most `columns` characters, with the matching words in bold."""
    text = hit.snippet
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= columns else text.rfind(" ", start, start + columns)
        end = end if end > start else start + columns
        yield _styled(text, start, end, hit.highlights)
        start = end + 1 if end < len(text) and text[end] == " " else end


def _styled(text: str, start: int, end: int, highlights: tuple[tuple[int, int], ...]) -> list[str]:
    parts, at = list[str](), start
    for begin, stop in highlights:
        first, last = max(begin, at), min(stop, end)
        if first < last:
            parts += [text[at:first], styled(text[first:last], bold=True)]
            at = last
    return [*parts, text[at:end]]
