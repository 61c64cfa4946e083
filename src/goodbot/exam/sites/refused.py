"""The expectation for a refused robots.txt: the standards allow two readings, and a crawler has to keep to one."""

from typing import Final

from goodbot.exam.exam_values import MAIN, Observed, SiteJudgement
from goodbot.exam.expectations import CustomExpectation

PAGES: Final = ("/", "/a", "/b")


def _keeps_to_one_reading(seen: Observed) -> SiteJudgement:
    fetched = {each.path for each in seen.of(MAIN)} - {"/robots.txt"}
    if not fetched:
        return SiteJudgement(True, "treated the site as closed")
    missing = sorted(set(PAGES) - fetched)
    if not missing:
        return SiteJudgement(True, "treated the site as open")
    return SiteJudgement(False, f"fetched {', '.join(sorted(fetched))} and not {', '.join(missing)}")


OPEN_OR_CLOSED: Final = CustomExpectation(
    "robots-refused", "fetches all pages, or robots.txt only", _keeps_to_one_reading, MAIN
)
