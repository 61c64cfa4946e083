"""`goodbot cluster watch`: the report of `goodbot watch` over many logs, counted on Spark."""

import re
from collections.abc import Sequence
from typing import Final, Unpack

import click

from goodbot.cli.command_class import Command
from goodbot.cli.master_option import master_option
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.watch_declarations import SharedOptions, watch_options
from goodbot.cli.watch_steps import PreparedWatch, find_watched, prepare_watch, say_read, write_report
from goodbot.errors import InputError
from goodbot.watch.reader.opening import STDIN
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogsRead

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@click.command(
    name="watch",
    cls=Command,
    ends_as_by_ctrl_c=True,
    short_help="Show which robots came to a server, from logs that are counted on Spark",
    examples="""
    goodbot cluster watch /mnt/logs
    goodbot cluster watch /mnt/logs/*.gz --since 2026-10-01 --format html -o report.html
    goodbot cluster watch /mnt/logs --robots history --master spark://spark.example:7077
    """,
    sections={
        "Which requests count": ["since", "until", "robot"],
        "Obedience": ["robots", "host"],
        "How lines are read": ["pattern", "real_ip", "proxies", "keys"],
        "Output": ["form", "anonymise"],
        "Speed": ["master", "engine"],
    },
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@watch_options("reverse_dns", "nameserver", "follow", "every", "state_file", "processes")
@master_option
def command(
    logs: tuple[str, ...],
    form: str,
    master: str,
    as_json: bool,
    **shared: Unpack[SharedOptions],
) -> int:
    """Show which robots visited a server, from many or large logs: the report of `goodbot watch`, counted on Spark.

    The counts are those of `goodbot watch` over the same logs. LOG is an access log or a folder of them; gzip, bzip2,
    xz and zstd are decompressed. The cores of the cluster share the logs; a large one is divided, unless it is
    compressed. A log that was rotated or copied is counted once.

    Every machine needs the logs under the same path, on a mounted file system, and the same goodbot with the extra
    spark (pip install '.[spark]') for the same Python. Spark needs Java 17 or newer.

    This machine reads robots.txt, keys and fetched address lists, and adds up what the others have counted. That takes
    a tenth of the time that one core needs to count, or up to half if almost every line has a different address; so
    more than about ten cores are hardly faster. Lines appended during the run are not counted.

    Exit status: 0: done, also if a compressed log is damaged (a message says so); 2: bad input, or Java or a library is
    missing; 3: reading, writing or Spark failed; 130: interrupted.
    """
    _check_names(logs)
    prepared = prepare_watch(shared)
    found = find_watched(logs, prepared)
    state = WatchState()
    read = _count(found, state, prepared, master)
    say_read(read)
    write_report(prepared.report(state.tally, read), "json" if as_json else form)
    return 0


def _check_names(logs: Sequence[str]) -> None:
    """Raises InputError for what other machines cannot read."""
    for log in logs:
        if log == STDIN:
            raise InputError("other machines cannot read standard input; use goodbot watch -")
        if _URL.match(log):
            raise InputError(f"logs are read from mounted folders, not from URLs: mount or copy {log}")


def _count(logs: Sequence[str], state: WatchState, prepared: PreparedWatch, master: str) -> LogsRead:
    """Counts logs into a state, and shows the progress."""
    from goodbot.cluster.spark.log_counting import ClusterLogCounting, check_logs  # noqa: PLC0415  (loads isal)
    from goodbot.cluster.spark.log_jobs import SparkJobs  # noqa: PLC0415  (as above)
    from goodbot.cluster.spark.session import spark_session  # noqa: PLC0415  (as above)

    check_logs(logs)
    prepared.identities.load_lists()
    with (
        spark_session(master, "goodbot cluster watch") as session,
        SparkJobs(session.sparkContext, prepared.make_counter) as jobs,
        ProgressLine() as progress,
    ):
        return ClusterLogCounting(jobs, state, progress=progress.report).count(logs)
