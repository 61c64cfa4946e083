"""robots.txt redirects to a file on another site."""

from goodbot.exam.exam_values import ExamSite, pages, redirect, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-redirect-elsewhere",
    teaches="Apply the rules that a redirect leads to, even on another site, to the site you came from.",
    source="RFC 9309 2.3.1.2",
    pages=pages(redirect("@rules@/common/robots.txt", 301), "/a", "/private"),
    others={"rules": {"/common/robots.txt": robots("User-agent: *\nDisallow: /private\n")}},
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
