"""Serves the score card on a port of its own, while a crawler that the user started visits the sites."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from goodbot.exam.card import ScoreCard
from goodbot.exam.card_report import html_card
from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Pages, Reply
from goodbot.exam.site_server import ExamWeb
from goodbot.ports import Clock

REFRESH_S: Final = 3
_NO_STORE: Final = ("Cache-Control", "no-store")
_SCRIPT: Final = Path(__file__).parent / "static" / "card.js"


@asynccontextmanager
async def live_card(card: Callable[[], ScoreCard], clock: Clock, port: int | None = None) -> AsyncIterator[str]:
    """Serves the score card that `card` makes for each request, on `port` or any free one. Yields its URL. /card.json
    has the same as JSON.

    Raises RunError if the port is in use.
    """

    async def as_page(exchange: Exchange) -> None:
        page = html_card(card(), REFRESH_S)
        await exchange.reply(Reply(page.encode(errors="replace"), headers=(HTML, _NO_STORE)))

    async def as_json(exchange: Exchange) -> None:
        body = json.dumps(card().as_json()).encode()
        await exchange.reply(Reply(body, headers=(("Content-Type", "application/json"), _NO_STORE)))

    script = Reply(_SCRIPT.read_bytes(), headers=(("Content-Type", "text/javascript; charset=utf-8"), _NO_STORE))
    pages: Pages = {"/": as_page, "/card.js": script, "/card.json": as_json}
    site = ExamSite("score-card", "The score card.", "the exam", pages, ())
    async with ExamWeb([site], clock, base_port=port) as web:
        yield web.origin(site) + "/"
