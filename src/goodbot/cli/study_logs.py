"""`goodbot study --log`: reads the logs of a study, and compares its phases."""

from collections.abc import Sequence

from goodbot.cli.command_class import keep_from_output
from goodbot.cli.own_robots import load_registry
from goodbot.cli.printing import complain, say_folded, say_lines, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.study_report import report_json, report_lines
from goodbot.cli.study_schedule import day
from goodbot.cli.watch_options import CountingChoices, identities_of
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.watch.history.copies import History
from goodbot.watch.reader.log_files import find_logs
from goodbot.watch.study.comparison import compare
from goodbot.watch.study.plan import StudyPlan
from goodbot.watch.study.schedule import Span, joined, kept_spans, spans_until
from goodbot.watch.study.study_counter import StudyCounter
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogCounting


def compare_logs(
    plan: StudyPlan,
    names: Sequence[str],
    choices: CountingChoices,
    history: History | None,
    now: float,
    *,
    as_json: bool,
) -> None:
    """Prints what robots did in each phase. With a history, a phase counts while its robots.txt was really in force.
    Raises InputError for logs or options that cannot be used, RunError if reading fails."""
    options = choices.options()
    spans = _in_force(plan, history, now)
    found = find_logs(names)
    keep_from_output(found.logs)
    counter = StudyCounter(plan, spans, identities_of(load_registry(), False, None), options)
    tally = (state := WatchState()).tally
    with ProgressLine() as progress:
        read = LogCounting(state, lambda: counter, progress=progress.report).count(found.logs)
    for one in read.damage:
        complain(f"{one.source}: {one.reason}, after {one.at_byte:,} bytes (decompressed); what comes before counts")
    skipped = sum(tally.skipped.values())
    robots = compare(plan, counter.spans, counter.robots)
    if as_json:
        damage = [{"log": one.source, "at_byte": one.at_byte, "reason": one.reason} for one in read.damage]
        about = {"lines": tally.lines, "skipped": skipped, "outside": tally.outside, "logs": [*read.read]}
        write_json({**report_json(plan, counter.spans, robots), **about, "damage": damage})
        return
    if skipped:
        say_folded(f"goodbot: {counted(skipped, 'line')} skipped", err=True)
    if tally.outside:
        say_folded(f"goodbot: {counted(tally.outside, 'request')} outside the phases of the study left out", err=True)
    say_lines(report_lines(plan, counter.spans, robots))


def _in_force(plan: StudyPlan, history: History | None, now: float) -> list[Span]:
    spans = [span._replace(end=min(span.end, now)) for span in joined(spans_until(plan, now))]
    if history is None or not spans:
        return spans
    copies = history.copies()
    if not copies:
        raise InputError(f"{history.folder} has no copies; goodbot study PLAN --publish FILE --into DIR makes them")
    kept = kept_spans(spans, plan, copies)
    for span in spans:
        if not any(span.start <= one.start and one.end <= span.end for one in kept):
            name = shown(plan.phases[span.phase].name)
            complain(f"the phase {name} from {day(span.start)} was never written, so it does not count")
    return kept
