"""TLS with a certificate that has run out. Whoever checks it leaves in the handshake and asks for nothing."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import Never

SITE = ExamSite(
    name="tls-expired",
    teaches="Nothing is asked of a server whose certificate has run out, not even robots.txt.",
    source="RFC 9110 4.3.4; RFC 5280 6.1.3",
    pages=pages(None, "/a"),
    expects=(Never(("*",), rule="secure"),),
    tls="expired",
)
