"""Writes docs/reference/dialects.md: each answer on it comes from the dialects' records and from what they answer about
small files. `make docs` runs it; a test fails if they differ."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.exclusion import LIMIT_BYTES, Access, RobotsTxt
from goodbot.exclusion.robotstxt.dialect import Dialect
from goodbot.exclusion.robotstxt.dialects import DIALECTS
from goodbot.exclusion.validity.outage import Outage

DOCS: Final = Path(__file__).parent
PAGE: Final = DOCS / "reference" / "dialects.md"
AGENT: Final = "MyBot/1.0"
HOUR_S: Final = 3600.0
DAY_S: Final = 24 * HOUR_S

HEAD: Final = f"""# Dialects of robots.txt

A dialect is one way of reading a robots.txt. goodbot's own robot reads by RFC 9309. For the others, ask
`goodbot allowed robots.txt --agent MyBot --dialect all /x`, or `RobotsTxt.parse(body, "google")`. This page is
generated from the code: each *yes* and *no* is what the dialect answers about the file with the same number at the end.

In all dialects only the first {LIMIT_BYTES // 1024} KiB of a file count. Any sequence of bytes can be read; none
causes an error.
"""


class Case(NamedTuple):
    """A question, a file, and a URL. The answer is yes if the dialect decides about the URL as `allowed` says."""

    question: str
    robots: str
    url: str
    allowed: bool


GROUPS: Final = (
    Case(
        "Are all groups of a robot combined?",
        "User-agent: MyBot\nDisallow: /a\n\nUser-agent: MyBot\nDisallow: /b",
        "/b",
        False,
    ),
    Case("Does a group go on after a blank line?", "User-agent: MyBot\n\nDisallow: /a", "/a", False),
    Case("Does the group of `Bot`, a part of its name, apply to it?", "User-agent: Bot\nDisallow: /a", "/a", False),
    Case(
        "Does the group of `MyBot-News`, which contains its name, apply to it?",
        "User-agent: MyBot-News\nDisallow: /a",
        "/a",
        False,
    ),
    Case("May a line have several names, with spaces?", "User-agent: OtherBot MyBot\nDisallow: /a", "/a", False),
    Case("May a line have several names, with commas?", "User-agent: OtherBot, MyBot\nDisallow: /a", "/a", False),
)
RULES: Final = (
    Case("Is Allow a rule?", "User-agent: *\nAllow: /a\nDisallow: /", "/a", True),
    Case("Does a longer rule count more than an earlier one?", "User-agent: *\nDisallow: /\nAllow: /a", "/a", True),
    Case("Does Allow win over an equal Disallow before it?", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    Case("Does an empty Disallow close everything?", "User-agent: *\nDisallow:", "/a", False),
    Case("May a rule have several paths?", "User-agent: *\nDisallow: /b /a", "/a", False),
    Case("Is `*` in a rule a wildcard?", "User-agent: *\nDisallow: /*.pdf", "/a.pdf", False),
    Case("… and with `Robot-version: 2.0`?", "User-agent: *\nRobot-version: 2.0\nDisallow: /*.pdf", "/a.pdf", False),
    Case("Is `$` the end of a URL?", "User-agent: *\nDisallow: /a$", "/a", False),
    Case("Does `%61` match `a`?", "User-agent: *\nDisallow: /%61", "/a", False),
    Case("Does `%2F` match `/`?", "User-agent: *\nDisallow: /a%2Fb", "/a/b", False),
    Case("Does `/index.html` also open its folder?", "User-agent: *\nDisallow: /\nAllow: /a/index.html", "/a/", True),
    Case("Is /robots.txt always allowed?", "User-agent: *\nDisallow: /", "/robots.txt", True),
)
STATUSES: Final = (200, 301, 401, 402, 403, 404, 429, 500)
WORDS: Final = {"rules": "its rules", "open": "all allowed", "closed": "all closed"}
OUTAGES: Final = {
    "with an earlier copy of the file, after an hour": Outage(0, HOUR_S, 0, True),
    "with an earlier copy of the file, after a day": Outage(0, DAY_S, 0, True),
    "with an earlier copy of the file, after 31 days": Outage(0, 31 * DAY_S, 0, True),
    "without an earlier copy, after a day": Outage(0, DAY_S, None, True),
}


def page() -> str:
    """Returns the page."""
    parts = [HEAD, *_texts(), "", "## Which group applies to a robot", "", f"The robot is `{AGENT}`.", ""]
    parts += [*_cases(GROUPS, 1), "", "## Which rule counts", "", *_cases(RULES, 1 + len(GROUPS))]
    parts += [
        "",
        "## What an answer for robots.txt means",
        "",
        "A 301 means that no file was found behind the redirects.",
        "",
    ]
    parts += [
        *_statuses(),
        "",
        "While robots.txt cannot be reached (a status such as 500, or no answer):",
        "",
        *_outages(),
    ]
    parts += ["", "## What else differs", "", *_records()]
    parts += ["", "## Sections in verdicts", "", "A verdict names the section that decides.", "", *_sections()]
    parts += ["", "## The files behind the answers", ""]
    for number, case in enumerate((*GROUPS, *RULES), start=1):
        parts += [f"{number}. `{case.url}`: *yes* means {'allowed' if case.allowed else 'disallowed'}.", ""]
        parts += [f"    {line}".rstrip() for line in ("```", *case.robots.splitlines(), "```")] + [""]
    return "\n".join(parts)


def _texts() -> Iterator[str]:
    """Yields the table of dialects; the titles of the texts are those of the page on conformance."""
    conformance = (DOCS / "conformance.md").read_text(encoding="utf-8")
    titles = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", conformance, re.MULTILINE))
    yield from ("| dialect | text | name of its sections in verdicts | details |", "|---|---|---|---|")
    for dialect in DIALECTS.values():
        own = DOCS / "conformance" / f"{dialect.name}.md"
        details = f"conformance/{own.name}" if own.exists() else "conformance.md"
        yield f"| `{dialect.name}` | {titles[dialect.source]} | {dialect.source} | [conformance](../{details}) |"


def _table(first: str, rows: dict[str, Callable[[Dialect], str]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(f'`{name}`' for name in DIALECTS)} |"
    yield "|---" * (1 + len(DIALECTS)) + "|"
    for title, cell in rows.items():
        yield f"| {title} | {' | '.join(map(cell, DIALECTS.values()))} |"


def _cases(cases: tuple[Case, ...], first: int) -> Iterator[str]:
    def answer(case: Case) -> Callable[[Dialect], str]:
        def cell(dialect: Dialect) -> str:
            allowed = RobotsTxt.parse(case.robots, dialect.name).allows(case.url, AGENT)
            return "yes" if allowed == case.allowed else "no"

        return cell

    rows = {f"{number}. {case.question}": answer(case) for number, case in enumerate(cases, start=first)}
    return _table("", rows)


def _statuses() -> Iterator[str]:
    def in_force(status: int) -> Callable[[Dialect], str]:
        return lambda dialect: WORDS[Access.from_response(status, [], b"", 0.0, dialect.name).in_force]

    return _table("status", {str(status): in_force(status) for status in STATUSES})


def _outages() -> Iterator[str]:
    def in_force(outage: Outage) -> Callable[[Dialect], str]:
        return lambda dialect: WORDS[dialect.outage(outage).in_force]

    return _table("", {name: in_force(outage) for name, outage in OUTAGES.items()})


def _records() -> Iterator[str]:
    robots = "User-agent: *\nAllow: /a\nDisallow: /a\n"

    def winner(dialect: Dialect) -> str:
        return dialect.winner(RobotsTxt.parse(robots, dialect.name).groups[0])

    def days(seconds: float) -> str:
        return f"{seconds / DAY_S:g} day{'' if seconds == DAY_S else 's'}"

    return _table(
        "",
        {
            "a group is called": lambda dialect: dialect.groups_called,
            "the rule that counts is": winner,
            "fields of rules": lambda dialect: ", ".join(sorted(field.title() for field in dialect.rule_fields)),
            "goodbot respects Crawl-delay, Request-rate and Visit-time, which few of these texts mention": lambda d: (
                "yes" if d.reads_timing else "no"
            ),
            "a file is used for, if its headers do not say": lambda dialect: days(dialect.fresh_s),
            "a file is used for, at most": lambda dialect: days(dialect.longest_fresh_s),
        },
    )


SUBJECTS: Final = {
    "group": "which group applies",
    "rule": "which rule counts",
    "itself": "/robots.txt itself",
    "read": "the file was read",
    "cut": "the file was cut",
    "redirected": "nothing behind redirects",
    "unavailable": "there is no file",
    "refused": "the file is refused",
    "unreachable": "it cannot be reached",
}


def _sections() -> Iterator[str]:
    yield f"| dialect | {' | '.join(SUBJECTS.values())} |"
    yield "|---" * (1 + len(SUBJECTS)) + "|"
    for dialect in DIALECTS.values():
        named = {name: getattr(dialect.sections, name) for name in SUBJECTS}
        if not RobotsTxt.parse("User-agent: *\nDisallow: /", dialect.name).allows("/robots.txt", AGENT):
            named["itself"] = "like any URL"
        yield f"| `{dialect.name}` | {' | '.join(named.values())} |"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
