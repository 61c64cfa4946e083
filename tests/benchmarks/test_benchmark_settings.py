"""Every benchmark explains itself, and refuses bad settings before it starts anything."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from bench_exclusion import kinds
from crawl_web import page_at, sites_of
from programs import ROOT
from settings import UsageError, choice, installed, installed_of, numbers, save, whole, words

FOLDER = ROOT / "benchmarks"
PORTAL = {"LOCALWEB": "http://127.0.0.10:8800/"}
SETTINGS = {
    "broad": "HOSTS MINUTES WORKERS CONCURRENCY ANSWER_S RESULTS",
    "broad_web": "MINUTES HOSTS WORKERS CONCURRENCY PAGE_KB PROGRAMS RESULTS",
    "cluster": "LOCALWEB PAGES SIZES RESULTS",
    "crawl": "LOCALWEB SITES RUNS PROGRAMS BEFORE RESULTS",
    "exclusion": "CORPUS RESULTS",
    "fetch": "PAGES PROGRAMS RESULTS",
    "first_pages": "LOCALWEB PAGES PROGRAMS RESULTS",
    "freshness": "PAGES DAYS SEED RESULTS",
    "frontier": "SIZES HOSTS RESULTS",
    "gate": "SECONDS CONNECTIONS RATE AGENTS ADDRESSES SEED RESULTS",
    "impact": "DATA LINES RESULTS",
    "import": "CORPUS PAGES RESULTS",
    "memory": "LOCALWEB PAGES INDEX_PAGES RESULTS",
    "page": "CORPUS RESULTS",
    "politeness": "PARTS HOSTS PAGES FETCHES MACHINES SEED MINUTES RESULTS",
    "search": "DATA MANUALS PACKAGES CRAWL COLLECTIONS PARTS RESULTS",
    "search_speed": "CRAWL SEED QUERIES CRAWL_PAGES PAGES RUNS LIMIT PARTS RESULTS",
    "scrapy": "PAGES KILLS RUNS SEED RESULTS",
    "serve": "CRAWL SECONDS CONNECTIONS QUERIES PROGRAMS RESULTS",
    "sites": "SITES RESULTS",
    "startup": "RUNS PROGRAMS RESULTS",
    "spark": "LOCALWEB BEFORE SIZES TABLE RESULTS",
    "tls": "LOCALWEB SITES RUNS PROGRAMS BEFORE MEAN HTTP RESULTS",
    "watch": "DATA LINES LONG RESULTS",
}
REFUSED = [
    ("broad", {"HOSTS": "many"}, "HOSTS must be a whole number from 1 to 1,000,000, not 'many'"),
    ("broad", {"HOSTS": "0"}, "HOSTS must be a whole number from 1 to 1,000,000, not '0'"),
    ("broad", {"WORKERS": "1.5"}, "WORKERS must be a whole number from 1 to 256, not '1.5'"),
    ("broad", {"MINUTES": "nan"}, "MINUTES must be a number from 0.1 to 100,000, not 'nan'"),
    ("broad", {"ANSWER_S": ""}, "ANSWER_S must be a number from 0 to 3,600, not ''"),
    ("broad_web", {"CONCURRENCY": "-1"}, "CONCURRENCY must be a whole number from 1 to 10,000, not '-1'"),
    ("broad_web", {"PAGE_KB": "1e999"}, "PAGE_KB must be a number from 1 to 1,000, not '1e999'"),
    ("broad_web", {"PROGRAMS": "goodbot,wget"}, "PROGRAMS must be one or more of goodbot, scrapy, not 'goodbot,wget'"),
    ("cluster", {**PORTAL, "SIZES": "0.001"}, "SIZES must be a list of numbers from 0.02 to 100, not '0.001'"),
    ("crawl", {}, "LOCALWEB must be a URL on loopback, such as http://127.0.0.10:8800/, and is not set"),
    ("crawl", {**PORTAL, "RUNS": "x"}, "RUNS must be a whole number from 1 to 1,000, not 'x'"),
    (
        "crawl",
        {**PORTAL, "BEFORE": "/no/python"},
        "BEFORE must be a Python interpreter with goodbot installed, not '/no/python'",
    ),
    ("exclusion", {"CORPUS": "/no\nfolder"}, "CORPUS must be a folder with *.txt files, not '/no\\nfolder'"),
    ("fetch", {"PAGES": "-1"}, "PAGES must be a whole number from 0 to 1,000, not '-1'"),
    (
        "first_pages",
        {"LOCALWEB": "http://example.org/"},
        "LOCALWEB must be a URL on loopback, such as http://127.0.0.10:8800/, not 'http://example.org/'",
    ),
    ("first_pages", {**PORTAL, "PROGRAMS": " "}, "PROGRAMS must be one or more of goodbot, scrapy, wget, not ' '"),
    ("freshness", {"PAGES": "9"}, "PAGES must be a whole number from 10 to 1,000,000, not '9'"),
    ("freshness", {"DAYS": "week"}, "DAYS must be a number from 1 to 10,000, not 'week'"),
    ("frontier", {"SIZES": "1 x"}, "SIZES must be a list of numbers from 0.01 to 1,000, not '1 x'"),
    ("frontier", {"HOSTS": "100 5"}, "HOSTS must be a list of numbers from 64 to 100,000,000, not '100 5'"),
    (
        "memory",
        {**PORTAL, "PAGES": "0", "INDEX_PAGES": "0"},
        "PAGES and INDEX_PAGES are 0, so there is nothing to measure; set one of them",
    ),
    (
        "page",
        {"CORPUS": str(Path(__file__))},
        f"CORPUS must be a folder with *.htm* files, not {str(Path(__file__))!r}",
    ),
    ("politeness", {"PARTS": "all"}, "PARTS must be one or more of crawl, simulation, not 'all'"),
    ("politeness", {"HOSTS": "9"}, "HOSTS must be a whole number from 10 to 1,000, not '9'"),
    ("search_speed", {}, "CRAWL must be the folder of a crawl with an index, and is not set"),
    ("serve", {}, "CRAWL must be the folder of a crawl with an index, and is not set"),
    ("sites", {}, "SITES must be URLs on loopback, such as http://127.0.0.1:8800/, and is not set"),
    (
        "sites",
        {"SITES": "http://127.0.0.1:8800/ http://[::1/"},
        "SITES must be URLs on loopback, such as http://127.0.0.1:8800/, not 'http://127.0.0.1:8800/ http://[::1/'",
    ),
    ("scrapy", {"KILLS": "0"}, "KILLS must be a whole number from 1 to 1,000, not '0'"),
    ("startup", {"RUNS": "0"}, "RUNS must be a whole number from 1 to 10,000, not '0'"),
    ("tls", {**PORTAL, "HTTP": "3"}, "HTTP must be one or more of 1.1, 2, not '3'"),
    ("watch", {}, "DATA must be a folder with logs/apache_combined_2015.log, and is not set"),
    ("watch", {"DATA": "/no"}, "DATA must be a folder with logs/apache_combined_2015.log, not '/no'"),
    ("tls", {**PORTAL, "MEAN": "2000000"}, "MEAN must be a whole number from 0 to 1,500,000, not '2000000'"),
]


@pytest.fixture(autouse=True)
def only_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Removes settings from the environment, and lets no test write into the project."""
    for name in {name for names in SETTINGS.values() for name in names.split()}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RESULTS", str(tmp_path / "results"))


