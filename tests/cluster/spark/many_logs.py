"""A folder of logs in several formats, with everything that makes it hard to divide them; and what counts them."""

import gzip
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from goodbot.registry import bundled_registry
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.report import make_report, report_json
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogCounting, LogsRead
from watch.counting.tallies import IDENTITIES, figures

AGENTS = [
    "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    "curl/8.5.0",
    "-",
]
COLUMNS = "date time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes"
FIRST = f"#Fields: {COLUMNS} cs(User-Agent) time-taken s-ip"
SECOND = f"#Fields: {COLUMNS} time-taken cs(User-Agent) s-ip"

ROBOTS = b"User-agent: GPTBot\nDisallow: /private/\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /private/a\n"


def combined(count: int, seed: int, *, start: int = 0, paths: int = 50, addresses: int = 30) -> Iterator[str]:
    """Yields lines of the combined format."""
    draw = random.Random(seed)
    for second in range(start, start + count):
        clock = f"{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        path = draw.choice(["/", "/robots.txt", "/private/a", "/b.css", f"/page/{draw.randrange(paths)}"])
        yield (
            f"203.0.113.{draw.randrange(addresses)} - - [15/Sep/2026:{clock} +0000] "
            f'"{draw.choice(["GET", "GET", "HEAD"])} {path} HTTP/1.1" {draw.choice([200, 304, 404, 500])} '
            f'{draw.randrange(9999)} "-" "{draw.choice(AGENTS)}"\n'
        )


def iis(count: int, header: str, day: int, seed: int) -> Iterator[str]:
    """Yields a header, and lines with its columns."""
    draw = random.Random(seed)
    yield f"#Software: Microsoft Internet Information Services 10.0\r\n{header}\r\n"
    for second in range(count):
        agent, taken = draw.choice(AGENTS).replace(" ", "+"), str(125 * draw.randrange(40))
        last = f"{agent} {taken}" if header == FIRST else f"{taken} {agent}"
        yield (
            f"2026-09-{day:02} 10:{second // 60:02}:{second % 60:02} 198.51.100.{draw.randrange(9)} GET "
            f"/page/{draw.randrange(9)} - 200 {draw.randrange(9999)} {last} 10.0.0.1\r\n"
        )


def caddy(count: int, seed: int) -> Iterator[str]:
    """Yields JSON lines, some of them from behind a proxy."""
    draw = random.Random(seed)
    for second in range(count):
        yield (
            f'{{"ts":{1789466400 + second}.5,"logger":"http.log.access.log0","request":{{"remote_ip":"10.0.0.1",'
            f'"method":"GET","host":"example.org","uri":"/page/{draw.randrange(9)}","headers":'
            f'{{"User-Agent":["{draw.choice(AGENTS)}"],"X-Forwarded-For":["203.0.113.{draw.randrange(99)}"]}}}},'
            f'"status":200,"size":{draw.randrange(999)},"duration":{draw.randrange(40) / 8}}}\n'
        )


def write_logs(folder: Path) -> list[str]:
    """Writes the logs, and returns their names."""
    access = "".join(combined(900, 1)).encode()
    older = "".join(combined(300, 2)).encode()
    rubbish = random.Random(3).randbytes(30_000)
    turned = [*iis(90, FIRST, 1, 4), *iis(60, SECOND, 2, 5), *iis(40, SECOND, 3, 6), *iis(80, FIRST, 4, 7)]
    windows = "".join(turned).encode()
    contents = {
        "access.log": access,
        "access.log.1": older,
        "access.log.2.gz": gzip.compress("".join(combined(300, 8)).encode()),
        "again.log.1": older,
        "again.log.2.gz": gzip.compress(older),
        "beginning.log": access[: len(access) // 3],
        "grown.log": older + "".join(combined(200, 9, start=400)).encode(),
        "damaged.log.gz": gzip.compress("".join(combined(300, 10)).encode())[:-300],
        "caddy.log": "".join(caddy(300, 11)).encode(),
        "carriage.log": "".join(combined(200, 12)).replace("\n", "\r\n").encode(),
        "cut.log": "".join(combined(200, 13)).encode()[:-7],
        "empty.log": b"",
        "iis.log": windows,
        "iis-again.log": windows + "".join([*iis(30, FIRST, 5, 14)][1:]).encode(),
        "iis-packed.log.gz": gzip.compress(windows.replace(b"2026-09", b"2026-08")),
        "long.log": b"x" * 70_000 + b"\n" + "".join(combined(50, 15)).encode() + b"y" * 2_000_000,
        "rubbish.log": rubbish,
        "short.log": older[:200],
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in sorted(contents)]


@dataclass
class Counted:
    """What became of logs, and their counts."""

    logs: LogsRead
    state: WatchState

    def all(self) -> tuple[LogsRead, dict[str, object], object]:
        """Everything, in a form that can be compared."""
        return self.logs, figures(self.state.tally), self.state.positions

    def report(self) -> object:
        """The report, as JSON."""
        read = self.logs
        return report_json(make_report(self.state.tally, IDENTITIES, bundled_registry(), read.read, read.damage))


def counted_alone(logs: list[str], make_counter: Callable[[], BlockCounter]) -> Counted:
    """Counts logs as `goodbot watch` does."""
    state = WatchState()
    return Counted(LogCounting(state, make_counter).count(logs), state)
