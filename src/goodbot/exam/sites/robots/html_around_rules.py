"""The rules are between lines that are not rules."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

FILE = """<!-- served by the gateway -->
<pre>
User-agent: *
this line is not a rule at all
Disallow: /private
</pre>
"""

SITE = ExamSite(
    name="robots-html-around-rules",
    teaches="Skip the lines of robots.txt that you cannot read, and obey the others.",
    source="RFC 9309 2.3.1.5",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(DoesNotFetch(("/private",)), Fetches(("/", "/a"))),
)
