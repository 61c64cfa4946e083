"""Sitemaps as people write them: relative URLs, one cut off in the middle, one that is a web page, one not there."""

from goodbot.exam.exam_values import ExamSite, Reply, page, pages, robots
from goodbot.exam.expectations import Finds

XML = ("Content-Type", "application/xml")
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
ROBOTS = """User-agent: *
Disallow:

Sitemap: @@/missing.xml
Sitemap: @@/page.xml
Sitemap: @@/cut.xml
Sitemap: /relative.xml
"""
CUT = f"<urlset {NAMESPACE}><url><loc>@@/before-the-cut</loc></url><url><loc>@@/aft"
RELATIVE = f"<urlset {NAMESPACE}><url><loc>/relative</loc></url></urlset>"

SITE = ExamSite(
    name="sitemap-broken",
    teaches="From a sitemap that is broken or relative a crawler takes what can be read, and nothing worse happens.",
    source="sitemaps.org protocol, read leniently",
    pages={
        **pages(robots(ROBOTS), "/a"),
        "/page.xml": page("/in-page", title="This is no sitemap"),
        "/cut.xml": Reply(CUT.encode(), 200, (XML,)),
        "/relative.xml": Reply(RELATIVE.encode(), 200, (XML,)),
        "/before-the-cut": page(),
        "/relative": page(),
        "/in-page": page(),
    },
    expects=(
        Finds(("/", "/a")),
        Finds(("/before-the-cut",), rule="sitemap"),
        Finds(("/relative",), rule="sitemap"),
    ),
)
