"""`goodbot forget`: a host is asked nothing any more, and nothing of it is kept."""

from pathlib import Path

import click

from goodbot.cli.courtesy import host_key
from goodbot.cli.options import in_option, json_option, write_json
from goodbot.cli.text import counted
from goodbot.errors import InputError
from goodbot.outside import Forgotten, forget, remember


@click.command(name="forget")
@click.argument("host")
@in_option
@click.option("--undo", is_flag=True, help="The host may be found and asked again; what was removed is gone.")
@json_option
def command(host: str, folder: Path, undo: bool, as_json: bool) -> None:
    """Stop asking HOST, and remove what the crawl in DIR keeps of it: URLs, robots.txt, captures, documents.

    On private addresses a host is HOST:PORT. A running crawl leaves the host at once, and removes what is kept when it
    ends. Neither links nor seeds bring the host back, unless with --undo. Its name and the numbers of `goodbot
    courtesy` stay, so that it can be shown that nothing was asked since.

    The files of the archive keep their length: the records in them are overwritten. Other hosts' pages keep their links
    to this one.

    Exit status: 2 the crawl does not know the host, 3 a running crawl does not answer.
    """
    wanted = host_key(host)
    if undo:
        if not remember(folder, wanted):
            raise InputError(f"{wanted} is not forgotten")
        click.echo(f"{wanted} may be asked again, once a link or a seed leads to it")
        return
    done = forget(folder, wanted)
    if as_json:
        write_json(
            {
                "host": done.host,
                "running": done.running,
                "urls": done.urls,
                "records": done.captures,
                "documents": done.documents,
            }
        )
        return
    click.echo(_line(done))


def _line(done: Forgotten) -> str:
    if done.running:
        return f"{done.host} is asked nothing any more; what is kept of it is removed when the crawl ends"
    removed = ", ".join(
        (counted(done.urls, "URL"), counted(done.captures, "record"), counted(done.documents, "document"))
    )
    return f"{done.host} is forgotten: {removed} removed"
