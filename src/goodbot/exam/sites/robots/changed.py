"""robots.txt is valid for two seconds, and its content has changed when it is fetched again."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, page, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

PAGES = 8
FRESH = ("Cache-Control", "max-age=2")
BEFORE = robots("User-agent: *\nDisallow:\n", headers=[FRESH])
AFTER = robots("User-agent: *\nDisallow: /late\n", headers=[FRESH])


async def _robots(exchange: Exchange) -> None:
    await exchange.reply(AFTER if exchange.before("/robots.txt") else BEFORE)


def _slow(link: str) -> Handler:
    async def answer(exchange: Exchange) -> None:
        await exchange.clock.sleep(1)
        await exchange.reply(page(link))

    return answer


SITE = ExamSite(
    name="robots-changed",
    teaches="Fetch robots.txt again when its Cache-Control lifetime ends, even in the middle of a crawl.",
    source="RFC 9309 2.4 (a copy may be kept for a day); RFC 9111 5.2.2.1",
    pages={
        **pages(_robots, "/page-1", "/late"),
        "/": page("/page-1"),
        **{f"/page-{number}": _slow(f"/page-{number + 1}") for number in range(1, PAGES)},
        f"/page-{PAGES}": _slow("/late"),
    },
    expects=(
        DoesNotFetch(("/late",), rule="robots-fresh"),
        Fetches(("/", *(f"/page-{number}" for number in range(1, PAGES + 1)))),
    ),
)
