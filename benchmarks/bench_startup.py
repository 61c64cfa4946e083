"""Compares the CPU time that goodbot, Scrapy and wget take to start and do something small, as after a key is pressed.

    make bench-startup RUNS=40 PROGRAMS=goodbot,scrapy

Each command runs RUNS times, all commands in turn, with warm file caches; its figures are user and system time of the
process. `python -c pass` is the least that a Python program can take. Tab is what `goodbot serve --` and the Tab key
start; allowed and check read a robots.txt of two lines. Protego, which answers the same question as `goodbot allowed`,
is a library: it is called by a program of one line.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from types import MappingProxyType

from settings import choice, installed_of, save, start, whole

RUNS = whole("RUNS", 20, "how often each command runs", 1, 10_000)
PROGRAMS = choice("PROGRAMS", "goodbot,scrapy,wget,protego", "the programs", ("goodbot", "scrapy", "wget", "protego"))
ROBOTS = "User-agent: *\nDisallow: /private/\n"
BIN = Path(sys.executable).parent
PROTEGO = "import sys, protego; print(protego.Protego.parse(open(sys.argv[1]).read()).can_fetch('/x', 'MyBot'))"
TAB = MappingProxyType({"_GOODBOT_COMPLETE": "zsh_complete", "COMP_WORDS": "goodbot serve --", "COMP_CWORD": "2"})


@dataclass(frozen=True)
class Task:
    """A command, and what is asked of it."""

    program: str
    task: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def tasks(programs: list[str], robots: str) -> list[Task]:
    """Returns the commands; those of one task one after another."""
    own, scrapy = str(BIN / "goodbot"), str(BIN / "scrapy")
    every = [
        Task("goodbot", "--help", (own, "--help")),
        Task("scrapy", "--help", (scrapy, "--help")),
        Task("wget", "--help", ("wget", "--help")),
        Task("goodbot", "--version", (own, "--version")),
        Task("scrapy", "--version", (scrapy, "version")),
        Task("wget", "--version", ("wget", "--version")),
        Task("goodbot", "Tab", (own,), TAB),
        Task("goodbot", "allowed", (own, "allowed", robots, "--agent", "MyBot", "/x")),
        Task("protego", "allowed", (sys.executable, "-c", PROTEGO, robots)),
        Task("goodbot", "check", (own, "check", robots)),
        Task("goodbot", "crawl --help", (own, "crawl", "--help")),
        Task("goodbot", "serve --help", (own, "serve", "--help")),
    ]
    return [
        Task("python", "pass", (sys.executable, "-c", "pass")),
        *(each for each in every if each.program in programs),
    ]


def cpu_ms(task: Task) -> float:
    """Runs a command and returns its CPU time. Raises CalledProcessError if it fails."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    process = os.posix_spawnp(task.command[0], task.command, {**os.environ, **task.environment}, file_actions=quiet)
    _, status, used = os.wait4(process, 0)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), task.command)
    return 1000 * (used.ru_utime + used.ru_stime)


def measured(chosen: list[Task], runs: int) -> list[list[float]]:
    """Returns the CPU times of each task, sorted. The first round, which fills the caches, does not count."""
    rounds = [[cpu_ms(task) for task in chosen] for _ in range(runs + 1)][1:]
    return [sorted(times) for times in zip(*rounds, strict=True)]


def main() -> int:
    """Prints one row for each command, and its ratio to goodbot's."""
    programs = installed_of(PROGRAMS)
    with tempfile.TemporaryDirectory() as name:
        robots = Path(name) / "robots.txt"
        robots.write_text(ROBOTS)
        chosen = tasks(programs, str(robots))
        times = measured(chosen, RUNS.value())
    ours = {task.task: median(each) for task, each in zip(chosen, times, strict=True) if task.program == "goodbot"}
    print(f"{'task':<14} {'program':<16} {'CPU ms':>7} {'least':>7} {'most':>7} {'ratio':>6}")
    rows = []
    for task, each in zip(chosen, times, strict=True):
        title = _title(task.program)
        ratio = f"{median(each) / ours[task.task]:.2f}" if task.task in ours and task.program != "goodbot" else ""
        print(f"{task.task:<14} {title:<16} {median(each):>7.0f} {each[0]:>7.0f} {each[-1]:>7.0f} {ratio:>6}")
        rows.append({"task": task.task, "program": title, "cpu_ms": median(each), "least": each[0], "most": each[-1]})
    save("startup", {"runs": RUNS.value(), "rows": rows})
    return 0


def _title(program: str) -> str:
    return f"{program} {version(program)}" if program in ("scrapy", "protego", "goodbot") else program


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (RUNS, PROGRAMS), main))
