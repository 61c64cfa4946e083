"""TLS with a certificate of somebody else. Whoever checks it leaves in the handshake and asks for nothing."""

from goodbot.exam.exam_values import ExamSite, pages
from goodbot.exam.expectations import Never

SITE = ExamSite(
    name="tls-wrong-name",
    teaches="Nothing is asked of a server whose certificate is for another name, not even robots.txt.",
    source="RFC 9110 4.3.4; RFC 9525 6",
    pages=pages(None, "/a"),
    expects=(Never(("*",), rule="secure"),),
    tls="wrong-name",
)
