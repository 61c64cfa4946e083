"""A site under repair answers all its URLs with status 200 and one notice. Later its pages are back."""

from goodbot.exam.exam_values import ExamSite, Exchange, Route, page, robots
from goodbot.exam.expectations import AtMostEach, Fetches, OnLaterVisit
from goodbot.exam.sites.endless import words

ITEMS = tuple(f"/item/{number}" for number in range(1, 41))
DETAILS = tuple(f"{path}/details" for path in ITEMS[:5])
"""Only the pages that are back link to these."""
CLOSED = page("/", title="Maintenance", text="We are working on our site. Please come back in an hour.")


def _item(path: str) -> Route:
    details = [f"{path}/details"] if f"{path}/details" in DETAILS else []
    back = page(*details, title=f"Item {path[6:]}", text=f"It goes well with {', '.join(words(path, 30))}.")

    async def handler(exchange: Exchange) -> None:
        await exchange.reply(back if exchange.request.visit > 1 else CLOSED)

    return handler


SITE = ExamSite(
    name="trap-maintenance",
    teaches="Fetch pages again on the next visit if they all answered 200 with the same maintenance notice.",
    source="Google, Deal with planned site downtime: 503 would be right; RFC 9110 15.6.4",
    pages={
        "/robots.txt": robots("User-agent: *\nDisallow:\n"),
        "/": page(*ITEMS, "/about", title="Start"),
        "/about": page(title="About", text="The harbour has had a lighthouse since 1871."),
        **{path: _item(path) for path in ITEMS},
        **{path: page(title="Details", text=", ".join(words(path, 30))) for path in DETAILS},
    },
    expects=(
        Fetches(("/", "/about", *ITEMS[:3]), visit=1),
        AtMostEach(3, "/item/*", rule="trap"),
        OnLaterVisit(Fetches(("/", *ITEMS), visit=2)),
        OnLaterVisit(Fetches(DETAILS, visit=2)),
    ),
)
