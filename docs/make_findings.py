"""Writes docs/findings.md from the records of `goodbot.check`, docs/audit-findings.md from those of `goodbot.audit`.
`make docs` runs it, and a test fails if they differ."""

import re
from collections.abc import Iterator
from pathlib import Path

from goodbot.audit.explanation import explain_audit
from goodbot.audit.kinds import KINDS as AUDIT_KINDS
from goodbot.check.checker import KINDS
from goodbot.check.explanation import Example, explain

PAGE = Path(__file__).parent / "findings.md"
AUDIT_PAGE = Path(__file__).parent / "audit-findings.md"

HEAD = """# What `goodbot check` finds

This page is generated from the records in `src/goodbot/check`; `goodbot explain CODE` shows one of them. Each kind of
finding has a code, a title and a usual severity; some findings of a kind have another severity.

- **error**: the file does not do what its author intended.
- **warning**: it may not, or not for every robot.
- **info**: good to know.

Each kind has an example that is reported, and a similar file that is not reported under this code (other codes may
apply to it). The tests run both. [how-to/check.md](how-to/check.md) explains the command and how to suppress findings;
[conformance.md](conformance.md) describes the dialects. [robots-in-the-wild.md](robots-in-the-wild.md) shows how often
each kind occurs in real files.
"""

SECTIONS = {
    "R0": "Fetching: what the server answers for robots.txt",
    "R1": "Bytes: encoding, line endings, invisible characters",
    "R2": "Syntax: lines that robots cannot read, or read in different ways",
    "R3": "Names of robots",
    "R4": "Paths: rules that match nothing, or more or less than they seem to",
    "R5": "Meaning: rules that have no effect, or another effect than they seem to have",
    "R6": "Other records",
    "R7": "Pages: META robots, header fields, and robots.txt",
}


AUDIT_HEAD = """# What `goodbot audit` finds

This page is generated from the records in `src/goodbot/audit`; `goodbot explain CODE` shows one of them. Each kind of
finding has a code, a title and a usual severity.

- **error**: something is broken for visitors or search engines: a broken link, a loop, a sitemap that lists a
  disallowed page.
- **warning**: a problem that may be intended or temporary, such as a contradiction between sitemap and page, a missing
  title, or a slow page.
- **info**: no fault, but worth knowing.

Each kind has an example of a site that has it, with the message that `goodbot audit` prints, and a similar site that is
not reported under this code (other codes may apply to it). The tests crawl and audit both.
[how-to/audit.md](how-to/audit.md) explains the command.
"""

AUDIT_SECTIONS = {
    "A1": "Links and redirects",
    "A2": "Sitemaps",
    "A3": "noindex, robots.txt and canonical URLs",
    "A4": "Titles and languages",
    "A5": "Time and size",
    "A6": "Pages without links",
}


def audit_page() -> str:
    """Returns the page about the findings of `goodbot audit`."""
    parts = [AUDIT_HEAD, "| code | title | usual severity |", "|---|---|---|"]
    parts += [
        f"| [{code}](#{code.lower()}) | {_cell(kind.title)} | {kind.severity} |" for code, kind in AUDIT_KINDS.items()
    ]
    for prefix, title in AUDIT_SECTIONS.items():
        parts += ["", f"## {title}"]
        for code in AUDIT_KINDS:
            if code.startswith(prefix):
                parts += _audit_section(code)
    return "\n".join([*parts, ""])


def _audit_section(code: str) -> Iterator[str]:
    kind = explain_audit(code)
    yield from ("", f'### <a id="{code.lower()}"></a>{code}: {kind.title}', "")
    yield " ".join(filter(None, (f"{kind.severity.capitalize()}.", kind.note, f"Source: {_linked(kind.source)}.")))
    yield from ("", *_shown(kind.example, "Reported"))
    yield from ("", f"> {_plain(_quoted(kind.text))}", ">", f"> Affects: {_plain(kind.affected)}.")
    yield from (">", f"> Fix: {_plain(_quoted(kind.fix or ''))}.")
    yield from ("", *_shown(kind.not_reported, "Not reported"))


def page() -> str:
    """Returns the page about the findings of `goodbot check`."""
    parts = [HEAD, "| code | title | usual severity |", "|---|---|---|"]
    parts += [f"| [{code}](#{code.lower()}) | {_cell(kind.title)} | {kind.severity} |" for code, kind in KINDS.items()]
    for prefix, title in SECTIONS.items():
        parts += ["", f"## {title}"]
        for kind in KINDS.values():
            if kind.code.startswith(prefix):
                parts += _section(kind.code)
    return "\n".join([*parts, ""])


def _section(code: str) -> Iterator[str]:
    kind = explain(code)
    yield from ("", f'### <a id="{code.lower()}"></a>{code}: {kind.title}', "")
    source = kind.source.replace("docs/robots-directory.md", "[the directory](robots-directory.md)")
    yield " ".join(filter(None, (f"{kind.severity.capitalize()}.", kind.note, f"Source: {_linked(source)}.")))
    yield from ("", *_shown(kind.example, "Reported"), "")
    yield f"> {kind.example_severity}, line {kind.line}, column {kind.column}: {_plain(kind.text)}"
    yield from (">", f"> Affects: {_plain(kind.affected)}.")
    if kind.fix:
        yield from (">", f"> Fix: {_plain(kind.fix)}{'' if kind.fix.endswith('?') else '.'}")
    yield from ("", *_shown(kind.not_reported, "Not reported"))


def _shown(example: Example, title: str) -> Iterator[str]:
    """Yields the file, after a line that says where it was found."""
    yield f"{title}{', ' if example.given else ''}{_quoted(example.given)}:"
    yield from ("", "```", *example.text.splitlines(), "```")


def _linked(text: str) -> str:
    """Turns URLs outside code into links."""
    return _outside_code(text, r"<\g<0>>")


def _quoted(text: str) -> str:
    """Shows the URLs of an example, which lead nowhere, as code."""
    return _outside_code(text, r"`\g<0>`")


def _outside_code(text: str, form: str) -> str:
    parts = text.split("`")
    return "`".join(part if n % 2 else re.sub(r"https?://[^\s;,]+", form, part) for n, part in enumerate(parts))


def _plain(text: str) -> str:
    """Escapes text outside code that looks like a tag."""
    parts = text.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    AUDIT_PAGE.write_text(audit_page(), encoding="utf-8")
