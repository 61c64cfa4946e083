"""Eight pages have ever new URLs: each link carries a new session id."""

from goodbot.exam.exam_values import ExamSite, Exchange, Observed, SiteJudgement, page, pages
from goodbot.exam.expectations import AtMost, CustomExpectation, Fetches

PAGES = 8
ENDS_AFTER = 400
"""Pages have no links after so many requests."""
TEXTS = ("apples", "boats", "clocks", "drums", "engines", "ferries", "gardens", "harbours")


def _after(number: int, session: int) -> str:
    return f"/page/{number % PAGES + 1}?sid={session:06d}"


async def _page(exchange: Exchange) -> None:
    path, before = exchange.request.path, exchange.before()
    number = int(path.removeprefix("/page/"))
    links = [_after(number, before)] if before < ENDS_AFTER else []
    await exchange.reply(page(*links, title=path, text=f"All about {TEXTS[number - 1]}."))


def _all_found(seen: Observed) -> SiteJudgement:
    found = len({each.path for each in seen.of() if each.path.startswith("/page/")})
    return SiteJudgement(found >= PAGES, f"fetched {found} of {PAGES} pages")


SITE = ExamSite(
    name="trap-session-ids",
    teaches="Recognize pages you already know under new session ids.",
    source="Google, To infinity and beyond? No!, 2008",
    pages={
        **pages(None, "/a", start=page(_after(0, 0), "/a", title="Start")),
        **{f"/page/{n}": _page for n in range(1, PAGES + 1)},
    },
    expects=(
        CustomExpectation("found", f"fetches all {PAGES} pages, under any session id", _all_found),
        Fetches(("/", "/a")),
        AtMost(120, "/page/*"),
    ),
)
