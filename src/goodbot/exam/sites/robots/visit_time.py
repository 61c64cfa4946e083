"""Visit-time opens the site within 80 seconds, so a robot that obeys it finds all pages soon."""

from datetime import UTC, datetime
from typing import Final

from goodbot.exam.exam_values import ExamSite, Exchange, Observed, SiteJudgement, pages, robots
from goodbot.exam.expectations import LEEWAY_S, CustomExpectation, Fetches

LEAST_S: Final = 20.0
OPEN_S: Final = 1800.0


def _opens_at(requested_at: float) -> float:
    """Returns the full minute at which the site opens, 20 to 80 seconds after the first request for its robots.txt."""
    return ((requested_at + LEAST_S) // 60 + 1) * 60


async def _robots(exchange: Exchange) -> None:
    at = exchange.request.at
    opens = at // 60 * 60 if exchange.before("/robots.txt") else _opens_at(at)  # the second request gets an open window
    window = "-".join(f"{datetime.fromtimestamp(time, UTC):%H%M}" for time in (opens, opens + OPEN_S))
    await exchange.reply(robots(f"User-agent: *\nRobot-version: 2.0\nVisit-time: {window}\nDisallow:\n"))


def _waits_until_open(seen: Observed) -> SiteJudgement:
    opens: float | None = None
    for each in seen.of():
        if each.path != "/robots.txt":
            if opens is None or each.at < opens - LEEWAY_S:
                return SiteJudgement(False, f"fetched {each.target} outside the hours of Visit-time", each)
        elif opens is not None:
            break
        else:
            opens = _opens_at(each.at)
    return SiteJudgement(True, "fetched nothing outside the hours of Visit-time")


SITE = ExamSite(
    name="robots-visit-time",
    teaches="Fetch pages only during the hours (UTC) that Visit-time names.",
    source="Conner 1996",
    pages=pages(_robots, "/a", "/b"),
    expects=(
        CustomExpectation(
            "visit-time", "fetches no page before Visit-time opens the site, on a full minute", _waits_until_open
        ),
        Fetches(("/", "/a", "/b")),
    ),
)
