"""One response has a header field of a megabyte, another has ten thousand header fields."""

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import later_pages


async def _one(exchange: Exchange) -> None:
    await exchange.reply(page(headers=[("X-Large", "a" * 10**6)]))


async def _many(exchange: Exchange) -> None:
    await exchange.reply(page(headers=[(f"X-Field-{n}", str(n)) for n in range(10_000)]))


SITE = ExamSite(
    name="huge-headers",
    teaches="Lose no more than the page itself to a megabyte header field or ten thousand header fields.",
    source="RFC 9110 5.4; RFC 6585 5; CWE-770",
    pages={"/": page("/one", "/many", "/after/1"), "/one": _one, "/many": _many, **later_pages()},
    expects=(Fetches(("/", "/one", "/many", *later_pages())),),
)
