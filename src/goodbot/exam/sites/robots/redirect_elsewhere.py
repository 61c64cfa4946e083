"""robots.txt lies on another site."""

from goodbot.exam.exam_values import ExamSite, pages, redirect, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-redirect-elsewhere",
    teaches="Rules that a redirect found on another site are those of the site first asked.",
    source="RFC 9309 2.3.1.2",
    pages=pages(redirect("@rules@/common/robots.txt", 301), "/a", "/private"),
    others={"rules": {"/common/robots.txt": robots("User-agent: *\nDisallow: /private\n")}},
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
