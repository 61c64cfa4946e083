"""What `goodbot cluster status --store` shows: a crawl in cycles, by the current version of its table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from goodbot.cli.status import MEANING
from goodbot.human import counted, human_bytes, human_time
from goodbot.values import STATES

if TYPE_CHECKING:
    from goodbot.cluster.spark.table_version import TableVersion


def load_store(url: str) -> "tuple[str, TableVersion, int | None]":
    """Returns the URL of a store as shown, the current version of its crawl table, and the cycle that was begun and has
    not ended (None: there is none). Raises InputError if the URL cannot be used, or has no crawl."""
    from goodbot.cluster.spark.opening import open_files  # noqa: PLC0415  (may load boto3)
    from goodbot.cluster.spark.plan import plan_path  # noqa: PLC0415  (loads pyarrow)
    from goodbot.cluster.spark.table_version import load_existing  # noqa: PLC0415

    files = open_files(url)
    current = load_existing(files)
    number = current.version.cycle + 1
    return files.url, current.version, number if files.read(plan_path(number)) is not None else None


def store_json(url: str, version: "TableVersion", begun: int | None) -> dict[str, Any]:
    """Returns what is printed with --json."""
    status = version.status()
    return {
        "finished": status.finished,
        "states": {state: status.states[state] for state in STATES},
        "pages": status.pages,
        "bytes": status.bytes,
        "hosts": status.hosts,
        "next_ready_at": status.next_ready_at,
        "store": {
            "url": url,
            "version": version.number,
            "cycle": version.cycle,
            "unfinished_cycle": begun,
            "parts": len(version.parts),
            "table_bytes": sum(part.bytes for part in version.parts if part is not None),
            "format": version.format,
            "at": version.made_at,
        },
    }


def store_lines(url: str, version: "TableVersion", begun: int | None) -> Iterator[str]:
    """Yields the lines for people."""
    status = version.status()
    done = "finished" if status.finished else "not finished"
    yield f"{done}: {counted(status.pages, 'page')}, {human_bytes(status.bytes)}, {counted(status.hosts, 'host')}"
    yield from (f"  {status.states[state]:>10,}  {state:<13} {MEANING[state]}" for state in STATES if state != "leased")
    if status.next_ready_at is not None and status.next_ready_at > version.made_at:
        yield f"the next URL is due at {human_time(status.next_ready_at)}"
    size = sum(part.bytes for part in version.parts if part is not None)
    yield (
        f"version {version.number:,} of the table, after cycle {version.cycle:,}, written at"
        f" {human_time(version.made_at)}: {counted(len(version.parts), 'part')}, {human_bytes(size)}, in {url}"
    )
    if begun is not None:
        yield f"cycle {begun:,} has not ended: it runs now, or the next run of goodbot cluster cycle ends it"
