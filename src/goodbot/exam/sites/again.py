"""Faults of a moment: a page is refused once with a status that invites to ask again."""

from goodbot.exam.exam_values import HTML, ExamSite, Exchange, Reply, pages, robots
from goodbot.exam.expectations import AtMostEach, Finds

PAGE = "/slow"


def again_site(status: int, said: str, teaches: str, source: str) -> ExamSite:
    """The first request for one page is answered with `status`, and the connection closed; later ones with the page."""
    once = Reply(f"<p>{said}".encode(), status, (HTML, ("Connection", "close")))
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
            Finds(("/", "/a", PAGE, "/b")),
            AtMostEach(10, PAGE, rule="bounded"),
            Finds((PAGE,), status=200, rule="asks-again"),
        ),
    )
