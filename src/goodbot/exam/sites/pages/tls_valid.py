"""The certificate is valid, issued by an authority made for the exam."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Fetches

SITE = ExamSite(
    name="tls-valid",
    teaches="Crawl a server with a valid certificate like any other.",
    source="RFC 9110 4.3.4",
    pages=pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b"),
    expects=(Fetches(("/", "/a", "/b")),),
    tls="valid",
    needs=frozenset({"ca-file"}),
)
