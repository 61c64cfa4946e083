"""Writes the manual pages in packaging/man from the help of the commands. `make docs` runs it; a test fails if they
differ."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import click

from goodbot.cli.command_class import SHARED_HEADING, HelpFormatter
from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.commands import COMMANDS, SECTIONS, group

FOLDER = Path(__file__).parent.parent / "packaging" / "man"
DATE = "2026-11-27"
"""Date of the version, which a manual page must have."""
WIDTH = 76
ORDER = ("SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "EXAMPLES")

SHARED = SHARED_HEADING.upper()
"""The heading of the options that all commands have: they are in goodbot(1) only."""

FILES_AND_VARIABLES = r"""
.SH ENVIRONMENT
.TP
\fBGOODBOT_\fIsetting\fR
The setting of this name, for example \fBGOODBOT_CONTACT\fR. \fBgoodbot config\fR lists all settings.
.TP
\fBNO_COLOR\fR
If it is set, nothing is printed in colours.
.TP
\fBXDG_CONFIG_HOME\fR, \fBXDG_DATA_HOME\fR
The folders that contain the folders below, by default
.I \(ti/.config
and
.IR \(ti/.local/share .
.SH FILES
.TP
.I goodbot.toml
The settings of the working folder.
.TP
.I \(ti/.config/goodbot/goodbot.toml
The settings of the user, if the working folder has none.
.TP
.I \(ti/.config/goodbot/robots/*.toml
The user's records of robots, for \fBgoodbot who\fR and \fBgoodbot watch\fR.
.TP
.I \(ti/.local/share/goodbot/addresses/
Address lists that \fBgoodbot who update\fR has fetched.
"""


class RoffFormatter(HelpFormatter):
    """Writes the help of a command as parts of a manual page: heading → lines."""

    def __init__(self) -> None:
        super().__init__(width=WIDTH, max_width=WIDTH)
        self.parts: dict[str, list[str]] = {}
        self._heading = ""

    def _add(self, *lines: str) -> None:
        self.parts.setdefault(self._heading, []).extend(lines)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Writes the synopsis; what follows is the description."""
        self._heading = "SYNOPSIS"
        self._add(f"\\fB{escaped(prog)}\\fR {escaped(args)}".rstrip())
        self._heading = "DESCRIPTION"

    def write_text(self, text: str) -> None:
        """Writes a paragraph."""
        words = " ".join(text.split())
        if not words.startswith("Exit status: "):
            self._add(*([".PP"] if self.parts.get(self._heading) else []), *paragraph(words))
            return
        before, self._heading = self._heading, "EXIT STATUS"
        said = words.removeprefix("Exit status: ")
        self._add(*paragraph(said[:1].upper() + said[1:]))
        self._heading = before

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Writes terms with their texts."""
        for term, text in rows:
            if term == "-h, --help" and self._heading != SHARED:
                continue
            self._add(".TP", term_line(term), *paragraph(text))

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Puts what is written meanwhile under a heading."""
        before, self._heading = self._heading, name.upper() if name.upper() in (*ORDER, SHARED) else "OPTIONS"
        if self._heading == "OPTIONS" and name != "Options":
            self._add(f'.SS "{escaped(name)}"')
        yield
        self._heading = before

    def write_paragraph(self) -> None:
        """Does nothing: each paragraph begins with `.PP`."""

    def write(self, string: str) -> None:
        """Writes lines as they are: examples."""
        if not self.parts.get(self._heading):
            self._add(".nf")
        self._add(*(escaped(line.replace("\u2011", "-")) for line in textwrap.dedent(string).splitlines()))


def escaped(text: str) -> str:
    """Returns text as roff prints it, also at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


def paragraph(text: str) -> list[str]:
    """Returns folded lines, with what stands in backticks in bold."""
    folded = textwrap.wrap(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)
    lines = "\n".join(map(escaped, folded))
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", lines).replace("`", "\\(ga").split("\n")


def term_line(term: str) -> str:
    """Returns the line of an option: names in bold, values in italics."""
    if not term.startswith("-"):
        return f"\\fB{escaped(term)}\\fR"
    parts = re.split(r"(--?[a-z][\w-]*|[ ,/]+)", term)
    return "".join(_styled(part) for part in parts)


def _styled(part: str) -> str:
    if not part.strip(" ,/"):
        return part
    return f"\\f{'B' if part.startswith('-') else 'I'}{escaped(part)}\\fR"


# ---- pages ----------------------------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """Returns the manual pages by the names of their files."""
    with click.Context(group, info_name="goodbot", **group.context_settings) as root:
        made = {"goodbot.1": _overview(root)}
        for name, summary in COMMANDS.items():
            made[f"goodbot-{name}.1"] = _page(name, summary, _command(name, root), root)
    return made


def _command(name: str, root: click.Context) -> click.Command:
    command = group.get_command(root, name)
    if command is None:
        raise SystemExit(f"no command {name}")
    return command


def _overview(root: click.Context) -> str:
    written = RoffFormatter()
    group.format_usage(root, written)
    group.format_help_text(root, written)
    click.Command.format_options(group, root, written)  # without the commands, which are listed below
    group.format_epilog(root, written)
    lines = [*_title("goodbot", "crawl politely, check robots.txt, search what was crawled")]
    lines += [*_section("SYNOPSIS", written.parts["SYNOPSIS"]), *_section("DESCRIPTION", written.parts["DESCRIPTION"])]
    lines += [".SH COMMANDS", "Each command has a manual page: \\fBgoodbot\\-crawl\\fR(1) and so on."]
    for heading, commands in SECTIONS.items():
        lines.append(f'.SS "{escaped(heading)}"')
        for name, summary in commands.items():
            lines += [".TP", f"\\fBgoodbot {escaped(name)}\\fR", *paragraph(summary)]
    shared = RoffFormatter()
    _write(_command("status", root), "status", root, shared)
    lines += [".SH OPTIONS", *written.parts["OPTIONS"], *_section(SHARED, shared.parts[SHARED])]
    lines += _section("EXIT STATUS", written.parts["EXIT STATUS"])
    return "\n".join([*lines, FILES_AND_VARIABLES.strip(), *_see_also(name for name in COMMANDS)]) + "\n"


def _page(name: str, summary: str, command: click.Command, root: click.Context) -> str:
    lines = _title(f"goodbot-{name}", summary)
    written = RoffFormatter()
    context = _write(command, name, root, written)
    lines += _parts(written)
    for path, below, parent in _below(name, command, context, root):
        inner = RoffFormatter()
        _write(below, path, parent, inner)
        lines += [f'.SH "GOODBOT {escaped(f"{name} {path}" if parent is context else path).upper()}"']
        lines += _parts(inner, ".SS")
    return "\n".join([*lines, *_see_also(())]) + "\n"


def _below(
    name: str, command: click.Command, context: click.Context, root: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """The commands below a command: the words after its parent's, the command, and the parent's context."""
    if isinstance(command, click.Group):
        yield from ((part, each, context) for part, each in command.commands.items())
    others: Mapping[str, click.Command] = command.others if isinstance(command, CommandWithOthers) else {}
    yield from ((f"{name} {part}", each, root) for part, each in others.items())


def _write(command: click.Command, name: str, parent: click.Context, written: RoffFormatter) -> click.Context:
    context = command.context_class(command, info_name=name, parent=parent)
    command.format_help(context, written)
    return context


def _parts(written: RoffFormatter, macro: str = ".SH") -> list[str]:
    if SHARED in written.parts:
        note = f"{SHARED_HEADING}, such as \\fB\\-\\-json\\fR, are in \\fBgoodbot\\fR(1)."
        own = written.parts.get("OPTIONS", [])
        written.parts["OPTIONS"] = [*own, *([".PP"] if own else []), note]
    if "EXAMPLES" in written.parts:
        written.parts["EXAMPLES"].append(".fi")
    return [
        line
        for heading in ORDER
        if heading in written.parts
        for line in _section(heading, written.parts[heading], macro)
    ]


def _title(name: str, summary: str) -> list[str]:
    title = f'.TH {escaped(name.upper())} 1 "{DATE}" "goodbot {version("goodbot")}" "goodbot"'
    small = summary if summary[:2].isupper() else summary[:1].lower() + summary[1:]
    comment = '.\\" Written by docs/make_man.py from the help of the command.'
    return [comment, title, ".SH NAME", f"{escaped(name)} \\- {escaped(small)}"]


def _section(heading: str, body: list[str], macro: str = ".SH") -> list[str]:
    return [f'{macro} "{heading}"' if " " in heading else f"{macro} {heading}", *body]


def _see_also(names: Iterable[str]) -> list[str]:
    listed = [f"\\fBgoodbot\\-{escaped(name)}\\fR(1)" for name in names] or ["\\fBgoodbot\\fR(1)"]
    return ['.SH "SEE ALSO"', *(f"{each}," for each in listed[:-1]), listed[-1]]


def main() -> None:
    """Writes the pages, and removes those of commands that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = pages()
    for file in FOLDER.glob("*.1"):
        if file.name not in made:
            file.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
