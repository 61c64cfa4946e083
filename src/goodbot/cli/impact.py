"""`goodbot impact`: shows which requests and pages would get another verdict from another robots.txt."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from goodbot.cli.command_class import Command, keep_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.host_argument import HOST_HELP
from goodbot.cli.impact_inputs import RobotsFile, host_of, no_robots, pages_of, read_robots, urls_of_crawl, urls_of_file
from goodbot.cli.impact_report import Compared, print_impact
from goodbot.cli.line_options import line_options
from goodbot.cli.own_robots import load_registry
from goodbot.cli.printing import complain, say_folded, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.watch_options import CountingChoices, check_logs, identities_of
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.impact import Impact, PageImpact, RequestImpact, RuleChanges, impact_json
from goodbot.watch.reader.log_files import find_logs
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogCounting

_FOR_LOGS: Final = {
    "since": "--since",
    "until": "--until",
    "pattern": "--log-format",
    "real_ip": "--real-ip",
    "proxies": "--trusted-proxy",
}
_FOR_PAGES: Final = {"agents": "--agent"}


@click.command(
    name="impact",
    cls=Command,
    inputs=("files", "logs", "urls"),
    examples="""
    goodbot impact robots.txt new.txt --log access.log
    goodbot impact robots.txt --log access.log
    goodbot impact robots.txt --urls sitemap.xml --agent Googlebot
    goodbot impact https://example.org/ new.txt --in crawl --json
    """,
    sections={
        "What is judged": ["logs", "urls", "folder", "host"],
        "With --log": ["since", "until", "pattern", "real_ip", "proxies"],
        "With --urls and --in": ["agents"],
    },
)
@click.argument("files", nargs=-1, required=True, metavar="[OLD] NEW")
@click.option("--log", "logs", multiple=True, metavar="LOG", help="The requests of an access log. Repeatable.")
@click.option("--urls", metavar="FILE", help="The pages in a list of URLs or paths, one a line, or in a sitemap.")
@click.option("--in", "folder", metavar="DIR", type=NamedPath(path_type=Path), help="The pages of a crawl.")
@click.option("--since", metavar="TIME", help="Judge requests from TIME on: a date, a time or an age (7d, 24h).")
@click.option("--until", metavar="TIME", help="Judge requests before TIME.")
@line_options
@click.option(
    "--agent", "agents", multiple=True, metavar="TOKEN", help="Also judge the pages for this robot. Repeatable."
)
@click.option("--host", metavar="HOST", help=HOST_HELP)
@click.option("--fail-on-change", is_flag=True, help="Exit with status 1 if a verdict changes.")
def command(
    files: tuple[str, ...],
    logs: tuple[str, ...],
    urls: str | None,
    folder: Path | None,
    since: str | None,
    until: str | None,
    pattern: str | None,
    real_ip: bool,
    proxies: tuple[str, ...],
    agents: tuple[str, ...],
    host: str | None,
    fail_on_change: bool,
    as_json: bool,
) -> int:
    """Show which requests would get another verdict if the robots.txt OLD became NEW: by robot and path, with bytes.

    OLD and NEW are files, - for standard input, or the URL of a site, whose robots.txt is then fetched. With one file,
    the report shows what that file disallows.

    With --log, each request is judged as the robot that sent it reads robots.txt. Known robots have a row for each tier
    (goodbot who --help), so impostors are never counted under the name that they use. Requests with other User-Agents,
    mostly browsers, are counted together. Requests for robots.txt count as allowed. LOG is an access log, a folder of
    logs, or -.

    With --urls or --in, each page is judged for the robots that OLD or NEW names, for those of --agent, and for all
    others (*). Pages of a crawl are those it visited, and those it could not visit because robots.txt disallows them.

    The report lists paths without their queries, each with the rule that decides. To bound memory, goodbot keeps the
    most frequent if more than 20,000 paths change; their counts may then be too low, and `at_most` gives the upper
    bound.

    Exit status: 0: done; 1: a verdict changes, with --fail-on-change; 2: bad input; 3: reading failed, or the
    robots.txt of a site is unreachable.
    """
    _check(click.get_current_context().params)
    if folder is not None:
        _check_crawl(folder)
    choices = CountingChoices(since, until, pattern, real_ip, proxies)
    choices.options()  # bad values are refused before anything is read
    given = [read_robots(name) for name in files]
    old, new = given if len(given) == 2 else (no_robots(), given[0])
    for note in dict.fromkeys(note for file in given for note in file.notes):
        say_folded(f"goodbot: {note}", err=True)
    if logs:
        site = host_of(host, given)
        changes = RuleChanges(old.access, new.access, site=host_name(site) if site is not None else None)
        impact, more = _of_logs(logs, changes, replace(choices, host=site))
    else:
        impact, more = _of_pages(urls, folder, host, agents, RuleChanges(old.access, new.access), given)
    if as_json:
        described = {"old": _described(old) if len(given) == 2 else None, "new": _described(new)}
        write_json({**impact_json(impact), **described, **more})
    else:
        print_impact(impact, Compared(old.name if len(given) == 2 else None, new.name))
    return 1 if fail_on_change and impact.changed else 0


def _check(given: dict[str, Any]) -> None:
    """Raises InputError for values that do not go together."""
    files, logs = given["files"], given["logs"]
    if len(files) > 2:
        raise InputError(f"one or two robots.txt files can be compared, not {len(files)}; give each log with --log")
    if bool(logs) + (given["urls"] is not None) + (given["folder"] is not None) != 1:
        raise InputError("say what is judged: --log LOG, --urls FILE or --in DIR, one of them")
    if [*files, *logs, given["urls"]].count("-") > 1:
        raise InputError("- (standard input) can be named once only")
    unused, needed = (_FOR_PAGES, "--urls or --in") if logs else (_FOR_LOGS, "--log")
    for name, option in unused.items():
        if given[name] not in (None, False, ()):
            raise InputError(f"{option} needs {needed}")
    if any(not agent.strip() for agent in given["agents"]):
        raise InputError("--agent must not be empty")


def _check_crawl(folder: Path) -> None:
    from goodbot.crawl_folder import CrawlFolder  # noqa: PLC0415  (logs and lists need no crawl)

    CrawlFolder(folder).check()


def _described(file: RobotsFile) -> dict[str, object]:
    access = file.access
    return {
        "name": file.name,
        "result": access.result,
        "groups": len(access.rules.groups),
        "cut_bytes": access.cut_bytes,
        "notes": [*file.notes],
    }


# ---- logs -----------------------------------------------------------------------------------------------------------


def _of_logs(
    names: tuple[str, ...], changes: RuleChanges, choices: CountingChoices
) -> tuple[Impact, dict[str, object]]:
    check_logs(names)
    found = find_logs(names)
    keep_from_output(found.logs)
    judge = RequestImpact(changes, identities_of(load_registry(), False, None), choices.options())
    state = WatchState()
    with ProgressLine() as progress:
        read = LogCounting(state, lambda: judge, progress=progress.report).count(found.logs)
    for damage in read.damage:
        complain(
            f"{damage.source}: {damage.reason}, after {damage.at_byte:,} bytes (decompressed); what comes before is "
            "judged"
        )
    tally = state.tally
    skipped = sum(tally.skipped.values())
    if skipped:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(tally.skipped.items()))
        say_folded(f"goodbot: {counted(skipped, 'line')} skipped ({reasons})", err=True)
    if tally.outside:
        say_folded(f"goodbot: {counted(tally.outside, 'request')} left out by --since or --until", err=True)
    return judge.impact(), {
        "host": choices.host,
        "lines": tally.lines,
        "skipped": skipped,
        "outside": tally.outside,
        "logs": [*read.read],
        "damage": [{"log": one.source, "at_byte": one.at_byte, "reason": one.reason} for one in read.damage],
    }


# ---- pages ----------------------------------------------------------------------------------------------------------


def _of_pages(
    urls: str | None,
    folder: Path | None,
    host: str | None,
    agents: tuple[str, ...],
    changes: RuleChanges,
    files: list[RobotsFile],
) -> tuple[Impact, dict[str, object]]:
    pages = pages_of(host, files)
    judge = PageImpact(changes, load_registry(), agents)
    for url in pages.of_site(urls_of_crawl(folder) if folder is not None else urls_of_file(urls or "")):
        judge.add(url)
    if pages.other_hosts:
        say_folded(f"goodbot: {counted(pages.other_hosts, 'URL')} of other hosts left out", err=True)
    if pages.passed_over:
        say_folded(f"goodbot: {counted(pages.passed_over, 'reference')} passed over: no URL of a page", err=True)
    if judge.robots_left_out:
        say_folded(f"goodbot: {counted(judge.robots_left_out, 'robot')} of the files left out", err=True)
    return judge.impact(), {
        "host": pages.host,
        "other_hosts": pages.other_hosts,
        "passed_over": pages.passed_over,
        "repeated": pages.repeated,
        "robots_left_out": judge.robots_left_out,
    }
