"""Tests what a crawl does with challenge pages of bot walls instead of pages and robots.txt, over a fake web."""

import gzip
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.page.rendered import Rendered
from goodbot.robot.client.client import Client
from goodbot.robot.manners.hosts_given_up import MAX_WALLS, ONLY_WALLS
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Capture, Response
from robot.crawl.test_crawler import HOME, HTML, Answers, Scene, page, robots

CHALLENGE = b"""<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt={cType:'managed'}</script>
<p>Not found. <a href="/behind">Try again</a>"""
MITIGATED = ("cf-mitigated", "challenge")


def wall(status: int, *headers: tuple[str, str], body: bytes = CHALLENGE) -> Response:
    return Response(status, (HTML, *headers), body)


@pytest.fixture(autouse=True)
def root(tmp_path: Path) -> None:
    Scene.root = tmp_path


@pytest.mark.parametrize(
    ("status", "fetches"),
    [
        (200, 1),
        (202, 1),
        (402, 1),
        (403, 1),
        (404, 1),
        (405, 1),
        (302, 1),
        (304, 1),
        (408, 2),
        (500, 3),
        (429, 8),
        (503, 8),
    ],
)
async def test_a_page_that_is_a_wall_fails(status: int, fetches: int) -> None:
    scene = Scene({HOME: wall(status, MITIGATED, ("Location", "/behind"))})
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {HOME: "failed"}
    assert scene.asked() == [HOME] * fetches
    assert scene.why(HOME).startswith(f"wall: Cloudflare (status {status})")
    assert scene.crawler.visited == 0
    assert scene.indexed() == set()
    steps = [(event.step, event.decision) for event in scene.outcomes[-1].events]
    assert steps[:3] == [("permission", "allowed"), ("fetch", str(status)), ("fetch", "wall")]
    assert ("wall", "a bot wall (Cloudflare) answered in place of the page") in scene.decisions()
    assert scene.archive is not None
    assert [kept.url.text for kept in scene.archive.captures() if kept.url.text == HOME] == [HOME] * fetches


async def test_it_is_known_by_its_body_under_a_content_coding() -> None:
    scene = Scene({HOME: wall(200, ("Content-Encoding", "gzip"), body=gzip.compress(CHALLENGE))})
    await scene.crawler.run()
    assert scene.why(HOME) == "wall: Cloudflare (status 200)"


async def test_nothing_is_learned_from_walls() -> None:
    """Twelve equal pages that say `not found` would be soft 404 and copies, and in one folder a trap."""
    walled = {f"{HOME}shop/{number}/{number}": wall(200) for number in range(12)}
    scene = Scene({HOME: page(*walled, "last"), HOME + "last": page("shop/0/0"), **walled})
    await scene.crawler.run()
    assert {url for url, state in scene.states().items() if state == "failed"} == walled.keys()
    assert {scene.why(url) for url in walled} == {"wall: Cloudflare (status 200)"}
    assert scene.indexed() == {HOME, HOME + "last"}
    assert all(outcome.same_as is None and not outcome.links for outcome in scene.outcomes if outcome.state == "failed")
    assert scene.frontier.load_lessons(["example.org"]) == []
    assert not any("behind" in url for url in scene.states())


async def test_a_page_that_only_speaks_of_walls_is_a_page() -> None:
    article = page("a", head="<title>cf-mitigated: challenge</title>", headers=(("cf-ray", "8f2b-SJC"),))
    scene = Scene({HOME: article, HOME + "a": page(status=403)})
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited", HOME + "a": "failed"}
    assert scene.why(HOME + "a") == "status 403"


async def test_a_host_that_answers_with_walls_is_asked_more_and_more_slowly_and_given_up() -> None:
    """A public host: 5 s more, then 10, 20, 40, 60."""
    walled = {f"{HOME}{number}": wall(403, MITIGATED) for number in range(MAX_WALLS + 5)}
    scene = Scene({HOME: page(*walled), **walled})
    assert await scene.crawler.run() == "finished"
    assert len(scene.asked()) == 1 + MAX_WALLS
    gaps = [later - earlier for earlier, later in pairwise(scene.times())]
    assert [round(gap) for gap in gaps[:7]] == [1, 6, 11, 21, 41, 61, 61]
    assert max(gaps) < 62
    assert sorted(scene.why(url) for url in walled)[:6] == [*[ONLY_WALLS] * 5, "wall: Cloudflare (status 403)"]


