"""Headers carry directives for all robots, in several fields, and for another robot."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import DoesNotFetch, Fetches

FIELD = "X-Robots-Tag"

SITE = ExamSite(
    name="x-robots-tag",
    teaches="Obey X-Robots-Tag like META: combine several fields, and ignore those for other robots.",
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
        Fetches(("/", "/closed", "/twice", "/theirs", "/from-theirs")),
        DoesNotFetch(("/only-from-closed", "/only-from-twice"), rule="directives"),
    ),
)
