"""`goodbot watch`: shows which robots visited a server, who operates them, and how fast they were."""

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path
from typing import Unpack

import click

from goodbot.cli.command_class import Command, output_is_given
from goodbot.cli.printing import put
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.time_option import is_relative
from goodbot.cli.watch_declarations import SharedOptions, watch_options
from goodbot.cli.watch_following import follow_logs
from goodbot.cli.watch_options import check_logs, process_count
from goodbot.cli.watch_report import print_report
from goodbot.cli.watch_steps import find_watched, prepare_watch, say_read, write_report
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import strict_json
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.report import WatchReport, report_json
from goodbot.watch.watch_state import WatchState, load_state, save_state
from goodbot.watch.watching import LogCounting, LogsRead

EVERY_S = 2.0


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
@watch_options()
def command(
    logs: tuple[str, ...],
    form: str,
    reverse_dns: bool,
    nameserver: str | None,
    follow: bool,
    every: float | None,
    state_file: Path | None,
    processes: str,
    as_json: bool,
    **shared: Unpack[SharedOptions],
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
    _check(state_file, shared["since"], shared["until"], nameserver, reverse_dns)
    _check_following(follow, every, state_file, form)
    check_logs(logs)
    prepared = prepare_watch(
        shared,
        reverse_dns=reverse_dns,
        nameserver=nameserver,
        is_counted_on=follow or state_file is not None,
        may_be_unknown=state_file is not None,
    )
    found = find_watched(logs, prepared, state_file, may_be_none=follow and bool(logs))
    if follow:
        follow_logs(
            logs or found,
            prepared.make_growing_counter,
            EVERY_S if every is None else every,
            lambda tally, read: show_again(prepared.report(tally, read), form),
            processes=process_count(processes),
        )
    key = prepared.choices.key()
    state = load_state(state_file, key) if state_file else WatchState()
    prepared.settle(state.tally)
    read = _count(found, state, prepared.make_counter, process_count(processes), complete_only=state_file is not None)
    say_read(read, state_file)
    write_report(prepared.report(state.tally, read), form)
    if state_file:
        save_state(state_file, state, key)
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


def _check(
    state_file: Path | None, since: str | None, until: str | None, nameserver: str | None, reverse_dns: bool
) -> None:
    if state_file and not state_file.absolute().parent.is_dir():
        raise InputError(f"cannot write {state_file}: its folder does not exist")
    if state_file and any(text is not None and is_relative(text) for text in (since, until)):
        raise InputError("--state needs dates such as --since 2026-11-01, not 7d: what was counted is never removed")
    if nameserver and not reverse_dns:
        raise InputError("--nameserver needs --reverse-dns")
