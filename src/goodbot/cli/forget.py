"""`goodbot forget`: sends no more requests to a host, and removes what is kept of it."""

from collections.abc import Sequence
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.host_argument import host_key
from goodbot.cli.message_text import forgotten_line, removed_damage_line
from goodbot.cli.options import in_option
from goodbot.cli.printing import say_folded, write_json
from goodbot.crawl_admin import Forgotten, forget, remember
from goodbot.errors import InputError
from goodbot.human import in_shell


@click.command(
    name="forget",
    cls=Command,
    output=False,
    examples="""
    goodbot forget example.org --in crawl
    goodbot forget example.org --undo --in crawl
    """,
)
@click.argument("host")
@in_option
@click.option("--undo", is_flag=True, help="Allow requests to the host again; what was removed stays removed.")
def command(host: str, folder: Path, undo: bool, as_json: bool) -> int:
    """Stop requesting pages from HOST, and remove what the crawl in DIR keeps of it: URLs, robots.txt, captures,
    documents.

    On private addresses a host is HOST:PORT; without a port it is port 80. HOST may also be the URL of the site, or an
    IPv6 address, which needs brackets if it has a port, or if its last group could be read as one ([::1]:8000).

    A running crawl stops requesting the host and removes its pages from the search index at once. It removes everything
    else it keeps of the host when it ends; until then, `goodbot forget` says that this is not done yet. Neither links
    nor seeds bring the host back; only --undo does. Its name and its report (`goodbot courtesy`) stay, as proof that
    the robot has sent nothing since.

    Removals of its single pages at their owner's request are removed as well. That of a whole site stays, because it
    also counts for subdomains; the operator's pages of `goodbot serve` end it.

    The files of the archive keep their length: the records in them are overwritten. Other hosts' pages keep their links
    to this one.

    A host that the crawl does not know gets no requests from then on either; the message lists known hosts with the
    same name or address and another port.

    Exit status: 0: everything is removed, or a running crawl will remove it ("done": false); 2: there is no crawl in
    DIR, HOST is not a host name, or with --undo HOST was not forgotten or another machine of the crawl has not
    removed it yet; 3: a running crawl does not answer, or --undo is given while a crawl runs.
    """
    wanted = host_key(host)
    if undo:
        if not remember(folder, wanted):
            raise InputError(f"{wanted} is not forgotten")
        if as_json:
            write_json({"done": True, "host": wanted})
        else:
            say_folded(f"{wanted} is allowed again; it is crawled once a link or a seed leads to it")
        return 0
    done = forget(folder, wanted)
    if as_json:
        write_json(
            {
                "done": not (done.running and done.known),
                "host": done.host,
                "known": done.known,
                "running": done.running,
                "urls": done.urls,
                "records": done.captures,
                "documents": done.documents,
                "damaged_bytes": done.damaged_bytes,
                "similar": list(done.similar),
            }
        )
    else:
        say_folded(_line(done, folder))
    if done.damaged_bytes:
        say_folded(removed_damage_line(done.host, done.damaged_bytes, folder), err=True)
    return 0


def _line(done: Forgotten, folder: Path) -> str:
    if not done.known:
        return (
            f"this crawl does not know {done.host}; from now on it gets no requests, even if links or seeds lead to it"
            f" (to undo this: goodbot forget {done.host} --undo --in {in_shell(folder)})"
            f"{_question(done.similar)}"
        )
    if done.running:
        return (
            f"the running crawl requests nothing more from {done.host} and removes its pages from the search now;"
            " URLs and records are not removed yet: the crawl removes them when it ends"
            f" (to end it now: goodbot stop --in {in_shell(folder)})"
        )
    return forgotten_line(done.host, {"URL": done.urls, "record": done.captures, "document": done.documents})


def _question(hosts: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(hosts)}?" if hosts else ""
