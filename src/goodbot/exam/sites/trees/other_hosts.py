"""A sitemap that lists two thousand pages of another site, which is closed to robots."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import Finds, Never, OnlyRobotsTxt
from goodbot.exam.sites.listing import sitemap

STRANGERS = tuple(f"/page/{number}" for number in range(2000))

SITE = ExamSite(
    name="sitemap-other-hosts",
    teaches="A sitemap lists URLs of its own host only; the robots.txt of another host decides about URLs there.",
    source="sitemaps.org protocol (all URLs from a single host); RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": sitemap(*(f"@other@{path}" for path in STRANGERS)),
    },
    others={"other": {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "*": page(title="Another site")}},
    expects=(
        Finds(("/", "/a")),
        OnlyRobotsTxt(origin="other", rule="disallowed"),
        Never(("*",), origin="other", rule="own-host"),
    ),
)
