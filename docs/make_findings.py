"""Writes docs/findings.md from the records of `goodbot.check`; a test fails if they differ. `make docs` runs it."""

import re
from collections.abc import Iterator
from pathlib import Path

from goodbot.check.checker import KINDS
from goodbot.check.explanation import Example, explain

PAGE = Path(__file__).parent / "findings.md"

HEAD = """# What `goodbot check` finds

Generated from the records in `src/goodbot/check`. Each kind of finding has a code, a title and a usual severity; the
severity of a single finding can differ. **error**: the file does not do what its author intended. **warning**: it may
not, or not for every robot. **info**: worth knowing. Each kind has an example that is reported and one that is not
reported under this code; other codes may apply to it. The tests run both. How to use the command, and how to suppress
findings: [how-to/check.md](how-to/check.md). How often each kind occurs in real files:
[robots-in-the-wild.md](robots-in-the-wild.md).
"""

ROOMS = {
    "R0": "Fetching: what the server answers for robots.txt",
    "R1": "Bytes: encoding, line endings, invisible characters",
    "R2": "Syntax: lines that robots cannot read or read differently",
    "R3": "Agents: names of robots",
    "R4": "Paths: rules that match nothing, or more or less than they seem to",
    "R5": "Meaning: rules that have no effect, or another effect than they seem to have",
    "R6": "Other records",
    "R7": "Pages: META robots, header fields, and robots.txt",
}


def page() -> str:
    """The whole page."""
    parts = [HEAD, "| code | title | usual severity |", "|---|---|---|"]
    parts += [f"| [{code}](#{code.lower()}) | {_cell(kind.title)} | {kind.severity} |" for code, kind in KINDS.items()]
    for room, title in ROOMS.items():
        parts += ["", f"## {title}"]
        for kind in KINDS.values():
            if kind.code.startswith(room):
                parts += _section(kind.code)
    return "\n".join([*parts, ""])


def _section(code: str) -> Iterator[str]:
    kind = explain(code)
    yield from ("", f'### <a id="{code.lower()}"></a>{code}: {kind.title}', "")
    source = kind.source.replace("docs/robots-directory.md", "[the directory](robots-directory.md)")
    yield " ".join(filter(None, (f"{kind.severity.capitalize()}.", kind.note, f"Source: {_linked(source)}.")))
    yield from ("", *_shown(kind.example, "Reported"), "")
    yield f"> {kind.example_severity}, line {kind.line}, column {kind.column}: {_plain(kind.text)}"
    yield from (">", f"> Affects: {_plain(kind.affects)}.")
    if kind.fix:
        yield from (">", f"> Fix: {_plain(kind.fix)}{'' if kind.fix.endswith('?') else '.'}")
    yield from ("", *_shown(kind.not_reported, "Not reported"))


def _shown(example: Example, title: str) -> Iterator[str]:
    """The file, and before it what is known about it."""
    yield f"{title}{', ' if example.given else ''}{_linked(example.given)}:"
    yield from ("", "```", *example.text.splitlines(), "```")


def _linked(text: str) -> str:
    """Turns URLs outside code into links."""
    parts = text.split("`")
    return "`".join(part if n % 2 else re.sub(r"https?://[^\s;,]+", r"<\g<0>>", part) for n, part in enumerate(parts))


def _plain(text: str) -> str:
    """Escapes what looks like a tag outside code."""
    parts = text.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
