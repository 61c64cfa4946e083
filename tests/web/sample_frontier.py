"""A small frontier with every kind of host and refused URL, for the operator's pages."""

from functools import partial
from pathlib import Path

from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Event, LeasedUrl, Outcome, Release, State
from goodbot.web.operator.crawl_reports import CrawlReports

NOW = 1_795_000_000.0
LATER = 4_000_000_000.0
"""When `h02.example` may be requested again."""
ROBOTS = b"# <b>Rules</b>\nUser-agent: *\nDisallow: /private/\nCrawl-delay: 5\nRequest-rate: 1/10 0600-0845\n"
RULE = "Disallow: /private/ (line 3) is the longest rule that matches"
OUT_OF_SCOPE = "elsewhere.example is not the host of a seed <script>"
PATHS = ("a", "b", "private/x", "private/y", "gone", "broken", "<i>odd")


def make_frontier(path: Path, hosts: int = 3) -> CrawlReports:
    """Writes the frontier: `here.example` with URLs in all states, `hosts` others with one ready URL each,
    `elsewhere.example` out of scope, and the forgotten host `barred.example`."""
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(
            [
                *(Discovery(Url(f"https://here.example/{name}"), 1) for name in PATHS),
                *(Discovery(Url(f"https://h{number:02}.example/"), 0) for number in range(hosts)),
                Discovery(Url("https://elsewhere.example/"), 1, refused=OUT_OF_SCOPE),
            ]
        )
        _visit(frontier)
        _report(frontier)
        frontier.bar_host("barred.example")
    return CrawlReports(partial(SqliteFrontier.open, path, read_only=True), "goodbot", 60.0)


def _visit(frontier: SqliteFrontier) -> None:
    for lease in frontier.lease(100, 10, NOW + 1):
        outcomes = [_outcome(leased) for leased in lease.urls] if lease.host == "here.example" else []
        frontier.settle(outcomes, [Release(lease.host, LATER if lease.host == "h02.example" else NOW + 60)])


def _outcome(leased: LeasedUrl) -> Outcome:
    path = leased.url.text.partition(".example")[2]
    if path.startswith("/private/"):
        events = (Event(NOW + 3, "permission", "disallowed", RULE, 3),)
        return Outcome(leased.url, "disallowed", NOW + 3, RULE, events=events)
    results: dict[str, tuple[State, str, int | None]] = {
        "/gone": ("gone", "status 404 Not Found", 404),
        "/broken": ("failed", "connection <reset> " + "y" * 900, None),
    }
    state, why, status = results.get(path, ("visited", "fetched", 200))
    return Outcome(leased.url, state, NOW + 6, why, status, 1000)


def _report(frontier: SqliteFrontier) -> None:
    frontier.save_robots("https://here.example", Access.from_response(200, [], ROBOTS, NOW))
    frontier.save_robots("http://here.example", Access.from_failure("timeout", NOW + 5))
    frontier.save_robots("https://h00.example", Access.from_response(404, [], b"", NOW))
    frontier.save_robots("https://h01.example", Access.from_response(503, [], b"", NOW))
    kept = Courtesy(
        "here.example", 120, 2, 1, 1, 0, 3, 90.0, sooner=2, inside=1, waited_s=151.0, least_gap_s=5.001,
        asked_gap_s=5.0, first_at=NOW, last_at=NOW + 700, agent="goodbot/0.1 (+https://bot.example/)",
    )  # fmt: skip
    frontier.save_courtesies([kept, Courtesy("h00.example", 1, 1, first_at=NOW, last_at=NOW)])
    frontier.save_lessons([Lesson("here.example", "trap", "/cal", "/cal/ <repeats>", NOW, NOW + 9e6, 1, False)])
