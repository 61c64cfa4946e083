"""One page answers 429 once, with Retry-After in seconds."""

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page, pages
from goodbot.exam.expectations import Fetches, WaitsAfterStatus

WAIT_S = 3


async def _busy(exchange: Exchange) -> None:
    first = exchange.before("/busy") == 0
    busy = Reply(b"<p>Too many requests.", 429, (("Retry-After", str(WAIT_S)),))
    await exchange.reply(busy if first else page(title="Not busy any more"))


SITE = ExamSite(
    name="retry-after-seconds",
    teaches="Leave the whole site alone as long as Retry-After says after 429, then fetch the page again.",
    source="RFC 6585 4; RFC 9110 10.2.3",
    pages={**pages(None, "/busy", "/a", "/b", "/c"), "/busy": _busy},
    expects=(
        WaitsAfterStatus(WAIT_S, (429,)),
        Fetches(("/", "/a", "/b", "/c")),
        Fetches(("/busy",), status=200),
    ),
)
