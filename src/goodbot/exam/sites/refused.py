"""A robots.txt that is refused: two readings of it, both right."""

from typing import Final

from goodbot.exam.exam_values import MAIN, Observed, SiteJudgement
from goodbot.exam.expectations import JudgedByRule

PAGES: Final = ("/", "/a", "/b")


def _is_consistent(seen: Observed) -> SiteJudgement:
    asked = {each.path for each in seen.of(MAIN)} - {"/robots.txt"}
    if not asked:
        return SiteJudgement(True, "took the site for closed")
    missing = sorted(set(PAGES) - asked)
    if not missing:
        return SiteJudgement(True, "took the site for open")
    return SiteJudgement(False, f"asked for {', '.join(sorted(asked))} and never for {', '.join(missing)}")


EITHER: Final = JudgedByRule("robots-refused", "asks for all pages, or for robots.txt only", _is_consistent, MAIN)
