"""The server closes connections that the client expects to stay open."""

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Fetches

HELD_S = 2.0
AT_ONCE = tuple(f"/closes-at-once/{number}" for number in range(1, 4))
NEXT = tuple(f"/closes-on-the-next/{number}" for number in range(1, 4))


async def _closes(exchange: Exchange) -> None:
    await exchange.reply(page(title="Goodbye"))
    exchange.close()


async def _closes_on_the_next(exchange: Exchange) -> None:
    """Reads requests that arrive on this connection within two seconds, never answers them, and closes it."""
    await exchange.reply(page(title="Still here?"))
    await exchange.clock.sleep(HELD_S)
    exchange.close()


SITE = ExamSite(
    name="keep-alive-closed",
    teaches="Retry a GET after the server closes a kept-alive connection, so that no page is lost.",
    source="RFC 9112 9.3.1, 9.5",
    pages={
        "/": page(*AT_ONCE, *NEXT, "/last"),
        **dict.fromkeys(AT_ONCE, _closes),
        **dict.fromkeys(NEXT, _closes_on_the_next),
        "/last": page(title="Last"),
    },
    expects=(Fetches(("/", *AT_ONCE, *NEXT, "/last"), status=200),),
)
