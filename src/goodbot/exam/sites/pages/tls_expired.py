"""The certificate has expired. A client that verifies it leaves in the handshake and sends no request."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import DoesNotFetch

SITE = ExamSite(
    name="tls-expired",
    teaches="Send no request, not even for robots.txt, to a server whose certificate has expired.",
    source="RFC 9110 4.3.4; RFC 5280 6.1.3",
    pages=pages(None, "/a"),
    expects=(DoesNotFetch(("*",), rule="secure"),),
    tls="expired",
)
