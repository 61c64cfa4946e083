"""Eight pages under ever new names: each link carries a session id nobody has seen before."""

from goodbot.exam.exam_values import ExamSite, Exchange, Observed, SiteJudgement, page, pages
from goodbot.exam.expectations import AtMost, Finds, JudgedByRule

PAGES = 8
ENDS = 400
"""Requests after which pages have no links any more."""
TEXTS = ("apples", "boats", "clocks", "drums", "engines", "ferries", "gardens", "harbours")


def _after(number: int, session: int) -> str:
    return f"/page/{number % PAGES + 1}?sid={session:06d}"


async def _page(exchange: Exchange) -> None:
    path, asked = exchange.asked.path, exchange.before()
    number = int(path.removeprefix("/page/"))
    links = [_after(number, asked)] if asked < ENDS else []
    await exchange.reply(page(*links, title=path, text=f"All about {TEXTS[number - 1]}."))


def _all_found(seen: Observed) -> SiteJudgement:
    found = len({each.path for each in seen.of() if each.path.startswith("/page/")})
    return SiteJudgement(found >= PAGES, f"{found} of {PAGES} pages were asked for")


SITE = ExamSite(
    name="trap-session-ids",
    teaches="The same pages under ever new session ids are the same pages.",
    source="Google, To infinity and beyond? No!, 2008",
    pages={
        **pages(None, "/a", start=page(_after(0, 0), "/a", title="Start")),
        **{f"/page/{n}": _page for n in range(1, PAGES + 1)},
    },
    expects=(
        JudgedByRule("found", f"asks for all {PAGES} pages, under any session id", _all_found),
        Finds(("/", "/a")),
        AtMost(120, "/page/*"),
    ),
)
