"""Writes docs/exam.md: the results of each crawler with a recipe in `goodbot exam`. `make exam-report` runs it.

    python docs/make_exam_report.py               drives all crawlers, one after another, ten minutes each at most
    python docs/make_exam_report.py wget          drives wget, and keeps the last cards of the others
    python docs/make_exam_report.py --from-cards  drives none, and writes the page from the last cards

Cards are kept in build/exam.
"""

import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from goodbot.errors import InputError
from goodbot.exam.card_report import printable
from goodbot.exam.conduct import THE_DRIVE
from goodbot.exam.drive import as_typed
from goodbot.exam.recipes import RECIPES, Recipe
from goodbot.exam.rules import RULES
from goodbot.exam.sites import all_sites
from goodbot.exam.sites.endless import ALLOWED_REQUESTS

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "exam.md"
CARDS: Final = ROOT / "build" / "exam"
MINUTES: Final = 10

Card = Mapping[str, Any]
"""The output of `goodbot exam --json`; or only `absent`, the reason why a crawler was not driven."""


@dataclass(frozen=True, slots=True)
class Drive:
    """One crawler and all sites, or all sites `without` one that crashes it before it has visited the others."""

    recipe: Recipe
    without: str | None = None

    @property
    def name(self) -> str:
        return self.recipe.name + (f", without {self.without}" if self.without else "")

    @property
    def card_file(self) -> Path:
        return CARDS / f"{self.name.replace(', ', '-').replace(' ', '-')}.json"


DRIVES: Final = (*map(Drive, RECIPES.values()), Drive(RECIPES["crawlee"], without="endless-body"))

NOT_DRIVEN: Final = "No drive above visited these sites: "

INTRO: Final = f"""# Exam results

`goodbot exam` serves a web of hard sites and writes a score card for a crawler. This page shows what each crawler with
a recipe did there. Each ran alone, for {MINUTES} minutes at most, configured politely as its recipe says.
`make exam-report` runs them again and writes this page; `goodbot exam --list` shows what each site is about, and the
specification behind it; `goodbot exam --with NAME` runs one crawler.

A crawler passes a site if it did everything expected there, extras aside. It gets the points of every rule it met, even
at a site it failed. Extras only give points: a crawler that does not do them can still pass. Memory is the highest sum
over all processes of a crawler. If one site crashes a crawler, the crawler runs a second time without that site.

trap-repeating-path, trap-session-ids and trap-calendar allow 50 to 150 requests. The newer endless traps allow
{ALLOWED_REQUESTS:,}, so that a crawler without rules for traps passes if it limits the pages of each host. Every trap
has real pages next to it, which the crawler has to find. A wall is a challenge page that a site sends to robots in
place of its pages.
"""


# ---- driving --------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Drives the crawlers and writes the page."""
    names = [] if list(arguments) == ["--from-cards"] else list(arguments) or list(RECIPES)
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        raise SystemExit(f"no recipe: {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    CARDS.mkdir(parents=True, exist_ok=True)
    for drive in DRIVES:
        if drive.recipe.name in names:
            drive.card_file.write_text(json.dumps(driven(drive)), encoding="utf-8")
    cards = {drive: json.loads(drive.card_file.read_text("utf-8")) for drive in DRIVES if drive.card_file.is_file()}
    PAGE.write_text(page(cards), encoding="utf-8")


def driven(drive: Drive) -> Card:
    """Drives one crawler and returns its card. Progress goes to standard error."""
    try:
        drive.recipe.find()
    except InputError as error:
        return {"absent": str(error)}
    sites = [site.name for site in all_sites() if drive.without and site.name != drive.without]
    command = [
        *(sys.executable, "-m", "goodbot", "exam", "--with", drive.recipe.name, "--minutes", str(MINUTES), "--json"),
        *(option for name in sites for option in ("--site", name)),
    ]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"goodbot exam --with {drive.recipe.name} ended with status {ended.returncode}")
    card = json.loads(ended.stdout)
    assert isinstance(card, dict)
    return card


# ---- the page -------------------------------------------------------------------------------------------------------


