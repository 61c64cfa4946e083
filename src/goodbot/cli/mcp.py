"""`goodbot mcp`: tools for AI agents, as an MCP server."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.abandoned_threads import end_without_waiting
from goodbot.cli.command_class import Command
from goodbot.cli.options import base_settings, folders_option
from goodbot.cli.printing import flush, say, say_folded, write_json
from goodbot.cli.service_notice import READY, STOPPING, notify_systemd
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError
from goodbot.interrupts import run_async, stopped_as_by_ctrl_c
from goodbot.listening import listening
from goodbot.robot.fetch.identity import identity_of
from goodbot.url import Url, parse_url

if TYPE_CHECKING:
    from goodbot.cli.mcp_setup import AgentTools

_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")


@click.command(
    name="mcp",
    cls=Command,
    output=False,
    default_log_level="warning",
    examples="""
    goodbot mcp --contact me@example.org
    goodbot mcp --in crawl --contact me@example.org --http 8040
    goodbot mcp --private-host wiki.example.org --private-host 127.0.0.1:8000
    """,
)
@folders_option(
    "Folder of a crawl, or of documents imported with goodbot index import, for the tools search and why. "
    "Repeatable: several are searched as one."
)
@click.option(
    "--http",
    "port",
    type=click.INT,
    metavar="PORT",
    help="Serve over streamable HTTP on this port (0: any free one), instead of standard input and output.",
)
@click.option(
    "--listen",
    metavar="ADDRESS",
    help="With --http: address to listen on. Everyone who can reach it can use the tools. [default: 127.0.0.1]",
)
@click.option(
    "--public-url",
    metavar="URL",
    help="With --http: URL that clients use, if it is not the address of --listen, such as that of a proxy.",
)
@click.option(
    "--private-host",
    "private_hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="Host that may be requested at a private address, such as your own wiki; with PORT, only at that port. All "
    "other hosts are requested at public addresses only. Repeatable.",
)
@click.option("--agent", metavar="TOKEN", help="Product token of the robot. [default: goodbot]")
@click.option(
    "--contact",
    metavar="MAIL|URL",
    help="Mail address or URL where a site's owner can reach you; needed for public hosts.",
)
def command(
    folders: tuple[Path, ...],
    port: int | None,
    listen: str | None,
    public_url: str | None,
    private_hosts: tuple[str, ...],
    agent: str | None,
    contact: str | None,
    as_json: bool,
) -> None:
    """Give AI agents tools for the Web, as an MCP server: a client such as an editor starts this command.

    \b
    fetch    one page as Markdown, text, HTML or links; long pages in parts
    allowed  the verdict of robots.txt on URLs, with the line, the delay and
             the permitted uses of the content
    search   the index of --in DIR: title, URL, extract and score
    why      what became of a URL in the crawl of --in DIR; without it, what
             robots.txt says about the URL, including overridden rules

    All sessions share one robot. It obeys robots.txt, sends one request at a time to a host, and waits for the host's
    delay between requests. If a page or its site disallows ai-input (use as input for AI), agents get no content of it.
    Nothing is requested at private addresses except those of --private-host. A call that would wait more than 30 s for
    its host returns at once, with the time to wait. For each host, at most 4 calls of fetch may wait, and 4 of allowed
    and why; for all hosts together, 32 of each group.

    Without --http the protocol is on standard input and output, and the command ends when standard input closes. With
    --http it is at http://127.0.0.1:PORT/mcp. To prevent DNS rebinding, the server refuses requests whose Host or
    Origin is neither this machine (localhost or --listen) nor --public-url.

    The command needs the package mcp: pip install '.[mcp]'. docs/how-to/agents.md has the settings for clients, and
    explains what is refused and why.

    With --http and --json: one line on standard output when the server is ready, with url and tools.

    Exit status: 0: standard input closed, or the server was stopped with Ctrl-C, SIGTERM or SIGHUP; 2: bad
    input, such as a DIR with neither a crawl nor imported documents, or the package mcp is missing; 3: cannot listen on
    that address and port, or an index is damaged or lost.
    """
    settings = _settings(folders, {"agent": agent, "contact": contact})
    public = _public(public_url, listen, port, as_json=as_json)
    from goodbot.agents import server as mcp  # noqa: PLC0415  (the SDK takes a second; options are checked before)
    from goodbot.cli.mcp_setup import AgentTools  # noqa: PLC0415  (needs the robot and the index)

    _share_log("mcp")
    tools = AgentTools(settings, folders, private_hosts)
    if settings.contact is None:
        say_folded("goodbot: no contact is set, so public hosts are not requested: give --contact", err=True)
    for why in tools.unsearched:
        say_folded(f"goodbot: search leaves out a folder: {why}", err=True)
    server = mcp.mcp_server(tools.tools, version("goodbot"), tools.robot.close)
    if port is None:
        _serve_stdio(server)
    else:
        _serve_http(server, tools, port, listen or "127.0.0.1", public, as_json=as_json)
    end_without_waiting()


def _settings(folders: Sequence[Path], options: dict[str, Any]) -> Settings:
    """Returns the settings in force: those of the first crawl, if there is one, below the options. Raises InputError,
    also if a folder has neither a crawl nor imported documents."""
    base, given = base_settings(), {name: value for name, value in options.items() if value is not None}
    found = [CrawlFolder(path) for path in folders]
    for folder in found:
        if not folder.is_import:
            folder.check()
    crawl = next((folder for folder in found if folder.is_crawl), None)
    settings = crawl.settings(base, given) if crawl is not None else replace(base, **given)
    identity_of(settings, version("goodbot"))
    return settings


def _public(text: str | None, listen: str | None, port: int | None, *, as_json: bool) -> Url | None:
    """Returns the URL that clients use. Raises InputError if an option cannot be used."""
    if port is None:
        for name, is_given in (("--listen", listen), ("--public-url", text), ("--json", as_json)):
            if is_given:
                raise InputError(f"{name} needs --http PORT: without it, standard output carries the protocol")
        return None
    url = parse_url(text) if text is not None else None
    if text is not None and url is None:
        raise InputError(f"--public-url must be an http or https URL, not {text!r}")
    if url is None and _is_wildcard(listen):
        raise InputError(f"--listen {listen} needs --public-url URL: requests are answered only if their Host is known")
    return url


def _is_wildcard(address: str | None) -> bool:
    try:
        return address is not None and ip_address(address).is_unspecified
    except ValueError:
        return False


def _serve_stdio(server: Any) -> None:
    """Serves until standard input closes, or Ctrl-C."""
    from goodbot.agents.server import serve_stdio  # noqa: PLC0415  (as above)
    from goodbot.agents.standard_input import StandardInput  # noqa: PLC0415

    if sys.stdin is None or sys.stdout is None:
        raise InputError("standard input or output is closed: an MCP client has to start this command")
    if sys.stdin.isatty():
        say_folded("goodbot: this is an MCP server: a client starts it and talks to it here (Ctrl-D ends it)", err=True)
    try:
        with stopped_as_by_ctrl_c():
            run_async(lambda: serve_stdio(server, StandardInput()))
    except KeyboardInterrupt:
        pass  # the normal end


def _serve_http(server: Any, tools: "AgentTools", port: int, listen: str, public: Url | None, *, as_json: bool) -> None:
    from goodbot.agents.server import PATH, http_app  # noqa: PLC0415  (as above)
    from goodbot.web import serve  # noqa: PLC0415

    names = list(dict.fromkeys((*_LOCAL, f"[{listen}]" if ":" in listen else listen)))
    hosts = [*names, *(f"{name}:*" for name in names), *([public.authority] if public else [])]
    origins = [f"http://{name}" for name in names] + [f"http://{name}:*" for name in names]
    app = http_app(server, hosts, [*origins, *([public.origin] if public else [])])

    def ready(url: str) -> None:
        address = url.rstrip("/") + PATH
        if as_json:
            write_json({"url": address, "tools": [tool.name for tool in tools.tools]})
            flush()
        say(f"MCP server on {address} (Ctrl-C ends it)", err=True)
        if not ip_address(listener.getsockname()[0]).is_loopback:
            say_folded(f"goodbot: everyone who can reach {listen} can use the tools of this server", err=True)
        notify_systemd(READY)

    with listening(listen, port, "--http") as listener:
        serve(
            app,
            listen,
            port,
            ready,
            listener,
            public.host if public else None,
            lambda: notify_systemd(STOPPING),
            lifespan=True,
        )


def _share_log(name: str) -> None:
    """Sends the warnings of another package where those of goodbot go, with characters that steer a terminal
    escaped."""
    logger = logging.getLogger(name)
    logger.handlers = list(logging.getLogger("goodbot").handlers)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
