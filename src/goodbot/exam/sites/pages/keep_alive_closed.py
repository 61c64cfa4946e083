"""Connections that are closed when the client thinks they stay."""

from goodbot.exam.exam_values import ExamSite, Exchange, page
from goodbot.exam.expectations import Finds

HELD_S = 2.0
AT_ONCE = tuple(f"/closes-at-once/{number}" for number in range(1, 4))
NEXT = tuple(f"/closes-on-the-next/{number}" for number in range(1, 4))


async def _closes(exchange: Exchange) -> None:
    await exchange.reply(page(title="Goodbye"))
    exchange.close()


async def _closes_on_the_next(exchange: Exchange) -> None:
    """What is asked on this connection in the next two seconds is taken in and never answered."""
    await exchange.reply(page(title="Still here?"))
    await exchange.clock.sleep(HELD_S)
    exchange.close()


SITE = ExamSite(
    name="keep-alive-closed",
    teaches="A kept connection that the server closes, even on the next request, costs no page: GET is asked again.",
    source="RFC 9112 9.3.1, 9.5",
    pages={
        "/": page(*AT_ONCE, *NEXT, "/last"),
        **dict.fromkeys(AT_ONCE, _closes),
        **dict.fromkeys(NEXT, _closes_on_the_next),
        "/last": page(title="Last"),
    },
    expects=(Finds(("/", *AT_ONCE, *NEXT, "/last"), status=200),),
)
