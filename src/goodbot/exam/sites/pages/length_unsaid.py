"""Responses end when the connection closes."""

from goodbot.exam.exam_values import HTML, ExamSite, Handler, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import HTML_HEAD, ends_early, head

OLD_HEAD = head(HTML, line="HTTP/1.0 200 OK")


def _linking(top: bytes, *links: str) -> Handler:
    return ends_early(top, page(*links).body)


SITE = ExamSite(
    name="length-unsaid",
    teaches="Read a response without a length, of HTTP/1.0 or 1.1, until the connection closes.",
    source="RFC 9112 6.3 (8); RFC 1945 7.2.2",
    pages={
        "/": _linking(OLD_HEAD, "/http-1-0", "/http-1-1", "/no-reason"),
        "/http-1-0": _linking(OLD_HEAD, "/behind/http-1-0"),
        "/http-1-1": _linking(HTML_HEAD, "/behind/http-1-1"),
        "/no-reason": _linking(head(HTML, line="HTTP/1.1 200 "), "/behind/no-reason"),
        **{f"/behind/{name}": _linking(OLD_HEAD) for name in ("http-1-0", "http-1-1", "no-reason")},
    },
    expects=(
        Fetches(("/", "/http-1-0", "/http-1-1", "/no-reason")),
        Fetches(("/behind/http-1-0", "/behind/http-1-1", "/behind/no-reason")),
    ),
)
