"""A sitemap index that names itself, in four spellings, before the sitemap it is there for."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMost, Finds
from goodbot.exam.sites.listing import index, sitemap

ITSELF = ("@@/sitemaps.xml", "@@/sitemaps.xml#top", "@@/./sitemaps.xml", "@@/sitemaps.xml?")

SITE = ExamSite(
    name="sitemap-names-itself",
    teaches="A sitemap index names itself: a crawler reads it a few times at most, and finds what else it names.",
    source="sitemaps.org protocol; RFC 3986 6.2",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemaps.xml\n"), "/a"),
        "/sitemaps.xml": index(*ITSELF, "@@/pages.xml"),
        "/pages.xml": sitemap("@@/listed"),
        "/listed": page(title="Listed"),
    },
    expects=(Finds(("/", "/a")), AtMost(10, "/sitemaps.xml*"), Finds(("/listed",), rule="sitemap")),
)
