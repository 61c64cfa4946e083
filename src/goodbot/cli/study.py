"""`goodbot study`: changes robots.txt by a plan, and compares what robots did."""

import os
import time
from pathlib import Path
from typing import Any

import click

from goodbot.cli.command_class import Command, keep_from_output
from goodbot.cli.file_types import NamedPath
from goodbot.cli.line_options import line_options
from goodbot.cli.options import read_input
from goodbot.cli.printing import put, say_folded, say_lines, write_json
from goodbot.cli.robots_file import read_robots_file
from goodbot.cli.study_schedule import day, due_json, schedule_json, schedule_lines
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import is_same_file, is_standard_input
from goodbot.watch.history.copies import History
from goodbot.watch.history.page_states import files_of
from goodbot.watch.history.site_names import site_name
from goodbot.watch.study.example import example_plan
from goodbot.watch.study.plan import StudyPlan, parse_plan
from goodbot.watch.study.schedule import Due, due_at
from goodbot.watch.study.writing import read_file, refusal, write_due


@click.command(
    name="study",
    cls=Command,
    inputs=("plan",),
    examples="""
    goodbot study --example -o plan.toml
    goodbot study plan.toml
    goodbot study plan.toml --publish robots.txt --into history
    goodbot study plan.toml --log access.log --into history
    """,
    sections={
        "Publish what is due": ["file", "folder", "force"],
        "Compare": ["logs", "pattern", "real_ip", "proxies"],
    },
)
@click.argument("plan", required=False, metavar="[PLAN]")
@click.option("--example", is_flag=True, help="Print a plan with comments, which starts on the next Monday.")
@click.option(
    "--publish",
    "file",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Write the robots.txt of the phase that is due to FILE, if it differs: for cron.",
)
@click.option(
    "--into",
    "folder",
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Keep in DIR a dated copy of each file written, as goodbot remember does; with --log: read these copies.",
)
@click.option("--force", is_flag=True, help="With --publish: replace a FILE that is not from this plan.")
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="LOG",
    help="Compare what robots did in each phase, by an access log. Repeatable.",
)
@line_options
def command(
    plan: str | None,
    example: bool,
    file: Path | None,
    folder: Path | None,
    force: bool,
    logs: tuple[str, ...],
    pattern: str | None,
    real_ip: bool,
    proxies: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure which robots obey robots.txt: change it by a schedule, and compare what they did.

    PLAN is a TOML file with phases: the control phase has your own rules, or none; in another, robots.txt asks for a
    delay, closes a folder, or has a group for some robots. Without other options, goodbot shows the schedule, and how
    each phase differs from the control phase.

    --publish is for cron: it writes the phase's robots.txt to FILE when a phase begins, and your base again after the
    last phase; FILE is replaced as a whole. A FILE that is not from the plan is kept, unless --force. With --into,
    goodbot watch --robots DIR/SITE judges each request by the rules of its time.

    --log compares for each known robot the share of its requests for the closed URLs, in the control phase and in the
    phase that closes them; and the share of gaps shorter than the Crawl-delay. If a robot did not request these URLs in
    the control phase either, goodbot cannot tell whether it obeyed. With --into, a phase begins when FILE was written;
    its first 24 hours do not count.

    Exit status: 0: done, or nothing to do; 2: bad input, or FILE is not from this plan; 3: reading or writing failed.
    """
    _check(click.get_current_context().params)
    now = time.time()
    if example:
        _print_example(now, as_json)
        return 0
    if plan is None:
        raise InputError("name the plan of the study; goodbot study --example prints one")
    loaded = load_plan(plan, file)
    history = None if folder is None else History(folder / site_name(loaded.url))
    written = [] if file is None else [file]
    keep_from_output(map(str, written if history is None else [*written, *files_of(history.folder)]))
    if logs:
        from goodbot.cli.study_logs import compare_logs  # noqa: PLC0415  (cron's runs need no logs)
        from goodbot.cli.watch_options import CountingChoices  # noqa: PLC0415

        choices = CountingChoices(None, None, pattern, real_ip, proxies)
        compare_logs(loaded, logs, choices, history, now, as_json=as_json)
    elif file is not None:
        _write(loaded, file, history, now, force, as_json)
    elif as_json:
        write_json(schedule_json(loaded, now))
    else:
        say_lines(schedule_lines(loaded, now))
    return 0


def _check(given: dict[str, Any]) -> None:
    """Raises InputError for options that do not go together."""
    publishes, compares = given["file"] is not None, bool(given["logs"])
    if given["example"] and (given["plan"] is not None or publishes or compares):
        raise InputError("--example prints a plan, and takes no PLAN and no other option of study")
    if publishes and compares:
        raise InputError("--publish and --log cannot be combined; run goodbot study twice")
    if given["force"] and not publishes:
        raise InputError("--force needs --publish")
    if given["folder"] is not None and not (publishes or compares):
        raise InputError("--into needs --publish or --log")
    options = (("pattern", "--log-format"), ("real_ip", "--real-ip"), ("proxies", "--trusted-proxy"))
    for name, option in options:
        if given[name] not in (None, False, ()) and not compares:
            raise InputError(f"{option} needs --log")
    if [given["plan"], *given["logs"]].count("-") > 1:
        raise InputError("- (standard input) can be named once only")


def _print_example(now: float, as_json: bool) -> None:
    text = example_plan(now)
    if as_json:
        write_json({"plan": text})
    else:
        put(text.encode())


def load_plan(name: str, file: Path | None = None) -> StudyPlan:
    """Reads a plan and the files that it names, relative to its folder. None of them may be `file`, which the study
    replaces, or that of `--output`; nor may the plan itself. Raises InputError."""
    if file is not None and (is_standard_input(file) if name == "-" else is_same_file(Path(name), file)):
        raise InputError(
            f"--publish: {shown(str(file))} is the plan itself; name the robots.txt that your server sends"
        )
    folder = "." if name == "-" else os.path.dirname(name) or "."

    def read(of_plan: str) -> bytes:
        path = os.path.join(folder, of_plan)
        if file is not None and is_same_file(Path(path), file):
            raise InputError(
                f"{name}: {shown(of_plan)} is the file of --publish; copy it, and name the copy in the plan"
            )
        keep_from_output([path])
        return read_robots_file(path)

    return parse_plan(read_input(name), "standard input" if name == "-" else name, read)


# ---- --publish ------------------------------------------------------------------------------------------------------


def _write(plan: StudyPlan, path: Path, history: History | None, now: float, force: bool, as_json: bool) -> None:
    due, file = due_at(plan, now), read_file(path)
    written = write_due(plan, due, file, now, history, force=force)
    if as_json:
        write_json({**due_json(plan, due), "written": written, "file": str(path)})
        return
    say_folded(_done(plan, due, path, written))
    if due.span is None and due.next is not None and not force and not file.is_of(plan):
        say_folded(f"goodbot: {refusal(file)}", err=True)


def _done(plan: StudyPlan, due: Due, path: Path, written: bool) -> str:
    if due.span is not None:
        which, until = f"phase {shown(plan.phases[due.span.phase].name)}", f", until {day(due.span.end)}"
    elif due.next is not None:
        return f"nothing to do: the study begins on {day(due.next.start)}"
    elif plan.base is None:
        return f"the study is over, and {path} has the rules of its last phase: put your own robots.txt back"
    else:
        which, until = "the base", ", since the study is over"
    return f"{path} {'now has' if written else 'already has'} the rules of {which}{until}"
