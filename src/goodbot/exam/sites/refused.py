"""A robots.txt that is refused: two readings of it, both right."""

from typing import Final

from goodbot.exam.expectations import Judged
from goodbot.exam.values import MAIN, Judgement, Seen

PAGES: Final = ("/", "/a", "/b")


def _is_consistent(seen: Seen) -> Judgement:
    asked = {each.path for each in seen.of(MAIN)} - {"/robots.txt"}
    if not asked:
        return Judgement(True, "took the site for closed")
    missing = sorted(set(PAGES) - asked)
    if not missing:
        return Judgement(True, "took the site for open")
    return Judgement(False, f"asked for {', '.join(sorted(asked))} and never for {', '.join(missing)}")


EITHER: Final = Judged("robots-refused", "asks for all pages, or for robots.txt only", _is_consistent, MAIN)
