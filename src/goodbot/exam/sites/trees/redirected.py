"""Two redirects lead to the sitemap."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.listing import sitemap

SITE = ExamSite(
    name="sitemap-redirected",
    teaches="Follow redirects to the sitemap that robots.txt names.",
    source="sitemaps.org protocol; RFC 9110 15.4",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": redirect("/maps/", 301),
        "/maps/": redirect("@@/maps/2026.xml"),
        "/maps/2026.xml": sitemap("@@/listed"),
        "/listed": page(title="Listed"),
    },
    expects=(
        Fetches(("/", "/a")),
        AtMostEach(10, "/*.xml", rule="trap"),
        Fetches(("/listed",), rule="sitemap"),
    ),
)
