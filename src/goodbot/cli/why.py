"""`goodbot why`: everything decided about one URL."""

from pathlib import Path

import click

from goodbot.cli.options import in_option, json_option, write_json
from goodbot.cli.text import human_time
from goodbot.errors import InputError
from goodbot.url import parse_url
from goodbot.values import UrlRecord
from goodbot.wiring import open_ledger


@click.command(name="why")
@click.argument("url")
@in_option
@json_option
def command(url: str, folder: Path, as_json: bool) -> None:
    """Why a URL is in the state it is in: how it was found, what robots.txt said (with the line), what came of it."""
    wanted = parse_url(url)
    if wanted is None:
        raise InputError(f"not an http or https URL: {url!r}")
    with open_ledger(folder) as ledger:
        record = ledger.record(wanted)
    if as_json:
        write_json(_json(wanted.text, record))
        return
    if record is None:
        click.echo(f"{wanted}: unknown; no page that was read links to it")
        return
    click.echo(f"{record.url}: {record.state}{f', {record.why}' if record.why else ''}")
    for event in record.events:
        line = f" (line {event.line} of robots.txt)" if event.line is not None else ""
        click.echo(f"  {human_time(event.at)}  {event.step:<10} {event.decision}: {event.reason}{line}")


def _json(url: str, record: UrlRecord | None) -> dict[str, object]:
    events = record.events if record is not None else ()
    return {
        "url": url,
        "state": record.state if record is not None else "unknown",
        "events": [
            {"at": event.at, "step": event.step, "decision": event.decision, "reason": event.reason, "line": event.line}
            for event in events
        ],
    }
