"""What `goodbot watch` and `goodbot cluster watch` do before and after logs are counted."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.cli.command_class import keep_from_output
from goodbot.cli.own_robots import load_registry
from goodbot.cli.printing import complain, put, say_folded, write_json
from goodbot.cli.watch_declarations import SharedOptions
from goodbot.cli.watch_keys import load_keys
from goodbot.cli.watch_options import CountingChoices, Engine, counter_factory, growing_counter, identities_of
from goodbot.cli.watch_report import print_report
from goodbot.cli.watch_rules import GrowingRules
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.registry import Registry
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.pending_requests import settle_tally
from goodbot.watch.counting.tally import Tally
from goodbot.watch.reader.log_files import find_logs
from goodbot.watch.report import WatchReport, make_report, report_csv, report_json, report_prometheus, robot_name
from goodbot.watch.watching import LogsRead

MOST_NAMED: Final = 5
"""Files that are named in one message."""


@dataclass(frozen=True, slots=True)
class PreparedWatch:
    """What logs are counted with, and what the report is made with."""

    registry: Registry
    identities: Identities
    rules: GrowingRules | None
    choices: CountingChoices
    engine: Engine
    robot: str | None
    anonymise: bool
    make_counter: Callable[[], BlockCounter]

    @property
    def make_growing_counter(self) -> Callable[[], BlockCounter]:
        """Makes counters that know the rules of the time when they are made."""
        if self.rules is None:
            return self.make_counter
        return growing_counter(self.engine, self.identities, self.choices.options(), self.rules)

    def settle(self, tally: Tally) -> None:
        """Settles the requests that were pending, by the copies of robots.txt that are known now."""
        if self.rules is not None:
            settle_tally(tally, self.rules.current().judged_by.rules, self.identities)

    def report(self, tally: Tally, read: LogsRead) -> WatchReport:
        """Makes the report."""
        self.settle(tally)
        return make_report(
            tally,
            self.identities,
            self.registry,
            read.read,
            read.damage,
            robot=self.robot,
            anonymise=self.anonymise,
            judged_by=self.rules.current().judged_by if self.rules else None,
            directories=self.choices.keys,
        )


def prepare_watch(
    options: SharedOptions,
    *,
    reverse_dns: bool = False,
    nameserver: str | None = None,
    is_counted_on: bool = False,
    may_be_unknown: bool = False,
) -> PreparedWatch:
    """Loads what the options name. `may_be_unknown`: the robot of `--robot`, which may be among earlier counts. Raises
    InputError for a value that is not valid."""
    if options["host"] is not None and options["robots"] is None:
        raise InputError("--host needs --robots")
    rules = GrowingRules(options["robots"]) if options["robots"] is not None else None
    registry = load_registry()
    directories = load_keys(options["keys"], registry)
    choices = CountingChoices(
        options["since"],
        options["until"],
        options["pattern"],
        options["real_ip"],
        options["proxies"],
        rules.current() if rules else None,
        options["host"],
        is_counted_on,
        directories,
    )
    if options["robot"] is not None and not may_be_unknown:
        robot_name(options["robot"], registry)
    identities = identities_of(registry, reverse_dns, nameserver)
    make_counter = counter_factory(options["engine"], identities, choices.options())
    return PreparedWatch(
        registry,
        identities,
        rules,
        choices,
        options["engine"],
        options["robot"],
        options["anonymise"],
        make_counter,
    )


def find_watched(
    logs: Sequence[str], prepared: PreparedWatch, state_file: Path | None = None, *, may_be_none: bool = False
) -> Sequence[str]:
    """Returns the logs that are meant, and says which the command has found by itself and which files it leaves out.
    Raises InputError if there is none, unless `may_be_none`, or if `--output` would replace a file that is read."""
    found = find_logs(logs, may_be_none=may_be_none)
    rules = prepared.rules
    keep_from_output([*found.logs, *([str(state_file)] if state_file else []), *(rules.inputs if rules else [])])
    _say_found(found.logs if not logs else (), [pair for pair in found.passed_over if pair[0] != str(state_file or "")])
    return found.logs


def write_report(report: WatchReport, form: str) -> None:
    """Writes a report to standard output, or to the file of `--output`."""
    if form == "json":
        write_json(report_json(report))
    elif form == "csv":
        put(report_csv(report).encode())
    elif form == "prometheus":
        put(report_prometheus(report).encode())
    elif form == "html":
        from goodbot.web.operator.watch_page import watch_page  # noqa: PLC0415  (the other formats need no templates)

        put(watch_page(report, time.time()).encode())
    else:
        print_report(report)


def say_read(read: LogsRead, state_file: Path | None = None) -> None:
    """Says which logs were damaged, and which had nothing new."""
    for damage in read.damage:
        complain(
            f"{damage.source}: {damage.reason}, after {damage.at_byte:,} bytes (decompressed); what comes before "
            "is counted"
        )
    if read.again:
        since = f" since the last run with {state_file}" if state_file else "; it was counted under another name"
        say_folded(f"goodbot: nothing new in {_some(read.again)}{since}", err=True)


def _say_found(logs: Sequence[str], passed_over: Sequence[tuple[str, str]]) -> None:
    if logs:
        say_folded(f"goodbot: reading {_some(logs)}", err=True)
    if passed_over:
        names = [f"{path} ({reason})" for path, reason in passed_over]
        say_folded(f"goodbot: left out: {_some(names)}", err=True)


def _some(names: Sequence[str]) -> str:
    named = ", ".join(names[:MOST_NAMED])
    return named if len(names) <= MOST_NAMED else f"{named} and {counted(len(names) - MOST_NAMED, 'other')}"
