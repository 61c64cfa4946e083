"""A page arrives at one byte a second and announces a day's worth of bytes."""

import asyncio

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches, StopsReading
from goodbot.exam.sites.wire import broken_at_first, head, later_pages

DRIP_S = 90
LIMIT_S = 80.0
"""A minute is long for one page. The other 20 s are for crawlers that start counting later, and for slow machines."""


async def _drip(exchange: Exchange) -> None:
    """Sends drops until all are sent or the client has left. It notices a client that leaves at once, because the exam
    judges the time."""
    await exchange.send(head(HTML, ("Content-Length", "86400")))
    tasks = {asyncio.ensure_future(work) for work in (_drops(exchange), exchange.client_left())}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    exchange.close()


async def _drops(exchange: Exchange) -> None:
    for place in range(DRIP_S if exchange.request.method == "GET" else 0):
        await exchange.send(b"<p>Drip. "[place % 9 : place % 9 + 1])
        await exchange.clock.sleep(1)


SITE = ExamSite(
    name="slow-drip",
    teaches="Give up on a page that arrives at one byte a second, and crawl the rest of the site.",
    source="Slowloris, done by a server; tarpits for crawlers; CWE-400",
    pages={"/": page("/drip", "/after/1"), "/drip": broken_at_first(_drip, times=1), **later_pages()},
    expects=(StopsReading("/drip", limit_s=LIMIT_S), Fetches(("/", "/drip", *later_pages()))),
)
