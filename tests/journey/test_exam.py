"""`goodbot exam` as its users have it."""

import asyncio
import json
import re
import signal
import socket
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from exam.scripted import PATIENCE_S
from exam.test_drive import DAEMON, POLITE, SLEEPER, gone, written
from goodbot.cli.commands import group
from goodbot.exam.sites import all_sites
from journey.goodbot_process import Ended, ended, goodbot, start

ONE = ("exam", "--site", "robots-404")
GOOD = (sys.executable, "-c", POLITE, "{seeds}")
BAD = (sys.executable, "-c", POLITE.replace('"robots.txt", ', "").replace(" (+mailto:p@example.org)", ""), "{seeds}")


def said(result: Ended) -> list[str]:
    """The lines on standard error but those that tell every ten seconds how it goes."""
    return [line for line in result.err.splitlines() if " to go: " not in line]


async def test_a_crawler_that_passes() -> None:
    result = await goodbot(*ONE, "--", *GOOD)
    assert (result.status, said(result)) == (0, [])
    lines = result.out.splitlines()
    assert lines[2].split() == ["passed", "5/5", "robots-404"]
    assert lines[3].split() == ["passed", "11/11", "the-drive"]
    assert "passed: 1 of 1 sites passed" in result.out
    assert "\x1b" not in result.out


async def test_a_crawler_that_does_not(tmp_path: Path) -> None:
    result = await goodbot(*ONE, "--json", "--html", tmp_path / "card.html", "--", *BAD)
    assert (result.status, result.err) == (1, "")
    card = result.json
    assert card.keys() >= {"crawler", "sites", "manners", "skill", "peak_memory_bytes", "cpu_s"}
    first, last = card["sites"]
    assert first.keys() >= {"name", "passed", "expected", "observed", "points", "max"}
    assert (first["name"], first["passed"], last["name"]) == ("robots-404", False, "the-drive")
    assert first["observed"] == "fetched / before robots.txt was answered"
    assert first["first_offending"]["target"] == "/"
    assert last["observed"].startswith("sent 'PoliteBot/1.0', which has no URL and no mail address")
    assert card["manners"] == {"points": 0, "max": 8}
    assert "fetched / before robots.txt was answered" in (tmp_path / "card.html").read_text()


async def test_one_that_ends_at_once() -> None:
    code = "import sys; print('\\x1b[31mno such option'); sys.exit('bad \\udc80 luck')"
    result = await goodbot(*ONE, "--", sys.executable, "-c", code, "{seed-file}")
    assert result.status == 1
    assert "ended with status 1" in result.out
    assert "sent no request" in result.out
    assert said(result)[:2] == ["the crawler's last lines:", r"  \x1b[31mno such option"]
    assert "\x1b" not in result.out + result.err


async def test_one_that_never_ends(tmp_path: Path) -> None:
    result = await goodbot(
        *ONE, "--minutes", "0.02", "--into", tmp_path, "--", sys.executable, "-c", SLEEPER, "{dir}/pid", "{seeds}"
    )
    assert result.status == 1
    assert re.search(r"still running after \d+ s, and was stopped", result.out)
    assert said(result) == ["the crawler printed nothing"]
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert [command for command in commands if f"{tmp_path}/pid" in command] == []


async def test_two_visits_and_a_log(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    code = POLITE + "print('done')"
    result = await goodbot(
        *(*ONE, "--visits", "2", "--keep", "new", "--log", "log", "--", sys.executable, "-c", code, "{seeds}"),
        folder=tmp_path,
    )
    assert result.status == 0
    assert (tmp_path / "log").read_text() == "done\ndone\n"
    assert (tmp_path / "new").is_dir()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exam"], "goodbot exam -- COMMAND {seeds}"),
        (["exam", "--", "wget", "-r"], "write {seeds} or {seed-file}"),
        (["exam", "wget", "-r"], "write {seeds} or {seed-file}"),
        ([*ONE, "--", "no-such-crawler", "{seeds}"], "cannot run 'no-such-crawler'"),
        ([*ONE, "--", "/etc/passwd", "{seeds}"], "cannot run '/etc/passwd'"),
        (["exam", "--site", "robot-404", "--list"], "did you mean robots-404"),
        (["exam", "--site", "zzzzzz", "--", *GOOD], "--list"),
        (["exam", "--serve", "--", *GOOD], "--serve runs no command"),
        ([*ONE, "--html", "/dev/null/card.html", "--", *GOOD], "cannot write /dev/null/card.html"),
        ([*ONE, "--log", "/dev/null/log", "--", *GOOD], "cannot write /dev/null/log"),
        ([*ONE, "--keep", "/dev/null/x", "--", *GOOD], "cannot make the folder /dev/null/x"),
        ([*ONE, "--minutes", "0", "--", *GOOD], "--minutes"),
        ([*ONE, "--minutes", "nan", "--", *GOOD], "--minutes must be a number"),
        ([*ONE, "--minutes", "inf", "--", *GOOD], "--minutes"),
        ([*ONE, "--minutes", "nan", "--serve"], "--minutes must be a number"),
        ([*ONE, "--visits", "0", "--", *GOOD], "--visits"),
        ([*ONE, "--port", "70000", "--", *GOOD], "--port"),
    ],
)
async def test_bad_input(arguments: list[str], says: str) -> None:
    result = await goodbot(*arguments)
    assert (result.status, result.out) == (2, "")
    assert says in result.complaint


