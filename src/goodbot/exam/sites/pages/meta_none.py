"""One page has META NONE, which means noindex and nofollow, in capitals."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="meta-none",
    teaches="Read META robots NONE as noindex and nofollow, in any letter case.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/closed"),
        "/closed": page("/only-from-closed", head='<META CONTENT="NONE" NAME="ROBOTS">'),
        "/only-from-closed": page(),
    },
    expects=(Fetches(("/", "/open", "/closed")), DoesNotFetch(("/only-from-closed",), rule="directives")),
)
