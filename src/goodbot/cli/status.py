"""`goodbot status`: a crawl in numbers."""

import time
from pathlib import Path

import click

from goodbot.cli.options import in_option, json_option, write_json
from goodbot.cli.text import human_bytes, human_time
from goodbot.values import STATES, Status
from goodbot.wiring import open_ledger

MEANING = {
    "ready": "known, waiting to be fetched",
    "leased": "being fetched",
    "visited": "fetched",
    "disallowed": "robots.txt forbids it",
    "out-of-scope": "not part of this crawl",
    "failed": "no usable answer",
    "gone": "the server has no such page",
}


@click.command(name="status")
@in_option
@json_option
def command(folder: Path, as_json: bool) -> None:
    """How far a crawl is: its URLs by state, pages and bytes fetched, and when it goes on.

    Works while the crawl runs.
    """
    with open_ledger(folder) as ledger:
        status = ledger.status()
    if as_json:
        write_json(
            {
                "finished": status.finished,
                "states": {state: status.states[state] for state in STATES},
                "pages": status.pages,
                "bytes": status.bytes,
                "hosts": status.hosts,
                "next_ready_at": status.next_ready_at,
            }
        )
        return
    for line in _lines(status):
        click.echo(line)


def _lines(status: Status) -> list[str]:
    done = "finished" if status.finished else "not finished"
    lines = [f"{done}: {status.pages} pages, {human_bytes(status.bytes)}, {status.hosts} hosts"]
    lines += [f"  {status.states[state]:>10,}  {state:<13} {MEANING[state]}" for state in STATES]
    if status.next_ready_at is not None and status.next_ready_at > time.time():
        lines.append(f"goes on at {human_time(status.next_ready_at)}")
    return lines
