"""An escaped slash separates nothing."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="robots-escapes-slash",
    teaches="`%2F` in a rule or a link is not `/`: reserved characters stay as they are written.",
    source="RFC 9309 2.2.2; Koster 1996 3.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /a%2Fb\nDisallow: /c/d\n"), "/a/b", "/a%2Fb", "/c/d", "/c%2Fd"),
    expects=(Never(("/a%2[Ff]b", "/c/d")), Finds(("/", "/a/b", "/c%2Fd"))),
)
