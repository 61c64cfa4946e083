"""A page stands where robots.txt should."""

from goodbot.exam.exam_values import HTML, ExamSite, Reply, pages
from goodbot.exam.expectations import Finds

PAGE = b"""<!doctype html>
<html lang="en">
<head><title>Welcome</title></head>
<body>
<h1>Welcome</h1>
<p>What you look for has moved.
</body>
</html>
"""

SITE = ExamSite(
    name="robots-html-instead",
    teaches="A page instead of robots.txt holds no rule: the site is open.",
    source="RFC 9309 2.3.1.5; soft 404",
    pages=pages(Reply(PAGE, 200, (HTML,)), "/a", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
)
