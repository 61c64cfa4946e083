"""robots.txt says that it holds for two seconds, and is another one when it is asked for again."""

from goodbot.exam.exam_values import ExamSite, Exchange, Handler, page, pages, robots
from goodbot.exam.expectations import Finds, Never

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
    teaches="A robots.txt that says how long it holds is read again after that time, in the middle of a crawl too.",
    source="RFC 9309 2.4 (a copy may be kept for a day); RFC 9111 5.2.2.1",
    pages={
        **pages(_robots, "/page-1", "/late"),
        "/": page("/page-1"),
        **{f"/page-{number}": _slow(f"/page-{number + 1}") for number in range(1, PAGES)},
        f"/page-{PAGES}": _slow("/late"),
    },
    expects=(
        Never(("/late",), rule="robots-fresh"),
        Finds(("/", *(f"/page-{number}" for number in range(1, PAGES + 1)))),
    ),
)