async def test_ports_that_are_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments in (["--", *GOOD], ["--serve"]):
            result = await goodbot(*ONE, "--port", str(port), *arguments)
            assert (result.status, result.out) == (3, "")
            named = re.search(r"port (\d+) is in use on 127\.0\.0\.1", result.complaint)
            assert named
            assert 0 <= int(named[1]) - port < 100  # another program may have one of the ports that follow
    assert (await goodbot(*ONE, "--site", "meta-nofollow", "--port", "65535", "--", *GOOD)).status == 3


async def test_a_card_that_cannot_be_written() -> None:
    result = await goodbot(*ONE, "--html", "/dev/full", "--", *GOOD)
    assert result.status == 3
    assert "cannot write /dev/full" in result.complaint


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    command = (sys.executable, "-c", DAEMON, SLEEPER, "{dir}/pid", "{seeds}")
    process = await start(*ONE, "--keep", tmp_path, "--", *command)
    pid = await written(tmp_path / "pid")
    process.send_signal(number)
    result = await ended(process)
    assert (result.status, result.out) == (130, "")
    assert "interrupted" in result.complaint
    assert await gone(pid)


async def test_the_list() -> None:
    text = await goodbot("exam", "--list")
    assert text.status == 0
    described = (await goodbot("exam", "--list", "--json")).json
    assert [site["name"] for site in described] == [site.name for site in all_sites()]
    for site in described:
        assert site["name"] in text.out
        assert site.keys() >= {"name", "teaches", "source", "rules", "needs"}


def test_the_list_has_whole_names_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    group.main(["exam", "--list"], standalone_mode=False)
    words = capsys.readouterr().out.split()
    assert {site.name for site in all_sites()} <= set(words)


async def test_serve(tmp_path: Path) -> None:
    process = await start(*ONE, "--serve", "--json", "--html", tmp_path / "card.html")
    assert process.stderr is not None
    said = [(await process.stderr.readline()).decode() for _ in range(4)]
    url, seed = said[0].split()[3], said[3].strip()
    page = await fetched(url)
    assert "not visited yet" in page
    assert "failed" not in page.partition("<body>")[2]
    assert "http-equiv" not in page
    assert '<script src="/card.js"' in page
    await fetched(seed)
    card = json.loads(await fetched(url + "card.json"))
    assert card["sites"][0]["observed"].startswith("fetched / before robots.txt")
    assert (card["peak_memory_bytes"], [site["name"] for site in card["sites"]]) == (None, ["robots-404", "the-drive"])
    process.send_signal(signal.SIGINT)
    result: Ended = await ended(process)
    assert result.status == 0
    assert result.json["sites"][0]["requests"] == 1
    assert "before robots.txt" in (tmp_path / "card.html").read_text()
    assert not psutil.pid_exists(process.pid)


async def fetched(url: str) -> str:
    """A page, by a client without proxies."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def fetch() -> str:
        with opener.open(url, timeout=PATIENCE_S) as answer:
            return str(answer.read().decode())

    return await asyncio.to_thread(fetch)


async def test_help() -> None:
    result = await goodbot("exam", "--help")
    assert result.status == 0
    for placeholder in ("{seeds}", "{seed-file}", "{ca-file}", "{proxy}", "{dir}"):
        assert placeholder in result.out
