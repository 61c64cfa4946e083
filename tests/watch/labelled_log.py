"""A log in which it is known who is who: people, declared robots, impostors and undeclared crawlers."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goodbot.registry import AddressBook, find_token

CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6"
BROWSERS = [CHROME, FIREFOX, SAFARI]
START = int(datetime(2026, 9, 15, tzinfo=UTC).timestamp())
"""Near the date of the bundled address lists, so that they are fresh."""

SITE = "https://shop.example/"
PAGES = [f"/{folder}/{name}.html" for folder in ("news", "shop", "help", "blog") for name in range(60)]

IMPOSTORS = {
    "Googlebot": "203.0.113.10",
    "bingbot": "203.0.113.11",
    "GPTBot": "203.0.113.12",
    "Applebot": "203.0.113.13",
}
VERIFIABLE = ["Googlebot", "bingbot", "GPTBot", "OAI-SearchBot", "PerplexityBot", "CCBot", "Applebot"]
"""Declared robots whose addresses are on lists."""

DECLARED = [*VERIFIABLE, "YandexBot", "MJ12bot", "SemrushBot", "DotBot", "Baiduspider"]


@dataclass
class LabelledLog:
    """The lines, and who is behind each address."""

    lines: list[tuple[float, str]] = field(default_factory=list)
    people: set[str] = field(default_factory=set)
    crawlers: dict[str, str] = field(default_factory=dict)
    """Address → the name of the undeclared crawler."""

    def add(
        self,
        at: float,
        address: str,
        path: str,
        agent: str,
        referrer: str = "-",
        status: int = 200,
        size: int | None = None,
    ) -> None:
        """Adds a request."""
        time = datetime.fromtimestamp(at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        size = 500 + hash_of(path) % 20_000 if size is None else size
        self.lines.append((at, f'{address} - - [{time}] "GET {path} HTTP/1.1" {status} {size} "{referrer}" "{agent}"'))

    def text(self) -> bytes:
        """Returns the log, in the order of time."""
        return "".join(f"{line}\n" for _, line in sorted(self.lines)).encode()


def hash_of(text: str) -> int:
    """Returns a number that is the same in every run."""
    return sum(place * ord(letter) for place, letter in enumerate(text, 1))


def make_log(seed: int = 1) -> LabelledLog:
    """Makes the log of three days."""
    log, choose = LabelledLog(), random.Random(seed)
    for number in range(150):
        _visits(log, choose, f"198.51.100.{number}", choose.choice(BROWSERS), cached=number % 5 == 0)
    for number in range(20):
        _visits(log, choose, f"198.51.101.{number}", CHROME, hides_referrer=True)
    for number in range(30):
        _visits(log, choose, f"2001:db8:{number:x}::1", FIREFOX)
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
    lists = [AddressBook().get(name) for name in robot.address_lists]
    networks = [network for known in lists if known for network in known.networks if network.version == 4]
    return str(networks[0][1 if networks[0].num_addresses > 1 else 0]) if networks else None


def agent_of(token: str) -> str:
    """Returns the User-Agent that a robot sends."""
    robot = find_token(token)
    assert robot is not None, token
    return robot.example or f"Mozilla/5.0 (compatible; {token}/1.0)"


# ---- people ---------------------------------------------------------------------------------------------------------


def _page(log: LabelledLog, at: float, address: str, path: str, agent: str, referrer: str, assets: int) -> None:
    log.add(at, address, path, agent, referrer)
    for number in range(assets):
        log.add(at + 0.2 + number / 20, address, f"/static/{hash_of(path) % 7}-{number}.png", agent, SITE + path[1:])


def _visits(
    log: LabelledLog,
    choose: random.Random,
    address: str,
    agent: str,
    *,
    cached: bool = False,
    hides_referrer: bool = False,
) -> None:
    """A person reads some pages, at their own pace, on one to three days."""
    log.people.add(address)
    for day in range(choose.randint(1, 3)):
        at = START + 86_400 * day + choose.uniform(7, 22) * 3600
        referrer = choose.choice(["-", "https://search.example/"])
        for visited in range(choose.randint(1, 12)):
            path = choose.choice(PAGES)
            assets = 0 if cached and visited else choose.randint(3, 12)
            _page(log, at, address, path, agent, "-" if hides_referrer else referrer, assets)
            referrer = SITE + path[1:]
            at += choose.expovariate(1 / 40)


def _office(log: LabelledLog, choose: random.Random) -> None:
    """A hundred people behind one address."""
    address = "198.51.102.1"
    for number in range(100):
        _visits(log, choose, address, f"{choose.choice(BROWSERS)} Office/{number}")


def _warm_cache(log: LabelledLog, choose: random.Random) -> None:
    """People who have every image of the site already, and read much."""
    for number in range(8):
        address, at, referrer = f"198.51.103.{number}", START + 40_000.0, "https://search.example/"
        log.people.add(address)
        for path in choose.sample(PAGES, 35):
            log.add(at, address, path, FIREFOX, referrer)
            referrer, at = SITE + path[1:], at + choose.expovariate(1 / 35)


def _feed_reader(log: LabelledLog, choose: random.Random) -> None:
    """The feed reader of a person, whose name is not on record: polls one feed every half hour."""
    address = "198.51.104.1"
    log.people.add(address)
    for number in range(140):
        log.add(
            START + number * 1795 + choose.uniform(0, 3), address, "/feed.xml", "LiferellaX/1.2 (desktop)", status=304
        )


def _polling_app(log: LabelledLog, choose: random.Random) -> None:
    """A page whose script asks for news every ten seconds."""
    address, at = "198.51.104.2", START + 30_000.0
    log.people.add(address)
    _page(log, at, address, "/app/", CHROME, "-", 8)
    for number in range(400):
        log.add(at + 10 * number, address, "/app/news", CHROME, f"{SITE}app/")


def _downloads(log: LabelledLog, choose: random.Random) -> None:
    """A person saves sixty papers from one list, with a download manager that splits the largest."""
    address, at = "198.51.104.3", START + 50_000.0
    log.people.add(address)
    _page(log, at, address, "/papers/", FIREFOX, "https://search.example/", 6)
    for number in range(60):
        at += choose.expovariate(1 / 15)
        log.add(at, address, f"/papers/{number}.pdf", FIREFOX, f"{SITE}papers/")
    for number in range(32):
        log.add(at + number / 40, address, "/papers/all.zip", FIREFOX, f"{SITE}papers/", 206)


def _prefetcher(log: LabelledLog, choose: random.Random) -> None:
    """A browser that prefetches every link of the pages it shows."""
    address, at = "198.51.104.4", START + 60_000.0
    log.people.add(address)
    for path in choose.sample(PAGES, 6):
        _page(log, at, address, path, CHROME, SITE, 9)
        for link in choose.sample(PAGES, 8):
            log.add(at + 1, address, link, CHROME, SITE + path[1:])
        at += choose.expovariate(1 / 60)


def _one_page(log: LabelledLog, choose: random.Random) -> None:
    """People who come once and go, with an image blocker."""
    for number in range(40):
        address = f"198.51.105.{number}"
        log.people.add(address)
        log.add(START + choose.uniform(0, 250_000), address, choose.choice(PAGES), choose.choice(BROWSERS))


def _hidden_readers(log: LabelledLog, choose: random.Random) -> None:
    """People who have every image already, hide the Referer, and read twenty pages a day."""
    for number in range(8):
        address = f"198.51.106.{number}"
        log.people.add(address)
        for day in range(3):
            for visit in (8, 19):
                at = START + 86_400 * day + 3600 * (visit + choose.random())
                for path in choose.sample(PAGES, 10):
                    log.add(at, address, path, CHROME)
                    at += choose.lognormvariate(3, 1.3)


def _carrier(log: LabelledLog, choose: random.Random) -> None:
    """Sixty people with one kind of telephone in one network; some have every image of the site already."""
    for number in range(60):
        address = f"198.51.107.{number}"
        if number % 6:
            _visits(log, choose, address, SAFARI)
            continue
        log.people.add(address)
        at = START + choose.uniform(20_000, 80_000)
        for path in choose.sample(PAGES, 4):
            at += choose.expovariate(1 / 40)
            log.add(at, address, path, SAFARI)


def _cached_office(log: LabelledLog, choose: random.Random) -> None:
    """Sixty people behind a proxy that keeps the images."""
    address = "198.51.108.1"
    log.people.add(address)
    for number in range(60):
        at, referrer = START + choose.uniform(8, 17) * 3600, "https://search.example/"
        for path in choose.sample(PAGES, 3):
            log.add(at, address, path, f"{choose.choice(BROWSERS)} Office/{number}", referrer)
            referrer, at = SITE + path[1:], at + choose.expovariate(1 / 40)


def _open_dashboards(log: LabelledLog, choose: random.Random) -> None:
    """Pages that were opened before the log begins: their scripts poll new URLs day and night, so that nothing is
    cached. One sends a Referer, one does not."""
    for number, referrer in enumerate([f"{SITE}board/", "-"]):
        address = f"198.51.108.{number + 10}"
        log.people.add(address)
        for poll in range(2000):
            at = START + 120 * poll + choose.uniform(0, 1)
            log.add(at, address, f"/board/news?_={int(at * 1000)}", CHROME, referrer, size=choose.randint(80, 600))


def _restored_tabs(log: LabelledLog, choose: random.Random) -> None:
    """A browser opens fifty tabs again that it had open before."""
    address = "198.51.108.20"
    log.people.add(address)
    for number, path in enumerate(choose.sample(PAGES, 50)):
        log.add(START + 33_000 + number / 12, address, path, FIREFOX, f"{SITE}news/")


def _gallery(log: LabelledLog, choose: random.Random) -> None:
    """A person clicks through pages whose images come from elsewhere, every four seconds."""
    address, at = "198.51.108.21", START + 34_000.0
    log.people.add(address)
    for number in range(70):
        log.add(at, address, f"/gallery/{number}", CHROME, f"{SITE}gallery/{number - 1}")
        at += choose.lognormvariate(1.2, 0.6)


def _app(log: LabelledLog, choose: random.Random) -> None:
    """Telephones with an app of the site."""
    for number, agent in enumerate(
        ["Shop/3.2 CFNetwork/1490.0.4 Darwin/23.2.0", "Dalvik/2.1.0 (Linux; U; Android 14)"]
    ):
        address, at = f"198.51.108.{number + 30}", START + 30_000.0
        log.people.add(address)
        for item in range(150):
            log.add(at, address, f"/api/items/{item}", agent)
            at += choose.expovariate(1 / 8)


def _feeds(log: LabelledLog, choose: random.Random) -> None:
    """The feed reader of a person who reads twelve feeds of the site."""
    address = "198.51.108.40"
    log.people.add(address)
    for number in range(140):
        for feed in range(12):
            at = START + number * 1795 + feed + choose.random()
            log.add(at, address, f"/feeds/{feed}.xml", "LiferellaX/1.2 (desktop)")


def _author(log: LabelledLog, choose: random.Random) -> None:
    """A person logs in to the site's blog, and has every image of it already."""
    address = "198.51.108.50"
    log.people.add(address)
    for number in range(9):
        at = START + 25_000 * number
        for path in ("/wp-login.php", "/wp-admin/", "/wp-admin/edit.php", f"/wp-admin/post.php?post={number}"):
            log.add(at, address, path, CHROME, f"{SITE}wp-login.php")
            at += choose.expovariate(1 / 60)


