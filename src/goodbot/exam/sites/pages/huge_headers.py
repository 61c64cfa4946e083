"""Answers with a header of a megabyte, and with ten thousand header fields."""

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.wire import afterwards


async def _one(exchange: Exchange) -> None:
    await exchange.reply(page(headers=[("X-Large", "a" * 10**6)]))


async def _many(exchange: Exchange) -> None:
    await exchange.reply(page(headers=[(f"X-Field-{n}", str(n)) for n in range(10_000)]))


SITE = ExamSite(
    name="huge-headers",
    teaches="Headers beyond all measure may be refused: one page is lost by that, and not the crawl.",
    source="RFC 9110 5.4; RFC 6585 5; CWE-770",
    pages={"/": page("/one", "/many", "/after/1"), "/one": _one, "/many": _many, **afterwards()},
    expects=(Finds(("/", "/one", "/many", *afterwards())),),
)
