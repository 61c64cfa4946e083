"""`goodbot search`: find pages in the terminal."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import in_option, read_input
from goodbot.cli.printing import end_when_unread, folded, say, styled, width, write_json
from goodbot.crawl_folder import index_lag, open_search
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.index import results_json
from goodbot.search_values import Hit, Results


class _Search(Command):
    """Takes a query that begins with `-`, such as `-history robots`, for a query."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts it behind `--`, where click looks for no options."""
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
    goodbot search --run queries.jsonl --in crawl -o run.txt
    """,
)
@click.argument("query", required=False)
@in_option
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(1, 1000), metavar="N", help="Number of hits to print."
)
@click.option(
    "--run",
    "run_file",
    type=NamedPath(path_type=Path),
    metavar="FILE.jsonl",
    help='Instead of QUERY: a file of {"id", "text"} lines, - for standard input; prints a TREC run (with --json: one '
    "object per line).",
)
def command(query: str | None, folder: Path, top: int, run_file: Path | None, as_json: bool) -> None:
    """Search the pages that were crawled.

    \b
    robots politeness        pages with both words, in any form
    "crawl delay"            pages with these words in this order
    robots -google           pages with robots and without google
    site:example.org robots  pages of that host with robots

    Exit status: 0: done, whether pages were found or not; 2: bad input, such as a DIR without a crawl or crawled with
    --no-index; 3: the index is missing or damaged.
    """
    if (query is None) == (run_file is None):
        raise InputError("give a QUERY, or --run FILE.jsonl")
    search, lag = open_search(folder), index_lag(folder)
    if lag.why:
        say(lag.why, err=True)
    if run_file is not None:
        queries = list(_queries(run_file))
        end_when_unread()
        for query_id, text in queries:
            if as_json:
                write_json({"id": query_id, **results_json(search.search(text, top))})
                continue
            for rank, hit in enumerate(search.search(text, top).hits, start=1):
                say(f"{query_id} Q0 {hit.id} {rank} {hit.score:.6f} goodbot")
        return
    results = search.search(query or "", top)
    if as_json:
        write_json({**results_json(results), **({"not_indexed": lag.missing} if lag.missing else {})})
        return
    print_results(results)


def _queries(file: Path) -> Iterator[tuple[str, str]]:
    """The id and text of each query. Raises InputError for a file that cannot be read, and for a line without a query
    that can be searched for."""
    try:
        lines = read_input(str(file)).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not valid UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            query_id, text = str(value["id"]), str(value["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f'{file}, line {number}: not a {{"id", "text"}} object') from error
        if not text.strip():
            raise InputError(f"{file}, line {number}, id {query_id}: the query is empty")
        yield query_id, text


def print_results(results: Results) -> None:
    """The hits for people, with the matching words in bold where the terminal can."""
    found = f"{counted(results.total, 'page')} found" if results.total else "no pages found"
    for line in folded(f"{found} for: {results.query} ({results.took_ms:.0f} ms)", rest="  "):
        say(*line)
    columns = width() - 4
    for number, hit in enumerate(results.hits, start=1):
        say()
        for line in folded(hit.title or hit.url or hit.id, f"{number:>2}. ", "    ", bold=True):
            say(*line)
        say("    ", styled(hit.url or hit.id, fg="cyan"))
        for parts in _wrapped(hit, columns):
            say("    ", *parts)


def _wrapped(hit: Hit, columns: int) -> Iterator[list[str]]:
    """The snippet in lines of so many columns, with the matching words in bold."""
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
