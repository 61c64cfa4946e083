"""`goodbot exam`: the driving test for robots."""

import os
from collections.abc import Sequence
from math import isnan
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.exam_run import CardForm, ExamOrder, run_exam
from goodbot.cli.file_types import NamedPath
from goodbot.cli.printing import folded, say, styled, write_json
from goodbot.errors import InputError, RunError
from goodbot.exam.drive import DrivePlan, as_typed
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.recipe import InstalledRecipe
from goodbot.exam.recipes import RECIPES
from goodbot.exam.sites import chosen_sites


@click.command(
    name="exam",
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    examples="""
    goodbot exam -- wget --recursive --level=inf --directory-prefix={dir} {seeds}
    goodbot exam --site robots-404 --format html -o card.html -- scrapy crawl mine -a seeds={seed-file}
    goodbot exam --with scrapy
    """,
)
@click.argument("crawler", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--site", "names", multiple=True, metavar="NAME", help="Only this site. Repeatable.")
@click.option(
    "--visits",
    default=1,
    show_default=True,
    type=click.IntRange(1, 100),
    metavar="N",
    help="Run COMMAND N times with the same {dir}, to see what it does on later visits.",
)
@click.option(
    "--minutes",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True, max=24 * 60),
    metavar="MINUTES",
    help="Stop the crawler after this time.",
)
@click.option(
    "--with",
    "recipe",
    type=click.Choice(list(RECIPES)),
    metavar="CRAWLER",
    help=f"Run this crawler, politely configured, instead of COMMAND: {', '.join(RECIPES)}.",
)
@click.option("--list", "lists", is_flag=True, help="List the sites, and what each is about.")
@click.option(
    "--serve", "serves", is_flag=True, help="Only serve the sites, and a page with the current score, until Ctrl-C."
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Use consecutive ports that begin with N (default: any free ports).",
)
@click.option(
    "--into",
    "kept_folder",
    type=NamedPath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Use DIR as {dir}, and do not delete it.",
)
@click.option("--keep", "old_folder", type=NamedPath(path_type=Path, file_okay=False), hidden=True)
@click.option(
    "--log", type=NamedPath(path_type=Path, dir_okay=False), metavar="FILE", help="Write the crawler's output to FILE."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Form of the score card: text, json or html.",
)
@click.option("--html", "html_file", type=NamedPath(path_type=Path, dir_okay=False), hidden=True)
def command(
    crawler: tuple[str, ...],
    names: tuple[str, ...],
    visits: int,
    minutes: float,
    recipe: str | None,
    lists: bool,
    serves: bool,
    port: int | None,
    kept_folder: Path | None,
    old_folder: Path | None,
    log: Path | None,
    form: CardForm,
    html_file: Path | None,
    as_json: bool,
) -> int:
    """Drive a crawler through a web of hard sites on this machine, and report what it did wrong.

    COMMAND is any crawler's command line. goodbot replaces these in it:

    \b
    {seeds}      the URLs to start from; as separate arguments if {seeds} is a
                 whole argument
    {seed-file}  a file with these URLs, one per line
    {dir}        an empty folder for whatever the crawler keeps
    {ca-file}    the certificate of the exam's own authority; without it some
                 sites are skipped
    {proxy}      the URL of an HTTP proxy; with it the sites have names instead
                 of ports

    The crawler should stay on the hosts of its seeds. No link leads to another machine. The exam records the requests,
    judges them by rules for manners and skill, and measures the memory and CPU time of the crawler and of all processes
    it starts.

    Exit status: 0: every site that ran, and the overall rules, passed; or --serve was ended with Ctrl-C; 1: a site or
    an overall rule failed; 2: bad input, such as a COMMAND without URLs to start from; 3: the exam cannot run, for
    example because the port is in use; 130: interrupted.
    """
    sites = tuple(chosen_sites(names))
    form = "json" if as_json else form
    if lists:
        if crawler or serves or recipe:
            raise InputError("--list runs no command: leave out COMMAND, --serve and --with")
        if form == "html":
            raise InputError("--list prints text or JSON, not HTML")
        _print_list(sites, as_json=form == "json")
        return 0
    known = _known(recipe, crawler, serves=serves)
    plan = DrivePlan(known.command if known else crawler, visits, minutes * 60, log, known.name if known else None)
    order = ExamOrder(plan, sites, kept_folder or old_folder, port, form, html_file)
    _check(order, serves=serves)
    if known:
        _print_recipe(known)
    return run_exam(order, serves=serves)


def _known(recipe: str | None, crawler: Sequence[str], *, serves: bool) -> InstalledRecipe | None:
    """The crawler of a recipe. Raises InputError if it is not installed, or another one is asked for too."""
    if recipe is None:
        return None
    if crawler or serves:
        raise InputError(f"--with {recipe} brings its own command: leave out {'COMMAND' if crawler else '--serve'}")
    return RECIPES[recipe].find()


def _print_recipe(known: InstalledRecipe) -> None:
    say(f"{known.name}:", err=True)
    for sentence in known.recipe.settings:
        say(f"  {sentence}", err=True)
    if known.recipe.fails:
        say(f"  It is known to fail: {', '.join(known.recipe.fails)}.", err=True)
    say(f"  It keeps in {{dir}}: {known.recipe.keeps}.", err=True)
    say(f"  {as_typed(known.command)}", err=True)


def _check(order: ExamOrder, *, serves: bool) -> None:
    """Raises InputError before anything is started."""
    crawler = order.plan.command
    if isnan(order.plan.limit_s):
        raise InputError("--minutes must be a number, not nan")
    if serves and crawler:
        raise InputError("--serve runs no command: leave out one of the two")
    if not serves and not crawler:
        raise InputError("say which crawler to examine: goodbot exam -- COMMAND {seeds}, or --serve, or --list")
    if not serves and not order.plan.placeholders & {"seeds", "seed-file"}:
        raise InputError(
            f"{crawler[0]!r} gets no URLs to start from: write {{seeds}} or {{seed-file}} where they belong"
        )
    for file in (order.html_file, order.plan.log):
        if file and not file.parent.is_dir():
            raise InputError(f"cannot write {file}: there is no folder {file.parent}")
        if file and not os.access(file if file.exists() else file.parent, os.W_OK):
            raise RunError(f"cannot write {file}")


def _print_list(sites: Sequence[ExamSite], *, as_json: bool) -> None:
    if as_json:
        write_json([_described(site) for site in sites])
        return
    for site in sites:
        say(styled(site.name, bold=True))
        for text in (site.teaches, f"Source: {site.source}", f"Rules: {', '.join(_rules(site))}"):
            for parts in folded(text, "  ", "  "):
                say(*parts)


def _described(site: ExamSite) -> dict[str, object]:
    return {
        "name": site.name,
        "teaches": site.teaches,
        "source": site.source,
        "rules": _rules(site),
        "needs": sorted(site.needs),
    }


def _rules(site: ExamSite) -> list[str]:
    return list(dict.fromkeys(expectation.rule for expectation in site.expects))