def run(name: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """Runs a benchmark in this process. Returns its exit status."""
    file = str(FOLDER / f"bench_{name}.py")
    monkeypatch.setattr(sys, "argv", [file, *arguments])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(file, run_name="__main__")
    return end.value.code


def test_all_benchmarks_are_in_the_table() -> None:
    assert {path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py")} == set(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_the_help_has_the_purpose_and_the_settings(
    name: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, monkeypatch, option) == 0
    told = capsys.readouterr()
    purpose, title, settings = told.out.partition("Settings, with their defaults, for the environment or for")
    assert purpose.startswith(("Compares ", "Measures "))
    assert title
    lines = [line for line in settings.splitlines() if line.startswith("  ")]
    assert [line.split("=")[0].strip() for line in lines] == SETTINGS[name].split()
    assert not told.err


def test_the_help_is_printed_by_the_command() -> None:
    command = [sys.executable, str(FOLDER / "bench_freshness.py"), "--help"]
    help_text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "make bench-freshness PAGES=1000 DAYS=60 SEED=1\n" in help_text
    assert "  PAGES=1000 " in help_text


@pytest.mark.parametrize("name", SETTINGS)
def test_an_unknown_argument_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, monkeypatch, "--pages=5") == 2
    program = f"bench-{name.replace('_', '-')}"
    line = f"{program}: unknown argument '--pages=5'; settings are environment variables, see --help\n"
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(("name", "given", "reason"), REFUSED)
def test_a_bad_setting_is_refused(
    name: str,
    given: dict[str, str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    assert run(name, monkeypatch) == 2
    assert capsys.readouterr() == ("", f"bench-{name.replace('_', '-')}: {reason}\n")


@pytest.mark.parametrize("name", [name for name, names in SETTINGS.items() if "LOCALWEB" not in names])
def test_a_results_folder_that_cannot_be_written_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "results")
    monkeypatch.setenv("RESULTS", folder)
    monkeypatch.setenv("SITES", "http://127.0.0.1:1/")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "meta.json").touch()
    monkeypatch.setenv("CRAWL", str(tmp_path))
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "apache_combined_2015.log").touch()
    monkeypatch.setenv("DATA", str(tmp_path))
    assert run(name, monkeypatch) == 2
    line = f"bench-{name.replace('_', '-')}: RESULTS must be a folder that can be written to, not {folder!r}\n"
    assert capsys.readouterr() == ("", line)


