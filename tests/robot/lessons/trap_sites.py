"""Endless sites: each is a function of the requested path, so that the same URL always gives the same page."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from random import Random
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from goodbot.config import Settings
from goodbot.lesson_values import Lesson
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.scope.scope import Scope
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Response

HOME = "http://example.org/"
Site = Callable[[str], tuple[str, str, list[str]]]
"""The target of a request → title, text and links of its page."""

_FIRST = "amber birch cedar delta ember frost grove harbour island juniper kettle lantern meadow"
_LAST = "ley ton wick field gate stone brook ridge worth side mere shaw combe dale fold garth holt"
WORDS = [f"{first}{last}" for first in _FIRST.split() for last in _LAST.split()]
NAV = "Welcome to our site. Read more about us, our history, our people and what we do for you all year round."
FILTERS = {
    "colour": ["red", "blue", "green", "black", "white", "brown", "yellow", "orange", "purple", "grey"],
    "size": ["tiny", "small", "medium", "large", "huge"],
    "brand": [word.capitalize() for word in WORDS[:30]],
    "material": ["leather", "canvas", "suede", "wool", "cotton", "linen"],
    "season": ["spring", "summer", "autumn", "winter"],
    "for": ["women", "men", "children", "babies", "dogs"],
    "sort": ["price", "name", "newest", "rating"],
    "heel": ["flat", "low", "middle", "high"],
}


def random_of(target: str) -> Random:
    """The same for the same target."""
    return Random(crc32(target.encode()))


def prose(random: Random, words: int, lexicon: list[str] = WORDS) -> str:
    """Text of words drawn from a list."""
    return " ".join(random.choice(lexicon) for _ in range(words))


def letters(random: Random, length: int) -> str:
    """A word nobody has written before."""
    return "".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(length))


def facets(target: str) -> tuple[str, str, list[str]]:
    """A shop whose every combination of filters has a page, named by its filters."""
    chosen = dict(parse_qsl(target.partition("?")[2]))
    random = random_of(target)
    links = []
    for name in random.sample(sorted(FILTERS), 4):
        links += [f"/shoes?{urlencode({**chosen, name: value})}" for value in random.sample(FILTERS[name], 3)]
    named = ", ".join(f"{name} {value}" for name, value in chosen.items())
    goods = "; ".join(f"{random.choice(WORDS)} {random.choice(FILTERS['material'])} shoe" for _ in range(12))
    return f"Shoes {named}", f"{NAV} Shoes for you: {named}. {goods}", links


def relative(target: str) -> tuple[str, str, list[str]]:
    """Links that lack their first slash: below every folder lie all folders again."""
    here = target.strip("/").rpartition("/")[2] or "home"
    return f"{here.capitalize()} of {target}", f"{NAV} This is {here}.", ["news/", "shop/", "people/", "x/"]


def relative_x(target: str) -> tuple[str, str, list[str]]:
    """One link to a folder below, and one to a page."""
    return f"Folder {target}", f"{NAV} {target}", ["x/", f"y{target.count('/')}/", "z/"]


def session_folder(target: str) -> tuple[str, str, list[str]]:
    """Six pages, below a first folder that is a new session with each page."""
    page = target.rpartition("/")[2] or "start"
    session = f"s{random_of(target).getrandbits(64):016x}"
    pages = ("start", "news", "goods", "about", "help", "imprint")
    return f"{page.capitalize()} of the shop", f"{NAV} All about {page}.", [f"/{session}/{name}" for name in pages]


def bare_query(target: str) -> tuple[str, str, list[str]]:
    """Weeks in a query without a name: ?202650."""
    week = int(target.partition("?")[2] or 202650)
    beyond = [week + 1 if week % 100 < 52 else week + 49, week - 1 if week % 100 > 1 else week - 49]
    return f"Week {week % 100} of {week // 100}", "Nothing happens.", [f"/weeks?{number}" for number in beyond]


def path_in_title(target: str) -> tuple[str, str, list[str]]:
    """A tree of named folders, each of which is called what its path is."""
    random = random_of(target)
    base = target.rstrip("/")
    return (
        f"Index of {target}",
        f"{NAV} Parent directory of {base}",
        [f"{base}/{random.choice(WORDS)}/" for _ in range(5)],
    )


def title_is_path(target: str) -> tuple[str, str, list[str]]:
    """Every page is called what its path is, and says that."""
    random = random_of(target)
    return target, f"This is {target}", [f"/{random.randrange(10**9)}/{letters(random, 6)}" for _ in range(5)]


def pages_of_a_list(target: str) -> tuple[str, str, list[str]]:
    """?page=N without a last page."""
    number = int(target.rpartition("=")[2] or 1) if "=" in target else 1
    return f"News, page {number}", f"Page {number}. No more entries.", [f"/news?page={number + n}" for n in (1, 2)]


def timestamps(target: str) -> tuple[str, str, list[str]]:
    """Seconds in paths."""
    now = int(target.strip("/").rpartition("/")[2] or 1_700_000_000) if target != "/" else 1_700_000_000
    return f"At {now}", f"The state at {now}: all is well.", [f"/at/{now + 60}", f"/at/{now + 3600}"]


def snapshots(target: str) -> tuple[str, str, list[str]]:
    """An archive of a page that has a state for every minute."""
    now = datetime.strptime(target.strip("/").rpartition("/")[2] or "20260301120000", "%Y%m%d%H%M%S").replace(
        tzinfo=UTC
    )
    beside = [now + timedelta(minutes=minutes) for minutes in (-1, -60, -1440, 1)]
    text = f"The harbour at {now:%H:%M} on {now:%d.%m.%Y}: {prose(random_of(target), 8)}."
    return f"As of {now:%Y-%m-%d %H:%M}", text, [f"/snapshots/{moment:%Y%m%d%H%M%S}/" for moment in beside]


def session_parameter(target: str) -> tuple[str, str, list[str]]:
    """;sid= behind the path, new with each page."""
    page = target.partition(";")[0].strip("/") or "start"
    sid = f"{random_of(target).getrandbits(60):015x}"
    pages = ("start", "news", "goods", "about", "help", "imprint")
    return f"{page.capitalize()} {sid[:4]}", f"Hello {sid}. All about {page}.", [f"/{name};sid={sid}" for name in pages]


def day_of_year(target: str) -> tuple[str, str, list[str]]:
    """/2026/350/: a calendar by year and day."""
    parts = target.strip("/").split("/")
    year, day = (int(parts[0]), int(parts[1])) if len(parts) == 2 else (2026, 350)
    other = [(year, day + 1) if day < 365 else (year + 1, 1), (year, day - 1) if day > 1 else (year - 1, 365)]
    return f"Day {day} of {year}", f"Day {day}: no appointments.", [f"/{at}/{number}/" for at, number in other]


def month_names(target: str) -> tuple[str, str, list[str]]:
    """/december-2026: a calendar whose months have names."""
    name = target.strip("/")
    month = datetime.strptime(name, "%B-%Y").replace(tzinfo=UTC).date() if name else date(2026, 12, 1)
    around = [(month + timedelta(days=32)).replace(day=1), (month - timedelta(days=1)).replace(day=1)]
    return f"{month:%B %Y}", f"No events in {month:%B %Y}.", [f"/{at:%B-%Y}".lower() for at in around]


def days_by_name(target: str) -> tuple[str, str, list[str]]:
    """A calendar of days, in words."""
    name = target.strip("/")
    day = datetime.strptime(name, "%d-%B-%Y").replace(tzinfo=UTC).date() if name else date(2026, 12, 1)
    around = [day + timedelta(days=n) for n in (1, 7, 30)]
    return f"{day:%A, %d %B %Y}", f"{day:%A}: nothing on {day:%d %B}.", [f"/{at:%d-%B-%Y}".lower() for at in around]


def labyrinth(target: str) -> tuple[str, str, list[str]]:
    """Random paths of known words, random text of known words."""
    random = random_of(target)
    links = ["/" + "/".join(random.choice(WORDS) for _ in range(random.randrange(1, 5))) for _ in range(8)]
    return prose(random, 4).title(), prose(random, 120), links


def labyrinth_of_letters(target: str) -> tuple[str, str, list[str]]:
    """The same, of words nobody has ever written."""
    random = random_of(target)
    own = [letters(random, random.randrange(4, 12)) for _ in range(80)]
    links = [f"/{letters(random, 5)}/{letters(random, 8)}" for _ in range(8)]
    return " ".join(own[:4]), " ".join(own), links


_ENDS = ("", "s", "ing", "ed", "er", "ish", "ly", "ness", "able", "ment")
_BABBLE = [f"{word}{end}" for word in WORDS for end in _ENDS]


def babble(target: str) -> tuple[str, str, list[str]]:
    """A text made of the words of a book, the frequent ones oftener, as tar pits for robots serve it."""
    random = random_of(target)
    ranks = (int(len(_BABBLE) ** random.random()) - 1 for _ in range(250))
    text = " ".join(_BABBLE[rank] for rank in ranks)
    return text[:40], text, [f"/{random.choice(_BABBLE)}/{random.choice(_BABBLE)}-{n}" for n in range(10)]


def search_pages(target: str) -> tuple[str, str, list[str]]:
    """A search that links to searches."""
    random = random_of(target)
    query = " ".join(value for _, value in parse_qsl(target.partition("?")[2])) or "all"
    found = [f"{query} {random.choice(WORDS)}" for _ in range(6)]
    return (
        f"Search: {query}",
        f"{NAV} Results for {query}: none.",
        [f"/search?{urlencode({'q': words[-60:]})}" for words in found],
    )


def replies(target: str) -> tuple[str, str, list[str]]:
    """?replytocom=N: one article again for each comment that could be answered."""
    number = int(target.rpartition("=")[2]) if "=" in target else 1
    article = number % 7
    text = prose(Random(article), 60)
    return (
        f"Reply to {number}",
        f"{text} Reply to comment {number}.",
        [f"/post{(article + n) % 7}?replytocom={number * 3 + n}" for n in range(3)],
    )


def orders(target: str) -> tuple[str, str, list[str]]:
    """A table that can be put in any order, again and again: the parameters pile up."""
    random = random_of(target)
    chosen = target.partition("?")[2].split("&") if "?" in target else []
    columns = ["name", "date", "size", "owner", "type", "place", "colour", "weight"]
    links = [
        "/table?" + "&".join([*chosen[-12:], f"{random.choice('abcdefghijkl')}={column}"])
        for column in random.sample(columns, 4)
    ]
    return f"Table by {', '.join(chosen)}", f"{NAV} Sorted by {', '.join(chosen)}.", links


def shop(target: str) -> tuple[str, str, list[str]]:
    """The facets again; each product has a line of its own, as shops have it."""
    title, text, links = facets(target)
    intro, _, goods = text.partition(". Shoes")
    return title, f"{intro}.<ul><li>" + "<li>".join(goods.partition(". ")[2].split("; ")) + "</ul>", links


GRID = {"colour": 6, "size": 10, "brand": 6, "order": 5}
"""Filters of a shop and how many values each has: 3,234 combinations."""


def grid(target: str) -> tuple[str, str, list[str]]:
    """A shop each of whose pages links to all values of all filters. Fewer than five hundred pages lead to new URLs."""
    chosen = dict(parse_qsl(target.partition("?")[2]))
    links = []
    for name, values in GRID.items():
        for value in range(values):
            filters = {**chosen, name: f"{name[0]}{value}"}
            links.append("/shop?" + urlencode({each: filters[each] for each in GRID if each in filters}))
    named = ", ".join(f"{name} {value}" for name, value in chosen.items())
    return f"Shoes: {named}", f"{NAV} Shoes for you: {named}.", links


def profiles(target: str) -> tuple[str, str, list[str]]:
    """People who know ten others, with names nobody else has."""
    random = random_of(target)
    names = [f"{letters(random, 6)}-{letters(random, 8)}" for _ in range(10)]
    own = target.rpartition("/")[2].replace("-", " ").title() or "Everybody"
    friends = "".join(f"<p>{name.replace('-', ' ').title()}" for name in names)
    return own, f"{own} knows {friends}", [f"/people/{random.getrandbits(40):x}/{name}" for name in names]


_LEXICON = [f"{one}{other}{end}" for one in _BABBLE[:60] for other in WORDS[:100] for end in _ENDS]


def tar_pit(target: str) -> tuple[str, str, list[str]]:
    """Text from a list of 60,000 words, and a link back to where it begins."""
    random = random_of(target)
    text = prose(random, 200, _LEXICON)
    return text[:40], text, ["/", *(f"/{letters(random, 5)}/{letters(random, 5)}-{n}" for n in range(6))]


def clock(target: str) -> tuple[str, str, list[str]]:
    """?page=N, and each page says when it was made and how long that took."""
    title, text, links = pages_of_a_list(target)
    random = random_of(target)
    made = f"{random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}"
    return title, f"{text}<p>Made at {made} in 0.{random.randrange(9999):04} s", links


SITES: dict[str, Site] = {
    "facets": facets,
    "relative": relative,
    "relative x": relative_x,
    "session in the first folder": session_folder,
    "?202650": bare_query,
    "path in the title": path_in_title,
    "title is the path": title_is_path,
    "?page=N": pages_of_a_list,
    "timestamps": timestamps,
    "snapshots": snapshots,
    ";sid=": session_parameter,
    "day of the year": day_of_year,
    "month names": month_names,
    "days by name": days_by_name,
    "labyrinth": labyrinth,
    "labyrinth of letters": labyrinth_of_letters,
    "babble": babble,
    "search": search_pages,
    "shop": shop,
    "grid": grid,
    "profiles": profiles,
    "tar pit": tar_pit,
    "clock": clock,
    "replies": replies,
    "orders": orders,
}


def html_of(title: str, text: str, links: list[str]) -> bytes:
    """The page."""
    anchors = "".join(f'<li><a href="{link.replace("&", "&amp;")}">{link.strip("/")[-30:]}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>"
        f"<ul>{anchors}</ul></body></html>"
    ).encode()


class Endless:
    """The answers of a site, for `FakeWeb`."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def get(self, address: str, otherwise: Response) -> Response:
        """As a mapping does."""
        if address.endswith("/robots.txt"):
            return otherwise
        body = html_of(*self._site(address[address.index("/", 8) :]))
        return Response(200, (("Content-Type", "text/html; charset=utf-8"),), body)


