"""Writes the counts of docs/robots-in-the-wild.md from a folder of real robots.txt files. If a number is given, draws
that many findings at random and prints them with their lines, so that they can be judged by hand.

    python docs/make_in_the_wild.py FOLDER          the counts
    python docs/make_in_the_wild.py FOLDER 50 9     fifty findings, seed 9
"""

import random
import re
import sys
from collections import Counter
from pathlib import Path

from goodbot.check import Finding, Subject, check
from goodbot.check.checker import KINDS

PAGE = Path(__file__).parent / "robots-in-the-wild.md"
_COUNTS = re.compile(r"(?<=<!-- counts -->\n).*(?=<!-- end of counts -->)", re.DOTALL)


def findings(folder: Path) -> list[tuple[str, Subject, list[Finding]]]:
    """Checks every file; returns its name, the file and its findings."""
    found = []
    for file in sorted(folder.glob("*.txt")):
        subject = Subject(file.read_bytes())
        found.append((file.name, subject, check(subject)))
    return found


def counts(found: list[tuple[str, Subject, list[Finding]]]) -> str:
    """Returns a table with the number of files and of findings for each code."""
    files, all_of = Counter[str](), Counter[str]()
    for _, _, each in found:
        codes = [finding.code for finding in each]
        files.update(set(codes))
        all_of.update(codes)
    clean = sum(all(finding.severity == "info" for finding in each) for _, _, each in found)
    head = (
        f"{len(found):,} files, {all_of.total():,} findings; {clean:,} files have neither an error nor a warning.\n\n"
    )
    rows = [f"| {code} | {kind.title} | {files[code]:,} | {all_of[code]:,} |" for code, kind in KINDS.items()]
    seen = [row for row, code in zip(rows, KINDS, strict=True) if files[code]]
    never = ", ".join(code for code in KINDS if not files[code])
    table = "\n".join(["| code | finding | files | findings |", "|---|---|---|---|", *seen])
    return f"{head}{table}\n\nThese codes do not occur (some need an HTTP response, a URL or a page): {never}.\n"


def draw(found: list[tuple[str, Subject, list[Finding]]], number: int, seed: int) -> None:
    """Prints findings drawn at random, with their lines."""
    say = sys.stdout.write
    everything = [(name, subject, finding) for name, subject, each in found for finding in each]
    chance = random.Random(seed)
    for place, (name, subject, finding) in enumerate(chance.sample(everything, number), 1):
        say(f"{place}. {name}:{finding.line}:{finding.column} {finding.severity} {finding.code} {finding.message}\n")
        say(f"   fix: {finding.fix}\n")
        for line in subject.lines[max(0, finding.line - 4) : finding.line + 2]:
            say(f"   {'>' if line.number == finding.line else ' '} {line.number} {line.text[:120]}\n")


if __name__ == "__main__":
    corpus = findings(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        draw(corpus, int(sys.argv[2]), int(sys.argv[3]))
    else:
        PAGE.write_text(_COUNTS.sub(lambda _: counts(corpus), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
