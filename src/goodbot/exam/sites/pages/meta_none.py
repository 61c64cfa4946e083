"""META NONE: neither index nor follow, in the capitals of its time."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="meta-none",
    teaches="META NONE is NOINDEX and NOFOLLOW in one word, in any case of letters.",
    source="robots META tag, 1996; Google, robots meta tag",
    pages={
        **pages(None, "/open", "/closed"),
        "/closed": page("/only-from-closed", head='<META CONTENT="NONE" NAME="ROBOTS">'),
        "/only-from-closed": page(),
    },
    expects=(Finds(("/", "/open", "/closed")), Never(("/only-from-closed",), rule="directives")),
)
