"""`--json` of every command prints one documented shape, and nothing else, on standard output."""

import asyncio
import json
import logging
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from goodbot.cli import main
from goodbot.cli.command_class import Command
from goodbot.cli.commands import COMMANDS
from webserver import WebServer, answer

TEXT = (("Content-Type", "text/plain"),)
ROUTES = {
    "/robots.txt": answer(b"User-agent: *\nDisallow: /closed\n", headers=TEXT),
    "/": answer(b'<title>Start</title><p>word <a href="/two">two</a> <a href="/closed">c</a>'),
    "/two": answer(b"<title>Two</title><p>another word"),
    "/down/robots.txt": answer(b"", 503),
}
LOG_LINE = '192.0.2.1 - - [01/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "GPTBot/1.3"\n'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = WebServer(ROUTES)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    yield server.url("/")
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def place(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a crawl in `crawl`."""
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "robots.txt").write_bytes(b"User-agent : *\nDisallow : /closed\n")
    (folder / "keys").mkdir()
    (folder / "clean.txt").write_bytes(b"User-agent: *\nDisallow: /closed\n")
    (folder / "page.html").write_bytes(b"<title>t</title><meta name=robots content=noindex>")
    (folder / "queries.jsonl").write_text('{"id": "1", "text": "word"}\n{"id": "2", "text": "nothing-like-it"}\n')
    (folder / "ranges.json").write_text(
        '{"creationTime": "2099-01-01", "prefixes": [{"ipv4Prefix": "5.255.231.0/24"}]}'
    )
    (folder / "more.txt").write_text(f"{url}two\n{url}three\n")
    (folder / "access.log").write_text(LOG_LINE * 3)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "nobody.json").write_text('{"robots": []}')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["crawl", url, "--into", "crawl", "--allow-private", "-q"]) == 0
        assert main(["crawl", url, "--into", "other", "--allow-private", "-q"]) == 0
        assert main(["forget", "barred.example", "--in", "other"]) == 0
        assert main(["key", "new", "-q"]) == 0
    return folder


CODES = {"code", "severity", "title"}
AUDITED = {"url", "line", "column", "code", "severity", "message", "fix", "related"}
FINDING = {"file", "line", "column", "code", "severity", "message", "fix"}
VERDICT = {"url", "agent", "dialect", "allowed", "line", "rule", "section", "reason"}
FETCHED = {"url", "final_url", "status", "title", "author", "date", "lang", "text", "markdown", "links", "verdict"}
ROBOT = {"name", "operator", "purpose", "tier", "evidence"}
ORDER = {"done", "state", "in_flight"}
SUBMITTED = {"done", "submitted", "known", "out_of_scope", "urls"}
HOST = {"host", "robots_txt", "asked_gap_s", "least_gap_s", "requests", "status_429", "waited_s"}
IMPACT = {"requests", "changed", "by_robot", "paths", "paths_changed", "bytes", "old", "new"}
SCHEDULE = {"phase", "from", "until", "next", "is_over"}
PLAN = """start = 2026-10-30
url = "https://example.org"
repeat = true
[[phase]]
name = "open"
[[phase]]
name = "closed"
disallow = ["/a"]
"""
REMEDY = {"kind", "text", "parts", "robots", "impostors", "addresses", "warnings"}
SNAPSHOT = {"done", "version", "documents", "files", "size_bytes", "copied_files", "copied_bytes"}
EXPORTED = {"done", "file", "bytes", "files", "records", "captures", "pages", "damaged"}
IMPORTED = {"done", "files", "bytes", "records", "captures", "known", "pages", "skipped", "damage_count", "damaged"}
SEARCH = {"query", "total", "took_ms", "hits"}

# command → exit status, shape, keys of the object, of each item of the list or of the first line
SHAPES: list[tuple[str, int, type | None, set[str]]] = [
    ("allowed robots.txt --agent a /open", 0, list, VERDICT),
    ("allowed robots.txt --agent a /closed /open", 1, list, VERDICT),
    ("allowed robots.txt --agent a --dialect all /open", 0, list, VERDICT),
    ("allowed {down} --agent a {down}", 1, list, VERDICT),
    ("check clean.txt", 0, list, set()),
    ("check robots.txt --fail-on info", 1, list, FINDING),
    ("check {down}robots.txt", 1, list, FINDING),
    ("explain R203", 0, dict, CODES | {"text", "affected", "fix", "source", "example", "not_reported"}),
    ("explain --list", 0, list, CODES),
    ("format robots.txt", 0, dict, {"done", "files"}),
    ("format robots.txt --check", 1, dict, {"done", "files"}),
    ("format robots.txt --diff", 1, dict, {"done", "files"}),
    ("write --closed", 0, dict, {"done", "file", "bytes", "text"}),
    ("write --closed -o new.txt", 0, dict, {"done", "file", "bytes"}),
    ("write --closed -o robots.txt --diff", 1, dict, {"done", "file", "changed", "diff"}),
    ("directives page.html", 0, dict, {"index", "follow", "archive", "snippet", "sources"}),
    ("directives {url}two", 0, dict, {"index", "follow", "archive", "snippet", "sources"}),
    ("directives {url}closed", 1, dict, {"url", "agent", "dialect", "closed_to_goodbot"}),
    ("directives http://127.0.0.1:9/", 3, None, set()),
    ("fetch {url} --allow-private", 0, list, FETCHED),
    ("fetch {url} {url}closed --allow-private", 1, list, FETCHED),
    ("fetch {down} --allow-private", 3, list, FETCHED),
    ("remember {url} --into history", 0, list, {"url", "at", "status", "changed", "opened", "closed"}),
    ("remember {url} --into history --file robots.txt --page {url}two", 0, list, {"same_as_file", "pages"}),
    ("remember {down} --into history", 3, list, {"failure", "reason"}),
    ("crawl {url} --into third --allow-private", 0, None, {"event", "url", "status", "state"}),
    ("crawl --into crawl --dry-run", 0, dict, {"pages", "hosts", "least_s"}),
    ("audit --in crawl", 0, list, AUDITED),
    ("audit --in crawl --ignore A", 0, list, set()),
    ("sitemap --in crawl -o map.xml", 0, dict, {"done", "files", "urls", "left_out"}),
    ("explain A101", 0, dict, CODES | {"text", "affected", "fix", "source", "example", "not_reported"}),
    ("status --in crawl", 0, dict, {"finished", "states", "pages", "bytes", "hosts", "next_ready_at"}),
    ("pause --in crawl", 0, dict, ORDER),
    ("resume --in crawl", 0, dict, ORDER),
    ("stop --in crawl", 0, dict, ORDER),
    ("submit {url}two --in crawl", 0, dict, SUBMITTED),
    ("submit --seeds more.txt --in crawl", 0, dict, SUBMITTED),
    ("submit {other} --in crawl", 1, dict, SUBMITTED),
    ("why {url} --in crawl", 0, dict, {"url", "state", "events"}),
    ("why {url}never --in crawl", 0, dict, {"url", "state", "events"}),
    ("export --in crawl --what urls", 0, None, {"url", "state", "status", "depth", "fetched_at", "digest", "title"}),
    ("export --in crawl --what pages", 0, None, {"url", "fetched_at", "status", "type", "title", "text", "lang"}),
    ("export --in crawl --what links", 0, None, {"source", "target", "anchor", "rel"}),
    ("courtesy --in crawl", 0, list, HOST),
    ("courtesy --in crawl --host none.example", 0, list, set()),
    ("lessons list --in crawl", 0, dict, {"lessons"}),
    ("lessons drop 0123456789 --in crawl", 2, None, set()),
    ("archive check --in crawl", 0, dict, {"sound", "damaged", "lost"}),
    ("archive repair --in crawl", 0, dict, {"done", "damaged", "lost"}),
    (
        "archive export --wacz -o crawl.wacz --in crawl",
        0,
        dict,
        {"done", "file", "bytes", "files", "captures", "damaged"},
    ),
    ("archive import crawl.wacz --into imported", 0, dict, IMPORTED),
    ("archive import robots.txt --into imported", 2, None, set()),
    ("cluster status --in crawl", 2, None, set()),  # those of a database: `test_cluster`
    ("cluster workers --in crawl", 2, None, set()),
    ("gate export --robots robots.txt --format nginx", 0, dict, {"format", "robots", "text", "parts", "warnings"}),
    ("config", 0, dict, {"file", "settings"}),
    ("config --in crawl", 0, dict, {"file", "settings"}),
    ("search word --in crawl", 0, dict, SEARCH),
    ("search unheardof --in crawl", 0, dict, SEARCH),
    ("search word --in crawl --with {url}?q={{searchTerms}}", 0, dict, SEARCH | {"sources"}),
    ("search --run queries.jsonl --in crawl", 0, None, SEARCH | {"id"}),
    ("mcp --in nowhere", 2, None, set()),
    ("index rebuild --in crawl", 0, dict, {"done", "documents", "requeued"}),
    ("index snapshot --in crawl --to copies", 0, dict, SNAPSHOT),
    ("index snapshot --in crawl --to copies --verify", 0, dict, SNAPSHOT | {"verified_files", "damaged_files"}),
    ("index snapshot --in crawl --to .", 2, None, set()),
    ("watch access.log", 0, dict, {"lines", "skipped", "requests", "period", "robots", "undeclared"}),
    ("watch access.log --robot GPTBot", 0, dict, {"robots"}),
    ("watch access.log --state watch.state", 0, dict, {"lines"}),
    ("watch none.log", 2, None, set()),
    ("who GPTBot", 0, list, ROBOT),
    ("who Frobnicator", 1, list, ROBOT),
    ("who --list", 0, list, {"name", "operator", "purpose"}),
    ("who --refresh ranges.json --address-list ahrefs", 0, dict, {"done", "list", "ranges", "added", "removed"}),
    ("who update ahrefs --from ranges.json", 0, dict, {"done", "lists"}),
    ("who --refresh ranges.json --as ahrefs", 0, dict, {"done", "list", "ranges", "added", "removed"}),
    ("key new -o other.jwk", 0, dict, {"done", "file", "key_id", "keys"}),
    ("key show", 0, dict, {"keys"}),
    ("key indexnow --into keys", 0, dict, {"done", "file", "key"}),
    ("key indexnow --check {url} 0123456789abcdef", 1, dict, {"served", "url", "status", "found"}),
    ("announce {url}two --to {url} --key 0123456789abcdef --dry-run", 0, dict, {"done", "dry_run", "services"}),
    ("announce --in crawl --changed --to {url} --key 0123456789abcdef --no-check", 3, dict, {"done", "services"}),
    ("vectors --dialect 1994", 0, dict, {"format", "version", "licence", "kinds", "cases"}),
    ("exam --list", 0, list, {"name", "teaches", "source", "rules", "needs"}),
    ("exam --site robots-404 --minutes 0.02 -- true {{seeds}}", 1, dict, {"crawler", "sites", "manners", "skill"}),
    ("demo --once", 0, dict, {"url", "sites", "states", "searches"}),
    ("remedy nginx --robot GPTBot", 0, dict, REMEDY),
    ("remedy letter --robot GPTBot", 0, dict, REMEDY),
    ("remedy nginx --report nobody.json", 1, dict, REMEDY),
    ("incidents add Seen --robot GPTBot --state kept", 0, dict, {"done", "file", "note"}),
    ("incidents list --state kept", 0, dict, {"notes", "damaged"}),
    ("study --example", 0, dict, {"plan"}),
    ("study plan.toml", 0, dict, SCHEDULE | {"schedule", "control"}),
    ("study plan.toml --publish due.txt --into history", 0, dict, SCHEDULE | {"written", "file"}),
    ("study plan.toml --log access.log", 0, dict, {"url", "control", "spans", "robots", "lines", "logs"}),
    ("impact clean.txt --log access.log", 0, dict, IMPACT),
    ("impact robots.txt clean.txt --in crawl", 0, dict, IMPACT),
    ("impact {url} clean.txt --urls more.txt", 0, dict, IMPACT),
    ("forget {host} --in other", 0, dict, {"done", "host", "known"}),
    ("completion bash", 0, dict, {"shell", "script"}),
    ("forget barred.example --undo --in other", 0, dict, {"done", "host"}),
    ("forget none.example --in other", 0, dict, {"done", "host", "known"}),
]


def words_of(case: str, url: str) -> list[str]:
    host = url.split("/")[2]
    return case.format(url=url, host=host, down="http://127.0.0.1:9/", other="http://127.0.0.2:9/").split()


@pytest.mark.parametrize(("case", "status", "shape", "keys"), SHAPES, ids=[case[0] for case in SHAPES])
def test_a_command_prints_its_shape(
    case: str,
    status: int,
    shape: type | None,
    keys: set[str],
    url: str,
    place: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    arguments = words_of(case, url)
    where = arguments.index("--") if "--" in arguments else len(arguments)
    found = main([*arguments[:where], "--json", *arguments[where:]])
    out, err = capfd.readouterr()
    assert found == status, err
    lines: list[Any] = [json.loads(line) for line in out.splitlines()]
    if shape is None:
        assert all(isinstance(line, dict) for line in lines)
        assert not lines or keys <= set(lines[0])
        assert status < 2 or len(err.splitlines()) == 1
        return
    assert [type(line) for line in lines] == [shape]
    value = lines[0]
    for item in [value] if shape is dict else value:
        assert keys <= set(item), item
    if shape is list and keys:
        assert value
    if "done" in keys:
        assert isinstance(value["done"], bool)


def test_each_command_has_a_shape() -> None:
    assert {case.partition(" ")[0] for case, *_ in SHAPES} | {"serve"} == set(COMMANDS)


# ---- commands that serve --------------------------------------------------------------------------------------------

SERVING = [
    ("serve --in crawl --port 0 --listen 127.0.0.1 --json", {"url", "crawl_url", "key_directory"}),
    ("demo --port 0 --json", {"url", "sites", "states", "searches"}),
    ("mcp --in crawl --http 0 --json", {"url", "tools"}),
]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("typed", "keys"), SERVING, ids=["serve", "demo", "mcp"])
def test_a_server_prints_its_address_and_ends_with_status_0(
    typed: str, keys: set[str], number: signal.Signals, place: Path
) -> None:
    command = [sys.executable, "-m", "goodbot", *typed.split()]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        value: dict[str, Any] = json.loads(process.stdout.readline())
        process.send_signal(number)
        out, _ = process.communicate()
    assert keys <= set(value)
    assert value["url"].startswith("http://127.0.0.1:")
    assert (process.returncode, out) == (0, b"")


BAD_QUERIES = [
    ("nofile", None, "cannot read nofile: No such file"),
    ("q", '{"id": 1, "text": "word"}\n{"id": 7, "text": " "}\n', "q, line 2, id 7: the query is empty"),
    ("q", '{"id": 1, "text": "word"}\n[]\n', "q, line 2: not a"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_QUERIES)
def test_a_file_of_queries_is_read_before_anything_is_printed(
    name: str,
    text: str | None,
    message: str,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text)
    assert main(["search", "--run", name, "--in", str(place / "crawl")]) == 2
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert message in err


# ---- --output and --quiet -------------------------------------------------------------------------------------------

WRITTEN = [
    "allowed robots.txt --agent a /closed",
    "check robots.txt --format sarif",
    "courtesy --in crawl --format html",
    "audit --in crawl --format html",
    "directives page.html",
    "remember {url} --into history",
    "exam --site robots-404 --minutes 0.02 --format html -- true {{seeds}}",
    "export --in crawl --what pages",
    "export --in crawl --what warc",
    "export --in crawl --what pages --format parquet",
    "export --in crawl --what urls --what links --format sqlite",
    "status --in crawl",
    "search word --in crawl",
    "remedy nginx --robot GPTBot",
    "watch access.log --format prometheus",
    "who --list",
]


@pytest.mark.parametrize("case", WRITTEN)
def test_a_result_goes_to_a_file(
    case: str, url: str, place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(place)
    arguments, file = words_of(case, url), tmp_path / "result"
    where = arguments.index("--") if "--" in arguments else len(arguments)
    file.write_bytes(b"before")
    assert main([*arguments[:where], "-o", str(file), *arguments[where:]]) < 2
    assert capfd.readouterr().out == ""
    assert file.read_bytes() != b"before"
    assert len(file.read_bytes()) > 20
    assert [*tmp_path.iterdir()] == [file]


def test_a_failure_leaves_the_old_file(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(place)
    file = tmp_path / "result"
    file.write_text("before")
    assert main(["directives", "http://127.0.0.1:9/", "-o", str(file)]) == 3
    assert main(["status", "--in", "nowhere", "-o", str(file)]) == 2
    assert file.read_text() == "before"
    assert [*tmp_path.iterdir()] == [file]


def test_queries_may_come_from_standard_input(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main(["search", "--run", "queries.jsonl", "--in", "crawl"]) == 0
    from_file = capfd.readouterr().out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(Path("queries.jsonl").read_bytes())))
    assert main(["search", "--run", "-", "--in", "crawl"]) == 0
    assert capfd.readouterr().out == from_file


def test_an_output_file_that_cannot_be_written_is_a_failure(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main(["status", "--in", "crawl", "-o", "/proc/result"]) == 3
    assert len(capfd.readouterr().err.splitlines()) == 1


QUIET = [
    ("crawl {url} --into quiet --allow-private", 0, True),
    ("index rebuild --in crawl", 0, True),
    ("format --write clean.txt", 0, False),
    ("exam --site robots-404 --minutes 0.02 -- true {{seeds}}", 1, True),
    ("status --in crawl", 0, True),
]


@pytest.mark.parametrize(("case", "status", "prints"), QUIET)
def test_quiet_commands_print_results_and_nothing_else(
    case: str,
    status: int,
    prints: bool,
    url: str,
    place: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    arguments = words_of(case, url)
    where = arguments.index("--") if "--" in arguments else len(arguments)
    assert main([*arguments[:where], "--quiet", *arguments[where:]]) == status
    out, err = capfd.readouterr()
    assert (bool(out), err) == (prints, "")


def test_quiet_commands_print_errors(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main(["status", "--in", "nowhere", "-q"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1
    assert main(["check", "nothing.txt", "-q"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1


# ---- hints ----------------------------------------------------------------------------------------------------------


def test_a_host_without_its_port_gets_a_hint(
    url: str, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    host = url.split("/")[2]
    for command in ("courtesy", "lessons list"):
        assert main([*command.split(), "--in", "crawl", "--host", "127.0.0.1"]) == 0
        assert f"did you mean {host}?" in capfd.readouterr().out
    assert main(["lessons", "list", "--in", "crawl", "--host", host]) == 0
    assert capfd.readouterr().out == f"no lessons about {host}\n"


def test_a_phone_is_not_taken_for_a_misspelt_robot(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["who", "Cubot"]) == 1
    assert "did you mean" not in capfd.readouterr().out


@pytest.mark.parametrize("command", ["submit http://127.0.0.1/x", "index rebuild", "serve --port 0"])
def test_an_invalid_kept_setting_is_named_with_what_to_do(
    command: str, place: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(place / "crawl", tmp_path / "crawl")
    with (tmp_path / "crawl" / "goodbot.toml").open("a") as file:
        file.write('proxy = "foo"\n')
    assert main([*command.split(), "--in", str(tmp_path / "crawl")]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"goodbot: {tmp_path}/crawl/goodbot.toml, line ")
    assert "proxy must be" in line
    assert line.endswith("; change or remove it there")


def test_a_damaged_crawl_is_not_served(place: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One line, although `serve` logs errors."""
    shutil.copytree(place / "crawl", tmp_path / "crawl")
    (tmp_path / "crawl" / "frontier.sqlite").write_bytes(b"no database at all" * 100)
    assert main(["serve", "--in", str(tmp_path / "crawl"), "--port", "0"]) == 3
    (line,) = capfd.readouterr().err.splitlines()
    assert "frontier.sqlite is damaged" in line


# ---- log messages ---------------------------------------------------------------------------------------------------


def test_log_files_are_appended_to(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(place)
    file = tmp_path / "log.jsonl"
    file.write_text('{"before": true}\n')
    assert main(["status", "--in", "crawl", "--log-json", str(file)]) == 0
    assert capfd.readouterr().err == ""
    assert json.loads(file.read_text().splitlines()[0]) == {"before": True}
    assert main(["status", "--in", "crawl", "--log-json", "/proc/none/log"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1
    assert main(["status", "--in", "crawl", "--log-level", "loud"]) == 2


@click.command(cls=Command, output=False, examples="goodbot logs")
def logs(as_json: bool) -> None:
    """Log two messages."""
    logger = logging.getLogger("goodbot.test")
    logger.warning("a warning")
    logger.info("an info")


def test_log_messages_go_to_standard_error(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Only with `--log-level`, and only messages of that level and above."""
    logs.main([], standalone_mode=False)
    assert capfd.readouterr().err == ""
    logs.main(["--log-level", "warning"], standalone_mode=False)
    assert "a warning" in (err := capfd.readouterr().err)
    assert "an info" not in err
    file = tmp_path / "log.jsonl"
    logs.main(["--log-json", str(file)], standalone_mode=False)
    assert [json.loads(line)["level"] for line in file.read_text().splitlines()] == ["warning", "info"]
    assert capfd.readouterr().err == ""
    logs.main([], standalone_mode=False)
