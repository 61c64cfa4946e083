"""Two ports of one host have different rules and link to each other."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches, RobotsFirst

OTHER = "other"

SITE = ExamSite(
    name="robots-each-origin",
    teaches="Fetch a robots.txt for each scheme, host and port, and apply it to that origin only.",
    source="RFC 9309 2.3",
    pages=pages(
        robots("User-agent: *\nDisallow: /garden\n"),
        "/garden",
        "/house",
        start=page("/garden", "/house", "@other@/garden", "@other@/house"),
    ),
    others={OTHER: pages(robots("User-agent: *\nDisallow: /house\n"), "/garden", "/house", start=page("@@/"))},
    other_ports=frozenset({OTHER}),
    expects=(
        RobotsFirst(),
        DoesNotFetch(("/garden",)),
        Fetches(("/", "/house")),
        RobotsFirst(origin=OTHER),
        DoesNotFetch(("/house",), origin=OTHER),
        Fetches(("/garden",), origin=OTHER),
    ),
)
