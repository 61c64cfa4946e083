"""Writes docs/exam.md: the results of each crawler with a recipe in `goodbot exam`. `make exam-report` runs it.

    python docs/make_exam_report.py               drives all crawlers, one after another, ten minutes each at most
    python docs/make_exam_report.py wget curl     drives wget and curl, and keeps the last cards of the others
    python docs/make_exam_report.py --missing     drives those that have no card, for example after an interruption
    python docs/make_exam_report.py --from-cards  drives none, and writes the page from the last cards

Cards are kept in build/exam. It also writes the table of README.md. While a crawler has no card, neither is written.
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
from goodbot.exam.recipe import Recipe
from goodbot.exam.recipes import RECIPES
from goodbot.exam.rules import RULES
from goodbot.exam.sites import all_sites
from goodbot.exam.sites.endless import ALLOWED_REQUESTS

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "exam.md"
README: Final = ROOT / "README.md"
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


CRASHED_BY: Final = {"crawlee": "endless-body", "supercrawler": "endless-body"}
"""The site that ends a crawler's whole run, by crawler. It is driven a second time without that site."""
DRIVES: Final = (
    *map(Drive, RECIPES.values()),
    *(Drive(RECIPES[name], without=site) for name, site in CRASHED_BY.items()),
)

NOT_DRIVEN: Final = "No drive above visited these sites: "
LEFT_OUT: Final = """\
Colly and Katana (Go), Heritrix and Nutch (Java) have no recipe, because Debian, PyPI and npm have no package of them.
crawler and website-scraper of npm have none, because they do not read robots.txt."""
BEST: Final = 5
"""The number of crawlers in README.md: goodbot, and those that passed the most sites."""
README_HEADING: Final = "## How well does it behave?"
README_NOTES: Final = {
    "curl": "*curl* is a shell script of 60 lines: curl fetches, and `goodbot allowed` reads robots.txt.",
    "scrapy-goodbot": "*scrapy-goodbot* is Scrapy with goodbot's middleware.",
}
"""What a reader of the table must know about a crawler to compare it."""
README_TEXT: Final = """
`goodbot exam` is a driving test for crawlers: a web of hard sites on your machine, with traps, broken answers and every
difficult kind of robots.txt. {count} crawlers, each configured to be polite, took it (the last on {date}). These passed
the most sites. *Manners* and *skill* are points; some are for extras, which a crawler need not do to pass a site:

{table}

{notes}[The results](docs/exam.md) of all crawlers list every site, and how each crawler was configured. goodbot's
authors wrote the test; each rule cites its source, so that you can judge it yourself.
"""

INTRO: Final = f"""# Exam results

`goodbot exam` serves a web of hard sites and writes a score card for a crawler. This page shows what each crawler with
a recipe did there. They ran one after another, each for {MINUTES} minutes at most, configured as its recipe says.
`make exam-report` runs them again and writes this page; `goodbot exam --list` shows what each site is about, and the
specification behind it; `goodbot exam --with NAME` runs one crawler.

A crawler passes a site if it did everything expected there, extras aside. It gets the points of every rule it met, even
at a site it failed. Extras only give points: a crawler that does not do them can still pass. Memory is the highest sum
over all processes of a crawler. If one site crashes a crawler, the crawler runs a second time without that site; in the
table of the sites, the second run counts for all others.

trap-repeating-path, trap-session-ids and trap-calendar allow 50 to 150 requests. The newer endless traps allow
{ALLOWED_REQUESTS:,}, so that a crawler without rules for traps passes if it limits the pages of each host. Every trap
has real pages next to it, which the crawler has to find. A wall is a challenge page that a site sends to robots in
place of its pages.
"""


# ---- driving --------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Drives the crawlers and writes the pages."""
    names = [each for each in arguments if each not in {"--from-cards", "--missing"}]
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        raise SystemExit(f"no recipe: {', '.join(unknown)}; there are {', '.join(RECIPES)}")
    CARDS.mkdir(parents=True, exist_ok=True)
    for drive in DRIVES:
        if drive.recipe.name in names or not arguments or ("--missing" in arguments and not drive.card_file.is_file()):
            drive.card_file.write_text(json.dumps(driven(drive)), encoding="utf-8")
    missing = [drive.name for drive in DRIVES if not drive.card_file.is_file()]
    if missing:
        raise SystemExit(f"no card, so no page: {'; '.join(missing)}. --missing drives these")
    cards = {drive: json.loads(drive.card_file.read_text("utf-8")) for drive in DRIVES}
    PAGE.write_text(page(cards), encoding="utf-8")
    README.write_text(with_best(README.read_text("utf-8"), cards), encoding="utf-8")


