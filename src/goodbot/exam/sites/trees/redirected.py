"""A sitemap that has moved twice."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect, robots
from goodbot.exam.expectations import AtMostEach, Finds
from goodbot.exam.sites.listing import sitemap

SITE = ExamSite(
    name="sitemap-redirected",
    teaches="The sitemap that robots.txt names has moved: a crawler follows the redirects to it.",
    source="sitemaps.org protocol; RFC 9110 15.4",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": redirect("/maps/", 301),
        "/maps/": redirect("@@/maps/2026.xml"),
        "/maps/2026.xml": sitemap("@@/listed"),
        "/listed": page(title="Listed"),
    },
    expects=(
        Finds(("/", "/a")),
        AtMostEach(10, "/*.xml", rule="trap"),
        Finds(("/listed",), rule="sitemap"),
    ),
)
