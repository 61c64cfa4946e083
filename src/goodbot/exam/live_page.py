"""Serves the score card on a port of its own, while a crawler that the user started visits the sites."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from goodbot.exam.card import ScoreCard, SiteCard
from goodbot.exam.card_report import html_card
from goodbot.exam.conduct import THE_DRIVE
from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Pages, Reply
from goodbot.exam.site_server import ExamWeb
from goodbot.ports import Clock

REFRESH_S: Final = 3
NOT_VISITED: Final = "not visited yet"
AT_THE_END: Final = "judged at the end"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
)
_SCRIPT: Final = Path(__file__).parent / "static" / "card.js"


@asynccontextmanager
async def live_card(card: Callable[[], ScoreCard], clock: Clock, port: int | None = None) -> AsyncIterator[str]:
    """Serves the score card that `card` makes for each request, on `port` or any free one. Yields its URL. /card.json
    has the same as JSON.

    Raises RunError if the port is in use.
    """

    async def as_page(exchange: Exchange) -> None:
        page = html_card(so_far(card()), REFRESH_S)
        await exchange.reply(Reply(page.encode(errors="replace"), headers=(HTML, *_HEADERS)))

    async def as_json(exchange: Exchange) -> None:
        body = json.dumps(so_far(card()).as_json()).encode()
        await exchange.reply(Reply(body, headers=(("Content-Type", "application/json"), *_HEADERS)))

    script = Reply(_SCRIPT.read_bytes(), headers=(("Content-Type", "text/javascript; charset=utf-8"), *_HEADERS))
    pages: Pages = {"/": as_page, "/card.js": script, "/card.json": as_json}
    site = ExamSite("score-card", "The score card.", "the exam", pages, ())
    async with ExamWeb([site], clock, base_port=port) as web:
        yield web.origin(site) + "/"


def so_far(card: ScoreCard) -> ScoreCard:
    """Returns the card of a running exam: sites without a request, and the overall rules, are not judged yet."""
    return replace(card, sites=tuple(_so_far(site) for site in card.sites))


def _so_far(site: SiteCard) -> SiteCard:
    if site.name == THE_DRIVE:
        return replace(site, pending=AT_THE_END)
    return replace(site, pending=NOT_VISITED) if site.passed is False and not site.requests else site
