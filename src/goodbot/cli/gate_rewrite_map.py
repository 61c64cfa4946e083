"""`goodbot gate rewrite-map`: asks the gate for Apache httpd."""

import sys

import click

from goodbot.cli.command_class import Command
from goodbot.cli.printing import put
from goodbot.errors import InputError, quoted
from goodbot.gate.apache_map import ALLOWED, AWAY, TIMEOUT_S, AskedGate
from goodbot.url import parse_url


@click.command(
    name="rewrite-map",
    cls=Command,
    output=False,
    default_log_level="warning",
    short_help="Ask the gate for Apache, as the program of a RewriteMap",
    examples="""
    RewriteMap goodbot "prg:/usr/local/bin/goodbot gate rewrite-map" nobody:nogroup
    """,
)
@click.option(
    "--gate",
    "gate_url",
    default="http://127.0.0.1:8030/",
    show_default=True,
    metavar="URL",
    help="URL of the gate.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.01, 3600),
    default=TIMEOUT_S,
    show_default=True,
    metavar="SECONDS",
    help="How long the gate may take.",
)
@click.option("--fail-closed", is_flag=True, help="Answer 503 instead of 200 while the gate cannot be asked.")
def rewrite_map(gate_url: str, timeout: float, fail_closed: bool, as_json: bool) -> None:
    """Ask the gate about requests to Apache httpd, which starts this program itself: docs/how-to/gate-apache.md has the
    configuration.

    It reads one line for each request, and answers with one line: `200`, or status, seconds of Retry-After and reason.
    If the gate cannot be asked or does not answer in time, the answer is 200, so that the request is let through; with
    --fail-closed it is 503. Apache's error log says so once for each outage.

    Exit status: 0: the end of its input, or Ctrl-C; 2: bad input.
    """
    url = parse_url(gate_url)
    if url is None or url.scheme != "http":
        raise InputError(f"--gate must be an http URL, such as http://127.0.0.1:8030/, not {quoted(gate_url)}")
    gate = AskedGate(url, AWAY if fail_closed else ALLOWED, timeout)
    try:
        for line in sys.stdin.buffer:
            value = gate.value(line.decode("latin-1"))
            put(value.encode("latin-1", "replace") + b"\n")
    except KeyboardInterrupt:
        return
    finally:
        gate.close()
