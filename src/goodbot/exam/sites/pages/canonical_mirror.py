"""A mirror: a second origin with the same pages, each of which names the first origin's as the canonical one."""

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import AtMost, Finds

PATHS = tuple(f"/page/{n}" for n in range(1, 13))


def _copies() -> dict[str, Reply]:
    made = {"/": page(*PATHS, title="Mirror", head='<link rel="canonical" href="@@/">')}
    for path in PATHS:
        made[path] = page("/", title=path, head=f'<link rel="canonical" href="@@{path}">')
    return made


SITE = ExamSite(
    name="canonical-mirror",
    teaches="Pages that rel=canonical names are the ones to have; of a mirror's copies a few are enough to know it.",
    source="RFC 6596",
    pages={"/": page(*PATHS, "@mirror@/", title="Start"), **{path: page("/", title=path) for path in PATHS}},
    others={"mirror": _copies()},
    expects=(
        Finds(("/", *PATHS)),
        AtMost(6, "/page/*", "mirror", rule="duplicates"),
    ),
)
