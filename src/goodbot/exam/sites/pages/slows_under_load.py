"""A host that answers slower the more it is asked at once."""

from collections import Counter

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, page
from goodbot.exam.expectations import AtOnce, Finds

STEP_S = 0.2
NAMES = tuple(f"/page/{number}" for number in range(1, 13))
_under_way: Counter[str] = Counter()


async def _slow(exchange: Exchange) -> None:
    here = exchange.origins[MAIN]
    _under_way[here] += 1
    try:
        await exchange.clock.sleep(STEP_S * _under_way[here] ** 2)
        await exchange.reply(page(title=exchange.asked.path[:40].strip("/")))
    finally:
        _under_way[here] -= 1


SITE = ExamSite(
    name="slows-under-load",
    teaches="A host that slows under load is not pressed: at most two requests at once, as HTTP/1.1 first had it.",
    source="RFC 2616 8.1.4 (two connections); RFC 9112 9.4 (be conservative)",
    pages={"/": page(*NAMES), **dict.fromkeys(NAMES, _slow)},
    expects=(AtOnce(2), Finds(("/", *NAMES))),
)
