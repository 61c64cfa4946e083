"""`goodbot watch`: shows which robots visited a server, who operates them, and how fast they were."""

import time
from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path

import click

from goodbot.cli.command_class import Command, keep_from_output, output_is_given
from goodbot.cli.file_types import NamedPath
from goodbot.cli.own_robots import load_registry
from goodbot.cli.printing import complain, put, say_folded, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.time_option import is_relative
from goodbot.cli.watch_following import follow_logs
from goodbot.cli.watch_keys import load_keys
from goodbot.cli.watch_options import (
    ENGINES,
    CountingChoices,
    Engine,
    check_logs,
    counter_factory,
    growing_counter,
    identities_of,
    process_count,
)
from goodbot.cli.watch_report import print_report
from goodbot.cli.watch_rules import GrowingRules
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import strict_json
from goodbot.human import counted
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.pending_requests import settle_tally
from goodbot.watch.counting.tally import Tally
from goodbot.watch.reader.log_files import find_logs
from goodbot.watch.report import WatchReport, make_report, report_csv, report_json, report_prometheus, robot_name
from goodbot.watch.watch_state import WatchState, load_state, save_state
from goodbot.watch.watching import LogCounting, LogsRead

FORMATS = ("text", "json", "csv", "html", "prometheus")

EVERY_S = 2.0

MOST_NAMED = 5
"""Files that are named in one message."""


