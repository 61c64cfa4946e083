"""`goodbot check`: does this robots.txt, or this page, do what its author intended?"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import click

from goodbot.check import Severity, check
from goodbot.check.findings import SEVERITIES
from goodbot.check.fixes import apply_fixes
from goodbot.check.json_report import CheckedFile, as_github, as_json, has, summary
from goodbot.check.page_tags import page_text
from goodbot.check.sarif import as_sarif
from goodbot.cli.check_inputs import As, CheckInput, CheckInputs, is_file, read_robots
from goodbot.cli.check_options import check_settings
from goodbot.cli.check_report import report_lines
from goodbot.cli.command_class import Command
from goodbot.cli.file_diff import print_diff, unified_diff
from goodbot.cli.options import header_field
from goodbot.cli.printing import complain, folded, is_quiet, put, say, say_folded, write_json
from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.exclusion.robotstxt.lines import split_lines
from goodbot.files import write_whole


@click.command(
    name="check",
    cls=Command,
    inputs=("names", "robots"),
    examples="""
    goodbot check robots.txt
    goodbot check https://example.org/ --fail-on warning
    goodbot check robots.txt old.html --url https://example.org/old.html
    goodbot check robots.txt --diff
    goodbot check - --format sarif -o robots.sarif < robots.txt
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="FILE|URL|-...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text for people, json for programs, sarif for code hosts and editors, or github for "
    "annotations in GitHub Actions.",
)
@click.option(
    "--fix", is_flag=True, help="Fix what is safe to fix (no verdict changes), show the difference, write the file."
)
@click.option(
    "--diff",
    is_flag=True,
    help="Show what --fix would change (with --json or --format, on standard error), and write nothing; exit 1 if "
    "anything would.",
)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    metavar="SEVERITY",
    help="Lowest severity that gives exit status 1: error (the default), warning or info.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODE",
    help="Do not report this code, or codes with this prefix (R2: R201 to R209). Repeatable.",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["robots", "page"]),
    metavar="KIND",
    help="Treat every FILE and URL as a robots.txt (robots) or a page (page).",
)
@click.option(
    "--url", "urls", multiple=True, metavar="URL", help="The URL of FILE; with several pages, once for each, in order."
)
@click.option("--robots", metavar="FILE|URL", help="The robots.txt of the pages' site, which is not checked itself.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header field of the pages given as files. Repeatable.",
)
@click.option("--sitemaps", is_flag=True, help="Also fetch the sitemaps that a fetched robots.txt names (at most 20).")
def command(
    names: tuple[str, ...],
    form: str,
    as_json: bool,
    fix: bool,
    diff: bool,
    fail_on: Severity | None,
    ignore: tuple[str, ...],
    kind: As | None,
    urls: tuple[str, ...],
    robots: str | None,
    headers: tuple[str, ...],
    sitemaps: bool,
) -> int:
    """Report problems of a robots.txt, or of what a page says to robots: where they are, which robots they affect, and
    how to fix them.

    FILE is a robots.txt, or a page if its name ends in .htm or .html; - is standard input. A URL without a path means
    its /robots.txt, a URL that ends in robots.txt is a robots.txt, any other is a page. For URLs the HTTP response is
    checked too. `goodbot explain CODE` explains a code.

    A robots.txt and pages given together are checked against each other: does robots.txt close a page that asks not to
    be indexed? goodbot never fetches a page that robots.txt closes: give it as a file, with its URL in --url.

    With --quiet only errors and warnings are printed; infos still count for --fail-on.

    To suppress findings: --ignore, `ignore = ["R208"]` in the table [check] of goodbot.toml, or a comment in the
    robots.txt: `# goodbot: ignore R208` for its line (alone on a line: for the next), `# goodbot: ignore-file R208`.

    Exit status: 0: no finding at or above --fail-on. 1: there are such findings, or a rule in robots.txt disallows a
    page URL. 2: bad input. 3: a page, or the robots.txt that governs it, could not be fetched (also a page that answers
    404). The other inputs are still checked; if several apply, 2 goes before 3, and 3 before 1.
    """
    form = "json" if as_json else form
    settings = check_settings(ignore, fail_on)
    if fix and "-" in names and form != "text":
        raise InputError("--fix - writes the fixed file to standard output, where the findings would go")
    inputs = CheckInputs(kind, tuple(header_field(text) for text in headers), sitemaps=sitemaps)
    rules = read_robots(robots) if robots is not None else None
    inputs.read(names)
    inputs.place(urls)
    inputs.join(rules)
    if diff:
        failed = _show_differences(inputs.given, settings.ignore, to_error=form != "text")
        if form != "text":
            _report([_checked(each, settings.ignore) for each in inputs.given], form, to_error=False, quiet=is_quiet())
    else:
        given = [_fixed(each, settings.ignore, form, inputs.errors) if fix else each for each in inputs.given]
        checked = [_checked(each, settings.ignore) for each in given]
        _report(checked, form, to_error=fix and "-" in names, quiet=is_quiet())
        failed = has(checked, settings.fail_on)
    for error in inputs.errors:
        complain(str(error))
    return _status(inputs.errors, failed=failed)


