"""A log in which it is known who is who: people, declared robots, impostors and undeclared crawlers."""

import random
from collections.abc import Callable, Iterator
from functools import lru_cache

from goodbot.registry import AddressBook, find_token
from watch.judging.labelled_lines import CHROME as CHROME
from watch.judging.labelled_lines import FIREFOX, SAFARI, SITE, START
from watch.judging.labelled_lines import PAGES as PAGES
from watch.judging.labelled_lines import LabelledLog as LabelledLog
from watch.judging.people import PEOPLE, load_page

IMPOSTORS = {
    "Googlebot": "203.0.113.10",
    "bingbot": "203.0.113.11",
    "GPTBot": "203.0.113.12",
    "Applebot": "203.0.113.13",
}
VERIFIABLE = ["Googlebot", "bingbot", "GPTBot", "OAI-SearchBot", "PerplexityBot", "CCBot", "Applebot"]
"""Declared robots whose addresses are on lists."""

_ADDRESSES = AddressBook()

DECLARED = [*VERIFIABLE, "YandexBot", "MJ12bot", "SemrushBot", "DotBot", "Baiduspider"]


@lru_cache(maxsize=1)
def make_log(seed: int = 1) -> LabelledLog:
    """Makes the log of three days. It is one for all tests that follow each other: no test adds to it."""
    log, choose = LabelledLog(), random.Random(seed)
    for kind in PEOPLE:
        kind(log, choose)
    for place, name in enumerate(DECLARED):
        _declared(log, choose, name, address_of(name) or f"192.0.2.{place}")
    for name, address in IMPOSTORS.items():
        _declared(log, choose, name, address)
    for crawler in CRAWLERS:
        crawler(log, choose)
    return log


def address_of(token: str) -> str | None:
    """Returns an address of a robot's own, if there is a list of them."""
    robot = find_token(token)
    assert robot is not None, token
    lists = [_ADDRESSES.get(name) for name in robot.address_lists]
    networks = [network for known in lists if known for network in known.networks if network.version == 4]
    return str(networks[0][1 if networks[0].num_addresses > 1 else 0]) if networks else None


def agent_of(token: str) -> str:
    """Returns the User-Agent that a robot sends."""
    robot = find_token(token)
    assert robot is not None, token
    return robot.example or f"Mozilla/5.0 (compatible; {token}/1.0)"


# ---- robots ---------------------------------------------------------------------------------------------------------


def _declared(log: LabelledLog, choose: random.Random, name: str, address: str) -> None:
    at = START + choose.uniform(0, 20_000)
    log.add(at, address, "/robots.txt", agent_of(name))
    for path in choose.sample(PAGES, 40):
        at += choose.uniform(2, 30)
        log.add(at, address, path, agent_of(name))


def _naive(log: LabelledLog, choose: random.Random) -> None:
    """A script under a browser's name, with a pause of two seconds."""
    address = "203.0.113.101"
    log.crawlers[address] = "naive"
    for number, path in enumerate(PAGES):
        log.add(START + 3000 + 2 * number, address, path, CHROME)


def _random_gaps(log: LabelledLog, choose: random.Random) -> None:
    """The same with random pauses."""
    address, at = "203.0.113.102", START + 5000.0
    log.crawlers[address] = "random gaps"
    for path in choose.sample(PAGES, 150):
        at += choose.uniform(1, 9)
        log.add(at, address, path, FIREFOX)


def _faked_referrers(log: LabelledLog, choose: random.Random) -> None:
    """Random pauses, and a Referer made up for every page."""
    address, at = "203.0.113.103", START + 7000.0
    log.crawlers[address] = "faked referrers"
    for path in choose.sample(PAGES, 120):
        at += choose.uniform(1, 6)
        log.add(at, address, path, CHROME, SITE + choose.choice(PAGES)[1:])


def _slow(log: LabelledLog, choose: random.Random) -> None:
    """Three pages an hour, day and night."""
    address = "203.0.113.104"
    log.crawlers[address] = "slow"
    for number in range(200):
        log.add(START + 1200 * number + choose.uniform(0, 300), address, choose.choice(PAGES), SAFARI)


def _distributed(log: LabelledLog, choose: random.Random) -> None:
    """Forty addresses of one network share the site."""
    addresses = [f"203.0.114.{number}" for number in range(10, 50)]
    log.crawlers |= dict.fromkeys(addresses, "distributed")
    for number, path in enumerate(choose.sample(PAGES, len(PAGES))):
        log.add(START + 9000 + 20 * number + choose.uniform(0, 5), addresses[number % 40], path, CHROME)


def _headless(log: LabelledLog, choose: random.Random) -> None:
    """A browser without a window that loads everything, and reads the site from A to Z."""
    address, at = "203.0.113.105", START + 11_000.0
    log.crawlers[address] = "headless browser"
    for path in PAGES[:100]:
        load_page(log, at, address, path, CHROME, SITE, 6)
        at += choose.uniform(3, 6)


CRAWLERS: list[Callable[[LabelledLog, random.Random], None]] = [
    _naive,
    _random_gaps,
    _faked_referrers,
    _slow,
    _distributed,
    _headless,
]


def names(log: LabelledLog) -> Iterator[str]:
    """Yields the undeclared crawlers."""
    yield from dict.fromkeys(log.crawlers.values())
