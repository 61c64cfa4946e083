"""The rules stand between lines that are none."""

from goodbot.exam.expectations import Finds, Never
from goodbot.exam.values import Site, pages, robots

FILE = """<!-- served by the gateway -->
<pre>
User-agent: *
this line is not a rule at all
Disallow: /private
</pre>
"""

SITE = Site(
    name="robots-html-around-rules",
    teaches="Every line is tried: lines that cannot be read do not spoil those that can.",
    source="RFC 9309 2.3.1.5",
    pages=pages(robots(FILE), "/a", "/private"),
    expects=(Never(("/private",)), Finds(("/", "/a"))),
)
