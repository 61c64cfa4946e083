"""A study to show: a log of three weeks, and the copies of a robots.txt that changed twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from goodbot.cli.watch_rules import load_rules
from goodbot.registry import bundled_registry
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.history.copies import History, RobotsCopy
from goodbot.watch.report import WatchReport, make_report
from goodbot.web.operator.live_watch_page import WatchView

START = 1_789_430_400
"""15 September 2026, 0 o'clock UTC."""

DAY_S = 86_400
RULES = (
    b"User-agent: *\nDisallow: /private/\n",
    b"User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n",
    b"User-agent: *\nDisallow: /private/\nDisallow: /shop/\nCrawl-delay: 4\n\nUser-agent: CCBot\nDisallow: /\n",
)
"""One for each week."""

AGENTS = {
    "CCBot/2.0 (https://commoncrawl.org/faq/)": "9.9.9.10",
    "Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)": "192.0.2.11",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)": "192.0.2.12",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "9.9.9.9",
    "Feedbin feed-id:1 - 10 subscribers": "192.0.2.13",
}
SCRIPT = "Mozilla/5.0 (Windows NT 10.0) Firefox/120.0"


def lines() -> Iterator[str]:
    """Yields the log: five robots, of which one is an impostor, and a script under a browser's name."""
    for day in range(21):
        for number, (agent, address) in enumerate(AGENTS.items()):
            at = START + day * DAY_S + 3600 * (3 * number + 2)
            yield _line(at, "/robots.txt", agent, address)
            for request in range(6 + 5 * number):
                at += 3 + (request * (number + 2)) % 13
                folder = ("shop", "private", "blog", "docs")[(request + day) % (4 if number else 3)]
                yield _line(at, f"/{folder}/{request}", agent, address)
    for number in range(300):
        yield _line(START + 15 * DAY_S + 2 * number, f"/shop/item{number}", SCRIPT, "198.51.100.7")


def _line(at: int, path: str, agent: str, address: str) -> str:
    day, second = divmod(at - START, DAY_S)
    month, day = ("Sep", 15 + day) if day < 16 else ("Oct", day - 15)
    time = f"{day:02}/{month}/2026:{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} +0000"
    return f'{address} - - [{time}] "GET {path} HTTP/1.1" 200 5120 "-" "{agent}"\n'


def make_history(folder: Path, days: int = 21) -> Path:
    """Writes the copies of robots.txt, one for each day."""
    history = History(folder, now=lambda: float(START + 30 * DAY_S))
    for day in range(days):
        body = RULES[day // 7]
        history.add(RobotsCopy("https://site.example/robots.txt", float(START + day * DAY_S), 200, None, (), body))
    return folder


@dataclass
class Followed:
    """Logs that are followed, with what a test says about them."""

    view: WatchView = field(default_factory=WatchView)

    def look(self) -> WatchView:
        return self.view


def study(folder: Path) -> WatchReport:
    """Makes the report. `folder` takes the copies."""
    rules = load_rules(str(make_history(folder)))
    registry = bundled_registry()
    identities = Identities(registry.find)
    tally = Tally()
    options = CountingOptions(rules=rules.judged_by.rules)
    tally.add(LineCounter(identities, options).count(Block("".join(lines()).encode(), "access.log")))
    return make_report(tally, identities, registry, ["access.log"], judged_by=rules.judged_by)
