"""Who obeyed, by what robots did in the phases and in the control phase."""

import pytest

from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.obedience.pace import Limit
from goodbot.watch.study.comparison import Counted, GapsCompared, PathsCompared, RobotInStudy, compare
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import planned
from goodbot.watch.study.study_counter import StudyCounter
from watch.study.study_plans import DAY, HEAD, PHASES, START, line, plan_of, study_log

PLAN = plan_of(HEAD + PHASES)


def robots_of(log: str, blocks: int = 1, plan: StudyPlan = PLAN) -> dict[str, RobotInStudy]:
    """Compares the robots of a log, which is cut into so many blocks."""
    counter = StudyCounter(plan, list(planned(plan)), Identities(), CountingOptions())
    lines = log.splitlines(keepends=True)
    size = -(-len(lines) // blocks)
    for start in range(0, len(lines), size):
        counter.count(Block("".join(lines[start : start + size]).encode(), "log"))
    return {robot.name: robot for robot in compare(plan, counter.spans, counter.robots)}


def test_a_phase_that_closes_nothing_is_not_compared_by_paths() -> None:
    plan = plan_of(HEAD + 'control = "delay"\n' + PHASES)
    assert [one.phase for one in robots_of(study_log(), 1, plan)["GPTBot"].paths] == [2]


@pytest.mark.parametrize("blocks", [1, 7])
def test_one_obeys_one_does_not_and_one_never_wanted_the_folder(blocks: int) -> None:
    robots = robots_of(study_log(), blocks)
    assert {name: [one.answer for one in robot.paths] for name, robot in robots.items()} == {
        "GPTBot": ["yes"],
        "SemrushBot": ["no"],
        "CCBot": ["cannot tell"],
    }
    assert {name: [one.answer for one in robot.gaps] for name, robot in robots.items()} == {
        "GPTBot": ["yes"],
        "SemrushBot": ["no"],
        "CCBot": ["no"],
    }
    (paths,) = robots["GPTBot"].paths
    assert (paths.phase, paths.control, paths.then) == (2, Counted(60, 240), Counted(0, 240))
    (gaps,) = robots["SemrushBot"].gaps
    assert (gaps.limit, gaps.control, gaps.then) == (Limit(1, 10), Counted(234, 239), Counted(234, 239))
    first = robots["GPTBot"].phases[0]
    assert (first.in_grace, first.requests, first.visits, first.reads) == (40, Counted(0, 240), 1, 1)
    assert first.read_after_s == 3600


def test_requests_outside_the_phases_do_not_count() -> None:
    counter = StudyCounter(PLAN, list(planned(PLAN)), Identities(), CountingOptions())
    times = [START - 1, START, START + 21 * DAY - 1, START + 21 * DAY]
    counts = counter.count(Block("".join(line(at, "/", "GPTBot") for at in times).encode(), "log"))
    assert (counts.lines, counts.outside) == (4, 2)


def test_requests_that_ask_for_no_url_do_not_count() -> None:
    at = START + 2 * DAY
    log = line(at, "/", "GPTBot") + line(at, "*", "GPTBot") + line(at, "/robots.txt", "GPTBot")
    assert robots_of(log)["GPTBot"].requests == 1


PATHS = [
    ("obeyed", (40, 400), (0, 400), "yes"),
    ("went-as-often", (40, 400), (40, 400), "no"),
    ("went-less-often", (40, 400), (4, 400), "partly"),
    ("never-wanted-it", (0, 400), (0, 400), "cannot tell"),
    ("went-only-when-closed", (0, 400), (1, 400), "no"),
    ("too-few", (1, 10), (0, 10), "cannot tell"),
    ("did-not-come", (40, 400), (0, 0), "cannot tell"),
    ("did-not-come-before", (0, 0), (0, 400), "cannot tell"),
    ("came-only-when-closed", (0, 0), (3, 400), "no"),
]


@pytest.mark.parametrize(("before", "after", "answer"), [case[1:] for case in PATHS], ids=[case[0] for case in PATHS])
def test_answers_about_paths(before: tuple[int, int], after: tuple[int, int], answer: str) -> None:
    assert PathsCompared(1, Counted(*before), Counted(*after)).answer == answer


GAPS = [
    ("slowed-down", (300, 400), (3, 400), "yes"),
    ("always-slow", (0, 400), (0, 400), "cannot tell"),
    ("always-fast", (300, 400), (310, 400), "no"),
    ("a-little-slower", (390, 400), (200, 400), "partly"),
    ("did-not-come", (300, 400), (0, 0), "cannot tell"),
    ("came-only-then", (0, 0), (300, 400), "no"),
]


@pytest.mark.parametrize(("before", "after", "answer"), [case[1:] for case in GAPS], ids=[case[0] for case in GAPS])
def test_answers_about_gaps(before: tuple[int, int], after: tuple[int, int], answer: str) -> None:
    assert GapsCompared(1, Limit(1, 10), Counted(*before), Counted(*after)).answer == answer
