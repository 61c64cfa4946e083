"""The recipes: what they ask of a crawler, how it is found, and the page that compares what they got."""

import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from goodbot.errors import InputError
from goodbot.exam.conduct import THE_DRIVE, identity_fault
from goodbot.exam.drive import DrivePlan
from goodbot.exam.recipe import PEERS
from goodbot.exam.recipes import RECIPES
from goodbot.exam.sites import all_sites
from journey.goodbot_process import goodbot
from programs import ROOT, load

NAMES = sorted(RECIPES)
OURS = RECIPES["goodbot"]
QUICK = ("goodbot", "wget")
"""The others take seconds to start, or wait between requests; some are a gigabyte to install."""
AGENT = re.compile(r"[A-Za-z0-9]+/[0-9.]+ \(\+mailto:[^)]+\)")


@pytest.fixture(autouse=True)
def peers_of_the_makefile(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make exam-report` installs crawlers there."""
    monkeypatch.setenv("NODE_PATH", str(ROOT / ".peers" / "node_modules"))
    monkeypatch.setenv("PATH", f"{ROOT / '.peers' / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}")


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


# ---- the records ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_whole(name: str) -> None:
    recipe = RECIPES[name]
    command = recipe.shown
    assert recipe.name == name
    assert DrivePlan(command).placeholders & {"seeds", "seed-file"}
    trusts = "ca-file" in DrivePlan(command).placeholders
    assert trusts != any("tls-valid is skipped" in sentence for sentence in recipe.settings)
    named = "proxy" in DrivePlan(command).placeholders
    assert named != any("served by port" in sentence for sentence in recipe.settings)
    assert len(recipe.settings) >= 3
    assert all(sentence.endswith(".") for sentence in recipe.settings)
    assert not any(argument.startswith("/") for argument in command), "written down the same on every machine"
    used = re.findall(r"\{peers\}/([\w.]+)", " ".join(command))
    assert all((PEERS / file).is_file() for file in used)


def test_every_program_beside_the_recipes_is_used() -> None:
    used = " ".join(argument for recipe in RECIPES.values() for argument in recipe.shown)
    assert [file.name for file in PEERS.iterdir() if file.is_file() and file.name not in used] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "goodbot"])
def test_who_the_crawlers_say_they_are(name: str) -> None:
    command = " ".join(RECIPES[name].shown)
    programs = [(PEERS / file).read_text("utf-8") for file in re.findall(r"\{peers\}/([\w.]+)", command)]
    agents = AGENT.findall(" ".join((command, *programs)).replace("${PRODUCT}", "ExamBot"))
    assert agents
    assert [identity_fault(agent) for agent in agents] == [None] * len(agents)


@pytest.mark.parametrize("name", [name for name in NAMES if "install " in RECIPES[name].install])
def test_the_makefile_knows_what_the_recipe_says(name: str) -> None:
    """It installs the packages of npm and PyPI, and names those of Debian."""
    installed = RECIPES[name].install
    if name not in ("goodbot", "scrapy", "scrapy-goodbot"):  # in .venv, by `pyproject.toml`
        wanted = re.sub(
            r"['(].*?\)|'", "", installed.partition("install " if "npm" not in installed else "npm install ")[2]
        )
        makefile = (ROOT / "Makefile").read_text("utf-8")
        assert [package for package in wanted.split() if package not in makefile] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_a_recipe_states_as_failed_is_there(name: str) -> None:
    fails = RECIPES[name].fails
    assert set(fails) <= {THE_DRIVE, *(each.name for each in all_sites())}
    assert all(why and not why.endswith(".") for why in fails.values())


# ---- finding a crawler ----------------------------------------------------------------------------------------------


def test_our_own_is_always_there() -> None:
    found = OURS.find()
    assert re.fullmatch(r"goodbot \d+\.\d+\.\d+", found.name)
    assert found.command[1:4] == ("-m", "goodbot", "crawl")
    assert os.access(found.command[0], os.X_OK)


def test_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "wget", "echo 'GNU Wget 1.99.3 built on linux-gnu.'")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = RECIPES["wget"].find()
    assert found.name == "wget 1.99.3"
    assert found.command[:2] == ("env", "http_proxy={proxy}")
    assert str(tmp_path / "wget") in found.command
    assert "{dir}" in " ".join(found.command)


@pytest.mark.parametrize("script", ["exit 1", "echo 1.2.3; exit 1", "echo none", "printf '\\377\\377'", None])
def test_one_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> None:
    if script is not None:
        program(tmp_path, "wget", script)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="wget is not installed: apt-get install wget"):
        RECIPES["wget"].find()


def test_one_in_another_virtual_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python is the one beside its command, also if the command is linked from elsewhere."""
    environment, elsewhere = tmp_path / "environment", tmp_path / "bin"
    environment.mkdir()
    elsewhere.mkdir()
    program(environment, "trafilatura", "exit 1")
    program(environment, "python3", "echo 2.9.1")
    (elsewhere / "trafilatura").symlink_to(environment / "trafilatura")
    monkeypatch.setenv("PATH", str(elsewhere))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))  # beside ours there may be one, too
    found = RECIPES["trafilatura"].find()
    assert found.name == "trafilatura 2.9.1"
    assert str(environment / "python3") in found.command
    assert str(PEERS / "trafilatura_spider.py") in found.command


def test_the_script_around_curl_runs_this_goodbot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "sh", "echo curl 9.8.7")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"GOODBOT={sys.executable} -m goodbot" in RECIPES["curl"].find().command
    assert "GOODBOT={python} -m goodbot" in RECIPES["curl"].shown


# ---- the command line -----------------------------------------------------------------------------------------------


async def test_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, says in (
        ("wget", "apt-get install wget"),
        ("crawlee", "npm install @crawlee/cheerio"),
        ("crawlee-python", "pip install 'crawlee["),
    ):
        result = await goodbot("exam", "--with", name)
        assert (result.status, result.out) == (2, "")
        assert says in result.complaint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--with", "goodbots"], "'goodbot'"),
        (["--with", "goodbot", "--", "wget", "{seeds}"], "leave out COMMAND"),
        (["--with", "goodbot", "--serve"], "leave out --serve"),
    ],
)
async def test_bad_input(arguments: list[str], says: str) -> None:
    result = await goodbot("exam", *arguments)
    assert (result.status, result.out) == (2, "")
    assert says in result.complaint


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in QUICK else pytest.mark.long) for each in NAMES]
)
async def test_each_drives(name: str, tmp_path: Path) -> None:
    """Through two small sites: it starts at the seeds, finds what it may, obeys robots.txt unless its recipe says that
    it does not, and ends by itself."""
    try:
        found = RECIPES[name].find()
    except InputError as error:
        pytest.skip(str(error))
    sites = ("--site", "robots-404", "--site", "robots-groups-merged")
    result = await goodbot("exam", "--with", name, *sites, "--json", folder=tmp_path)
    assert result.status in (0, 1), result.err
    for sentence in found.recipe.settings:
        assert sentence in result.err
    assert "{dir}" in result.err
    card = result.json
    assert card["crawler"] == found.name
    marks = [mark for site in card["sites"] for mark in site["marks"]]
    judged = {rule: [mark["passed"] for mark in marks if mark["rule"] == rule] for rule in ("found", "disallowed")}
    assert judged == {"found": [True, True], "disallowed": ["robots-groups-merged" not in found.recipe.fails]}
    assert [mark["passed"] for mark in marks if mark["rule"] == "finished"] == [True]


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_ours_fails_what_it_states_and_nothing_else() -> None:
    """Through all sites, the one with a Crawl-delay of 32 years too."""
    result = await goodbot("exam", "--with", "goodbot", "--minutes", "50", "--json")
    failed = {each["name"] for each in result.json["sites"] if each["passed"] is False}
    assert failed == set(OURS.fails), result.err


# ---- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture
def report() -> ModuleType:
    """docs/make_exam_report.py."""
    return load("docs/make_exam_report.py")


def mark(rule: str, expected: str, observed: str, *, passed: bool, extra: bool = False) -> dict[str, Any]:
    return {"rule": rule, "extra": extra, "passed": passed, "expected": expected, "observed": observed}


def site(name: str, *marks: dict[str, Any], requests: int = 3, skipped: str | None = None) -> dict[str, Any]:
    passed = None if skipped else all(each["passed"] or each["extra"] for each in marks)
    return {"name": name, "passed": passed, "requests": requests, "skipped": skipped, "marks": list(marks)}


def card(crawler: str, *sites: dict[str, Any]) -> dict[str, Any]:
    return {
        "crawler": crawler,
        "sites": list(sites),
        "manners": {"points": 3, "max": 9},
        "skill": {"points": 2, "max": 8},
        "peak_memory_bytes": 123_456_789,
        "cpu_s": 1.25,
        "elapsed_s": 90.0,
        "began_at": 1_790_000_000.0,
    }


@pytest.fixture
def cards(report: ModuleType) -> dict[Any, dict[str, Any]]:
    """Of four crawlers. One was ended by the site `far`, and ran a second time without it."""
    good = site("tidy", mark("found", "fetches /", "fetched all", passed=True))
    bad = site(
        "hard",
        mark("disallowed", "does not fetch /a*", "fetched /a|<b>_`c`\x1b[31m", passed=False),
        mark("sitemap", "finds what the sitemap names", "found nothing", passed=False, extra=True),
    )
    unseen = site(
        *("far", mark("found", "one", "sent no request", passed=False)),
        mark("found", "two", "sent no request", passed=False),
        requests=0,
    )
    extra = site("hard", mark("sitemap", "finds what the sitemap names", "found all", passed=True, extra=True))
    drive = site("the-drive", mark("finished", "ends by itself", "ended by signal 9", passed=False))
    return {
        report.Drive(RECIPES["scrapy"]): card("scrapy 9.9", good, bad, unseen, drive),
        report.Drive(RECIPES["wget"]): {"absent": "wget is not installed: x"},
        report.Drive(RECIPES["crawlee"]): card("crawlee 9.9", good, bad, unseen, drive),
        report.Drive(OURS): card("goodbot 0.9", good, extra, site("far", skipped="needs luck")),
        report.Drive(RECIPES["crawlee"], without="far"): card("crawlee 9.9", good, extra),
    }


@pytest.fixture
def page(report: ModuleType, cards: dict[Any, dict[str, Any]]) -> str:
    return str(report.page(cards))


def test_the_totals(page: str) -> None:
    assert "| scrapy 9.9 | 2026-09-21 | 3 | 1 | 2 | 0 | 3 of 9 | 2 of 8 | 6 | 123 | 1.2 | 1.5 | failed |" in page
    assert "| crawlee 9.9, without far | 2026-09-21 | 2 | 2 | 0 | 0 |" in page
    assert "- wget was not driven, because it is not installed." in page


def test_the_sites(page: str) -> None:
    assert "| site | passed by | failed by | skipped by |" in page
    assert "| tidy | 3 of 3 |  |  |" in page
    assert "| hard | 2 of 3 | scrapy |  |" in page, "the second run of crawlee counts"
    assert "| far | 0 of 2 | scrapy, crawlee | goodbot |" in page
    assert "Skipped: far (needs luck)." in page
    assert "| hard | finds pages that only the sitemap names | goodbot, crawlee |" in page


def test_what_is_known_to_fail_is_said(page: str) -> None:
    for name, reason in OURS.fails.items():
        assert f"- It is known to fail {name}: {reason}." in page


def test_sites_that_no_drive_visited_are_named(page: str, report: ModuleType) -> None:
    [line] = [line for line in page.splitlines() if line.startswith(report.NOT_DRIVEN)]
    assert line.removeprefix(report.NOT_DRIVEN).rstrip(".").split(", ") == [each.name for each in all_sites()]


def test_the_page_that_is_kept_knows_every_site(report: ModuleType) -> None:
    """Each site was driven, or is named as not driven; the number of sites is today's."""
    kept = report.PAGE.read_text("utf-8")
    driven = re.findall(r"^\| ([a-z0-9-]+) \| \d+ of \d+ \|", kept, re.MULTILINE)
    lines = [
        line.removeprefix(report.NOT_DRIVEN).rstrip(".")
        for line in kept.splitlines()
        if line.startswith(report.NOT_DRIVEN)
    ]
    named = [name for line in lines for name in line.split(", ")]
    assert sorted({*driven, *named} - {THE_DRIVE}) == sorted(each.name for each in all_sites())
    assert not set(driven) & set(named)
    assert report.INTRO in kept
    assert f"The exam has {len(all_sites())} sites today." in kept


def test_every_failure_is_one_line(page: str) -> None:
    failures = page.partition("## What failed")[2].partition("## How they were driven")[0]
    assert [line for line in failures.splitlines() if line.startswith("- ")] == [
        r"- hard: expected: does not fetch /a\*; observed: fetched /a\|\<b\>\_\`c\`\\x1b\[31m",
        "- far: expected: one; observed: sent no request",
        "- the-drive: expected: ends by itself; observed: ended by signal 9",
        "- far: expected: one; observed: sent no request",
        "- the-drive: expected: ends by itself; observed: ended by signal 9",
    ], "of the run that a site ended: this site and the whole drive"
    assert "goodbot did everything expected." in failures


def test_nothing_in_it_is_of_this_machine(page: str) -> None:
    assert str(ROOT) not in page
    assert os.path.expanduser("~") + "/" not in page
    assert "scrapy runspider {peers}/scrapy_spider.py" in page
    assert "-s 'USER_AGENT=ExamBot/1.0 (+mailto:exam@example.org)'" in page


def test_the_best_are_in_the_readme(report: ModuleType, cards: dict[Any, dict[str, Any]]) -> None:
    readme = f"# x\n\n{report.README_HEADING}\n\nold\n\n## Next\n\nkept\n"
    new = report.with_best(readme, cards)
    assert new.startswith("# x\n\n## How well does it behave?\n\n`goodbot exam`")
    assert new.endswith("judge it yourself.\n\n## Next\n\nkept\n")
    assert [line.split(" | ")[0] for line in new.splitlines() if line.startswith("| ")] == [
        "| crawler",
        "| goodbot 0.9",
        "| crawlee 9.9, without far",
        "| scrapy 9.9",
    ]
    assert "3 crawlers" in new
    assert report.with_best(new, cards) == new


def test_the_readme_has_its_place(report: ModuleType, cards: dict[Any, dict[str, Any]]) -> None:
    assert report.with_best(report.README.read_text("utf-8"), cards)
    with pytest.raises(SystemExit, match="no section"):
        report.with_best("# x\n", cards)


def test_without_a_card_no_page_is_written(report: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "CARDS", tmp_path)
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    with pytest.raises(SystemExit, match=r"no card, so no page: scrapy; .*--missing drives these"):
        report.main(["--from-cards"])
    assert not (tmp_path / "page.md").exists()


def test_bad_names(report: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no recipe: x, y"):
        report.main(["x", "y"])


def test_who_is_not_installed_is_not_driven(
    report: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    absent = report.driven(report.Drive(RECIPES["wget"]))
    assert absent["absent"].startswith("wget is not installed")
