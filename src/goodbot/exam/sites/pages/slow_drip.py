"""A page that comes at one byte a second, and says it is a day long."""

import asyncio

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, page
from goodbot.exam.expectations import Finds, Takes
from goodbot.exam.sites.wire import afterwards, at_first, head

DRIP_S = 90
LIMIT_S = 80.0
"""A minute is long for one page; the rest is for those who count it from another moment, and for a machine that is
late."""


async def _drip(exchange: Exchange) -> None:
    """Until all is sent, or the client has left: that is seen at once, for the time is judged."""
    await exchange.send(head(HTML, ("Content-Length", "86400")))
    ways = {asyncio.ensure_future(way) for way in (_drops(exchange), exchange.client_left())}
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in ways:
            each.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    exchange.close()


async def _drops(exchange: Exchange) -> None:
    for place in range(DRIP_S if exchange.asked.method == "GET" else 0):
        await exchange.send(b"<p>Drip. "[place % 9 : place % 9 + 1])
        await exchange.clock.sleep(1)


SITE = ExamSite(
    name="slow-drip",
    teaches="A page that comes at a byte a second and says it takes a day is given up, and the others are fetched.",
    source="Slowloris turned round; tarpits for crawlers; CWE-400",
    pages={"/": page("/drip", "/after/1"), "/drip": at_first(_drip, times=1), **afterwards()},
    expects=(Takes("/drip", limit_s=LIMIT_S), Finds(("/", "/drip", *afterwards()))),
)
