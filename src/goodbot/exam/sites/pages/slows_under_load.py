"""A host responds more slowly the more requests it has at once."""

from collections import Counter

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, page
from goodbot.exam.expectations import AtMostAtOnce, Fetches

STEP_S = 0.2
NAMES = tuple(f"/page/{number}" for number in range(1, 13))
_in_progress: Counter[str] = Counter()


async def _slow(exchange: Exchange) -> None:
    here = exchange.origins[MAIN]
    _in_progress[here] += 1
    try:
        await exchange.clock.sleep(STEP_S * _in_progress[here] ** 2)
        await exchange.reply(page(title=exchange.request.path[:40].strip("/")))
    finally:
        _in_progress[here] -= 1


SITE = ExamSite(
    name="slows-under-load",
    teaches="Send at most two requests at once to a host that slows down under load.",
    source="RFC 2616 8.1.4 (two connections); RFC 9112 9.4 (be conservative)",
    pages={"/": page(*NAMES), **dict.fromkeys(NAMES, _slow)},
    expects=(AtMostAtOnce(2), Fetches(("/", *NAMES))),
)