def _settings_of_an_app(log: LabelledLog, choose: random.Random) -> None:
    """A page in one piece reads its settings whenever it is opened."""
    address = "198.51.108.51"
    log.people.add(address)
    for number in range(24):
        at = START + 10_000 * number + choose.uniform(0, 5000)
        log.add(at, address, "/app/", CHROME)
        log.add(at + 1, address, "/app/config.json", CHROME, f"{SITE}app/")


def _papers(log: LabelledLog, choose: random.Random) -> None:
    """A download manager fetches sixty papers from a list elsewhere, and a large file in 300 parts."""
    address, at = "198.51.108.60", START + 52_000.0
    log.people.add(address)
    for number in range(60):
        log.add(at, address, f"/papers/{number}.pdf", FIREFOX, size=choose.randint(200_000, 3_000_000))
        at += choose.uniform(0.2, 2)
    for number in range(300):
        log.add(at + number / 40, "198.51.108.61", "/papers/all.zip", FIREFOX, status=206, size=1_000_000)
    log.people.add("198.51.108.61")


PEOPLE: list[Callable[[LabelledLog, random.Random], None]] = [
    _office,
    _warm_cache,
    _feed_reader,
    _polling_app,
    _downloads,
    _prefetcher,
    _one_page,
    _hidden_readers,
    _carrier,
    _cached_office,
    _open_dashboards,
    _restored_tabs,
    _gallery,
    _app,
    _feeds,
    _author,
    _settings_of_an_app,
    _papers,
]


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
        _page(log, at, address, path, CHROME, SITE, 6)
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