def driven(drive: Drive) -> Card:
    """Drives one crawler and returns its card. Progress goes to standard error."""
    try:
        drive.recipe.find()
    except InputError as error:
        sys.stderr.write(f"left out: {error}\n")
        return {"absent": str(error)}
    sys.stderr.write(f"driving {drive.name}\n")
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
    there = {drive: card for drive, card in cards.items() if "absent" not in card}
    absent = [f"- {drive.name} was not driven, because it is not installed." for drive in cards if drive not in there]
    lines = [
        *(INTRO, "## The crawlers", "", *_totals(there), "", *absent, "", LEFT_OUT, "", *_coverage(there.values()), ""),
        *("", "## Site by site", "", *_sites(there), ""),
        *("## Extras", "", *_extras(there), ""),
        *("## What failed", "", *(line for drive in there for line in _failures(drive, there))),
        *("## How they were driven", "", _seeds(), "", *_recipes(cards)),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _totals(cards: Mapping[Drive, Card]) -> Iterator[str]:
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
    rows = [(_title(drive, card), *_total(card)) for drive, card in cards.items()]
    yield from _table((*heads, "minutes", "drive as a whole"), rows, numbers_from=2)


def _coverage(cards: Iterable[Card]) -> Iterator[str]:
    """Says how many sites there are today, and which of them no drive has visited."""
    sites = all_sites()
    driven = {site["name"] for card in cards for site in card["sites"]}
    added = [site.name for site in sites if site.name not in driven]
    yield f"The exam has {len(sites)} sites today. Each drive visited those of its day (columns *driven on*, *sites*)."
    if added:
        yield from ("", f"{NOT_DRIVEN}{', '.join(added)}.")


def _title(drive: Drive, card: Card) -> str:
    """Returns name and version."""
    return str(card["crawler"]) + drive.name.removeprefix(drive.recipe.name)


def _date(card: Card) -> str:
    return datetime.fromtimestamp(card["began_at"], UTC).strftime("%Y-%m-%d")


def _total(card: Card) -> tuple[str, ...]:
    results = [_result(site) for site in card["sites"] if site["name"] != THE_DRIVE]
    drive = next((site for site in card["sites"] if site["name"] == THE_DRIVE), None)
    return (
        _date(card),
        str(len(results)),
        *(str(results.count(result)) for result in ("passed", "failed", "skipped")),
        *("{points} of {max}".format(**card[kind]) for kind in ("manners", "skill")),
        f"{sum(site['requests'] for site in card['sites'] if site['name'] != THE_DRIVE):,}",
        f"{(card['peak_memory_bytes'] or 0) / 1e6:,.0f}",
        f"{card['cpu_s']:,.1f}",
        f"{card['elapsed_s'] / 60:.1f}",
        _result(drive) if drive else "",
    )


def _sites(cards: Mapping[Drive, Card]) -> Iterator[str]:
    """Returns a table row for each site, in the order of the cards: how many crawlers passed, and which did not."""
    rows = []
    for name, results in _results(cards).items():
        passed, failed, skipped = (
            [crawler for crawler, result in results.items() if result == each]
            for each in ("passed", "failed", "skipped")
        )
        rows.append((name, f"{len(passed)} of {len(passed) + len(failed)}", ", ".join(failed), ", ".join(skipped)))
    yield from _table(("site", "passed by", "failed by", "skipped by"), rows)
    reasons = {
        (site["name"], site["skipped"]): None for card in cards.values() for site in card["sites"] if site["skipped"]
    }
    yield ""
    yield from (f"Skipped: {name} ({escaped(reason)})." for name, reason in reasons)


def _results(cards: Mapping[Drive, Card]) -> dict[str, dict[str, str]]:
    """Returns the results by site and crawler. What a crawler did on its second run replaces its first."""
    found: dict[str, dict[str, str]] = {}
    for drive, card in cards.items():
        for site in card["sites"]:
            if site["name"] != THE_DRIVE:
                found.setdefault(site["name"], {})[drive.recipe.name] = _result(site)
    return found


def _failures(drive: Drive, cards: Mapping[Drive, Card]) -> Iterator[str]:
    """Lists what failed, one line each. Of a run that a site crashed, it lists that site and the rules for the whole
    drive: the second run has the others."""
    card = cards[drive]
    crashing = [other.without for other in cards if other.recipe == drive.recipe and other.without]
    listed = (*crashing, THE_DRIVE) if crashing and drive.without is None else None
    yield from (f"### {_title(drive, card)}", "")
    failed = [
        line for site in card["sites"] if listed is None or site["name"] in listed for line in _failed_lines(site)
    ]
    yield from failed or [f"{drive.name} did everything expected."]
    yield ""


def _failed_lines(site: Card) -> list[str]:
    failed = [mark for mark in site["marks"] if not (mark["passed"] or mark["extra"])]
    if not site["requests"] and site["name"] != THE_DRIVE:
        failed = failed[:1]  # it sent no request: one line is enough
    return [
        f"- {site['name']}: expected: {escaped(mark['expected'])}; observed: {escaped(mark['observed'])}"
        for mark in failed
    ]


def _extras(cards: Mapping[Drive, Card]) -> Iterator[str]:
    done: dict[tuple[str, str], list[str]] = {}
    for drive, card in cards.items():
        for extra, passed in _extra_marks(card).items():
            done.setdefault(extra, [])
            if passed and drive.recipe.name not in done[extra]:
                done[extra].append(drive.recipe.name)
    rows = [(site, escaped(RULES[rule].requirement), ", ".join(names)) for (site, rule), names in done.items()]
    yield from _table(("site", "extra", "done by"), rows)


def _extra_marks(card: Card) -> dict[tuple[str, str], bool]:
    found: dict[tuple[str, str], bool] = {}
    for site in card["sites"]:
        for mark in site["marks"]:
            if mark["extra"]:
                key = (site["name"], mark["rule"])
                found[key] = mark["passed"] and found.get(key, True)
    return found


def _seeds() -> str:
    return (
        "`goodbot exam` fills in `{seeds}`, `{seed-file}`, `{ca-file}`, `{proxy}` and `{dir}`; "
        "`{peers}` is the folder goodbot/exam/peers of the package, `{python}` the Python of goodbot. "
        f"Python {platform.python_version()}, {platform.system()}."
    )


def _recipes(cards: Mapping[Drive, Card]) -> Iterator[str]:
    for drive, card in cards.items():
        if drive.without is None and "absent" not in card:
            recipe = drive.recipe
            yield from (f"### {card['crawler']}", "", *(f"- {sentence}" for sentence in recipe.settings))
            yield from (f"- It is known to fail {site}: {reason}." for site, reason in recipe.fails.items())
            yield from (f"- It writes into `{{dir}}`: {recipe.keeps}.", "", "```", as_typed(recipe.shown), "```", "")


# ---- README.md ------------------------------------------------------------------------------------------------------


def with_best(readme: str, cards: Mapping[Drive, Card]) -> str:
    """Returns README.md with a new section about the best crawlers, each with the better of its runs."""
    there = {drive: card for drive, card in cards.items() if "absent" not in card}
    runs = sorted(there, key=lambda drive: (drive.recipe.name != "goodbot", -_passed(there[drive])))
    best = {drive.recipe.name: drive for drive in reversed(runs)}
    chosen = [drive for drive in runs if best[drive.recipe.name] is drive]
    rows = [_best_row(_title(drive, there[drive]), there[drive]) for drive in chosen[:BEST]]
    notes = [README_NOTES[drive.recipe.name] for drive in chosen[:BEST] if drive.recipe.name in README_NOTES]
    heads = ("crawler", "sites passed", "manners", "skill", "requests", "peak memory")
    text = README_TEXT.format(
        count=len(chosen),
        notes="".join(f"{note}\n" for note in notes),
        date=max(map(_date, there.values())),
        table="\n".join(_table(heads, rows, numbers_from=1)),
    )
    before, heading, after = readme.partition(f"{README_HEADING}\n")
    _old, next_heading, rest = after.partition("\n## ")
    if not next_heading:
        raise SystemExit(f"README.md has no section {README_HEADING!r}")
    return before + heading + text + next_heading + rest


def _best_row(title: str, card: Card) -> tuple[str, ...]:
    _day, sites, passed, _failed, _skipped, manners, skill, requests, megabytes, *_ = _total(card)
    return (title, f"{passed} of {sites}", manners, skill, requests, f"{megabytes} MB")


def _passed(card: Card) -> int:
    return sum(site["passed"] is True for site in card["sites"] if site["name"] != THE_DRIVE)


# ---- Markdown -------------------------------------------------------------------------------------------------------


def _result(site: Card) -> str:
    return {True: "passed", False: "failed", None: "skipped"}[site["passed"]]


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
