"""Ten host names share one address: they are ten small sites on one machine."""

from collections.abc import Iterable

from goodbot.exam.exam_values import ExamRequest, ExamSite, Exchange, Observed, Reply, Route, SiteJudgement, page
from goodbot.exam.expectations import CustomExpectation, Fetches
from goodbot.human import counted

OTHERS = tuple(f"n{n}" for n in range(2, 11))
MOST = 2
TAKES_S = 0.3
"""Each response takes this long, so that simultaneous requests overlap."""


def _slowly(reply: Reply) -> Route:
    async def handler(exchange: Exchange) -> None:
        await exchange.clock.sleep(TAKES_S)
        await exchange.reply(reply)

    return handler


def most_at_once(requests: Iterable[ExamRequest]) -> int:
    """Returns the largest number of requests in progress at the same time, over all origins. A request without an end
    counts as in progress from its start on."""
    moments = sorted(
        moment
        for each in requests
        for moment in ((each.at, 1), (float("inf") if each.ended_at is None else each.ended_at, -1))
    )
    under_way = most = 0
    for _, change in moments:
        under_way += change
        most = max(most, under_way)
    return most


def _few_at_once(seen: Observed) -> SiteJudgement:
    names = len({each.origin for each in seen.requests})
    most = most_at_once(seen.requests)
    if names == 1:
        return SiteJudgement(False, "sent requests to only one of the ten names")
    return SiteJudgement(most <= MOST, f"sent {counted(most, 'request')} at once over {names} names")


SITE = ExamSite(
    name="ten-names",
    teaches="Limit requests per address, not per name: ten names on one address are one machine.",
    source="BUbiNG, 2014: politeness per host and per address",
    pages={
        "/": _slowly(page("/a", *(f"@{label}@/" for label in OTHERS), title="Start")),
        "/a": _slowly(page(title="Page")),
    },
    others={
        label: {"/": _slowly(page("/a", title=f"Name {label}")), "/a": _slowly(page(title="Page"))} for label in OTHERS
    },
    expects=(
        Fetches(("/", "/a")),
        CustomExpectation("per-address", f"sends at most {MOST} requests at once over all names", _few_at_once),
    ),
    needs=frozenset({"names"}),
)
