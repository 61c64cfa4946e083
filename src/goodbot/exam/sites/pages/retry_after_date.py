"""One page answers 503 once, with a Retry-After date three to four seconds ahead."""

from email.utils import formatdate
from math import ceil

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page, pages
from goodbot.exam.expectations import Fetches, WaitsAfterStatus

WAIT_S = 3


async def _out(exchange: Exchange) -> None:
    now = exchange.clock.now()
    until = formatdate(ceil(now) + WAIT_S, usegmt=True)
    out = Reply(b"<p>Out of service.", 503, (("Date", formatdate(now, usegmt=True)), ("Retry-After", until)))
    await exchange.reply(out if exchange.before("/out") == 0 else page(title="In service again"))


SITE = ExamSite(
    name="retry-after-date",
    teaches="Leave the site alone until the date in Retry-After, then fetch the page again.",
    source="RFC 9110 10.2.3, 15.6.4",
    pages={**pages(None, "/out", "/a", "/b", "/c"), "/out": _out},
    expects=(
        WaitsAfterStatus(WAIT_S, (503,)),
        Fetches(("/", "/a", "/b", "/c")),
        Fetches(("/out",), status=200),
    ),
)
