"""Reports what a study found: for people, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from goodbot.cli.printing import Line, joined, styled, wrapped
from goodbot.cli.study_schedule import day
from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_duration
from goodbot.watch.report.figure_words import percent
from goodbot.watch.study.comparison import Answer, Counted, GapsCompared, PathsCompared, PhaseOfRobot, RobotInStudy
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Span

ROBOTS_SHOWN: Final = 20

_ANSWERS: Final[dict[Answer, tuple[str, str]]] = {
    "yes": ("obeyed", "green"),
    "partly": ("obeyed in part", "yellow"),
    "no": ("did not obey", "red"),
    "cannot tell": ("cannot tell", "bright_black"),
}


# ---- text -----------------------------------------------------------------------------------------------------------


def report_lines(plan: StudyPlan, spans: Sequence[Span], robots: Sequence[RobotInStudy]) -> Iterator[Line]:
    """Yields the comparison of each robot."""
    control = shown(plan.phases[plan.control].name)
    if not spans:
        yield from wrapped("No phase of the study has been in force yet.", "", "")
        return
    yield from wrapped(
        f"Study of {plan.url.text}, {day(spans[0].start)} to {day(spans[-1].end)}; control: {control}",
        "",
        "  ",
        bold=True,
    )
    if not robots:
        yield from wrapped("No known robot came in this time.", "", "")
        return
    for robot in robots[:ROBOTS_SHOWN]:
        yield from _robot_lines(plan, robot)
    if len(robots) > ROBOTS_SHOWN:
        yield [f"{counted(len(robots) - ROBOTS_SHOWN, 'more robot')}; --json lists them all"]
    yield ("",)
    yield from wrapped(
        "A phase closes a URL that it disallows and the control phase allows. The first 24 hours after each change do "
        "not count. In brackets: the 95 % interval of a share. A share fell clearly if the two intervals do not "
        "overlap. Obeyed: it fell clearly, and no request broke the rule (Crawl-delay: not certainly more than 5 % of "
        "the gaps). In part: it only fell clearly.",
        "",
        "",
        dim=True,
    )


def _robot_lines(plan: StudyPlan, robot: RobotInStudy) -> Iterator[Line]:
    yield ("",)
    in_grace = sum(phase.in_grace for phase in robot.phases)
    grace = f", and {in_grace:,} in the first 24 hours after a change" if in_grace else ""
    name = styled(f"{robot.name} ({robot.tier})", bold=True)
    yield from wrapped(f"{counted(robot.requests, 'request')}{grace}", joined(name, ": "), "  ")
    if robot.tier == "impostor":
        yield from wrapped("It uses the name of this robot, but is another one.", "  ", "  ")
    phases = {phase.phase: phase for phase in robot.phases}
    compared: tuple[PathsCompared | GapsCompared, ...] = (*robot.paths, *robot.gaps)
    if robot.user_triggered and compared:
        yield from wrapped(
            "Not judged: it is a user-triggered fetcher, which fetches what a person asks for. Its figures:", "  ", "  "
        )
    for one in compared:
        text = _figures(plan, one)
        head = f"  {shown(plan.phases[one.phase].name)}: "
        if not robot.user_triggered:
            word, colour = _ANSWERS[one.answer]
            head, text = joined(head, styled(word, fg=colour), ": "), text + _reason(one)
        yield from wrapped(f"{text}{_unread(phases.get(one.phase))}", head, "    ")
    if not compared:
        yield from wrapped("No phase asks anything of it that the control phase does not ask.", "  ", "  ")


def _figures(plan: StudyPlan, one: PathsCompared | GapsCompared) -> str:
    """Returns the share in the control phase, then the share in this phase."""
    if isinstance(one, PathsCompared):
        noun, kind = "request", "for URLs that this phase closes"
        none = "it sent no request, or only in the first 24 hours"
    else:
        noun, kind = "gap between requests", f"shorter than {seconds_text(one.limit.seconds)}"
        none = "it sent too few requests to measure gaps"
    before, then = none, none
    if one.control.total:
        before = f"{_share(one.control, noun)} {kind}"
    if one.then.total:
        then = _share(one.then) if one.control.total else f"{_share(one.then, noun)} {kind}"
    return f"in phase “{shown(plan.phases[plan.control].name)}”, {before}; in this phase, {then}"


def _reason(one: PathsCompared | GapsCompared) -> str:
    """Says why there is no answer, unless the figures say it."""
    if one.answer != "cannot tell" or not one.then.total or not one.control.total:
        return ""
    if one.control.hits:
        return "; too few requests to be sure"
    if isinstance(one, GapsCompared):
        return "; it was slow enough when no such delay was asked"
    return "; it did not request these URLs in the control phase either"


def _unread(phase: PhaseOfRobot | None) -> str:
    if phase is None:
        return ""
    if not phase.reads:
        return ". It did not request robots.txt in this phase"
    return f". It read robots.txt {human_duration(phase.read_after_s or 0)} after the change"


def _share(one: Counted, noun: str = "") -> str:
    """Returns `12 of 240 (5.0 % [2.9–8.5])`; with a noun, it becomes the beginning of a sentence."""
    share = one.share
    interval = "" if share is None else f" ({percent(share.value)} [{100 * share.low:.1f}–{100 * share.high:.1f}])"
    if not noun:
        return f"{one.hits:,} of {one.total:,}{interval}"
    first, *more = noun.split(" ", 1)
    nouns = " ".join([counted(one.total, first), *more])
    return f"{one.hits:,} of {nouns}{interval} {'was' if one.hits == 1 else 'were'}"


# ---- JSON -----------------------------------------------------------------------------------------------------------


def report_json(plan: StudyPlan, spans: Sequence[Span], robots: Sequence[RobotInStudy]) -> dict[str, Any]:
    """Returns the same for programs, with all robots."""
    return {
        "url": plan.url.text,
        "control": plan.phases[plan.control].name,
        "spans": [{"phase": plan.phases[span.phase].name, "from": span.start, "until": span.end} for span in spans],
        "robots": [
            {
                "name": robot.name,
                "tier": robot.tier,
                "purpose": robot.robot.purpose,
                "user_triggered": robot.user_triggered,
                "requests": robot.requests,
                "phases": [_phase_json(plan, phase) for phase in robot.phases],
                "paths": [_compared_json(plan, robot, one) for one in robot.paths],
                "gaps": [{**_compared_json(plan, robot, one), "asked_s": one.limit.seconds} for one in robot.gaps],
            }
            for robot in robots
        ],
    }


def _phase_json(plan: StudyPlan, phase: PhaseOfRobot) -> dict[str, Any]:
    counts = _counted_json(phase.requests)
    return {
        "phase": plan.phases[phase.phase].name,
        "requests": counts.pop("of"),
        "disallowed": counts.pop("count"),
        **counts,
        "in_grace": phase.in_grace,
        "visits": phase.visits,
        "robots_txt_visits": phase.reads,
        "robots_txt_after_s": phase.read_after_s,
    }


def _compared_json(plan: StudyPlan, robot: RobotInStudy, one: PathsCompared | GapsCompared) -> dict[str, Any]:
    return {
        "phase": plan.phases[one.phase].name,
        "control": _counted_json(one.control),
        "then": _counted_json(one.then),
        "obeyed": "user-triggered" if robot.user_triggered else one.answer,
    }


def _counted_json(one: Counted) -> dict[str, Any]:
    share = one.share
    interval = None if share is None else [share.low, share.high]
    return {"count": one.hits, "of": one.total, "share": None if share is None else share.value, "interval": interval}
