"""Rules and links contain an escaped slash, which separates no path segments."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="robots-escapes-slash",
    teaches="Do not treat `%2F` in a rule or a link as `/`: reserved characters stay as they are written.",
    source="RFC 9309 2.2.2; Koster 1996 3.2.2",
    pages=pages(robots("User-agent: *\nDisallow: /a%2Fb\nDisallow: /c/d\n"), "/a/b", "/a%2Fb", "/c/d", "/c%2Fd"),
    expects=(DoesNotFetch(("/a%2[Ff]b", "/c/d")), Fetches(("/", "/a/b", "/c%2Fd"))),
)
