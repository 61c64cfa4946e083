"""Interim responses come before the final one."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import head

HINTS = head(("Link", "</style.css>; rel=preload; as=style"), line="HTTP/1.1 103 Early Hints")
CONTINUE = head(line="HTTP/1.1 100 Continue")
PROCESSING = head(line="HTTP/1.1 102 Processing")
INTERIM = {
    "/early-hints": HINTS,
    "/continue": CONTINUE,
    "/several": HINTS + PROCESSING + CONTINUE + HINTS,
}


def _first(interim: bytes, link: str) -> Handler:
    async def handler(exchange: Exchange) -> None:
        await exchange.send(interim)
        exchange.request.status = None  # only the final status counts
        await exchange.reply(page(link))

    return handler


SITE = ExamSite(
    name="interim-answers",
    teaches="Keep reading after interim responses (1xx), even unexpected ones: the final response follows.",
    source="RFC 9110 15.2; RFC 8297",
    pages={
        "/": page(*INTERIM),
        **{path: _first(interim, f"/behind{path}") for path, interim in INTERIM.items()},
        **{f"/behind{path}": page(title="Found") for path in INTERIM},
    },
    expects=(Fetches(("/", *INTERIM)), Fetches(tuple(f"/behind{path}" for path in INTERIM))),
)
