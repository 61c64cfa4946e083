"""TLS with a certificate that is in order, of an authority made for the exam."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds

SITE = ExamSite(
    name="tls-valid",
    teaches="A server whose certificate is in order is visited like any other.",
    source="RFC 9110 4.3.4",
    pages=pages(robots("User-agent: *\nDisallow:\n"), "/a", "/b"),
    expects=(Finds(("/", "/a", "/b")),),
    tls="valid",
    needs=frozenset({"ca-file"}),
)
