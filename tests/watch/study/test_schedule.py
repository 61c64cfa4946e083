"""Which phase is due when, and which was really in force."""

from itertools import islice, pairwise

import pytest

from goodbot.watch.history.copies import RobotsCopy
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Span, due_at, joined, kept_spans, planned, spans_until
from watch.study.study_plans import DAY, HEAD, PHASES, START, plan_of

PLAN = plan_of(HEAD + 'base = "own.txt"\n' + PHASES)
AGAIN = plan_of(HEAD + "repeat = true\n" + PHASES)

DUE = [
    ("before", PLAN, -1, None, 0, False),
    ("first-second", PLAN, 0, 0, 1, False),
    ("last-second-of-the-first", PLAN, 7 * DAY - 1, 0, 1, False),
    ("second", PLAN, 7 * DAY, 1, 2, False),
    ("last", PLAN, 20 * DAY, 2, None, False),
    ("over", PLAN, 21 * DAY, None, None, True),
    ("again", AGAIN, 21 * DAY, 0, 1, False),
    ("before-it-begins-again", AGAIN, 20 * DAY, 2, 0, False),
    ("much-later", AGAIN, 210 * DAY, 0, 1, False),
]


@pytest.mark.parametrize(("plan", "at", "now", "then", "over"), [case[1:] for case in DUE], ids=[c[0] for c in DUE])
def test_what_is_due(plan: StudyPlan, at: int, now: int | None, then: int | None, over: bool) -> None:
    due = due_at(plan, START + at)
    assert (due.span.phase if due.span else None, due.next.phase if due.next else None) == (now, then)
    assert due.is_over == over


def test_the_base_counts_after_the_study() -> None:
    assert due_at(PLAN, START - 1).body(PLAN) is None
    assert due_at(PLAN, START).body(PLAN) == PLAN.phases[0].body
    assert due_at(PLAN, START + 21 * DAY).body(PLAN) == PLAN.base


def test_a_shuffled_order_is_always_the_same_and_new_in_each_round() -> None:
    plan = plan_of(HEAD + "repeat = true\nshuffle = 3\n" + PHASES)
    orders = [tuple(span.phase for span in islice(planned(plan), 3 * n, 3 * n + 3)) for n in range(60)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert len(set(orders)) == 6
    assert orders[:3] == [(2, 0, 1), (0, 1, 2), (0, 1, 2)]
    times = list(islice(planned(plan), 6))
    assert all(one.end == next_.start for one, next_ in pairwise(times))


def test_spans_until_a_time() -> None:
    assert spans_until(PLAN, START) == []
    assert [span.phase for span in spans_until(PLAN, START + 8 * DAY)] == [0, 1]
    assert len(spans_until(AGAIN, START + 30_000 * DAY)) == 1000


def test_spans_of_one_phase_are_one() -> None:
    assert joined([Span(0, 0, 5), Span(0, 5, 9), Span(1, 9, 12), Span(1, 13, 14)]) == [
        Span(0, 0, 9),
        Span(1, 9, 12),
        Span(1, 13, 14),
    ]


def copy(at: float, body: bytes, status: int = 200) -> RobotsCopy:
    return RobotsCopy(PLAN.url.text, at, status, None, (), body)


FIRST, SECOND, THIRD = (phase.body for phase in PLAN.phases)
KEPT = [
    ("on-time", [(0, FIRST), (7, FIRST), (7, SECOND), (14, THIRD)], [(0, 0, 7), (1, 7, 14), (2, 14, 21)]),
    ("late", [(1, FIRST), (9, SECOND), (14, THIRD)], [(0, 1, 7), (1, 9, 14), (2, 14, 21)]),
    ("never", [(0, FIRST), (14, THIRD)], [(0, 0, 7), (2, 14, 21)]),
    ("changed-by-hand", [(0, FIRST), (3, b"x"), (5, FIRST), (7, SECOND)], [(0, 0, 3), (0, 5, 7), (1, 7, 14)]),
    ("nothing", [], []),
]


@pytest.mark.parametrize(("copies", "spans"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT])
def test_what_was_really_in_force(copies: list[tuple[int, bytes]], spans: list[tuple[int, int, int]]) -> None:
    found = kept_spans(planned(PLAN), PLAN, [copy(START + day * DAY, body) for day, body in copies])
    assert found == [Span(phase, START + start * DAY, START + end * DAY) for phase, start, end in spans]