def test_results_are_written_to_a_new_folder(tmp_path: Path) -> None:
    save("a", {"pages": 1})
    assert '"pages": 1' in (tmp_path / "results" / "a.json").read_text()


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    pages, sizes = whole("PAGES", 20, "pages", 1, 5000), numbers("SIZES", "10, 1", "sizes", 1, 50)
    assert (pages.value(), sizes.value()) == (20, [1.0, 10.0])
    monkeypatch.setenv("PAGES", "5e3")
    monkeypatch.setenv("SIZES", "")
    assert (pages.value(), sizes.value()) == (5000, [])
    assert choice("HTTP", "2 1.1 2", "", ("1.1", "2")).value() == words("2,1.1") == ["2", "1.1"]


def test_a_corpus_is_read(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /a\n")
    (tmp_path / "folder.txt").mkdir()
    assert kinds(tmp_path)[0].lines == 3


def test_programs_that_are_not_installed_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert installed(["no-such-crawler", "goodbot"]) == ["goodbot"]
    assert capsys.readouterr().err == "no-such-crawler is not installed and is left out\n"
    with pytest.raises(UsageError, match=r"^no program of PROGRAMS is installed"):
        installed_of(choice("PROGRAMS", "no-such-crawler", "the programs", ("no-such-crawler",)))


def test_a_portal_that_does_not_answer_is_refused() -> None:
    for url in ("http://127.0.0.1:1/", "http://127.0.0.1:1/a b\n"):
        with pytest.raises(UsageError, match=r"^LOCALWEB: 'http://127.0.0.1:1/.* cannot be fetched .*$"):
            sites_of(url)
    with pytest.raises(UsageError, match=r"^SITES: "):
        page_at("http://127.0.0.1:1/", "SITES")
