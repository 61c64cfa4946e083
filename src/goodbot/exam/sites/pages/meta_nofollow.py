"""One page has META nofollow for all robots."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="meta-nofollow",
    teaches="Do not follow the links of a page with META robots nofollow; follow those of other pages.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/closed"),
        "/closed": page("/only-from-closed", head='<meta name="robots" content="nofollow">'),
        "/only-from-closed": page(),
    },
    expects=(Fetches(("/", "/open", "/closed")), DoesNotFetch(("/only-from-closed",), rule="directives")),
)
