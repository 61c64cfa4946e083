"""One page has META noindex alone, which is about the index and not about links."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import Fetches

SITE = ExamSite(
    name="meta-noindex",
    teaches="Follow the links of a page with META robots noindex: only indexing is forbidden.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/unlisted"),
        "/unlisted": page("/only-from-unlisted", head='<meta name="robots" content="noindex">'),
        "/only-from-unlisted": page(),
    },
    expects=(Fetches(("/", "/open", "/unlisted", "/only-from-unlisted")),),
)
