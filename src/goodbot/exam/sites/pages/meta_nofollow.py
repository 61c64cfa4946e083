"""META nofollow for all robots."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="meta-nofollow",
    teaches="Links of a page with META robots nofollow are not followed, links of others are.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/closed"),
        "/closed": page("/only-from-closed", head='<meta name="robots" content="nofollow">'),
        "/only-from-closed": page(),
    },
    expects=(Finds(("/", "/open", "/closed")), Never(("/only-from-closed",), rule="directives")),
)