async def test_open_pages_between_walls_are_found() -> None:
    answers: Answers = {}
    for number in range(3 * MAX_WALLS):
        answers[f"{HOME}{number}"] = page() if number % 30 == 29 else wall(403, MITIGATED)
    scene = Scene({HOME: page(*(str(number) for number in range(3 * MAX_WALLS))), **answers}, duplicates=False)
    await scene.crawler.run()
    assert scene.crawler.visited == 1 + 4
    assert not any(why == ONLY_WALLS for why in map(scene.why, answers))


@pytest.mark.parametrize("status", [200, 202, 402, 403, 429, 503])
async def test_a_wall_in_place_of_robots_txt_closes_the_site_until_it_opens(status: int) -> None:
    answers = iter([wall(status, MITIGATED), wall(status), robots("User-agent: *\nDisallow: /private\n")])
    scene = Scene({HOME + "robots.txt": lambda request: next(answers), HOME: page("private"), HOME + "private": page()})
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {HOME: "visited", HOME + "private": "disallowed"}
    held = [reason for decision, reason in scene.decisions() if decision == "held off"]
    assert held == ["robots.txt is unreachable (a bot wall answered: Cloudflare), so nothing may be fetched."] * 2


@pytest.mark.parametrize("answer", [wall(200), wall(403, MITIGATED), page(status=202), page(status=402)])
async def test_one_that_stays_leaves_the_site_alone(answer: Response) -> None:
    scene = Scene({HOME + "robots.txt": answer, HOME: page()})
    assert await scene.crawler.run() == "finished"
    assert (scene.asked(), scene.states()) == ([], {HOME: "failed"})
    assert len(scene.web.requests) == 4
    assert scene.why(HOME).startswith("robots.txt is unreachable (")


async def test_402_opens_the_site_for_google_alone() -> None:
    scene = Scene({HOME + "robots.txt": page(status=402), HOME: page()}, dialect="google")
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited"}


async def test_one_where_another_host_redirects_to_is_asked_again() -> None:
    """The answer serves every host that redirects there, and a wall's is not kept for a day."""
    other = "http://other.example/robots.txt"
    answers = iter([wall(200, MITIGATED), robots("User-agent: *\nDisallow:\n")])
    moved = Response(301, (("Location", other),), b"")
    scene = Scene({HOME + "robots.txt": moved, other: lambda request: next(answers), HOME: page()})
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited"}


class Browser:
    """A renderer that must not be asked."""

    async def render(self, capture: Capture) -> Rendered | None:
        assert "/walled" not in capture.request.url.text
        return None


async def test_a_browser_is_not_given_a_challenge() -> None:
    scene = Scene({HOME: page("walled"), HOME + "walled": wall(200)})
    scene.crawler._renderer = Browser()  # type: ignore[assignment]
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited", HOME + "walled": "failed"}


# ---- goodbot.Robot --------------------------------------------------------------------------------------------------


async def nothing(url: Url) -> None:
    """Every URL may be asked."""


async def test_the_answer_of_a_robot_names_the_wall() -> None:
    clock = FakeClock()
    web = FakeWeb({HOME: wall(200), HOME + "a": wall(403, MITIGATED), HOME + "b": page()}, clock)
    robot = Client(Settings(), "MyBot", connect=lambda: web, admit=nothing, store=MemoryRobots, clock=clock)
    first, second, third = [await robot.get(HOME + name) for name in ("", "a", "b")]
    assert (first.ok, first.status, first.wall) == (False, 200, "Cloudflare")
    assert first.trouble == "a bot wall (Cloudflare) answered"
    assert (second.wall, second.trouble) == ("Cloudflare", "status 403; a bot wall (Cloudflare) answered")
    assert (third.ok, third.wall, third.trouble) == (True, None, None)
    assert [round(later - earlier) for earlier, later in pairwise(web.times)] == [1, 6, 11]
    with pytest.raises(RunError, match="bot wall"):
        first.raise_for_status()
    assert replace(first, wall=None).ok
    await robot.close()


async def test_a_wall_in_place_of_robots_txt_is_the_reason_a_robot_gives() -> None:
    clock = FakeClock()
    web = FakeWeb({HOME + "robots.txt": wall(202, MITIGATED)}, clock)
    robot = Client(Settings(), "MyBot", connect=lambda: web, admit=nothing, store=MemoryRobots, clock=clock)
    answer = await robot.get(HOME)
    assert (answer.allowed, answer.response) == (False, None)
    assert "a bot wall answered: Cloudflare" in (answer.trouble or "")
    assert (await robot.rules(HOME)).wall == "Cloudflare"
    await robot.close()
