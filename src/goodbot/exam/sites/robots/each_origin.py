"""Two ports of one host, each with rules of its own, link to each other."""

from goodbot.exam.expectations import Finds, Never, RobotsFirst
from goodbot.exam.values import Site, page, pages, robots

OTHER = "other"

SITE = Site(
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
