"""`goodbot cluster`: a crawl that several machines share in a database, and what is done on a Spark cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.cluster_analysis import dedup, pagerank
from goodbot.cli.cluster_cycle import command as cycle
from goodbot.cli.cluster_export import command as export
from goodbot.cli.cluster_index import command as index
from goodbot.cli.cluster_watch import command as watch
from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import Command, base_settings
from goodbot.cli.printing import joined, say, say_folded, say_lines, styled, width, wrapped, write_json
from goodbot.cli.status import MEANING
from goodbot.crawl_folder import CrawlFolder
from goodbot.database_address import check_database_address
from goodbot.errors import InputError
from goodbot.human import counted, human_bytes, human_duration, human_time, in_shell
from goodbot.report_values import MachineView
from goodbot.values import STATES

if TYPE_CHECKING:
    from goodbot.cluster.postgres.overview import CrawlOverview

TABLES_SHOWN: Final = 5
WIDE: Final = 96
"""Columns that the table of machines needs."""
COLOURS: Final = {"alive": "green", "late": "yellow", "left": "bright_black", "gone": "red"}


@click.group(
    name="cluster",
    cls=CommandGroup,
    examples="""
    goodbot cluster status --frontier postgresql://db.example/crawl
    goodbot cluster cycle https://example.org/ --store /mnt/crawl --contact me@example.org
    goodbot cluster watch /mnt/logs --master spark://spark.example:7077
    """,
)
def command() -> None:
    """Work with several machines: show a crawl that they share in a PostgreSQL database; on Spark, run and analyse
    crawls, and count logs.

    status and workers only read. In a database they need the right to SELECT; if the address of the database names no
    password, libpq takes it from PGPASSWORD or ~/.pgpass. A password is never printed.

    cycle, index, pagerank, dedup and watch run on Spark: on all cores of this machine, or on the cluster that --master
    names. export, and status with --store, need neither Spark nor Java."""


for each in (cycle, index, export, pagerank, dedup, watch):
    command.add_command(each)


def database_options(function: Command) -> Command:
    """`--frontier URL` or `--in DIR`: the database."""
    function = click.option(
        "--in",
        "folder",
        metavar="DIR",
        type=NamedPath(path_type=Path),
        help="Folder of a machine that takes part: its goodbot.toml names the database.",
    )(function)
    return click.option(
        "--frontier",
        metavar="URL",
        help="The database: postgresql://HOST/DATABASE. Default: the value of the setting frontier.",
    )(function)


def database_of(frontier: str | None, folder: Path | None, *, has_store: bool = False) -> str:
    """Returns the address of the database that the options or the settings name. `has_store`: the command has the
    option `--store`, too. Raises InputError."""
    if frontier is not None and folder is not None:
        raise InputError("--frontier and --in both name a database: give one of them")
    if folder is not None:
        crawl = CrawlFolder(folder)
        address = crawl.settings_before().frontier
        if address is None:
            crawl.check()
            raise InputError(f"the crawl in {folder} is in no database: see goodbot status --in {in_shell(folder)}")
        return address
    address = base_settings().frontier if frontier is None else frontier
    if address is None:
        or_store = ", or the store of a crawl in cycles with --store URL" if has_store else ""
        raise InputError(
            f"name the database with --frontier postgresql://HOST/DATABASE, or a crawl with --in DIR{or_store}"
        )
    check_database_address(address)
    return address


# ---- status ---------------------------------------------------------------------------------------------------------


@command.command(
    name="status",
    short_help="Show the progress of the whole crawl",
    examples="""
    goodbot cluster status --frontier postgresql://db.example/crawl
    goodbot cluster status --in crawl --json
    goodbot cluster status --store s3://bucket/crawl
    """,
)
@database_options
@click.option("--store", metavar="URL", help="The store of a crawl in cycles: a path, or s3://BUCKET/FOLDER.")
def status_command(frontier: str | None, folder: Path | None, store: str | None, as_json: bool) -> None:
    """Show the progress of the whole crawl: its URLs by state, hosts that are ready, waiting or leased, machines and
    their partitions, rate, and the size of the database. For a crawl in cycles (--store): its URLs by state, and the
    current version of its table.

    Numbers of URLs are sums that the machines or the cycles keep; nothing is counted by reading the tables of URLs, so
    the command is fast in a crawl of any size.

    Exit status: 0: done; 2: the database or store cannot be used, or has no crawl; 3: it does not answer, is damaged,
    or its tables have another format.
    """
    if store is not None:
        if frontier is not None or folder is not None:
            raise InputError("--store names another crawl than --frontier and --in: give one of them")
        from goodbot.cli.cluster_store import load_store, store_json, store_lines  # noqa: PLC0415  (few commands)

        found = load_store(store)
        if as_json:
            write_json(store_json(*found))
            return
        for text in store_lines(*found):
            say_folded(text, rest=" " * 14 if text.startswith(" ") else "  ")
        return
    dsn = database_of(frontier, folder, has_store=True)
    from goodbot.cluster.postgres.overview import crawl_overview  # noqa: PLC0415  (loads psycopg)

    overview = crawl_overview(dsn)
    if as_json:
        write_json(_status_json(overview))
        return
    for text in _status_lines(overview):
        say_folded(text, rest=" " * 14 if text.startswith(" ") else "  ")


def _status_json(overview: "CrawlOverview") -> dict[str, object]:
    status = overview.status
    return {
        "finished": overview.is_finished,
        "states": {state: status.states[state] for state in STATES},
        "pages": status.pages,
        "bytes": status.bytes,
        "hosts": status.hosts,
        "next_ready_at": status.next_ready_at,
        "queue": {
            "ready": overview.hosts_ready,
            "waiting": overview.hosts_waiting,
            "leased": overview.hosts_leased,
        },
        "machines": overview.machines,
        "oldest_heartbeat_s": overview.heartbeat_s,
        "partitions": {"owned": overview.owned, "free": overview.free},
        "ending_leases": {"hosts": overview.ending_hosts, "urls": overview.ending_urls},
        "pages_per_s": overview.pages_per_s,
        "database": {
            "address": overview.database,
            "size_bytes": overview.database_bytes,
            "tables_bytes": overview.tables,
            "format": overview.format,
            "begun_at": overview.begun_at,
            "at": overview.at,
        },
    }


def _status_lines(overview: "CrawlOverview") -> Iterator[str]:
    status = overview.status
    done = "finished" if overview.is_finished else "not finished"
    yield f"{done}: {counted(status.pages, 'page')}, {human_bytes(status.bytes)}, {counted(status.hosts, 'host')}"
    yield from (f"  {status.states[state]:>10,}  {state:<13} {MEANING[state]}" for state in STATES)
    yield (
        f"hosts in the queue: {overview.hosts_ready:,} ready, {overview.hosts_waiting:,} waiting until they are due, "
        f"{overview.hosts_leased:,} leased"
    )
    if status.next_ready_at is not None and status.next_ready_at > overview.at:
        yield f"the next URL is due at {human_time(status.next_ready_at)}"
    machines = ", ".join(f"{count:,} {state}" for state, count in overview.machines.items() if count)
    oldest = "" if overview.heartbeat_s is None else f"; oldest heartbeat {overview.heartbeat_s:,.1f} s ago"
    yield f"machines: {machines or 'none has taken part'}{oldest}"
    yield f"partitions: {overview.owned:,} owned, {overview.free:,} free"
    if overview.ending_hosts:
        yield (
            f"still leased by machines that are late or gone: {counted(overview.ending_hosts, 'host')} with "
            f"{counted(overview.ending_urls, 'URL')}; other machines take these hosts over, unless a late one recovers"
        )
    if overview.pages_per_s is not None:
        yield f"{overview.pages_per_s:,.1f} pages/s in the last ten seconds"
    largest = [f"{name} {human_bytes(size)}" for name, size in list(overview.tables.items())[:TABLES_SHOWN]]
    yield (
        f"tables: {human_bytes(sum(overview.tables.values()))} ({', '.join(largest)}), "
        f"of {human_bytes(overview.database_bytes)} in the database"
    )
    yield f"begun at {human_time(overview.begun_at)}, format {overview.format}, in {overview.database}"


# ---- workers --------------------------------------------------------------------------------------------------------


@command.command(
    name="workers",
    short_help="List the machines of the crawl",
    examples="""
    goodbot cluster workers --frontier postgresql://db.example/crawl
    goodbot cluster workers --in crawl --all --json
    """,
)
@database_options
@click.option("--all", "all_", is_flag=True, help="List every machine that has ended, not only the latest 20.")
def workers_command(frontier: str | None, folder: Path | None, all_: bool, as_json: bool) -> None:
    """List the machines of the crawl: those that take part, then the 20 that ended last. Each start of `goodbot
    crawl` is listed as a machine of its own; its worker processes are not listed.

    \b
      alive  its heartbeat is valid
      late   its heartbeat has expired; it sends no requests until the next
             one arrives
      left   it ended normally
      gone   it sent no heartbeat for too long, so others took its hosts over;
             or it was killed, and started again in the same folder

    The columns: the process; the state, and for how long; the age of the last heartbeat, by the clock of the database;
    partitions owned; hosts and URLs leased now; visits of pages that it has committed, repeated ones too; pages per
    second over the last ten seconds.

    Exit status: 0: done; 2: the database cannot be used, or has no crawl; 3: its server does not answer, or its tables
    have another format.
    """
    dsn = database_of(frontier, folder)
    from goodbot.cluster.postgres.overview import LATEST_ENDED, machines_of  # noqa: PLC0415  (loads psycopg)

    now, machines = machines_of(dsn, None if all_ else LATEST_ENDED)
    if as_json:
        write_json({"at": now, "machines": [_machine_json(machine) for machine in machines]})
    elif not machines:
        say("no machine has taken part")
    elif width() < WIDE:
        for machine in machines:
            say_lines(_as_lines(machine, now))
    else:
        _print_table(machines, now)


def _machine_json(machine: MachineView) -> dict[str, Any]:
    return {
        "machine": machine.machine,
        "name": machine.name,
        "folder": machine.writer,
        "pid": machine.pid,
        "state": machine.state,
        "since": machine.since,
        "joined_at": machine.joined_at,
        "ended_at": machine.ended_at,
        "heartbeat_s": machine.heartbeat_s,
        "partitions": machine.partitions,
        "leased": {"hosts": machine.leased_hosts, "urls": machine.leased_urls},
        "pages": machine.pages,
        "bytes": machine.bytes,
        "pages_per_s": machine.pages_per_s,
    }


def _print_table(machines: list[MachineView], now: float) -> None:
    from rich.table import Table  # noqa: PLC0415  (takes 50 ms)

    from goodbot.cli.rich_tables import cell, console  # noqa: PLC0415  (as above)

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("machine", overflow="fold")
    for name in ("process", "state", "for", "heartbeat", "partitions", "hosts", "URLs", "pages", "pages/s"):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    for machine in machines:
        rate = machine.pages_per_s
        table.add_row(
            cell(machine.name),
            str(machine.pid),
            cell(machine.state, COLOURS[machine.state]),
            human_duration(max(now - machine.since, 0)),
            f"{machine.heartbeat_s:.1f} s" if machine.heartbeat_s < 100 else human_duration(machine.heartbeat_s),
            f"{machine.partitions:,}",
            f"{machine.leased_hosts:,}",
            f"{machine.leased_urls:,}",
            f"{machine.pages:,}",
            "" if rate is None else f"{rate:,.1f}",
        )
    console(columns=width()).print(table)


def _as_lines(machine: MachineView, now: float) -> Iterator[tuple[str, ...]]:
    rate = "" if machine.pages_per_s is None else f", {machine.pages_per_s:,.1f} pages/s"
    text = (
        f"for {human_duration(max(now - machine.since, 0))}, heartbeat {human_duration(machine.heartbeat_s)} ago, "
        f"{counted(machine.partitions, 'partition')}, leases {counted(machine.leased_hosts, 'host')} and "
        f"{counted(machine.leased_urls, 'URL')}, {counted(machine.pages, 'page')}{rate}"
    )
    state = styled(machine.state, fg=COLOURS[machine.state])
    for line in wrapped(text, joined(f"{machine.name}, process {machine.pid}: ", state, " "), "  "):
        yield tuple(line)