class Tour:
    """One crawl after another of the same site, of which the frontier remembers what a file would."""

    def __init__(self, site: Site, **settings: object) -> None:
        self.clock = FakeClock()
        self.web = FakeWeb(Endless(site), self.clock)  # type: ignore[arg-type]
        self.frontier = MemoryFrontier(now=self.clock.now)
        fast = {"index": False, "archive": False, "delay": 0.0, "response_factor": 0.0}
        self.settings = Settings(seeds=(HOME,), **{**fast, **settings})  # type: ignore[arg-type]
        self.scope = Scope(self.settings, [Url(HOME)], AddressGuard([]))
        self.frontier.add([Discovery(Url(HOME), 0)])

    async def crawl(self, most: int) -> int:
        """Crawls to its end, or stops at `most`; how many pages it asked for."""
        self.frontier.reconsider(self.scope.refuse)
        before = len(self.asked)
        crawler = Crawler(
            self.settings,
            leases=self.frontier,
            sink=Batch(self.frontier, self.frontier, None, None, self.clock, lambda outcome: None),
            transport=self.web,
            permission=Permission(self.settings, "goodbot", self.web, self.frontier, self.clock),
            politeness=Politeness(self.settings),
            **readers_of(self.settings, "goodbot", self.scope)._asdict(),
            clock=self.clock,
            lessons=self.frontier,
        )
        await crawler.run(most)
        return len(self.asked) - before

    @property
    def asked(self) -> list[str]:
        """Pages asked for, in order."""
        return [r.url.target for r in self.web.requests if r.url.target != "/robots.txt"]

    @property
    def lessons(self) -> list[Lesson]:
        """What was learned, the oldest first."""
        return self.frontier.load_lessons(["example.org"])
