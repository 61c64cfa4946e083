"""Builds sites with a temporary error: they refuse one page once, with a status that invites a retry."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import AtMostEach, Fetches

PAGE = "/slow"


def again_site(status: int, text: str, teaches: str, source: str) -> ExamSite:
    """Answers the first request for one page with `status` and closes the connection; later requests get the page."""
    once = Reply(f"<p>{text}".encode(), status, (HTML, ("Connection", "close")))
    whole = pages(None, PAGE)[PAGE]
    assert isinstance(whole, Reply)  # noqa: S101  (a plain page)

    async def handler(exchange: Exchange) -> None:
        if exchange.before(PAGE):
            await exchange.reply(whole)
        else:
            await exchange.reply(once)
            exchange.close()

    return ExamSite(
        name=f"again-{status}",
        teaches=teaches,
        source=source,
        pages={**pages(robots("User-agent: *\nDisallow:\n"), "/a", PAGE, "/b"), PAGE: handler},
        expects=(
            Fetches(("/", "/a", PAGE, "/b")),
            AtMostEach(10, PAGE, rule="bounded"),
            Fetches((PAGE,), status=200, rule="asks-again"),
        ),
    )
