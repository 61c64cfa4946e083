"""The score card while others drive: a page on a port of its own."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from goodbot.exam.card import ScoreCard
from goodbot.exam.card_report import html_card
from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Reply
from goodbot.exam.site_server import ExamWeb
from goodbot.ports import Clock

RELOAD_S: Final = 3
_FRESH: Final = ("Cache-Control", "no-store")


@asynccontextmanager
async def live_card(card: Callable[[], ScoreCard], clock: Clock, port: int | None = None) -> AsyncIterator[str]:
    """Serves what `card` gives at each request, on `port` or any; gives the URL. Also as JSON, under /card.json.

    Raises RunError if the port is taken.
    """

    async def shown(exchange: Exchange) -> None:
        reload_s = None if exchange.asked.target.endswith("?still") else RELOAD_S
        await exchange.reply(Reply(html_card(card(), reload_s).encode(errors="replace"), headers=(HTML, _FRESH)))

    async def as_json(exchange: Exchange) -> None:
        body = json.dumps(card().as_json()).encode()
        await exchange.reply(Reply(body, headers=(("Content-Type", "application/json"), _FRESH)))

    site = ExamSite("score-card", "How it goes.", "the exam", {"/": shown, "/card.json": as_json}, ())
    async with ExamWeb([site], clock, base_port=port) as web:
        yield web.origin(site) + "/"
