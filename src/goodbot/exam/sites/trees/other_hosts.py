"""A sitemap lists two thousand pages of another site, whose robots.txt disallows everything."""

from goodbot.exam.exam_values import ExamSite, page, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches, OnlyRobotsTxt
from goodbot.exam.sites.listing import sitemap

OTHER_PAGES = tuple(f"/page/{number}" for number in range(2000))

SITE = ExamSite(
    name="sitemap-other-hosts",
    teaches="Accept only URLs of its own host from a sitemap; elsewhere the other host's robots.txt decides.",
    source="sitemaps.org protocol (all URLs from a single host); RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemap.xml\n"), "/a"),
        "/sitemap.xml": sitemap(*(f"@other@{path}" for path in OTHER_PAGES)),
    },
    others={"other": {"/robots.txt": robots("User-agent: *\nDisallow: /\n"), "*": page(title="Another site")}},
    expects=(
        Fetches(("/", "/a")),
        OnlyRobotsTxt(origin="other", rule="disallowed"),
        DoesNotFetch(("*",), origin="other", rule="own-host"),
    ),
)