@click.command(
    name="watch",
    cls=Command,
    examples="""
    goodbot watch
    goodbot watch /var/log/nginx/access.log*
    goodbot watch access.log --since 7d --robot GPTBot
    goodbot watch access.log --robots robots.txt
    goodbot watch access.log --robots robots.txt --format html -o report.html
    goodbot watch access.log --follow
    goodbot watch /var/log/nginx --state watch.state --format prometheus -o goodbot.prom
    zcat old.log.gz | goodbot watch - --json
    """,
    sections={
        "Which requests count": ["since", "until", "robot"],
        "Obedience": ["robots", "host"],
        "How lines are read": ["pattern", "real_ip", "proxies", "reverse_dns", "nameserver", "keys"],
        "Output": ["form", "anonymise"],
        "Repeated runs": ["follow", "every", "state_file"],
        "Speed": ["processes", "engine"],
    },
)
@click.argument("logs", nargs=-1, metavar="[LOG...]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text, json, csv, html or prometheus.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Count requests from TIME on: a date (2026-11-01), a time (2026-11-01T14:30, UTC) or an age (7d, 24h).",
)
@click.option("--until", metavar="TIME", help="Count requests before TIME.")
@click.option("--robot", metavar="NAME", help="Report one robot only, in detail.")
@click.option(
    "--robots",
    metavar="FILE|FOLDER",
    help="Judge requests by a robots.txt, or by the dated copies in a folder of goodbot remember.",
)
@click.option(
    "--host",
    metavar="HOST",
    help="With --robots: the host whose requests are judged, if the log names several. Default: that of the folder.",
)
@click.option(
    "--log-format",
    "pattern",
    metavar="PATTERN",
    help="Format of the lines, as in Apache's LogFormat or nginx's log_format; needed only for unusual formats.",
)
@click.option(
    "--real-ip", is_flag=True, help="For servers behind a proxy: take the address of the client from X-Forwarded-For."
)
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="With --real-ip: public address or network of a proxy of yours; private ones are trusted. Repeatable.",
)
@click.option(
    "--reverse-dns",
    is_flag=True,
    help="Also verify robots by reverse DNS, if their operators support it.",
)
@click.option(
    "--nameserver", metavar="ADDRESS[:PORT]", help="With --reverse-dns: use this name server instead of the system's."
)
@click.option(
    "--keys",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Verify signed requests (Web Bot Auth) with a key directory that you saved. NAME: the robot, or the URL of "
    "its keys; without it, the name of the file counts. Repeatable.",
)
@click.option("--anonymise", is_flag=True, help="Shorten addresses in the report: 192.0.2.0/24, 2001:db8::/48.")
@click.option("--follow", is_flag=True, help="Keep reading as the logs grow, also after rotation; refresh the report.")
@click.option(
    "--every",
    type=click.FloatRange(0.5, 86_400),
    metavar="SECONDS",
    help="With --follow: least time between reports.  [default: 2]",
)
@click.option(
    "--state",
    "state_file",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep the counts in FILE and add new lines to them: no line is counted twice, also after rotation.",
)
@click.option(
    "--processes", default="1", show_default=True, metavar="N", help="Processes that count; auto: one per core."
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    metavar="ENGINE",
    help="standard: Python's standard library; fast: pyarrow; auto: fast if installed. Both give the same counts.",
)
def command(
    logs: tuple[str, ...],
    form: str,
    since: str | None,
    until: str | None,
    robot: str | None,
    robots: str | None,
    host: str | None,
    pattern: str | None,
    real_ip: bool,
    proxies: tuple[str, ...],
    reverse_dns: bool,
    nameserver: str | None,
    keys: tuple[str, ...],
    anonymise: bool,
    follow: bool,
    every: float | None,
    state_file: Path | None,
    processes: str,
    engine: Engine,
    as_json: bool,
) -> int:
    """Show which robots visited your server: who operates them, whether they are genuine, and how fast they were.

    LOG is an access log, a folder of them, or - for standard input; gzip, bzip2, xz and zstd are decompressed. Without
    LOG, goodbot reads the first log that it finds where web servers usually log, with its rotated files, and names
    them. It recognizes the formats of nginx, Apache, Caddy, Traefik, IIS and CloudFront line by line.

    Known robots are listed with purpose and one of four tiers (goodbot who --help): verified, declared,
    impostor, unknown. Other addresses are judged by what they did, with points and evidence: certain, likely, possible,
    or no evidence. No evidence does not mean that a person was there.

    Requests of known robots are counted exactly. To bound memory, at least the 20,000 busiest other addresses are
    counted one by one, and the rest only together; the report says how many requests that is. Nothing is sent over the
    network without --reverse-dns.

    Exit status: 0: done, also if a compressed log is damaged (a message says so); 2: bad input; 3: reading or writing
    failed; 130: interrupted, which is how --follow ends.
    """
    form = "json" if as_json else form
    _check(state_file, since, until, nameserver, reverse_dns)
    _check_following(follow, every, state_file, form)
    _check_host(host, robots)
    check_logs(logs)
    rules = GrowingRules(robots) if robots is not None else None
    registry = load_registry()
    directories = load_keys(keys, registry)
    loaded, is_counted_on = rules.current() if rules else None, follow or state_file is not None
    choices = CountingChoices(since, until, pattern, real_ip, proxies, loaded, host, is_counted_on, directories)
    if robot is not None and state_file is None:
        robot_name(robot, registry)  # an unknown one is refused before the logs are read
    identities = identities_of(registry, reverse_dns, nameserver)
    make_counter = counter_factory(engine, identities, choices.options())
    found = find_logs(logs, may_be_none=follow and bool(logs))
    keep_from_output([*found.logs, *([str(state_file)] if state_file else []), *(rules.inputs if rules else [])])
    _say_found(found.logs if not logs else (), [pair for pair in found.passed_over if pair[0] != str(state_file or "")])

    def settle(tally: Tally) -> None:
        if rules is not None:
            settle_tally(tally, rules.current().judged_by.rules, identities)

    def report(tally: Tally, read: LogsRead) -> WatchReport:
        settle(tally)
        return make_report(
            tally,
            identities,
            registry,
            read.read,
            read.damage,
            robot=robot,
            anonymise=anonymise,
            judged_by=rules.current().judged_by if rules else None,
            directories=directories,
        )

    if follow:
        follow_logs(
            logs or found.logs,
            growing_counter(engine, identities, choices.options(), rules) if rules else make_counter,
            EVERY_S if every is None else every,
            lambda tally, read: show_again(report(tally, read), form),
            processes=process_count(processes),
        )
    state = load_state(state_file, choices.key()) if state_file else WatchState()
    settle(state.tally)
    read = _count(found.logs, state, make_counter, process_count(processes), complete_only=state_file is not None)
    _say_read(read, state_file)
    write_report(report(state.tally, read), form)
    if state_file:
        save_state(state_file, state, choices.key())
    return 0


