"""The same path is allowed and disallowed."""

from goodbot.exam.expectations import Finds, Never
from goodbot.exam.values import Site, pages, robots

SITE = Site(
    name="robots-tie",
    teaches="Of two rules of the same length Allow counts.",
    source="RFC 9309 2.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /same\nAllow: /same\nDisallow: /private\n"), "/same/page", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/same/page"))),
)
