"""Writes docs/parsers.md: what other parsers of robots.txt answer to our test vectors. `make parsers-report` runs it.

    python docs/make_parsers_report.py                 asks all parsers, two minutes each at most
    python docs/make_parsers_report.py protego         asks protego, and keeps the last answers of the others
    python docs/make_parsers_report.py --from-results  asks none, and writes the page from the last answers

Parsers of PyPI and npm are installed into .peers/parsers, each into a folder of its own. Answers are kept in
build/parsers.
"""

import base64
import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from make_exam_report import escaped  # noqa: E402
from parsers.known import NOT_ASKED, PARSERS, Parser  # noqa: E402

from goodbot.vectors import KINDS, VERSION, Case, Expected, all_cases, selected  # noqa: E402

PAGE: Final = ROOT / "docs" / "parsers.md"
RESULTS: Final = ROOT / "build" / "parsers"
INSTALLED: Final = ROOT / ".peers" / "parsers"
ANSWER_S: Final = 5.0
"""How long a parser may take for one case."""
PARSER_S: Final = 120.0
"""How long a parser may take for all cases."""
INSTALL_S: Final = 300
SHOWN_CHARS: Final = 160


@dataclass(slots=True)
class Answers:
    """What a parser answered: by the id of the case, allowed or not, or the text of an error. `absent`: why it was not
    asked."""

    version: str = ""
    absent: str = ""
    answers: dict[str, bool | str] = field(default_factory=dict)
    slowest_s: float = 0.0
    slowest_id: str = ""


# ---- asking ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Asks the parsers and writes the page."""
    known = {parser.name: parser for parser in PARSERS}
    names = [] if list(arguments) == ["--from-results"] else list(arguments) or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no parser: {', '.join(unknown)}; there are {', '.join(known)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    cases = all_cases()
    for name in names:
        sys.stderr.write(f"{name}\n")
        _file(known[name]).write_text(json.dumps(asdict(asked(known[name], cases))), encoding="utf-8")
    kept = {parser: _load(parser) for parser in PARSERS if _file(parser).is_file()}
    PAGE.write_text(page(kept, cases), encoding="utf-8")


def _file(parser: Parser) -> Path:
    return RESULTS / (re.sub(r"[^a-z0-9]+", "-", parser.name.lower()).strip("-") + ".json")


def _load(parser: Parser) -> Answers:
    return Answers(**json.loads(_file(parser).read_text("utf-8")))


def asked(parser: Parser, cases: Sequence[Case]) -> Answers:
    """Asks one parser about all cases of its dialect."""
    version = installed(parser)
    if version is None:
        return Answers(absent=parser.absent)
    answers = Answers(version=version)
    with Driver(parser) as driver:
        ends = time.monotonic() + PARSER_S
        for case in selected(cases, (parser.dialect,)):
            if time.monotonic() > ends:
                break
            began = time.monotonic()
            answers.answers[case.id] = driver.answer(case)
            took = time.monotonic() - began
            if took > answers.slowest_s:
                answers.slowest_s, answers.slowest_id = took, case.id
    return answers


class Driver:
    """The process that asks one parser. It is started again after it has ended or has not answered in time."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def answer(self, case: Case) -> bool | str:
        """Returns whether the parser allows the URL, or what went wrong."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        question = {"robots": base64.b64encode(case.robots).decode(), "agent": case.agent, "url": case.url}
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # the end of its output says the same
        line = self._line(process)
        if line is None or not line.endswith(b"\n"):
            self._end()
            return f"no answer within {ANSWER_S:g} s" if line is None else "the process ended"
        result = json.loads(line)
        return bool(result["allowed"]) if "allowed" in result else str(result["error"])

    def _start(self) -> "subprocess.Popen[bytes]":
        folder = INSTALLED / self._parser.packages[0] if self._parser.source == "PyPI" else ROOT / "src"
        there = {"PYTHONPATH": str(folder), "NODE_PATH": str(INSTALLED / "npm" / "node_modules")}
        return subprocess.Popen(
            self._parser.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **there},
            bufsize=0,
        )

    def _line(self, process: "subprocess.Popen[bytes]") -> bytes | None:
        """Returns the next line, what came before the end of the output, or None if nothing came in time."""
        assert process.stdout is not None
        line = b""
        ends = time.monotonic() + ANSWER_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, ends - time.monotonic()))
            if not ready:
                return None
            part = process.stdout.read(65_536)
            if not part:
                break
            line += part
        return line

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


