"""Two ports of one host, each with rules of its own, link to each other."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import Finds, Never, RobotsFirst

OTHER = "other"

SITE = ExamSite(
    name="robots-each-origin",
    teaches="Each scheme, host and port has a robots.txt of its own, which rules there and nowhere else.",
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
        Never(("/garden",)),
        Finds(("/", "/house")),
        RobotsFirst(origin=OTHER),
        Never(("/house",), origin=OTHER),
        Finds(("/garden",), origin=OTHER),
    ),
)
