"""META noindex alone: a word about the index, not about links."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import Finds

SITE = ExamSite(
    name="meta-noindex",
    teaches="A page with META noindex stays out of the index; its links are followed all the same.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/unlisted"),
        "/unlisted": page("/only-from-unlisted", head='<meta name="robots" content="noindex">'),
        "/only-from-unlisted": page(),
    },
    expects=(Finds(("/", "/open", "/unlisted", "/only-from-unlisted")),),
)
