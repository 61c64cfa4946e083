"""Five redirects lead to the rules."""

from goodbot.exam.exam_values import ExamSite, Route, pages, redirect, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

RULES = robots("User-agent: *\nDisallow: /private\n")


def chain(count: int) -> dict[str, Route]:
    """Returns `count` redirects from /robots.txt through /hop-1, /hop-2 … to the rules."""
    places = ["/robots.txt", *(f"/hop-{number}" for number in range(1, count + 1))]
    made: dict[str, Route] = {place: redirect(places[number + 1], 301) for number, place in enumerate(places[:-1])}
    return {**made, places[-1]: RULES}


SITE = ExamSite(
    name="robots-redirects-five",
    teaches="Follow at least five redirects to robots.txt, and obey the rules found there.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(None, "/a", "/private"), **chain(5)},
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
