"""Reports of logs that tests write."""

import json
from collections.abc import Iterable
from typing import Any

from goodbot.exclusion import Access
from goodbot.registry import bundled_registry
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.report import JudgedBy, WatchReport, make_report, rules_report

GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
REGISTRY = bundled_registry()
IDENTITIES = Identities(REGISTRY.find)


def line(
    second: int,
    path: str = "/",
    agent: str = GPTBOT,
    address: str = "9.9.9.9",
    *,
    status: int | str = 200,
    referrer: str = "-",
    method: str = "GET",
) -> str:
    """Returns a line of the combined format, of 15 September 2026 from 10 o'clock on."""
    time = f"15/Sep/2026:{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} +0000"
    return f'{address} - - [{time}] "{method} {path} HTTP/1.1" {status} 100 "{referrer}" "{agent}"\n'


def timed_line(second: float, duration_s: float, agent: str = GPTBOT) -> str:
    """Returns a line of Caddy, which has durations."""
    request = {
        "client_ip": "9.9.9.9",
        "proto": "HTTP/1.1",
        "method": "GET",
        "uri": "/",
        "headers": {"User-Agent": [agent]},
    }
    return (
        json.dumps(
            {
                "ts": 1789466400 + second,
                "logger": "http.log.access",
                "msg": "handled request",
                "request": request,
                "duration": duration_s,
                "size": 100,
                "status": 200,
            }
        )
        + "\n"
    )


def tally_of(lines: Iterable[str] | bytes, rules: RulesInForce | None = None, host: str | None = None) -> Tally:
    """Counts lines, which are wire text, or a whole log."""
    data = lines if isinstance(lines, bytes) else "".join(lines).encode("latin-1")
    tally = Tally()
    tally.add(LineCounter(IDENTITIES, CountingOptions(rules=rules, host=host)).count(Block(data, "access.log")))
    return tally


def report_of(
    lines: Iterable[str] | bytes, *, rules: bytes | None = None, host: str | None = None, **options: Any
) -> WatchReport:
    """Makes the report of lines, judged by a robots.txt of a host. `options`: of `make_report`."""
    if rules is None:
        return make_report(tally_of(lines), IDENTITIES, REGISTRY, ["access.log"], **options)
    in_force = RulesInForce.always(Access.from_response(200, (), rules, 0.0))
    judged_by = JudgedBy(in_force, rules_report("robots.txt", in_force, ["a note"]))
    tally = tally_of(lines, in_force, host)
    return make_report(tally, IDENTITIES, REGISTRY, ["access.log"], judged_by=judged_by, **options)
