"""Tests the budgets of sites: every trap of `trap_sites` ends, honest sites do not."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.page.page_words import lines_of, numbers_in, statements_of, words_of
from goodbot.robot.lessons.budgets import LEARNING, UNCOUNTED, Account, Budgets, branch_of, price_of
from goodbot.robot.lessons.known_text import KnownText, NewText, PageView
from goodbot.url import Url
from goodbot.values import Discovery, Event
from robot.lessons import honest_sites
from robot.lessons.trap_sites import HOME, NAV, SITES, Site, Tour, facets, prose

ENDS = {
    "facets": 850,
    "relative": 1100,
    "relative x": 1100,
    "session in the first folder": 1100,
    "?202650": 600,
    "path in the title": 1100,
    "title is the path": 1100,
    "?page=N": 600,
    "timestamps": 600,
    "snapshots": 1100,
    ";sid=": 1200,
    "day of the year": 1100,
    "month names": 1100,
    "days by name": 1300,
    "labyrinth": 2500,
    "labyrinth of letters": 1300,
    "babble": 1600,
    "tar pit": 2400,
    "profiles": 600,
    "search": 600,
    "shop": 850,
    "grid": 800,
    "clock": 4500,
    "replies": 1100,
    "orders": 600,
}
"""Pages fetched of each trap at most, with default settings. They differ from run to run, as hashes of text do: by a
fifth for the tar pit, by a few pages for most (docs/decisions/0025)."""


@pytest.mark.long
@pytest.mark.parametrize("name", SITES)
async def test_every_trap_ends(name: str) -> None:
    tour = Tour(SITES[name])
    assert await tour.crawl(5000) <= ENDS[name]
    assert tour.frontier.status().finished


@pytest.mark.long
@pytest.mark.parametrize("name", honest_sites.SITES)
async def test_honest_sites_of_small_pages_are_crawled_to_their_end(name: str) -> None:
    tour = Tour(honest_sites.SITES[name], trap_pages=500)
    assert await tour.crawl(10_000) >= honest_sites.SIZE
    assert tour.lessons == []


@pytest.mark.parametrize("name", SITES)
async def test_every_trap_ends_sooner_where_less_is_granted(name: str) -> None:
    tour = Tour(SITES[name], trap_pages=60)
    assert await tour.crawl(2500) < (1500 if name == "babble" else 350)
    assert tour.frontier.status().finished
    reasons = {record.why for record in tour.frontier.records() if record.state == "out-of-scope"}
    assert any(lesson.evidence in reason for lesson in tour.lessons for reason in reasons)


def store(target: str) -> tuple[str, str, list[str]]:
    """A hundred goods that can be told apart, found page by page, beside filters without end."""
    kind, _, number = target.strip("/").partition("/")
    if kind == "goods" and number.isdigit():
        text = f"{NAV} {prose(Random(int(number)), 40)} thing{'abcdefghij'[int(number) % 10]}"
        return f"Thing {number}", text, [f"/goods/{int(number) + 1}"] if int(number) < 100 else []
    title, text, links = facets(target)
    return title, text, [*links, "/goods/1"]


async def test_a_trap_in_one_branch_costs_the_others_nothing() -> None:
    tour = Tour(store, trap_pages=200)
    await tour.crawl(3000)
    assert tour.frontier.status().finished
    assert {f"/goods/{number}" for number in range(1, 101)} <= set(tour.asked)
    assert [(lesson.kind, lesson.about) for lesson in tour.lessons] == [
        ("branch", "http://example.org http://example.org/shoes?")
    ]


def beside(trap: str) -> Site:
    """Three hundred pages in a row, each of which says something, beside a trap in many folders."""

    def site(target: str) -> tuple[str, str, list[str]]:
        kind, _, number = target.strip("/").partition("/")
        if kind == "story" and number.isdigit():
            links = ["/", f"/story/{int(number) - 1}", *([f"/story/{int(number) + 1}"] if int(number) < 300 else [])]
            return f"Story {number}", f"{NAV}<p>{prose(Random(number), 60)}", links
        title, text, links = SITES[trap](target)
        return title, text, [*links, "/story/1"]

    return site


@pytest.mark.parametrize("trap", ["labyrinth of letters", pytest.param("relative x", marks=pytest.mark.long)])
async def test_pages_beside_a_trap_come_before_it(trap: str) -> None:
    tour = Tour(beside(trap), trap_pages=600)
    await tour.crawl(5000)
    assert tour.frontier.status().finished
    assert {f"/story/{number}" for number in range(1, 301)} <= set(tour.asked)


@pytest.mark.parametrize(
    ("says", "new_urls", "price"),
    [
        (NewText(words=3, statements=0, numbers=0, woven=True), 5, -3.0),
        (NewText(words=99, statements=0, numbers=0, woven=True), 5, -8.0),
        (NewText(words=1, statements=0, numbers=0, woven=False), 1, -1.0),
        (NewText(words=99, statements=8, numbers=0, woven=False), 2, 1.0),
        (NewText(words=0, statements=0, numbers=0, woven=True), 1, 1.0),
        (NewText(words=0, statements=0, numbers=0, woven=True), 6, 1.5),
        (NewText(words=0, statements=0, numbers=0, woven=True), 60, 2.0),
        (NewText(words=0, statements=1, numbers=0, woven=False), 1, 1 / 16),
        (NewText(words=0, statements=1, numbers=0, woven=True), 4, 1 / 4),
        (NewText(words=0, statements=0, numbers=3, woven=True), 1, 1 / 16),
        (NewText(words=0, statements=0, numbers=2, woven=True), 1, 1 / 8),
        (NewText(words=0, statements=0, numbers=2, woven=True), 99, 1.0),
    ],
)
def test_what_a_page_costs_or_earns(says: NewText, new_urls: int, price: float) -> None:
    assert price_of(says, new_urls) == price


def small(target: str) -> tuple[str, str, list[str]]:
    """Nine hundred pages in a row that say nothing."""
    number = int(target.rpartition("/")[2] or 0)
    return "Photo", f"Photo {number} of nine hundred.", [f"/{number + 1}"] if number < 900 else []


@pytest.mark.long
async def test_a_small_site_may_say_nothing() -> None:
    assert await Tour(small, traps=True).crawl(2000) == 901


async def test_a_site_that_earns_little_is_asked_more_slowly_and_then_no_more() -> None:
    tour = Tour(SITES["relative x"], trap_pages=64, delay=1.0)
    await tour.crawl(2000)
    sent = [
        at for at, r in zip(tour.web.times, tour.web.requests, strict=True) if not r.url.text.endswith("/robots.txt")
    ]
    gaps = {round(later - sooner) for sooner, later in pairwise(sent)}
    assert gaps == {1, 2, 4, 8}
    events = [event.reason for r in tour.asked for event in _events(tour, r)]
    assert any("8 times the usual" in reason for reason in events)


def _events(tour: Tour, target: str) -> tuple[Event, ...]:
    record = tour.frontier.record(Url(HOME[:-1] + target))
    return record.events if record is not None else ()


async def test_the_next_run_goes_on_where_the_first_ended() -> None:
    tour = Tour(SITES["session in the first folder"], trap_pages=60)
    assert await tour.crawl(2000) > 100
    assert await tour.crawl(2000) == 0
    tour.clock.advance(7 * 86400.0)
    probe = await tour.crawl(2000)
    assert 0 < probe < 60
    assert [(lesson.times, lesson.until - lesson.at) for lesson in tour.lessons if lesson.about.endswith("spent")] == [
        (2, 14 * 86400.0)
    ]


async def test_lessons_about_traps_say_nothing_to_a_run_that_sees_none() -> None:
    tour = Tour(SITES["session in the first folder"], trap_pages=60)
    assert await tour.crawl(2000) > 100
    tour.settings = replace(tour.settings, traps=False)
    assert await tour.crawl(100) == 100


async def test_what_is_spent_is_no_matter_where_traps_are_not_seen() -> None:
    assert await Tour(SITES["relative x"], trap_pages=10, traps=False).crawl(400) == 400


@pytest.mark.parametrize(
    ("url", "branch"),
    [
        ("/", ""),
        ("/page", ""),
        ("/page?x=1", "/page?"),
        ("/?x=1", "/?"),
        ("/a/", "/a/"),
        ("/a/b/c", "/a/"),
        ("/a/b?c=/d/", "/a/?"),
        ("/a?b=/c/d", "/a?"),
    ],
)
def test_the_branch_of_a_url(url: str, branch: str) -> None:
    assert branch_of(HOME[:-1] + url) == (HOME[:-1] + branch if branch else "")


def test_an_account_is_never_below_nothing_or_above_its_start() -> None:
    account = Account(2.0)
    for _ in range(3):
        account.take(1.0, 1, 10.0)
    assert (account.left, account.pages, account.costly_pages) == (0.0, 3, 3)
    account.take(-8.0, 4, 10.0)
    assert (account.left, account.pages, account.costly_pages) == (10.0, 7, 0)


def visits(budgets: Budgets, texts: Iterable[str], leads_to: str = HOME + "{}") -> list[str]:
    """Pages of one site, each of which leads to another; what is spent."""
    subjects: list[str] = []
    for number, text in enumerate(texts):
        found = [Discovery(Url(leads_to.format(number + 1)), 1)]
        url = Url(f"{HOME}{number}")
        spent = budgets.visited(url, found, partial(PageView, url, [], text)).spent
        subjects += ["branch" if item.subject else "half" if item.left else "spent" for item in spent]
    return subjects


def test_a_site_is_spent_when_its_start_is() -> None:
    budgets = Budgets(50)
    assert visits(budgets, ["the same words"] * (UNCOUNTED + LEARNING + 48)) == ["half"]
    assert visits(Budgets(50), ["the same words"] * 200)[:2] == ["half", "spent"]


def name_of(number: int) -> str:
    """Another for each of 600 numbers."""
    return f"name{chr(97 + number // 26)}{chr(97 + number % 26)}"


@pytest.mark.parametrize(
    "texts",
    [
        [f"{name_of(number)} {name_of(number + 9)}" for number in range(600)],
        [f"{chr(0x4E00 + number)}{chr(0x4E01 + number)}{chr(0x4E02 + number)}。" for number in range(600)],
    ],
    ids=["words that come again", "Chinese"],
)
def test_words_that_come_again_are_earned(texts: list[str]) -> None:
    assert visits(Budgets(50), texts) == []


def test_pages_that_lead_nowhere_cost_nothing() -> None:
    assert visits(Budgets(50), ["the same words"] * 500, HOME) == []


def test_pages_that_lead_to_another_site_cost_nothing() -> None:
    assert visits(Budgets(50), ["the same words"] * 500, "http://other.example/{}") == []
    assert visits(Budgets(50), ["the same words"] * 500, "https://www.example.org/{}") != []


def test_what_an_earlier_run_left_is_where_this_one_begins() -> None:
    budgets = Budgets(80)
    budgets.limit(HOME[:-1], 0.5)
    budgets.limit(HOME[:-1], 0.25)
    budgets.limit(HOME[:-1], 0.5)
    assert visits(budgets, ["the same words"] * (LEARNING + 20)) == ["spent"]
    budgets.resume(HOME[:-1], 1.0)
    assert budgets.pace(HOME[:-1]) == 1


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<head><title>No</title><body><p>Two words, &amp; Two", ["two", "words"]),
        ("<script>var x</script><!-- no --><b>bold</b> 12 a1 x snake_case", ["bold"]),
        ("<BODY>été Straße हिन्दी", ["été", "straße", "हिन्दी"]),
        ("中文字", ["中文", "文字"]),
        ("<a href='x'>link</a> &#20013;&#25991;", ["link", "中文"]),
    ],
)
def test_the_words_of_a_page(html: str, words: list[str]) -> None:
    assert list(words_of(html)) == words


def statements(html: str, address: str = "http://example.org/", named: Iterable[str] = ()) -> list[str]:
    """Of a page, in one string each."""
    named = {*named, *numbers_in(address)}
    return [" ".join(words) for line in lines_of(html) for words in statements_of(line, address, named)]


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<p>One <b>row</b> here.<p>Two; three. Four", ["one row here", "two", "three", "four"]),
        ("<table><tr><td>1.5<td>2<tr><td>1.7<td>4</table>", ["1 5 2", "1 7 4"]),
        ("1. e4 e5 2. d4", ["1 e4 e5 2 d4"]),
        ("<img src='/seen/dog.jpg' alt=x>", ["picture /seen/dog.jpg"]),
        ("<script>a. b.</script><!-- c. -->dog &amp; cat", ["dog cat"]),
        ("http://example.org/ example org", []),
    ],
)
def test_the_statements_of_a_page(html: str, said: list[str]) -> None:
    assert statements(html, "http://example.org/") == said


def test_what_stands_in_the_address_or_in_links_is_no_statement() -> None:
    assert statements("Week 50 of 2026. All is well", "http://x.example/?202650") == ["week of all is well"]
    assert statements("Saturday, 7.5.2026: rain", "http://x.example/20260507") == ["saturday rain"]
    assert statements("Saturday, 7.5.2026: rain", "http://x.example/p/1753") == ["saturday 7 5 2026 rain"]
    assert statements("On to red-shoes, page 9", "http://x.example/", {"red", "shoes", "page"}) == ["on to 9"]


def test_pages_that_say_the_same_say_nothing() -> None:
    ground, url = KnownText(), Url(HOME)
    first = ground.examine(PageView(url, [], "<p>One thing.<p>Measured 1.5 and 3.7"), [])
    ground.examine(PageView(url, [], "<p>Measured 1.5 and 3.7"), [])
    again = ground.examine(PageView(url, [], "<p>Measured 1.5 and 3.7<p>One thing."), [])
    other = ground.examine(PageView(url, [], "<p>Measured 2.5 and 3.9<p>Thing one"), [])
    assert [(says.statements, says.numbers) for says in (first, again, other)] == [(2, 0), (0, 0), (1, 1)]


def test_no_new_statement_is_taken_for_a_known_one() -> None:
    ground, url = KnownText(), Url(HOME)
    said = [f"<p>{' '.join(words)}" for words in product(["one", "two", "three", "four"], repeat=8)]
    pages = ["".join(said[at : at + 4]) for at in range(0, len(said), 4)]
    assert [html for html in pages if ground.examine(PageView(url, [], html), []).statements != 4] == []


def test_numbers_of_a_page_are_new_together_where_each_line_is_known() -> None:
    ground, url, pages = KnownText(), Url(HOME), [(1, 2), (3, 4), (1, 4), (1, 4), (3, 2), (3, 2)]
    said = [ground.examine(PageView(url, [], f"<p>Yes {yes} %<p>No {no} %"), []) for yes, no in pages]
    assert [(says.statements, says.numbers) for says in said] == [
        (2, 0),
        (0, 2),
        (0, 1),
        (0, 0),
        (0, 1),
        (0, 0),
    ]


def test_a_page_is_woven_by_links_to_known_pages_beside_the_menu() -> None:
    ground, menu = KnownText(), [Url(f"{HOME}menu{number}") for number in range(5)]
    ground.new_of([*menu, Url(HOME)])
    woven = []
    for number in range(20):
        new = ground.new_of([Url(f"{HOME}{number}")])
        back = [Url(f"{HOME}{number - 3}")] if number > 9 else []
        woven.append(ground.examine(PageView(Url(f"{HOME}x{number}"), [*menu, *back, *new], ""), new).woven)
    assert woven[5:10] == [False] * 5
    assert sum(woven[10:]) >= 9  # hashes of Python are random: a link may share its slot with the menu


@given(st.text(alphabet="<>/abipgm src=\"'.;x\n&#1é中", max_size=400), st.text(max_size=20))
@settings(deadline=None)
def test_any_text_has_statements(text: str, address: str) -> None:
    assert all(word for line in lines_of(text) for words in statements_of(line, address, {"x"}) for word in words)


@given(st.text(max_size=400))
@settings(deadline=None)
def test_any_text_has_words(text: str) -> None:
    assert all(word and not any(map(str.isdigit, word)) for word in words_of(text))


@given(st.lists(st.tuples(st.text(alphabet="/?a1", max_size=6), st.text(max_size=20)), max_size=40))
def test_no_pages_make_it_raise(pages: list[tuple[str, str]]) -> None:
    budgets = Budgets(1)
    for target, text in pages:
        url = Url(f"{HOME}{target}")
        budgets.visited(url, [Discovery(Url(f"{HOME}{text!r}"), 1)], partial(PageView, url, [url], text))
        assert budgets.pace(url.origin) in (1, 2, 4, 8)
