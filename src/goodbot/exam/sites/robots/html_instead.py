"""The server sends an HTML page in place of robots.txt."""

from goodbot.exam.exam_values import HTML, ExamSite, Reply, pages
from goodbot.exam.expectations import Fetches

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
    teaches="Treat an HTML page in place of robots.txt as a file without rules: everything is allowed.",
    source="RFC 9309 2.3.1.5; soft 404",
    pages=pages(Reply(PAGE, 200, (HTML,)), "/a", "/b"),
    expects=(Fetches(("/", "/a", "/b")),),
)
