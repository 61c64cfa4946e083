"""`goodbot gate`: enforces robots.txt at a Web server."""

import asyncio
import gc
import resource
import signal
import socket
from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.file_types import NamedPath
from goodbot.cli.gate_export import command as export_command
from goodbot.cli.gate_rewrite_map import rewrite_map
from goodbot.cli.gate_setup import GateOptions, GateSetup
from goodbot.cli.options import base_settings
from goodbot.cli.printing import flush, say, say_folded, write_json
from goodbot.cli.service_notice import READY, STOPPING, notify_systemd
from goodbot.gate.gate_log import DecisionLog
from goodbot.gate.gate_protocol import Connections
from goodbot.gate.gate_service import GateService, run
from goodbot.gate.policy import Mode
from goodbot.listening import listening, url_of

MOST_CONNECTIONS: Final = 4096
"""Connections at once; fewer if the process may open fewer files. A Web server holds a few dozen."""

_OTHER_FILES: Final = 64


@click.command(
    name="gate",
    cls=CommandWithOthers,
    others={"export": export_command, "rewrite-map": rewrite_map},
    output=False,
    default_log_level="warning",
    short_help="Enforce robots.txt at a Web server",
    examples="""
    goodbot gate --robots /var/www/robots.txt --mode observe
    goodbot gate --robots /var/www/robots.txt --policy gate.toml --log /var/log/goodbot/gate.log
    goodbot gate --robots https://www.example.org/
    """,
)
@click.option(
    "--robots",
    metavar="FILE|URL",
    help="The robots.txt to enforce, for every host without one of its own in --policy. It is read again when FILE "
    "changes, from URL every 10 minutes.",
)
@click.option("--port", type=click.INT, default=8030, show_default=True, metavar="N", help="Port; 0: any free one.")
@click.option(
    "--listen",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address on which Web servers ask the gate. Clients must not reach it.",
)
@click.option(
    "--policy",
    "policy_file",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Policy in TOML (gate.toml): what happens to impostors, to robots that cannot be verified, to programs that "
    "name no robot; exceptions; a robots.txt for each host. It is read again when it changes.",
)
@click.option(
    "--mode",
    type=click.Choice(("observe", "enforce")),
    metavar="MODE",
    help="observe: answer every request with 200, and log what would have happened. enforce: refuse. "
    "[default: mode in --policy, else enforce]",
)
@click.option(
    "--log",
    "log_file",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the decisions, instead of standard output. If it is moved away (logrotate), the gate "
    "opens a new one.",
)
@click.option(
    "--keys",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Verify signed requests (Web Bot Auth) with the keys in FILE, a key directory as the robot NAME serves it. "
    "Repeatable.",
)
@click.option(
    "--nameserver",
    metavar="ADDRESS[:PORT]",
    help="Name server for reverse DNS, instead of those of the system.",
)
def command(
    robots: str | None,
    port: int,
    listen: str,
    policy_file: Path | None,
    mode: Mode | None,
    log_file: Path | None,
    keys: tuple[str, ...],
    nameserver: str | None,
    as_json: bool,
) -> None:
    """Enforce robots.txt at a Web server, until Ctrl-C, SIGTERM or SIGHUP.

    Before the Web server answers a request, it asks the gate (nginx: auth_request; Caddy: forward_auth; Traefik:
    forwardAuth; Apache: a RewriteMap). The gate answers 200, 403 or 429, and the Web server lets the request through
    or not. docs/how-to/gate.md describes the gate; gate-nginx.md, gate-caddy.md, gate-apache.md and gate-traefik.md
    beside it have configurations to copy.

    In this order (docs/how-to/gate.md has all steps):

    \b
    1.  robots.txt itself is open to everyone.
    2.  An impostor is refused: a request that falsely uses the name of a robot
       whose operator publishes addresses or host names.
    3.  Browsers and apps pass, unless the policy limits them.
    4.  A robot must obey the rules of robots.txt, as `goodbot allowed` reads
       them: otherwise 403.
    5.  It must keep its Crawl-delay, Request-rate and Visit-time: otherwise 429
       with Retry-After.
    6.  Robots that cannot be verified are limited to 60 requests a minute from
       one network, programs that are not robots, such as curl, to 120 a minute
       from one address: otherwise 429.

    Feed readers, programs that are not robots, and robots whose operators say so obey only groups that name them.
    Google's robots need not keep a Crawl-delay in a group for `*`. Robots are verified by the signature of the request
    (--keys), by the addresses that their operators publish (goodbot who update fetches them; do so every week), and by
    reverse DNS in the background.

    Header fields that the gate reads: X-Original-URI, X-Original-URL or X-Forwarded-Uri (else the request's own URL),
    X-Original-Method or X-Forwarded-Method, X-Forwarded-Host (else Host), User-Agent, Signature-Input, Signature,
    Signature-Agent; and from the proxies of the policy (by default this machine) X-Forwarded-For or X-Real-IP. It
    answers with X-Goodbot-Decision, -Identity, -Status, -Robot, -Rule and -Why, and with a short page that says why a
    client is refused.

    Each decision is a line of JSON on standard output or in --log, which goodbot watch reads. /metrics has figures for
    Prometheus, /healthz a health check.

    If the gate fails while it decides, the request is let through. If it cannot be reached, the Web server decides: the
    configurations for nginx, Caddy and Apache let requests through. If a robots.txt cannot be read, the last good one
    stays in force; until there is one, unknown_rules of the policy says what happens (default: allow).

    With --json: one line on standard output when the gate is ready, with url, mode and problems.

    Exit status: 0: ended with Ctrl-C, SIGTERM or SIGHUP (the terminal was closed); 2: bad input, such as a robots.txt
    that is missing or a Web page, a policy with an error, or a log in a folder that does not exist; 3: cannot listen on
    that address and port, or cannot write the log.
    """
    setup = GateSetup(GateOptions(robots, policy_file, mode, keys, nameserver, base_settings().contact or ""))
    with listening(listen, port) as listener:
        log = DecisionLog(log_file)
        try:
            asyncio.run(_serve(setup, log, listener, as_json))
        finally:
            log.close()


async def _serve(setup: GateSetup, log: DecisionLog, listener: socket.socket, as_json: bool) -> None:
    connections = Connections(_most_connections())
    service = GateService(setup.state(), setup.limits, log, connections)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop.set)

    gc.freeze()  # what was loaded need not be examined by each full collection

    def ready() -> None:
        _say_ready(setup, listener, as_json)
        notify_systemd(READY)

    await run(service, connections, listener, ready, lambda: setup.keep_current(service), stop)
    notify_systemd(STOPPING)


def _say_ready(setup: GateSetup, listener: socket.socket, as_json: bool) -> None:
    url = url_of(listener, listener.getsockname()[0])
    stale = setup.stale_lists()
    if as_json:
        problems = [*setup.problems(), *([stale] if stale else [])]
        write_json({"url": url, "mode": setup.policy.mode, "problems": problems})
        flush()
    observes = " in mode observe: it refuses nothing" if setup.policy.mode == "observe" else ""
    say(f"gate on {url}{observes} (Ctrl-C ends it)", err=True)
    if stale:
        say_folded(f"goodbot: {stale}", err=True)
    if not setup.policy.contact:
        say_folded(
            "goodbot: no contact is set, so the page for refused clients names nobody to ask: set contact in "
            "gate.toml or goodbot.toml",
            err=True,
        )


def _most_connections() -> int:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if limit == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, limit - _OTHER_FILES))