def _count(
    logs: Sequence[str],
    state: WatchState,
    make_counter: Callable[[], BlockCounter],
    processes: int,
    *,
    complete_only: bool,
) -> LogsRead:
    """Counts logs into a state, and shows the progress."""
    with ProgressLine() as progress:
        counting = LogCounting(
            state, make_counter, processes=processes, complete_only=complete_only, progress=progress.report
        )
        return counting.count(logs)


def write_report(report: WatchReport, form: str) -> None:
    """Writes a report to standard output, or to the file of `--output`."""
    if form == "json":
        write_json(report_json(report))
    elif form == "csv":
        put(report_csv(report).encode())
    elif form == "prometheus":
        put(report_prometheus(report).encode())
    elif form == "html":
        from goodbot.web.operator.watch_page import watch_page  # noqa: PLC0415  (the other formats need no templates)

        put(watch_page(report, time.time()).encode())
    else:
        print_report(report)


def show_again(report: WatchReport, form: str) -> None:
    """Writes a report in place of the last one on a terminal, else after it; as JSON, in one line."""
    if form == "json":
        put(f"{strict_json(report_json(report))}\n".encode())
        return
    click.clear()  # does nothing if the output is not a terminal
    print_report(report)


def _check_following(follow: bool, every: float | None, state_file: Path | None, form: str) -> None:
    if not follow and every is not None:
        raise InputError("--every needs --follow")
    if every is not None and isnan(every):
        raise InputError("--every must be a number of seconds")
    if follow and state_file:
        raise InputError("--follow and --state cannot be combined; run goodbot watch --state FILE repeatedly instead")
    if follow and form in ("csv", "html", "prometheus"):
        raise InputError(f"--follow writes text or JSON lines, not {form}")
    if follow and output_is_given():
        raise InputError(
            "--follow writes to standard output, since the file of --output is written at the end; run "
            "goodbot watch --state FILE --output FILE repeatedly instead"
        )


def _check_host(host: str | None, robots: str | None) -> None:
    if host is not None and robots is None:
        raise InputError("--host needs --robots")


def _check(
    state_file: Path | None, since: str | None, until: str | None, nameserver: str | None, reverse_dns: bool
) -> None:
    if state_file and not state_file.absolute().parent.is_dir():
        raise InputError(f"cannot write {state_file}: its folder does not exist")
    if state_file and any(text is not None and is_relative(text) for text in (since, until)):
        raise InputError("--state needs dates such as --since 2026-11-01, not 7d: what was counted is never removed")
    if nameserver and not reverse_dns:
        raise InputError("--nameserver needs --reverse-dns")


def _say_found(logs: Sequence[str], passed_over: Sequence[tuple[str, str]]) -> None:
    if logs:
        say_folded(f"goodbot: reading {_some(logs)}", err=True)
    if passed_over:
        names = [f"{path} ({reason})" for path, reason in passed_over]
        say_folded(f"goodbot: left out: {_some(names)}", err=True)


def _say_read(read: LogsRead, state_file: Path | None) -> None:
    for damage in read.damage:
        complain(
            f"{damage.source}: {damage.reason}, after {damage.at_byte:,} bytes (decompressed); what comes before "
            "is counted"
        )
    if read.again:
        since = f" since the last run with {state_file}" if state_file else "; it was counted under another name"
        say_folded(f"goodbot: nothing new in {_some(read.again)}{since}", err=True)


def _some(names: Sequence[str]) -> str:
    named = ", ".join(names[:MOST_NAMED])
    return named if len(names) <= MOST_NAMED else f"{named} and {counted(len(names) - MOST_NAMED, 'other')}"
