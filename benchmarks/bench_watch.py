"""Compares how fast programs count an access log: goodbot with and without pyarrow, GoAccess, logswan, a loop of `re`.

    make bench-watch DATA=folder

The log is made from `DATA/logs/apache_combined_2015.log`: its lines come again from shifted addresses, at rising
times. A second log has a million addresses and a million paths. Each program runs alone and counts the whole log;
logswan counts only requests, bytes, hours, statuses, methods and visitors. Requests, bytes and statuses of goodbot and
GoAccess are compared. Then goodbot reads a longer log, to see whether its memory grows.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from settings import Setting, UsageError, save, start, whole
from watch_logs import make_log, read_lines

LOG = Path("logs/apache_combined_2015.log")
GOACCESS = "goaccess FILE --log-format=COMBINED --no-global-config --no-progress -o OUT.json"


def _data(text: str) -> Path:
    if not (Path(text) / LOG).is_file():
        raise ValueError(text)
    return Path(text)


DATA = Setting("DATA", "", "where the real log is", f"a folder with {LOG}", _data)
LINES = whole("LINES", 5_000_000, "lines of the logs", 10_000, 100_000_000)
LONG = whole("LONG", 20_000_000, "lines of the log that shows whether memory grows; 0: none", 0, 400_000_000)


@dataclass(frozen=True)
class Run:
    """One run of one program: CPU seconds of all its processes, seconds, and the most memory of any, in MB."""

    program: str
    log: str
    lines: int
    cpu_s: float
    wall_s: float
    memory_mb: float

    @property
    def lines_per_cpu_s(self) -> float:
        return self.lines / self.cpu_s


def measured(program: str, log: str, lines: int, command: Sequence[str], output: Path | None = None) -> Run:
    """Runs a command to its end. Raises UsageError if it fails."""
    began = time.monotonic()
    with (output or Path(os.devnull)).open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise UsageError(f"{program} failed: {said.decode(errors='replace').strip()[-300:]}")
    spent = used.ru_utime + used.ru_stime
    return Run(program, log, lines, round(spent, 2), round(time.monotonic() - began, 2), round(used.ru_maxrss / 1024))


def watch(file: Path, *options: str) -> list[str]:
    """Returns the command of goodbot."""
    return [sys.executable, "-m", "goodbot", "watch", str(file), "--json", *options]


def run_all(file: Path, log: str, lines: int, folder: Path) -> list[Run]:
    """Runs every program on one log, and compares what goodbot and GoAccess counted."""
    ours = {name: folder / f"{name}.json" for name in ("standard", "fast")}
    runs = [
        measured("goodbot, standard library", log, lines, watch(file, "--engine", "standard"), ours["standard"]),
        measured("goodbot[fast]", log, lines, watch(file, "--engine", "fast"), ours["fast"]),
    ]
    if shutil.which("goaccess"):
        out = folder / "goaccess.json"
        command = GOACCESS.replace("FILE", str(file)).replace("OUT.json", str(out)).split(" ")
        runs.append(measured("GoAccess", log, lines, command))
        compare(log, json.loads(ours["fast"].read_bytes()), json.loads(out.read_bytes()))
    else:
        print("goaccess is not installed and is left out", file=sys.stderr)
    if shutil.which("logswan"):
        runs.append(measured("logswan", log, lines, ["logswan", str(file)]))
    else:
        print("logswan is not installed and is left out", file=sys.stderr)
    standard, fast = (json.loads(path.read_bytes()) for path in ours.values())
    print(f"{log}: both engines of goodbot give the same answer: {'yes' if standard == fast else 'NO'}")
    runs.append(measured("Python, re", log, lines, [sys.executable, __file__, "--loop", str(file)]))
    return runs


def compare(log: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Prints requests, bytes and statuses of both."""
    codes: Counter[int] = Counter()
    for group in theirs["status_codes"]["data"]:
        for item in group.get("items", [group]):
            codes[int(item["data"].split()[0])] += item["hits"]["count"]
    rows = [
        ("requests", ours["requests"], theirs["general"]["valid_requests"]),
        ("bytes", ours["bytes"], theirs["general"]["bandwidth"]),
        *((f"status {code}", ours["statuses"].get(str(code), 0), codes[code]) for code in sorted(codes)),
    ]
    differing = [row for row in rows if row[1] != row[2]]
    print(f"{log}: requests, bytes and {len(codes)} statuses: {len(differing)} differ from GoAccess")
    for name, mine, other in differing:
        print(f"  {name}: {mine:,} and {other:,}")


def loop(file: Path) -> None:
    """Counts a log as many scripts do: a regular expression for each line, and three counters."""
    pattern = re.compile(rb'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+)[^"]*" (\d{3}) (\S+) "([^"]*)" "([^"]*)"')
    addresses: Counter[bytes] = Counter()
    paths: Counter[bytes] = Counter()
    agents: Counter[bytes] = Counter()
    with file.open("rb") as lines:
        for line in lines:
            if found := pattern.match(line):
                addresses[found[1]] += 1
                paths[found[4]] += 1
                agents[found[8]] += 1
    print(len(addresses), len(paths), len(agents))


def show(runs: list[Run]) -> None:
    """Prints a table, with lines per CPU second as a ratio to GoAccess."""
    peers = {run.log: run.lines_per_cpu_s for run in runs if run.program == "GoAccess"}
    print(f"{'':<28}{'log':<18}{'lines/CPU s':>12}{'× GoAccess':>12}{'CPU s':>9}{'wall s':>9}{'MB':>7}")
    for run in runs:
        peer = peers.get(run.log)
        ratio = f"{run.lines_per_cpu_s / peer:.2f}" if peer else ""
        print(
            f"{run.program:<28}{run.log:<18}{run.lines_per_cpu_s:>12,.0f}{ratio:>12}"
            f"{run.cpu_s:>9.1f}{run.wall_s:>9.1f}{run.memory_mb:>7.0f}"
        )


def main() -> int:
    """Makes the logs, runs the programs, prints the table and writes it as JSON."""
    lines = read_lines(DATA.value() / LOG)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for log, count, many in (("real", LINES.value(), False), ("high-cardinality", LINES.value(), True)):
            file = folder / "access.log"
            make_log(lines, count, file, many=many)
            runs += run_all(file, log, count, folder)
        if LONG.value():
            file = folder / "access.log"
            for many in (False, True):
                make_log(lines, LONG.value(), file, many=many)
                log = "long, many" if many else "long"
                for engine, program in (("standard", "goodbot, standard library"), ("fast", "goodbot[fast]")):
                    runs.append(measured(program, log, LONG.value(), watch(file, "--engine", engine)))
    show(runs)
    save("watch", {"runs": [{**asdict(run), "lines_per_cpu_s": round(run.lines_per_cpu_s)} for run in runs]})
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--loop"]:
        loop(Path(sys.argv[2]))
    else:
        sys.exit(start(__file__, __doc__, [DATA, LINES, LONG], main))
