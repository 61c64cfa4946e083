"""A site that opens in a minute: a robot that keeps Visit-time need not wait long to find all."""

from datetime import UTC, datetime
from typing import Final

from goodbot.exam.exam_values import ExamSite, Exchange, Observed, SiteJudgement, pages, robots
from goodbot.exam.expectations import LEEWAY_S, Finds, JudgedByRule

LEAST_S: Final = 20.0
OPEN_S: Final = 1800.0


def _opens_at(asked_at: float) -> float:
    """The full minute at which the site opens, 20 to 80 seconds after its robots.txt was first asked for."""
    return ((asked_at + LEAST_S) // 60 + 1) * 60


async def _robots(exchange: Exchange) -> None:
    at = exchange.asked.at
    opens = at // 60 * 60 if exchange.before("/robots.txt") else _opens_at(at)  # who asks again finds it open
    window = "-".join(f"{datetime.fromtimestamp(time, UTC):%H%M}" for time in (opens, opens + OPEN_S))
    await exchange.reply(robots(f"User-agent: *\nRobot-version: 2.0\nVisit-time: {window}\nDisallow:\n"))


def _comes_when_open(seen: Observed) -> SiteJudgement:
    opens: float | None = None
    for each in seen.of():
        if each.path != "/robots.txt":
            if opens is None or each.at < opens - LEEWAY_S:
                return SiteJudgement(False, f"asked for {each.target} outside the window", each)
        elif opens is not None:
            break
        else:
            opens = _opens_at(each.at)
    return SiteJudgement(True, "nothing was asked for outside the window")


SITE = ExamSite(
    name="robots-visit-time",
    teaches="Visit-time asks to come in a window of the day (UTC) only.",
    source="Conner 1996",
    pages=pages(_robots, "/a", "/b"),
    expects=(
        JudgedByRule("visit-time", "comes when the site opens, at the next full minute", _comes_when_open),
        Finds(("/", "/a", "/b")),
    ),
)
