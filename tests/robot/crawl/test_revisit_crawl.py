"""Crawls that visit pages again, over a fake web and a fake clock, in memory and in SQLite."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.errors import RunError
from goodbot.robot.crawl.replay import replay
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import FakeClock, MemoryArchive, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Failure, Outcome, Request, Response
from robot.crawl.test_crawler import HOME, HTML, Answers, Scene, page, robots

DAY = 86400.0
START = FakeClock().now()
UNTIL = START + 40 * DAY


@pytest.fixture(autouse=True)
def root(tmp_path: Path) -> Path:
    """Where scenes keep their index."""
    Scene.root = tmp_path
    return tmp_path


@pytest.fixture(params=["memory", "sqlite"])
def revisiting(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], MemoryFrontier | SqliteFrontier]]:
    """Opens a frontier that asks again for 40 days; with SQLite it is the same one each time."""
    opened: list[SqliteFrontier] = []

    def make() -> MemoryFrontier | SqliteFrontier:
        if request.param == "memory":
            return MemoryFrontier(revisit_until=UNTIL)
        frontier = SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True, revisit_until=UNTIL)
        opened.append(frontier)
        return frontier

    yield make
    for frontier in opened:
        frontier.close()


Make = Callable[[], MemoryFrontier | SqliteFrontier]


def validating(tag: str, answer: Response) -> Callable[[Request], Response]:
    """304 for who has it."""

    def respond(request: Request) -> Response:
        if ("If-None-Match", tag) in request.headers:
            return Response(304, (("ETag", tag),), b"")
        return Response(answer.status, (*answer.headers, ("ETag", tag)), answer.body)

    return respond


def said(text: str, more: str = "") -> Response:
    """A page of this text."""
    return Response(200, (HTML,), f"<title>title</title>{more}<p>{text}".encode())


GOES = Response(404, (), b"no more")


def redirect(target: str) -> Response:
    """To `target`."""
    return Response(302, (("Location", target),), b"")


class Later(Scene):
    """A scene that looks around once a day, as nothing happens in between."""

    def __init__(self, answers: Answers, frontier: MemoryFrontier | SqliteFrontier, **more: Any) -> None:
        super().__init__(answers, HOME, frontier=frontier, **more)
        self.crawler.max_sleep_s = DAY


def last(scene: Later, url: str = HOME) -> Outcome:
    return next(outcome for outcome in reversed(scene.outcomes) if outcome.url.text == url)


async def test_a_page_that_does_not_change_costs_a_304_now_and_then(revisiting: Make) -> None:
    scene = Later({HOME: validating('"1"', page())}, revisiting())
    assert await scene.crawler.run() == "finished"
    asked = scene.asked()
    assert 5 < len(asked) < 25, "sooner at first, then less and less often"
    gaps = [later - sooner for sooner, later in zip(scene.times(), scene.times()[1:], strict=False)]
    assert gaps == sorted(gaps)
    first, *again = scene.outcomes
    assert (first.status, first.revisit, first.to_index) == (200, False, True)
    assert {(o.state, o.unchanged, o.revisit, o.to_index) for o in again} == {("visited", True, True, False)}
    statuses = [o.status for o in again]
    assert (set(statuses), statuses.count(200)) == ({200, 304}, 1), "the whole page is requested after 30 days"
    record = scene.frontier.record(Url(HOME))
    assert record is not None
    assert (record.digest, record.title, record.record) == (first.digest, "title", first.record)
    assert record.seen is not None
    assert record.seen.changed_at == first.at
    assert scene.archive is not None
    assert record.record is not None
    assert scene.archive.read(record.record).response.status == 200
    assert scene.indexed() == {HOME}
    assert any(decision == "revisit" for decision, _ in scene.decisions())


async def test_a_page_that_changes_is_kept_and_indexed_anew(revisiting: Make) -> None:
    count = 0

    def changing(request: Request) -> Response:
        nonlocal count
        count += 1
        return page(head=f"<meta name=description content={count}>", headers=(("ETag", f'"{count}"'),))

    scene = Later({HOME: changing}, revisiting(), revisit_least=DAY)
    assert await scene.crawler.run(max_pages=5) == "max-pages"
    assert [outcome.unchanged for outcome in scene.outcomes] == [False] * 5
    assert len({outcome.record for outcome in scene.outcomes}) == 5
    pages = [request.headers for request in scene.web.requests if request.url.text == HOME]
    assert pages[1:] == [(("If-None-Match", f'"{number}"'),) for number in range(1, 5)]
    assert scene.indexed() == {HOME}


async def test_bytes_that_change_with_every_request_are_no_change_of_the_page(revisiting: Make) -> None:
    count = 0

    def token(request: Request) -> Response:
        nonlocal count
        count += 1
        return page(head=f"<script nonce={count}></script>")

    scene = Later({HOME: token}, revisiting())
    assert await scene.crawler.run() == "finished"
    assert len(scene.asked()) < 25
    assert len({outcome.record for outcome in scene.outcomes}) == len(scene.asked()), "each is kept"


async def test_the_same_bytes_without_a_validator_are_unchanged(revisiting: Make) -> None:
    scene = Later({HOME: page()}, revisiting())
    await scene.crawler.run()
    assert [outcome.unchanged for outcome in scene.outcomes] == [False] + [True] * (len(scene.asked()) - 1)
    assert len({outcome.record for outcome in scene.outcomes}) == 1
    assert scene.indexed() == {HOME}


AWAY = HOME + "away"
WALL = ("cf-mitigated", "challenge")


@pytest.mark.parametrize(
    ("then", "state", "found", "asked"),
    [
        (GOES, "gone", set(), 4),
        (Response(410, (), b""), "gone", set(), 4),
        (page(head="<meta name=robots content=noindex>"), "visited", set(), None),
        (Response(301, (("Location", "/away"),), b""), "visited", {AWAY}, 1),
        (Failure("timeout", "no answer"), "visited", {HOME}, None),
        (Response(500, (), b""), "visited", {HOME}, None),
        (Response(503, (), b""), "visited", {HOME}, None),
        (Response(403, (), b""), "visited", {HOME}, None),
        (page(head="<meta name=robots content=none>", headers=(WALL,)), "visited", {HOME}, None),
        (page(status=404, headers=(WALL,)), "visited", {HOME}, None),
        (Response(304, (), b""), "visited", {HOME}, None),
        (page(head="<meta name=robots content='unavailable_after: 2001-01-01'>"), "visited", set(), None),
    ],
    ids=[
        "404",
        "410",
        "noindex",
        "redirect",
        "failure",
        "500",
        "503",
        "403",
        "a bot wall",
        "a wall with 404",
        "304 not asked for",
        "past its date",
    ],
)
async def test_what_happens_to_pages_later(
    revisiting: Make, then: Response | Failure, state: str, found: set[str], asked: int | None
) -> None:
    asked_for = 0

    def respond(request: Request) -> Response | Failure:
        nonlocal asked_for
        asked_for += 1
        return page() if asked_for == 1 else then

    scene = Later({HOME: respond, AWAY: page(head="<meta name=description content='elsewhere'>")}, revisiting())
    assert await scene.crawler.run() == "finished"
    assert scene.states()[HOME] == state
    assert scene.indexed() == found
    assert asked_for - 1 == asked if asked else asked_for > 3
    assert scene.frontier.leaving() == []
    assert scene.frontier.pending() == []


async def test_a_copy_stands_for_the_page_it_was_of_when_that_is_gone(revisiting: Make) -> None:
    asked_for = 0

    def old(request: Request) -> Response:
        nonlocal asked_for
        asked_for += 1
        return page() if asked_for == 1 else GOES

    answers: Answers = {HOME: page("/old", "/new"), HOME + "old": old, HOME + "new": validating('"1"', page())}
    scene = Later(answers, revisiting())
    await scene.crawler.run(max_pages=3)
    assert scene.indexed() == {HOME, HOME + "old"}
    await scene.crawler.run(max_pages=20)
    assert scene.indexed() == {HOME, HOME + "new"}


async def test_copies_stay_copies_in_the_runs_that_follow(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    first = validating('"1"', said(words))
    site: Answers = {
        HOME: page("a", "b", "c"),
        HOME + "a": first,
        HOME + "b": said(words, "<!-- printed -->"),
        HOME + "c": said(words.replace("word7 ", "bird ")),
    }
    later = {**site, HOME: page("a", "b", "c", "d"), HOME + "d": said(words, "<!-- new -->")}
    changed = {**later, HOME + "a": validating('"2"', said(words.upper()))}
    runs: list[tuple[Answers, dict[str, str | None]]] = [
        (site, {"": None, "a": None, "b": "a", "c": "a"}),
        (later, {"": None, "a": None, "b": "a", "c": "a", "d": "a"}),
        (later, {"": None, "a": None, "b": "a", "c": "a", "d": "a"}),
        (changed, {"": None, "a": None, "b": None, "c": "b", "d": "b"}),
        (changed, {"": None, "a": None, "b": None, "c": "b", "d": "b"}),
    ]
    for number, (answers, copies) in enumerate(runs):
        now = START + number * 20 * DAY
        with SqliteFrontier.open(tmp_path / "f.sqlite", create=True, revisit_until=now) as frontier:
            scene = Later(answers, frontier)
            scene.clock.advance(now - START)
            assert await scene.crawler.run() == "finished"
            assert len(scene.asked()) == len(copies)
            found = {record.url.text: record.same_as and record.same_as.text for record in frontier.records()}
            assert found == {HOME + page: of and HOME + of for page, of in copies.items()}, number
            kept = {record.url.text for record in frontier.records() if record.seen and record.seen.indexed}
            assert kept == {HOME + page for page, of in copies.items() if of is None}


CANONICALS: list[tuple[str, Answers, str | None]] = [
    ("is gone", {HOME + "c": GOES}, None),
    ("is out of order", {HOME + "c": Response(500, (), b"")}, None),
    ("leads to nothing", {HOME + "c": redirect("/d"), HOME + "d": GOES}, None),
    ("leads back", {HOME + "c": redirect("/a")}, None),
    ("leads to the page", {HOME + "c": redirect("/d"), HOME + "d": said("It is here.")}, "d"),
    ("is the page", {HOME + "c": said("It is here.")}, "c"),
]


@pytest.mark.parametrize(("name", "answers", "same_as"), CANONICALS, ids=[case[0] for case in CANONICALS])
async def test_a_canonical_url_that(name: str, answers: Answers, same_as: str | None, tmp_path: Path) -> None:
    """A page whose canonical URL is none is found, in this run and those that follow."""
    named = said("The words of the page.", "<link rel=canonical href=/c>")
    site = {HOME: page("a"), HOME + "a": named, **answers}
    for now in (START, START + 20 * DAY, START + 60 * DAY):
        with SqliteFrontier.open(tmp_path / "f.sqlite", create=True, revisit_until=now) as frontier:
            scene = Later(site, frontier)
            scene.clock.advance(now - START)
            await scene.crawler.run()
            record = frontier.record(Url(HOME + "a"))
            assert record is not None
            assert record.seen is not None
            assert record.same_as == (Url(HOME + same_as) if same_as else None)
            assert record.seen.indexed is (same_as is None)


async def test_a_broken_off_answer_is_requested_again_without_conditions(tmp_path: Path) -> None:
    whole = validating('"1"', said("All of the words."))
    stump = Response(200, (HTML, ("ETag", '"1"')), b"<title>title</title><p>All of", truncated="disconnect")
    asked: list[Request] = []
    broken = 1

    def once(request: Request) -> Response:
        asked.append(request)
        return stump if len(asked) <= broken else whole(request)

    for broken, tries in ((1, 2), (2, 2)):
        asked.clear()
        for now in (START, START + 20 * DAY):
            file = tmp_path / f"{broken}.sqlite"
            with SqliteFrontier.open(file, create=True, revisit_until=now) as frontier:
                scene = Later({HOME: once}, frontier)
                scene.clock.advance(now - START)
                await scene.crawler.run()
        assert len(asked) == tries + 1
        validators = [dict(request.headers).get("If-None-Match") for request in asked]
        assert validators == [None, None, None if broken == 2 else '"1"']


async def test_a_new_page_that_says_what_one_says_that_is_not_due(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    stays = (*said(words).headers, ("Cache-Control", "max-age=3000000"))
    site: Answers = {HOME: page("a"), HOME + "a": Response(200, stays, said(words).body)}
    later: Answers = {HOME: page("a", "d"), HOME + "d": said(words, "<!-- new -->")}
    for answers, asked, now in ((site, 2, START), (later, 2, START + 20 * DAY)):
        with SqliteFrontier.open(tmp_path / "f.sqlite", create=True, revisit_until=now) as frontier:
            scene = Later(answers, frontier)
            scene.clock.advance(now - START)
            await scene.crawler.run()
            assert len(scene.asked()) == asked
            found = {record.url.text: record.same_as for record in frontier.records()}
    assert found == {HOME: None, HOME + "a": None, HOME + "d": Url(HOME + "a")}


async def test_a_page_that_was_gone_comes_back(revisiting: Make) -> None:
    answers: list[Response] = [page(), GOES, GOES, page()]
    scene = Later({HOME: lambda request: answers.pop(0) if len(answers) > 1 else answers[0]}, revisiting())
    await scene.crawler.run(max_pages=4)
    assert [outcome.state for outcome in scene.outcomes] == ["visited", "gone", "gone", *["visited"] * 3]
    assert scene.indexed() == {HOME}


async def test_a_304_that_forbids_indexing_takes_the_page_out_and_a_later_one_brings_it_back(revisiting: Make) -> None:
    now = 0

    def respond(request: Request) -> Response:
        nonlocal now
        now += 1
        if request.headers:
            return Response(304, (("X-Robots-Tag", "noindex"),) if now == 2 else (), b"")
        return page(headers=(("ETag", '"1"'),))

    scene = Later({HOME: respond}, revisiting())
    await scene.crawler.run(max_pages=2)
    assert [outcome.status for outcome in scene.outcomes] == [200, 304]
    assert scene.indexed() == set()
    await scene.crawler.run(max_pages=1)
    assert (last(scene).status, scene.indexed()) == (200, {HOME})


async def test_a_page_stays_out_until_all_of_it_was_sent_with_its_new_wishes(revisiting: Make) -> None:
    statuses = iter([200, 304, 500, 200])

    def respond(request: Request) -> Response:
        status = next(statuses, 304)
        fields = (("ETag", '"1"'), ("X-Robots-Tag", "all" if status == 200 and not scene.outcomes else "noarchive"))
        return (
            replace(page(), status=status, headers=(HTML, *fields)) if status == 200 else Response(status, fields, b"")
        )

    scene = Later({HOME: respond}, revisiting(), tries=1)
    indexed = []
    for _ in range(4):
        await scene.crawler.run(max_pages=1)
        indexed.append((last(scene).status, scene.indexed()))
    assert indexed == [(200, {HOME}), (304, set()), (500, set()), (200, {HOME})]
    pages = [request for request in scene.web.requests if request.url.text == HOME]
    assert [dict(request.headers).get("If-None-Match") for request in pages] == [None, '"1"', None, None]


async def test_a_304_that_never_agrees_with_the_whole_answer_costs_one_request_more(revisiting: Make) -> None:
    def respond(request: Request) -> Response:
        if request.headers:
            return Response(304, (("ETag", '"1"'), ("X-Robots-Tag", "nosnippet")), b"")
        return page(headers=(("ETag", '"1"'),))

    scene = Later({HOME: respond}, revisiting())
    assert await scene.crawler.run() == "finished"
    statuses = [outcome.status for outcome in scene.outcomes]
    assert statuses == [200] + [304, 200] * (len(statuses) // 2)
    assert 5 < len(statuses) < 50
    assert scene.indexed() == {HOME}


async def test_a_page_that_leaves_for_a_moment_is_still_the_original_of_its_copies(tmp_path: Path) -> None:
    stated: list[tuple[str, str]] = []

    def original(request: Request) -> Response:
        fields = (("ETag", '"1"'), *stated)
        if request.headers:
            return Response(304, fields, b"")
        return Response(200, (HTML, *fields), b"<title>title</title><p>The words of the page.")

    fresh = ("Cache-Control", f"max-age={30 * DAY:.0f}")
    answers: Answers = {
        HOME: page("copy", "original"),
        HOME + "original": original,
        HOME + "copy": replace(said("Other words.", "<link rel=canonical href=/original>"), headers=(HTML, fresh)),
    }
    for now, then in ((START, []), (START + 20 * DAY, [("X-Robots-Tag", "noarchive")]), (START + 40 * DAY, stated)):
        stated = then
        with SqliteFrontier.open(tmp_path / "f.sqlite", create=True, revisit_until=now) as frontier:
            scene = Later(answers, frontier)
            scene.clock.advance(now - START)
            assert await scene.crawler.run() == "finished"
            asked = Counter(scene.asked())
            is_stricter = now == START + 20 * DAY
            assert asked[HOME + "copy"] == (0 if is_stricter else 1), "it is not visited sooner than it is due"
            assert asked[HOME + "original"] == (2 if is_stricter else 1)
            record = frontier.record(Url(HOME + "copy"))
            assert record is not None
            assert record.same_as == Url(HOME + "original")
            assert frontier.lesson_counts() == (0, 0)
            kept = {item.url.text for item in frontier.records() if item.seen and item.seen.indexed}
            assert kept == {HOME, HOME + "original"}


async def test_a_page_that_robots_txt_closes_leaves_and_returns_when_it_opens(revisiting: Make) -> None:
    clock_at = START

    def rules(request: Request) -> Response:
        closed = START + 2 * DAY < scene.clock.now() < START + 9 * DAY
        return robots(f"User-agent: *\nDisallow: {'/' if closed else ''}\n")

    scene = Later({HOME: page(), HOME + "robots.txt": rules}, revisiting())
    states: list[tuple[str, bool]] = []
    await scene.crawler.run()
    states = [(outcome.state, outcome.from_index) for outcome in scene.outcomes]
    assert ("disallowed", True) in states
    assert states[-1] == ("visited", False)
    assert scene.indexed() == {HOME}
    shut = [at for at in scene.times() if clock_at + 3.1 * DAY < at < clock_at + 9 * DAY]
    assert shut == []


async def test_hints_of_the_page_set_the_first_wait(revisiting: Make) -> None:
    answers: Answers = {
        HOME: page("/static", "/monthly", "/cached"),
        HOME + "static": page(head="<meta name=document-state content=static>"),
        HOME + "monthly": page(head="<meta name=revisit-after content='30 days'>"),
        HOME + "cached": page(headers=(("Cache-Control", "max-age=1728000"),)),
    }
    scene = Later(answers, revisiting())
    await scene.crawler.run()
    counts = {url: scene.asked().count(HOME + url) for url in ("static", "monthly", "cached")}
    assert counts == {"static": 1, "monthly": 2, "cached": 2}


async def test_without_an_archive_the_index_has_the_copy(revisiting: Make) -> None:
    scene = Later({HOME: validating('"1"', page())}, revisiting(), archive=None)
    await scene.crawler.run(max_pages=3)
    assert [outcome.status for outcome in scene.outcomes] == [200, 304, 304]
    assert scene.indexed() == {HOME}


async def test_what_a_killed_run_left_in_the_index_leaves_at_the_start_of_the_next() -> None:
    answers: Answers = {HOME: page()}
    frontier = MemoryFrontier(revisit_until=UNTIL)
    scene = Later(answers, frontier)
    await scene.crawler.run(max_pages=1)
    assert scene.indexed() == {HOME}
    lease = frontier.lease(1, 1, START + 2 * DAY)[0]
    leased = lease.urls[0]
    outcome = scene.crawler._reader._settle(leased, Outcome(leased.url, "gone", START + 2 * DAY, "status 404"))
    frontier.settle([outcome], [])  # and then it was killed
    assert [url.text for url in frontier.leaving()] == [HOME]
    assert list(replay(scene.settings, "goodbot", frontier, MemoryArchive(), scene.index)) == []
    assert scene.indexed() == set()
    assert frontier.leaving() == []


class FullDisk(MemoryFrontier):
    """Cannot have copies visited anew."""

    def requeue(self, urls: Iterable[Url]) -> None:
        raise RunError("no space left")


async def test_an_error_after_the_outcomes_are_settled_is_raised() -> None:
    """HOME leaves the index, and its copy is to be asked for anew: there the disk is full."""
    answers: Answers = {HOME: page("copy"), HOME + "copy": said("title", f'<link rel="canonical" href="{HOME}">')}
    frontier = FullDisk(revisit_until=UNTIL)
    scene = Later(answers, frontier)
    await scene.crawler.run(max_pages=2)
    assert [url.text for url in frontier.copies_of(Url(HOME))] == [HOME + "copy"]
    answers[HOME] = GOES
    with pytest.raises(RunError, match="no space left"):
        await Later(answers, frontier).crawler.run()
    assert scene.states()[HOME] == "gone"
