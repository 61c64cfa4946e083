"""Directives in the header: for all robots, in several fields, and for some other robot."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import Finds, Never

FIELD = "X-Robots-Tag"

SITE = ExamSite(
    name="x-robots-tag",
    teaches="X-Robots-Tag closes links as META does; several fields add up; one for another robot does not count.",
    source="Google, X-Robots-Tag, 2007",
    pages={
        **pages(None, "/closed", "/twice", "/theirs"),
        "/closed": page("/only-from-closed", headers=[(FIELD, "nofollow")]),
        "/twice": page("/only-from-twice", headers=[(FIELD, "noarchive"), (FIELD.lower(), "NOINDEX, NOFOLLOW")]),
        "/theirs": page("/from-theirs", headers=[(FIELD, "otherbot: nofollow")]),
        "/only-from-closed": page(),
        "/only-from-twice": page(),
        "/from-theirs": page(),
    },
    expects=(
        Finds(("/", "/closed", "/twice", "/theirs", "/from-theirs")),
        Never(("/only-from-closed", "/only-from-twice"), rule="directives"),
    ),
)