def _status(errors: Iterable[GoodbotError], *, failed: bool) -> int:
    """Returns the exit status: 2 for bad input, else 3 for a page without an answer, else 1 for findings, else 0."""
    statuses = {error.exit_status for error in errors} | ({1} if failed else set())
    return next((status for status in (2, 3, 1) if status in statuses), 0)


# ---- checking and reporting -----------------------------------------------------------------------------------------


def _checked(given: CheckInput, ignore: Collection[str]) -> CheckedFile:
    subject = given.subject
    if subject.is_page:
        lines = split_lines(page_text(subject.body, subject.answer.headers if subject.answer else ()))
    else:
        lines = subject.source_lines
    return CheckedFile(given.name, check(subject, ignore), lines)


def _report(everything: list[CheckedFile], form: str, *, to_error: bool, quiet: bool) -> None:
    checked = [each.severe() for each in everything] if quiet else everything
    if form == "json":
        write_json(as_json(checked))
    elif form == "sarif":
        write_json(as_sarif(checked, version("goodbot")))
    elif form == "github":
        for line in as_github(checked):
            say(line)
    else:
        for each in checked:
            for parts in report_lines(each):
                say(*parts, err=to_error)
        if checked:
            for parts in folded(summary(everything, quiet=quiet)):
                say(*parts, err=to_error)


# ---- fixing --------------------------------------------------------------------------------------------------------


def _fixed(given: CheckInput, ignore: Collection[str], form: str, errors: list[GoodbotError]) -> CheckInput:
    """Fixes and writes a robots.txt in a file; writes one from standard input to standard output."""
    after = _fixed_body(given, ignore)
    if given.file is None or after is None:
        return given
    print_diff(_difference(given, after), for_people=True, to_error=given.file == "-" or form != "text")
    try:
        _write(given.file, given.subject.body, after)
    except RunError as error:
        errors.append(error)
        return given
    return replace(given, subject=replace(given.subject, body=after))


def _show_differences(given: Iterable[CheckInput], ignore: Collection[str], *, to_error: bool) -> bool:
    """Shows what `--fix` would change; returns whether it would change something."""
    differences = [_difference(each, _fixed_body(each, ignore)) for each in given]
    for difference in differences:
        print_diff(difference, to_error=to_error)
    return any(differences)


def _difference(given: CheckInput, after: bytes | None) -> bytes:
    return b"" if after is None else unified_diff(given.subject.body, after, given.name, "fixed")


def _fixed_body(given: CheckInput, ignore: Collection[str]) -> bytes | None:
    """Returns the fixed file; None if `--fix` does not apply to it."""
    if given.file is None or given.subject.is_page:
        say_folded(f"goodbot: --fix changes only robots.txt files; {given.name} is unchanged", err=True)
        return None
    if len(given.subject.body) > LIMIT_BYTES:
        why = "robots read only its first 500 KiB, and a fix would move that point"
        say_folded(f"goodbot: --fix leaves {given.name} unchanged: {why}", err=True)
    return apply_fixes(given.subject, ignore)


def _write(name: str, before: bytes, after: bytes) -> None:
    if name == "-":
        put(after)
    elif after != before:
        if not is_file(name):
            raise RunError(f"cannot write {name}: it is not a regular file")
        write_whole(Path(name), after)
