"""The rules stand between lines that are none."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

FILE = """<!-- served by the gateway -->
<pre>
User-agent: *
this line is not a rule at all
Disallow: /private
</pre>
"""

SITE = ExamSite(
    name="robots-html-around-rules",
    teaches="Every line is tried: lines that cannot be read do not spoil those that can.",
    source="RFC 9309 2.3.1.5",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
