"""The certificate is for another name. A client that verifies it leaves in the handshake and sends no request."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import DoesNotFetch

SITE = ExamSite(
    name="tls-wrong-name",
    teaches="Send no request, not even for robots.txt, to a server whose certificate is for another name.",
    source="RFC 9110 4.3.4; RFC 9525 6",
    pages=pages(None, "/a"),
    expects=(DoesNotFetch(("*",), rule="secure"),),
    tls="wrong-name",
)