# ---- installing -----------------------------------------------------------------------------------------------------


def installed(parser: Parser) -> str | None:
    """Installs a parser if its source can be asked for it. Returns its version, or None."""
    match parser.source:
        case "PyPI":
            return _from_pypi(parser.packages[0])
        case "npm":
            return _from_npm(parser.packages)
        case "Debian":
            return _from_debian(parser.packages[0])
        case "Python":
            return sys.version.partition(" ")[0]
        case _:
            return "this version"


def _from_pypi(package: str) -> str | None:
    folder = INSTALLED / package
    if not folder.is_dir():
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder)
        if not _done((*map(str, pip), package)):
            return None
    found = {each.name.lower(): each.version for each in distributions(path=[str(folder)])}
    return found.get(package.lower())


def _from_npm(packages: Sequence[str]) -> str | None:
    folder = INSTALLED / "npm"
    description = folder / "node_modules" / packages[0] / "package.json"
    if not description.is_file():
        everything = [name for parser in PARSERS if parser.source == "npm" for name in parser.packages]
        options = ("--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
        if not _done(("npm", "install", "--prefix", str(folder), *options, *everything)):
            return None
    return str(json.loads(description.read_text("utf-8"))["version"])


def _from_debian(package: str) -> str | None:
    try:
        command = ("dpkg-query", "--show", "--showformat=${Version}", package)
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return asked.stdout or None


def _done(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=INSTALL_S).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False


# ---- judging --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """One case and what a parser answered; `passed` if that is what we expect."""

    case: Case
    expected: Expected
    answer: bool | str

    @property
    def passed(self) -> bool:
        return self.answer is self.expected.allowed


def judged(parser: Parser, answers: Answers, cases: Iterable[Case]) -> list[Judged]:
    """Compares the answers with what we expect; cases that it was not asked about are left out."""
    return [
        Judged(case, case.expected[parser.dialect], answers.answers[case.id])
        for case in cases
        if parser.dialect in case.expected and case.id in answers.answers
    ]


# ---- the page -------------------------------------------------------------------------------------------------------

INTRO: Final = f"""# What parsers of robots.txt answer to our test vectors

`goodbot vectors` has {{cases:,}} cases for parsers of robots.txt, each with the result by RFC 9309, by Google's parser,
by older texts, or by several of these ([how to use them](how-to/test-vectors.md)); so each text has fewer cases.
This page shows what parsers of PyPI, npm and Debian answer. `make parsers-report` asks them again and writes this
page. Version of the vectors: {VERSION}.

How to read it:

- **The authors of goodbot wrote the cases**, so goodbot passes them; its rows show only that. Where a case is wrong, we
  want to know.
- A parser is judged by the text that its documentation or source names (column *judged by*), and by the cases for
  that text only. If it names none, it is judged by the text whose features it has (see *Why each is judged by this
  text*).
- **must**: {KINDS["must"]}. Only in these cases is another answer a failure.
- **reading**: {KINDS["reading"]}. **choice**: {KINDS["choice"]}.
  A parser that answers otherwise is not wrong. The last column counts, over all kinds, the answers that equal
  goodbot's.
- Percentages are cut after the first decimal, not rounded: 100.0 % means all.
- Many cases differ from each other in one byte only, so one fault may fail a hundred of them: the number of failed
  cases says little about how often a fault matters on the Web. Each line under *What failed* is about one kind of
  question.
- Each parser is used as its documentation shows, by the programs in `docs/parsers/`. An *error* is an exception, a
  crash, or no answer within {ANSWER_S:g} seconds; it counts as failed.
- *slowest* is the longest time for one case, parsing included, on one busy core.
"""

FAILURES: Final = """One line for each section and kind of question, with one example. `goodbot vectors --json` has
every case, by its id."""


def page(kept: Mapping[Parser, Answers], cases: Sequence[Case]) -> str:
    """Returns the whole page, without anything specific to this machine."""
    there = {parser: judged(parser, answers, cases) for parser, answers in kept.items() if not answers.absent}
    absent = {parser.name: answers.absent for parser, answers in kept.items() if answers.absent}
    lines = [
        INTRO.format(cases=len(cases)),
        *("## Results", "", *_totals(kept, there), ""),
        *("Not tested:", "", *(f"- {name}: {reason}." for name, reason in {**absent, **NOT_ASKED}.items()), ""),
        *("## Why each is judged by this text", ""),
        *(f"- {parser.name}: {parser.claim}." for parser in there if parser.source != "goodbot"),
        *("", "## What failed", ""),
        FAILURES,
        *("", *(line for parser, results in there.items() for line in _failures(parser, results))),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _totals(kept: Mapping[Parser, Answers], there: Mapping[Parser, list[Judged]]) -> Iterator[str]:
    yield "| parser | from | version | judged by | must: passed | errors | slowest | all: same answer as goodbot |"
    yield "|---|---|---|---|---:|---:|---:|---:|"
    for parser, results in there.items():
        must = [each for each in results if each.expected.kind == "must"]
        errors = sum(isinstance(each.answer, str) for each in results)
        cells = (
            *(parser.name, parser.source, kept[parser].version, parser.dialect, _share(must), f"{errors:,}"),
            *(f"{kept[parser].slowest_s * 1000:,.0f} ms", _share(results)),
        )
        yield f"| {' | '.join(cells)} |"


def _share(results: Sequence[Judged]) -> str:
    passed = sum(each.passed for each in results)
    tenths = 1000 * passed // max(len(results), 1)  # rounded down: 100 % means all
    return f"{passed:,} of {len(results):,} ({tenths / 10:.1f} %)"


def _failures(parser: Parser, results: Sequence[Judged]) -> Iterator[str]:
    """One line for each section and topic in which a case failed that the text decides."""
    if parser.source == "goodbot":
        return
    yield from (f"### {parser.name}", "")
    groups: dict[tuple[str, str], list[Judged]] = {}
    for each in results:
        if each.expected.kind == "must":
            groups.setdefault((each.expected.section, each.case.topic), []).append(each)
    failed = {key: group for key, group in sorted(groups.items()) if not all(each.passed for each in group)}
    if not failed:
        yield from (f"{parser.name} passed everything that the text decides.", "")
        return
    yield "| section | kind of question | failed | example: robots.txt, robot, URL | expected | answered |"
    yield "|---|---|---:|---|---|---|"
    for (section, topic), group in failed.items():
        wrong = [each for each in group if not each.passed]
        example = min(wrong, key=lambda each: len(each.case.robots) + len(each.case.url))
        cells = (
            *(section, topic, f"{len(wrong):,} of {len(group):,}", _shown(example.case)),
            *(_word(example.expected.allowed), _word(example.answer)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _shown(case: Case) -> str:
    text = _on_one_line(case.robots)
    cut = text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(case.robots):,} octets)"
    return f"{case.note}: {_code(cut)} {_code(case.agent)} {_code(case.url)} ({case.id})".replace("|", "\\|")


def _on_one_line(robots: bytes) -> str:
    return repr(robots.decode("utf-8", "backslashreplace"))[1:-1].replace("\\\\", "\\")


def _code(text: str) -> str:
    if not text:
        return "(empty)"
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _word(answer: bool | str) -> str:
    if isinstance(answer, str):
        return f"error: {escaped(answer[:80])}"
    return "allowed" if answer else "disallowed"


if __name__ == "__main__":
    main(sys.argv[1:])
