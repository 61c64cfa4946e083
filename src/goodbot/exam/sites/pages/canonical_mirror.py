"""A second origin has copies of all pages, and each copy names the first origin's page as canonical."""

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import AtMost, Fetches

PATHS = tuple(f"/page/{n}" for n in range(1, 13))


def _copies() -> dict[str, Reply]:
    made = {"/": page(*PATHS, title="Mirror", head='<link rel="canonical" href="@@/">')}
    for path in PATHS:
        made[path] = page("/", title=path, head=f'<link rel="canonical" href="@@{path}">')
    return made


SITE = ExamSite(
    name="canonical-mirror",
    teaches="Fetch the pages that rel=canonical names, and only a few of a mirror's copies.",
    source="RFC 6596",
    pages={"/": page(*PATHS, "@mirror@/", title="Start"), **{path: page("/", title=path) for path in PATHS}},
    others={"mirror": _copies()},
    expects=(
        Fetches(("/", *PATHS)),
        AtMost(6, "/page/*", "mirror", rule="duplicates"),
    ),
)
