"""A sitemap index names itself, in four spellings, before the sitemap that matters."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import AtMost, Fetches
from goodbot.exam.sites.listing import index, sitemap

ITSELF = ("@@/sitemaps.xml", "@@/sitemaps.xml#top", "@@/./sitemaps.xml", "@@/sitemaps.xml?")

SITE = ExamSite(
    name="sitemap-names-itself",
    teaches="Read a sitemap index that names itself a few times at most, and find what else it names.",
    source="sitemaps.org protocol; RFC 3986 6.2",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemaps.xml\n"), "/a"),
        "/sitemaps.xml": index(*ITSELF, "@@/pages.xml"),
        "/pages.xml": sitemap("@@/listed"),
        "/listed": page(title="Listed"),
    },
    expects=(Fetches(("/", "/a")), AtMost(10, "/sitemaps.xml*"), Fetches(("/listed",), rule="sitemap")),
)
