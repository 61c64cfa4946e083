"""Five redirects lead to the rules."""

from goodbot.exam.exam_values import ExamSite, Route, pages, redirect, robots
from goodbot.exam.expectations import Finds, Never

RULES = robots("User-agent: *\nDisallow: /private\n")


def chain(hops: int) -> dict[str, Route]:
    """`hops` redirects from /robots.txt over /hop-1, /hop-2 … to the rules."""
    places = ["/robots.txt", *(f"/hop-{number}" for number in range(1, hops + 1))]
    made: dict[str, Route] = {place: redirect(places[number + 1], 301) for number, place in enumerate(places[:-1])}
    return {**made, places[-1]: RULES}


SITE = ExamSite(
    name="robots-redirects-five",
    teaches="Rules found after five redirects are followed.",
    source="RFC 9309 2.3.1.2",
    pages={**pages(None, "/a", "/private"), **chain(5)},
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
