"""Writes docs/findings.md from the records of `goodbot.check`; a test fails if they differ. `make docs` runs it."""

import re
from collections.abc import Iterator
from pathlib import Path

from goodbot.check import Kind, Subject, check
from goodbot.check.checker import KINDS

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
    "R0": "Fetching: how the robots.txt is answered",
    "R1": "Bytes: encoding, line endings, invisible characters",
    "R2": "Syntax: lines that robots cannot read, or read differently",
    "R3": "Agents: names of robots",
    "R4": "Paths: rules that match nothing, or more or less than they seem to",
    "R5": "Meaning: rules that decide nothing, or something else than they seem to",
    "R6": "Other records",
    "R7": "Pages: META robots, header fields, and robots.txt",
}

SHOWN_LINES = 12
SHOWN_CHARS = 100


def page() -> str:
    """The whole page."""
    parts = [HEAD, "| code | title | usual severity |", "|---|---|---|"]
    parts += [f"| [{code}](#{code.lower()}) | {_cell(kind.title)} | {kind.severity} |" for code, kind in KINDS.items()]
    for room, title in ROOMS.items():
        parts += ["", f"## {title}"]
        for kind in KINDS.values():
            if kind.code.startswith(room):
                parts += _section(kind)
    return "\n".join([*parts, ""])


def _section(kind: Kind) -> Iterator[str]:
    found = next(finding for finding in check(kind.example) if finding.code == kind.code)
    yield from ("", f'### <a id="{kind.code.lower()}"></a>{kind.code}: {kind.title}', "")
    source = "the page of its operator, see [the directory](robots-directory.md)" if "{" in kind.source else kind.source
    yield " ".join(filter(None, (f"{kind.severity.capitalize()}.", kind.note, f"Source: {_linked(source)}.")))
    yield from ("", *_shown(kind.example, "Reported"), "")
    yield f"> {found.severity}, line {found.line}, column {found.column}: {_plain(found.message)}"
    yield from (">", f"> Affected: {_plain(found.affected)}.")
    if found.fix:
        yield from (">", f"> Fix: {_plain(found.fix)}{'' if found.fix.endswith('?') else '.'}")
    yield from ("", *_shown(kind.near_miss, "Not reported"))


def _shown(subject: Subject, title: str) -> Iterator[str]:
    """What is known about it, and its first lines."""
    known = [f"at <{subject.url}>"] if subject.url else []
    if subject.answer is not None and subject.answer.redirects:
        known = [f"{' redirects to '.join(f'<{url}>' for url in subject.answer.redirects)}, {_answer(subject)}"]
    elif subject.answer is not None:
        known.append(_answer(subject))
    known += [f"with a page at <{each.url}> that contains `{each.body.decode()}`" for each in subject.pages]
    if subject.robots is not None:
        known.append(f"with the robots.txt `{_one_line(subject.robots)}`")
    yield f"{title}{', ' if known else ''}{', '.join(known)}:"
    yield from ("", "```", *_lines(subject.body), "```")


def _answer(subject: Subject) -> str:
    answer = subject.answer
    if answer is None or answer.status is None:
        return "without an answer"
    fields = "".join(f", `{name}: {value}`" for name, value in answer.headers)
    return f"{'which is ' if answer.redirects else ''}answered with {answer.status}{fields}"


def _one_line(body: bytes) -> str:
    return " / ".join(body.decode().splitlines())


def _lines(body: bytes) -> list[str]:
    """Bytes that are not text and invisible characters are escapes; so are line endings if one of them has a CR."""
    text = body.decode("utf-8", "backslashreplace")
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    end = "" if "\r" in text else "\n"
    shown = ["".join(_visible(character) for character in line.removesuffix(end)) for line in lines if line]
    cut = [line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}… ({len(line):,} characters)" for line in shown]
    return cut[:SHOWN_LINES] + (["…"] if len(cut) > SHOWN_LINES else [])


def _visible(character: str) -> str:
    is_shown = character.isprintable() or character == "\t"
    return character if is_shown else character.encode("unicode_escape").decode()


def _linked(source: str) -> str:
    return re.sub(r"https?://[^\s;]+", lambda found: f"<{found[0]}>", source)


def _plain(text: str) -> str:
    """Escapes what looks like a tag outside code."""
    parts = text.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