def page(cards: Mapping[Drive, Card]) -> str:
    """Returns the whole page, without anything specific to this machine."""
    there = {drive.name: card for drive, card in cards.items() if "absent" not in card}
    absent = [
        f"- {drive.name} was not driven, because it is not installed." for drive in cards if drive.name not in there
    ]
    lines = [
        *(INTRO, "## The crawlers", "", *_totals(there), "", *absent, "", *_coverage(there), ""),
        *("", "## Site by site", "", *_sites(there), ""),
        *("## What failed", "", *(line for name, card in there.items() for line in _failures(name, card))),
        *("## Extras", "", *_extras(there), ""),
        *("## How they were driven", "", _seeds(), "", *_recipes(cards)),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _totals(cards: Mapping[str, Card]) -> Iterator[str]:
    heads = (
        "crawler",
        "driven on",
        "sites",
        "passed",
        "failed",
        "skipped",
        "manners",
        "skill",
        "requests",
        "peak MB",
        "CPU s",
    )
    rows = [(_title(name, card), *_total(card)) for name, card in cards.items()]
    yield from _table((*heads, "minutes", "drive as a whole"), rows, numbers_from=2)


def _coverage(cards: Mapping[str, Card]) -> Iterator[str]:
    """Says how many sites there are today, and which of them no drive has visited."""
    sites = all_sites()
    driven = {site["name"] for card in cards.values() for site in card["sites"]}
    added = [site.name for site in sites if site.name not in driven]
    yield f"The exam has {len(sites)} sites today. Each drive visited those of its day (columns *driven on*, *sites*)."
    if added:
        yield from ("", f"{NOT_DRIVEN}{', '.join(added)}.")


def _title(name: str, card: Card) -> str:
    """Returns name and version."""
    return str(card["crawler"]) + name.removeprefix(name.partition(",")[0])


def _total(card: Card) -> tuple[str, ...]:
    results = [_result(site) for site in card["sites"] if site["name"] != THE_DRIVE]
    drive = next((site for site in card["sites"] if site["name"] == THE_DRIVE), None)
    return (
        datetime.fromtimestamp(card["began_at"], UTC).strftime("%Y-%m-%d"),
        str(len(results)),
        *(str(results.count(result)) for result in ("passed", "failed", "skipped")),
        *("{points} of {max}".format(**card[kind]) for kind in ("manners", "skill")),
        f"{sum(site['requests'] for site in card['sites'] if site['name'] != THE_DRIVE):,}",
        f"{(card['peak_memory_bytes'] or 0) / 1e6:,.0f}",
        f"{card['cpu_s']:,.1f}",
        f"{card['elapsed_s'] / 60:.1f}",
        _result(drive) if drive else "",
    )


def _sites(cards: Mapping[str, Card]) -> Iterator[str]:
    """Returns a table row for each site, in the order of the card."""
    names = dict.fromkeys(site["name"] for card in cards.values() for site in card["sites"])
    results = {name: {site["name"]: _shown(site) for site in card["sites"]} for name, card in cards.items()}
    yield from _table(("site", *cards), [(site, *(results[name].get(site, "") for name in cards)) for site in names])
    skipped = {
        (site["name"], site["skipped"]): None for card in cards.values() for site in card["sites"] if site["skipped"]
    }
    if skipped:
        yield ""
        yield from (f"Skipped: {name} ({escaped(reason)})." for name, reason in skipped)


def _failures(name: str, card: Card) -> Iterator[str]:
    """Lists everything that failed, one line each."""
    yield from (f"### {_title(name, card)}", "")
    failed = [line for site in card["sites"] for line in _failed_lines(site)]
    yield from failed or [f"{name} did everything expected."]
    yield ""


def _failed_lines(site: Card) -> list[str]:
    failed = [mark for mark in site["marks"] if not (mark["passed"] or mark["extra"])]
    if not site["requests"] and site["name"] != THE_DRIVE:
        failed = failed[:1]  # it sent no request: one line is enough
    return [
        f"- {site['name']}: expected: {escaped(mark['expected'])}; observed: {escaped(mark['observed'])}"
        for mark in failed
    ]


def _extras(cards: Mapping[str, Card]) -> Iterator[str]:
    rows = []
    for site, rule in dict.fromkeys(extra for card in cards.values() for extra in _extra_marks(card)):
        results = [_extra_marks(card).get((site, rule), "") for card in cards.values()]
        rows.append((site, escaped(RULES[rule].requirement), *results))
    yield from _table(("site", "extra", *cards), rows)


def _extra_marks(card: Card) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for site in card["sites"]:
        for mark in site["marks"]:
            if mark["extra"]:
                key = (site["name"], mark["rule"])
                found[key] = "yes" if mark["passed"] and found.get(key) != "no" else "no"
    return found


def _seeds() -> str:
    return (
        "`goodbot exam` fills in `{seeds}`, `{seed-file}`, `{ca-file}`, `{proxy}` and `{dir}`; "
        "`{peers}` is the folder goodbot/exam/peers of the package. "
        f"Python {platform.python_version()}, {platform.system()}."
    )


def _recipes(cards: Mapping[Drive, Card]) -> Iterator[str]:
    for drive, card in cards.items():
        if drive.without is None and "absent" not in card:
            recipe = drive.recipe
            yield from (f"### {card['crawler']}", "", *(f"- {sentence}" for sentence in recipe.settings))
            yield from (f"- It is known to fail {site}: {reason}." for site, reason in recipe.fails.items())
            yield from (f"- It writes into `{{dir}}`: {recipe.keeps}.", "", "```", as_typed(recipe.shown), "```", "")


# ---- Markdown -------------------------------------------------------------------------------------------------------


def _result(site: Card) -> str:
    return {True: "passed", False: "failed", None: "skipped"}[site["passed"]]


def _shown(site: Card) -> str:
    return f"**{_result(site)}**" if site["passed"] is False else _result(site)


def escaped(text: str) -> str:
    """Returns the text on one line, cut to a bounded length, with Markdown characters escaped."""
    return re.sub(r"([\\`*_<>|\[\]#])", r"\\\1", printable(text))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers_from: int | None = None) -> Iterator[str]:
    """Returns the lines of a table. Columns from `numbers_from` on are aligned to the right."""
    right = len(heads) if numbers_from is None else numbers_from
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---:' if column >= right else '---' for column in range(len(heads)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
