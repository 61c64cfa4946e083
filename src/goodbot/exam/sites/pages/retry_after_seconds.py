"""Too many requests, says one page, once: wait so many seconds."""

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page, pages
from goodbot.exam.expectations import Finds, Waits

WAIT_S = 3


async def _busy(exchange: Exchange) -> None:
    first = exchange.before("/busy") == 0
    busy = Reply(b"<p>Too many requests.", 429, (("Retry-After", str(WAIT_S)),))
    await exchange.reply(busy if first else page(title="Not busy any more"))


SITE = ExamSite(
    name="retry-after-seconds",
    teaches="After 429 with Retry-After the whole site is left alone for so long; then the page is asked for again.",
    source="RFC 6585 4; RFC 9110 10.2.3",
    pages={**pages(None, "/busy", "/a", "/b", "/c"), "/busy": _busy},
    expects=(
        Waits(WAIT_S, (429,)),
        Finds(("/", "/a", "/b", "/c")),
        Finds(("/busy",), status=200),
    ),
)
