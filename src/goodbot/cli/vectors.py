"""`goodbot vectors`: writes our robots.txt test cases for authors of other parsers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from goodbot.cli.command_class import Command
from goodbot.cli.printing import end_when_unread, put, write_json
from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS

if TYPE_CHECKING:
    from goodbot.vectors import Case


@click.command(
    name="vectors",
    cls=Command,
    examples="""
    goodbot vectors -o vectors.txt
    goodbot vectors --json --dialect rfc9309 -o vectors.json
    goodbot vectors --section 2.2.3
    """,
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    metavar="FORMAT",
    help="Output format: text or json.",
)
@click.option(
    "--dialect",
    "dialects",
    type=click.Choice([*DIALECTS, "all"]),
    multiple=True,
    metavar="DIALECT",
    help=f"Only the results in this dialect: {', '.join(DIALECTS)}; or all, as without this option. Repeatable.",
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="SECTION",
    help="Only the results that follow from sections of a text whose names begin with SECTION (in capital or small "
    "letters). A number means a section of RFC 9309: 2.2 includes 2.2.1 to 2.2.4. Repeatable.",
)
def command(form: str, dialects: tuple[str, ...], sections: tuple[str, ...], as_json: bool) -> None:
    """Write goodbot's test vectors for parsers of robots.txt: more than 5,000 cases, each with a robots.txt, a robot, a
    URL, and the result in each dialect that the case applies to. Anybody may use them for anything (CC0-1.0).

    The kind of a result is must (the text requires or recommends it, or prints it in an example), reading (the text can
    be read in several ways) or choice (the text does not mention it).

    With --json: one object with format, version, licence, kinds and the list of cases.

    Exit status: 0: done; 2: a SECTION is empty, or matches no section of the chosen dialects.
    """
    from goodbot.vectors import LICENCE, VERSION, all_cases, as_json_value, as_text, selected  # noqa: PLC0415

    end_when_unread()
    everything, chosen = all_cases(), () if "all" in dialects else dialects
    for section in sections:
        _check_section(section, everything, chosen)
    cases = list(selected(everything, chosen, [_full_name(section) for section in sections]))
    if as_json or form == "json":
        write_json(as_json_value(cases, VERSION, LICENCE))
    else:
        put("".join(as_text(cases, VERSION, LICENCE)).encode())


def _full_name(section: str) -> str:
    """Completes a number to the name of a section. Raises InputError for an empty one, with which all names begin."""
    name = section.strip()
    if not name:
        raise InputError("--section is empty; give a section such as 2.2.3, or leave the option out to write all cases")
    return f"RFC 9309 {name}" if name[:1].isdigit() else name


def _check_section(section: str, cases: "Sequence[Case]", dialects: Sequence[str]) -> None:
    """Raises InputError if no case has a result from this section, or none in these dialects."""
    from goodbot.vectors import selected  # noqa: PLC0415

    wanted = [_full_name(section)]
    if any(selected(cases, dialects, wanted)):
        return
    named = {result.section for case in selected(cases, dialects) for result in case.expected.values()}
    there = "; ".join(sorted(named))
    if dialects and any(selected(cases, (), wanted)):
        chosen = ", ".join(dict.fromkeys(dialects))
        raise InputError(f"section {section!r} is in none of the dialects of --dialect ({chosen}); these have: {there}")
    raise InputError(f"no section begins with {section!r}; there are: {there}")
