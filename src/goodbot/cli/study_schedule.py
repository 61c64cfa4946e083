"""Shows the schedule of a study, and how each phase differs from the control phase: for people, and as JSON."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from goodbot.cli.printing import Line, styled, wrapped
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_time
from goodbot.watch.history.timing_changes import TimingChange
from goodbot.watch.history.verdict_changes import ALL, VerdictChange, VerdictChanges, verdict_changes
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import DAY_S, Due, Span, due_at, spans_until

CHANGES_SHOWN: Final = 5
NAMES_SHOWN: Final = 8


def day(at: float) -> str:
    """Returns a time, without the hour if that is midnight."""
    return human_time(at).removesuffix(" 00:00:00 UTC")


def schedule_lines(plan: StudyPlan, now: float) -> Iterator[Line]:
    """Yields the phases with their days, and how each differs from the control phase."""
    days = sum(phase.days for phase in plan.phases)
    again = ", again and again" if plan.repeat else ""
    control = shown(plan.phases[plan.control].name)
    yield from wrapped(
        f"Study of {plan.url.text}: {len(plan.phases)} phases in {days} days{again}; control: {control}",
        "",
        "  ",
        bold=True,
    )
    due = due_at(plan, now)
    spans = _spans(plan, now)
    differing = _differing(plan, spans)
    yield ("Each phase, and how it differs from the control phase:",)
    for span in spans:
        mark = styled("  now", fg="green") if due.span == span else ""
        yield [f"  {day(span.start)} to {day(span.end)}  {shown(plan.phases[span.phase].name)}", mark]
        if span.phase != plan.control:
            yield from _change_lines(differing[span.phase])
    yield from wrapped(_now(plan, due), "", "  ")


def schedule_json(plan: StudyPlan, now: float) -> dict[str, Any]:
    """Returns the same for programs."""
    due, spans = due_at(plan, now), _spans(plan, now)
    differing = _differing(plan, spans)
    return {
        "url": plan.url.text,
        "control": plan.phases[plan.control].name,
        "repeat": plan.repeat,
        **due_json(plan, due),
        "schedule": [
            {
                **_span_json(plan, span),
                "changes": None if span.phase == plan.control else _changes_json(differing[span.phase]),
            }
            for span in spans
        ],
    }


def due_json(plan: StudyPlan, due: Due) -> dict[str, Any]:
    """Returns what is due: phase, from, until, and the next phase."""
    now = _span_json(plan, due.span) if due.span is not None else {"phase": None, "from": None, "until": None}
    return {**now, "next": _span_json(plan, due.next) if due.next is not None else None, "is_over": due.is_over}


def _span_json(plan: StudyPlan, span: Span) -> dict[str, Any]:
    return {"phase": plan.phases[span.phase].name, "from": span.start, "until": span.end}


def _spans(plan: StudyPlan, now: float) -> list[Span]:
    """Returns all spans; of a plan that repeats, this round and the next."""
    round_s = DAY_S * sum(phase.days for phase in plan.phases)
    return spans_until(plan, max(now, plan.start) + round_s)[-2 * len(plan.phases) :]


def _now(plan: StudyPlan, due: Due) -> str:
    if due.span is not None:
        return f"Now: {shown(plan.phases[due.span.phase].name)}, until {day(due.span.end)}."
    if due.next is not None:
        return f"The study begins on {day(due.next.start)}."
    more = "" if plan.base is None else " The base counts again."
    return f"The study is over.{more}"


# ---- what differs from the control phase ----------------------------------------------------------------------------


def _differing(plan: StudyPlan, spans: Iterable[Span]) -> dict[int, VerdictChanges]:
    """Returns by phase how its rules differ from those of the control phase."""
    control = plan.phases[plan.control].access()
    return {phase: verdict_changes(control, plan.phases[phase].access()) for phase in {span.phase for span in spans}}


def _change_lines(changes: VerdictChanges) -> Iterator[Line]:
    if not changes:
        yield ("    the same rules",)
    for word, all_changes in (("closes", changes.closed), ("opens", changes.opened)):
        some = _by_rule(all_changes)
        for change in some[:CHANGES_SHOWN]:
            rule = f" ({shown(change.rule)})" if change.rule else ""
            yield from wrapped(f"{shown(change.paths[0])} for {_robots(change)}{rule}", f"    {word} ", "      ")
        if len(some) > CHANGES_SHOWN:
            yield [f"    and {word} more: {counted(len(some) - CHANGES_SHOWN, 'change')}; --json lists them"]
    for timing in changes.timing[:CHANGES_SHOWN]:
        yield from wrapped(_timing_text(timing), "    ", "      ")


def _by_rule(changes: Iterable[VerdictChange]) -> list[VerdictChange]:
    """Joins the changes that differ in the line of the rule only: a phase has a group for each of its robots."""
    found: dict[tuple[str | None, str], VerdictChange] = {}
    for change in changes:
        had = found.setdefault(key := (change.rule, change.paths[0]), change)
        if had is not change:
            robots = (*had.robots, *change.robots)
            excepted = tuple(name for name in had.excepted or change.excepted if name not in robots)
            found[key] = replace(had, robots=robots, excepted=excepted)
    return [*found.values()]


def _timing_text(timing: TimingChange) -> str:
    if not timing.after:
        return f"drops {timing.before} for {_robots(timing)}"
    control = f" (control: {timing.before})" if timing.before else ""
    return f"asks {_robots(timing)} for {timing.after}{control}"


def _robots(change: VerdictChange | TimingChange) -> str:
    named = [shown(name) for name in change.robots if name != ALL]
    if ALL in change.robots:
        but = f" but {_listed([shown(name) for name in change.excepted])}" if change.excepted else ""
        return f"every robot{but}"
    return _listed(named)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"{', '.join(names[:NAMES_SHOWN])}{more}"


def _changes_json(changes: VerdictChanges) -> dict[str, Any]:
    def described(change: VerdictChange) -> dict[str, Any]:
        paths = [*change.paths]
        return {"robots": [*change.robots], "except": [*change.excepted], "paths": paths, "rule": change.rule}

    return {
        "closed": [described(change) for change in changes.closed],
        "opened": [described(change) for change in changes.opened],
        "timing": [
            {"robots": [*one.robots], "except": [*one.excepted], "before": one.before, "after": one.after}
            for one in changes.timing
        ],
    }
