"""What people do on a site, and programs that they use."""

import random
from collections.abc import Callable

from watch.judging.labelled_lines import BROWSERS, CHROME, FIREFOX, PAGES, SAFARI, SITE, START, LabelledLog, hash_of


def load_page(log: LabelledLog, at: float, address: str, path: str, agent: str, referrer: str, assets: int) -> None:
    """Requests a page and its images."""
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
            load_page(log, at, address, path, agent, "-" if hides_referrer else referrer, assets)
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
    load_page(log, at, address, "/app/", CHROME, "-", 8)
    for number in range(400):
        log.add(at + 10 * number, address, "/app/news", CHROME, f"{SITE}app/")


def _downloads(log: LabelledLog, choose: random.Random) -> None:
    """A person saves sixty papers from one list, with a download manager that splits the largest."""
    address, at = "198.51.104.3", START + 50_000.0
    log.people.add(address)
    load_page(log, at, address, "/papers/", FIREFOX, "https://search.example/", 6)
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
        load_page(log, at, address, path, CHROME, SITE, 9)
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
        address = f"198.51.{200 + number}.9"
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
    address = "198.51.110.1"
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
        address = f"198.51.{111 + number}.1"
        log.people.add(address)
        for poll in range(2000):
            at = START + 120 * poll + choose.uniform(0, 1)
            log.add(at, address, f"/board/news?_={int(at * 1000)}", CHROME, referrer, size=choose.randint(80, 600))


def _restored_tabs(log: LabelledLog, choose: random.Random) -> None:
    """A browser opens fifty tabs again that it had open before."""
    address = "198.51.113.1"
    log.people.add(address)
    for number, path in enumerate(choose.sample(PAGES, 50)):
        log.add(START + 33_000 + number / 12, address, path, FIREFOX, f"{SITE}news/")


def _gallery(log: LabelledLog, choose: random.Random) -> None:
    """A person clicks through pages whose images come from elsewhere, every four seconds."""
    address, at = "198.51.114.1", START + 34_000.0
    log.people.add(address)
    for number in range(70):
        log.add(at, address, f"/gallery/{number}", CHROME, f"{SITE}gallery/{number - 1}")
        at += choose.lognormvariate(1.2, 0.6)


def _app(log: LabelledLog, choose: random.Random) -> None:
    """Telephones with an app of the site."""
    for number, agent in enumerate(
        ["Shop/3.2 CFNetwork/1490.0.4 Darwin/23.2.0", "Dalvik/2.1.0 (Linux; U; Android 14)"]
    ):
        address, at = f"198.51.{115 + number}.1", START + 30_000.0
        log.people.add(address)
        for item in range(150):
            log.add(at, address, f"/api/items/{item}", agent)
            at += choose.expovariate(1 / 8)


def _feeds(log: LabelledLog, choose: random.Random) -> None:
    """The feed reader of a person who reads twelve feeds of the site."""
    address = "198.51.117.1"
    log.people.add(address)
    for number in range(140):
        for feed in range(12):
            at = START + number * 1795 + feed + choose.random()
            log.add(at, address, f"/feeds/{feed}.xml", "LiferellaX/1.2 (desktop)")


def _author(log: LabelledLog, choose: random.Random) -> None:
    """A person logs in to the site's blog, and has every image of it already."""
    address = "198.51.118.1"
    log.people.add(address)
    for number in range(9):
        at = START + 25_000.0 * number
        for path in ("/wp-login.php", "/wp-admin/", "/wp-admin/edit.php", f"/wp-admin/post.php?post={number}"):
            log.add(at, address, path, CHROME, f"{SITE}wp-login.php")
            at += choose.expovariate(1 / 60)


def _settings_of_an_app(log: LabelledLog, choose: random.Random) -> None:
    """A page in one piece reads its settings whenever it is opened."""
    address = "198.51.119.1"
    log.people.add(address)
    for number in range(24):
        at = START + 10_000 * number + choose.uniform(0, 5000)
        log.add(at, address, "/app/", CHROME)
        log.add(at + 1, address, "/app/config.json", CHROME, f"{SITE}app/")


def _papers(log: LabelledLog, choose: random.Random) -> None:
    """A download manager fetches sixty papers from a list elsewhere, and a large file in 300 parts."""
    address, at = "198.51.120.1", START + 52_000.0
    log.people.add(address)
    for number in range(60):
        log.add(at, address, f"/papers/{number}.pdf", FIREFOX, size=choose.randint(200_000, 3_000_000))
        at += choose.uniform(0.2, 2)
    for number in range(300):
        log.add(at + number / 40, "198.51.121.1", "/papers/all.zip", FIREFOX, status=206, size=1_000_000)
    log.people.add("198.51.121.1")


def _readers(log: LabelledLog, choose: random.Random) -> None:
    """People who read; some have most images already, some hide the Referer."""
    for number in range(150):
        _visits(log, choose, f"198.51.100.{number}", choose.choice(BROWSERS), cached=number % 5 == 0)
    for number in range(20):
        _visits(log, choose, f"198.51.101.{number}", CHROME, hides_referrer=True)
    for number in range(30):
        _visits(log, choose, f"2001:db8:{number:x}::1", FIREFOX)


PEOPLE: list[Callable[[LabelledLog, random.Random], None]] = [
    _readers,
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
