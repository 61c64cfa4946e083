"""Sitemaps have mistakes people make: relative URLs, a missing end, a Web page in their place, a missing file."""

from goodbot.exam.exam_values import ExamSite, Reply, page, pages, robots
from goodbot.exam.expectations import Fetches

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
    teaches="Take what you can read from sitemaps that are cut off or use relative URLs.",
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
        Fetches(("/", "/a")),
        Fetches(("/before-the-cut",), rule="sitemap"),
        Fetches(("/relative",), rule="sitemap"),
    ),
)
