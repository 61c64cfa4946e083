"""What no robot does by default is told on the card, takes points, and fails no site. And how a robot is named."""

import pytest

from exam.scripted import Driver, examine, gets
from exam.scripts_robots import EXTRAS
from goodbot.exam.exam_values import ExamRequest
from goodbot.exam.rules import RULES
from goodbot.exam.sites import all_sites
from goodbot.exam.sites.robots.own_group import token_of

SITES = {site.name: site for site in all_sites()}


@pytest.mark.parametrize("name", EXTRAS)
async def test_an_extra_costs_its_points_and_fails_nothing(name: str) -> None:
    steps, observed = EXTRAS[name]
    card = await examine(SITES[name], steps)
    missed = [mark for mark in card.marks if not mark.judgement.passed]
    assert [(mark.rule.extra, mark.judgement.observed) for mark in missed] == [(True, observed)]
    assert (card.passed, card.points) == (True, card.max_points - missed[0].rule.points)


def test_a_site_about_an_extra_has_a_driver_that_misses_it() -> None:
    robots = [site for site in SITES.values() if site.name.startswith("robots-")]
    extra = {site.name for site in robots for expectation in site.expects if RULES[expectation.rule].extra}
    assert extra == set(EXTRAS)


@pytest.mark.parametrize("name", ["robots-401", "robots-403"])
@pytest.mark.parametrize("pages", [(), ("/", "/a", "/b")], ids=["closed", "open"])
async def test_a_refused_robots_txt_may_be_taken_for_open_and_for_closed(name: str, pages: tuple[str, ...]) -> None:
    """RFC 9309 2.3.1.3 says MAY, the HTTP book says closed: neither loses a point."""
    card = await examine(SITES[name], gets("/robots.txt", *pages))
    assert (card.passed, card.points) == (True, card.max_points)


async def test_visit_time_says_when_the_site_opens_and_that_it_is_open_to_who_asks_again() -> None:
    """The fake clock begins at 22:13:20."""
    windows: list[str] = []

    async def asks(driver: Driver) -> None:
        answer = await driver.get("/robots.txt")
        windows.append(answer.partition(b"Visit-time: ")[2].decode().split("\n")[0])

    card = await examine(SITES["robots-visit-time"], [asks, "wait 5", asks, *gets("/", "/a", "/b")])
    assert windows == ["2214-2244", "2213-2243"]
    assert card.points == card.max_points


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("ScriptBot/1.0 (+mailto:script@example.org)", "ScriptBot"),
        ("Wget/1.21.3", "Wget"),
        ("Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)", "ExampleBot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; x-bot/2.0) Chrome/1.0 Safari/537.36", "x-bot"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 My-Bot/1",
            "My-Bot",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36", "Mozilla"),
        ("bot", "bot"),
        ("a" * 100_000, "a" * 64),
        ("\n:;", "nobody"),
        (None, "nobody"),
    ],
)
def test_the_name_a_robot_gives_itself(agent: str | None, token: str) -> None:
    headers = () if agent is None else (("user-agent", agent),)
    assert token_of(ExamRequest("", "GET", "/robots.txt", headers, 1, 0.0)) == token
