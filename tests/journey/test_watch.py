"""`goodbot watch` as its users have it."""

import asyncio
import gzip
import json
import signal
from pathlib import Path
from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest

from journey.goodbot_process import ended, goodbot, start
from nameserver import NameServer, Records
from watch.labelled_log import make_log

ROBOT = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


def line(second: int, path: str = "/", agent: str = ROBOT, address: str = "192.0.2.1") -> str:
    """Returns a line of 15 September 2026."""
    time = f"15/Sep/2026:{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} +0000"
    return f'{address} - - [{time}] "GET {path} HTTP/1.1" 200 100 "-" "{agent}"\n'


async def counted(*arguments: str | Path, folder: Path | None = None) -> Any:
    """Returns the JSON of a report."""
    result = await goodbot("watch", *arguments, "--json", folder=folder)
    assert result.status == 0, result.err
    return result.json


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access.log"
    path.write_text("".join(line(second, f"/{second}") for second in range(20)))
    return path


async def test_the_report(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(make_log().text())
    result = await goodbot("watch", path)
    assert (result.status, result.err) == (0, "")
    for words in (
        "Known robots",
        "as Googlebot: 41 requests from 203.0.113.10 (41)",
        "203.0.114.0/24 (40 addresses): certain",
        "203.0.113.101: certain, 100 points, 240 requests",
        "Responses to requests for robots.txt",
    ):
        assert words in result.out
    assert "\x1b" not in result.out


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        ((), 20),
        (("--since", "2026-09-15T10:00:05"), 15),
        (("--until", "2026-09-15T12:00:05+02:00"), 5),
        (("--since", "2026-09-15", "--until", "2026-09-16"), 20),
        (("--since", "2026-09-16"), 0),
    ],
)
async def test_a_period(options: tuple[str, ...], requests: int, log: Path) -> None:
    found = await counted(log, *options)
    assert (found["requests"], found["outside"], found["lines"]) == (requests, 20 - requests, 20)


@pytest.mark.parametrize("options", ["--engine fast", "--processes 2", "--processes 2 --engine fast"])
async def test_engines_and_processes_give_the_same_answer(options: str, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(make_log().text())
    assert await counted(path, *options.split()) == await counted(path, "--engine", "standard")


async def test_standard_input_and_compressed_logs(tmp_path: Path) -> None:
    packed = gzip.compress("".join(line(second) for second in range(5)).encode())
    (tmp_path / "old.log").write_bytes(packed)
    result = await goodbot("watch", "-", tmp_path / "old.log", "--json", stdin=packed)
    assert result.json["requests"] == 10


# ---- state ----------------------------------------------------------------------------------------------------------


async def test_no_line_is_counted_twice(log: Path, tmp_path: Path) -> None:
    state = tmp_path / "watch.state"
    every = log.read_text()

    async def requests(*logs: Path) -> int:
        return int((await counted(*logs, "--state", state))["requests"])

    assert await requests(log) == 20
    assert await requests(log) == 20
    log.write_text(every + line(30) + "192.0.2.1 - - [15/Sep")
    assert await requests(log) == 21
    older = tmp_path / "access.log.1"
    log.write_text(every + line(30) + line(31))
    log.rename(older)
    log.write_text(line(40, "/new"))
    assert await requests(log, older) == 23
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress(older.read_bytes()))
    older.unlink()
    assert await requests(log, tmp_path / "access.log.2.gz") == 23


async def test_a_state_goes_on_as_if_all_had_been_read_at_once(tmp_path: Path) -> None:
    text = make_log().text()
    lines = text.splitlines(keepends=True)
    path, whole, state = tmp_path / "access.log", tmp_path / "whole.log", tmp_path / "watch.state"
    whole.write_bytes(text)
    for end in (5000, 12_345, len(lines)):
        path.write_bytes(b"".join(lines[:end]))
        found = await counted(path, "--state", state)
    at_once = await counted(whole)
    estimated: dict[str, Any] = {"logs": [], "paths": []}  # the log has more request lines than are counted exactly
    assert found | estimated == at_once | estimated


async def test_two_logs_with_the_same_beginning_are_two(log: Path, tmp_path: Path) -> None:
    """A visitor can write the same long line into the logs of two hosts."""
    long, other = line(0, "/" + "x" * 9000), tmp_path / "other.log"
    log.write_text(long + "".join(line(number) for number in range(1, 200)))
    other.write_text(long + "".join(line(number, "/other") for number in range(1, 100)))
    assert (await counted(log, other))["requests"] == 300
    assert (await counted(other, log, "--state", tmp_path / "state"))["requests"] == 300
    assert (await counted(other, log, "--state", tmp_path / "state"))["requests"] == 300


async def test_the_same_log_twice_is_counted_once(log: Path) -> None:
    copy = log.with_name("copy.log.gz")
    copy.write_bytes(gzip.compress(log.read_bytes()))
    result = await goodbot("watch", log, copy, "--json")
    assert result.json["requests"] == 20
    assert "nothing new in " in result.complaint
    assert str(copy) in result.complaint


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        pytest.param(b"something else", (), "is not a state file of goodbot watch", id="another file"),
        pytest.param(b"goodbot watch state 1\n\x81", (), "is damaged; remove it", id="damaged"),
        pytest.param(None, ("--since", "2026-09-01"), "was made without --since 2026-09-01", id="other options"),
    ],
)
async def test_a_state_that_does_not_fit_is_left_alone(
    content: bytes | None, options: tuple[str, ...], words: str, log: Path, tmp_path: Path
) -> None:
    state = tmp_path / "watch.state"
    if content is None:
        await counted(log, "--state", state)
    else:
        state.write_bytes(content)
    before = state.read_bytes()
    result = await goodbot("watch", log, "--state", state, *options)
    assert result.status == 2
    assert words in result.complaint
    assert state.read_bytes() == before


# ---- following ------------------------------------------------------------------------------------------------------


async def test_following_a_log_through_rotation(log: Path) -> None:
    process = await start("watch", log, "--follow", "--every", "0.5", "--json")
    assert process.stdout is not None

    async def report() -> Any:
        assert process.stdout is not None
        return json.loads(await asyncio.wait_for(process.stdout.readline(), 30))

    assert (await report())["requests"] == 20
    with log.open("a") as file:
        file.write(line(50))
    assert (await report())["requests"] == 21
    log.rename(log.with_name("access.log.1"))
    log.write_text(line(51) + line(52))
    assert (await report())["requests"] == 23
    process.send_signal(signal.SIGINT)
    result = await ended(process)
    assert (result.status, result.err) == (130, "goodbot: interrupted\n")


# ---- bad input ------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("missing.log",), "cannot read missing.log: No such file or directory"),
    (("empty-folder",), "no access log in empty-folder (*access* or *.log, without error in the name)"),
    (("-", "-"), "- (standard input) can be named once only"),
    (("access.log", "--since", "yesterday"), "--since must be a date"),
    (("access.log", "--since", "2026-02-30"), "--since must be a date"),
    (("access.log", "--since", "2026-02-03", "--until", "2026-02-01"), "--since must be before --until"),
    (("access.log", "--robot", "Gogolebot"), "no robot is called 'Gogolebot'; did you mean Googlebot"),
    (("access.log", "--robot", ""), "no robot is called ''"),
    (("access.log", "--processes", "0"), "--processes must be a number from 1 to 64"),
    (("access.log", "--trusted-proxy", "10.0.0.0/8"), "--trusted-proxy needs --real-ip"),
    (("access.log", "--real-ip", "--trusted-proxy", "x"), "--trusted-proxy must be an address or a range such as"),
    (("access.log", "--nameserver", "127.0.0.1"), "--nameserver needs --reverse-dns"),
    (("access.log", "--follow", "--state", "s"), "--follow and --state cannot be combined"),
    (("access.log", "--follow", "--format", "csv"), "--follow writes text or JSON lines, not csv"),
    (("-", "--follow"), "--follow needs files or folders; it cannot"),
    (("access.log", "--follow", "-o", "out"), "--follow writes to standard output"),
    (("access.log", "-o", "access.log"), "--output is one of the inputs: access.log"),
    ((".", "-o", "access.log"), "--output is one of the inputs: access.log"),
    (("access.log", "--state", "x.state", "-o", "x.state"), "--output is one of the inputs: x.state"),
    (("access.log", "--since", ""), "--since must be a date"),
    (("access.log", "--every", "5"), "--every needs --follow"),
    (("access.log", "--follow", "--every", "nan"), "--every must be a number of seconds"),
    (("/dev/null", "--follow"), "--follow needs files or folders, and /dev/null is neither"),
    (("access.log", "--log-format", ""), "has no fields"),
    (("access.log", "--log-format", "%h %Q"), "%Q"),
    (("access.log", "--state", "empty-folder"), "empty-folder"),
    (("access.log", "--state", "/dev/full"), "/dev/full is not a file"),
    (("access.log", "--state", "s", "--since", "7d"), "--state needs dates such as --since"),
    (("access.log", "--state", "none/watch.state"), "cannot write none/watch.state: its folder does not exist"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
async def test_bad_input_is_one_line(arguments: tuple[str, ...], words: str, log: Path, tmp_path: Path) -> None:
    (tmp_path / "empty-folder").mkdir()
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    result = await goodbot("watch", *arguments, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert words in result.complaint


JUNK: list[tuple[str, bytes, dict[str, int], int]] = [
    ("empty file", b"", {}, 0),
    ("empty lines", b"\n\r\n  \n", {"empty": 3}, 0),
    ("binary junk", bytes(range(256)) * 40 + b"\n", {"unknown format": 41}, 0),
    ("TLS handshake", b'192.0.2.1 - - [15/Sep/2026:10:00:00 +0000] "\\x16\\x03\\x01" 400 150 "-" "-"\n', {}, 1),
    ("1 MB line", b"x" * 1_000_000 + b"\n" + line(1).encode(), {"too long": 1}, 1),
    ("3 MB line", b"x" * 3_000_000 + b"\n" + line(1).encode(), {"too long": 1}, 1),
    ("clock going back", (line(100) + line(1)).encode(), {}, 2),
    ("IPv6 and names", (line(1, address="2001:db8::1") + line(2, address="host.example")).encode(), {}, 2),
    ("HTML", line(1, "/<script>alert(1)</script>", "<b>GPTBot</b>").encode(), {}, 1),
    ("escapes", line(1, "/\x1b[2J", "GPTBot \x1b]0;x\x07").encode(), {}, 1),
]


@pytest.mark.parametrize(
    ("content", "skipped", "requests"), [case[1:] for case in JUNK], ids=[case[0] for case in JUNK]
)
async def test_junk_is_counted_by_reason(
    content: bytes, skipped: dict[str, int], requests: int, tmp_path: Path
) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(content)
    for engine in ("standard", "fast"):
        found = await counted(path, "--engine", engine)
        assert (found["skipped_by_reason"], found["requests"]) == (skipped, requests)
        assert found["lines"] == requests + found["skipped"]
    text = await goodbot("watch", path)
    assert (text.status, text.err) == (0, "")
    assert "\x1b" not in text.out


@pytest.mark.long
async def test_damaged_gzip_is_counted_as_far_as_it_goes(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "access.log.1.gz"
    packed.write_bytes(gzip.compress(make_log().text())[:-40_000])
    result = await goodbot("watch", packed, "--json")
    assert result.status == 0
    assert "the gzip data ends early" in result.complaint
    assert result.json["requests"] > 1000
    assert result.json["damage"][0]["log"] == str(packed)


async def test_a_folder_names_what_it_leaves_out(log: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    result = await goodbot("watch", tmp_path, "--json")
    assert result.json["requests"] == 20
    assert "notes.txt (not named like an access log)" in result.complaint


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ((), "10.0.0.1"),
        (("--real-ip",), "9.9.9.9"),
        (("--real-ip", "--trusted-proxy", "9.9.9.0/24"), "8.8.8.8"),
    ],
)
async def test_real_ip(options: tuple[str, ...], address: str, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(line(1, address="10.0.0.1").rstrip() + ' "8.8.8.8, 9.9.9.9, 10.0.0.2"\n')
    found = await counted(path, *options)
    assert found["formats"] == {"combined with X-Forwarded-For": 1}
    assert found["robots"][0]["busiest_addresses"] == [{"address": address, "requests": 1}]


# ---- reverse DNS ----------------------------------------------------------------------------------------------------


def named(query: bytes) -> bytes:
    """Answers every reverse lookup with a name of Yandex."""
    question = dns.message.from_wire(query)
    answer = dns.message.make_response(question)
    answer.answer.append(dns.rrset.from_text(question.question[0].name, 60, "IN", "PTR", "a.spider.yandex.com."))
    return answer.to_wire()


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_robots_are_verified_by_dns(processes: str, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    yandex = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"
    path.write_text(
        "".join(line(n, "/", yandex, address) for n, address in enumerate(["9.9.9.9", "8.8.8.8", "8.8.8.8"]))
    )
    records: dict[str, Records] = {
        "9.9.9.9.in-addr.arpa": named,
        "8.8.8.8.in-addr.arpa": named,
        "a.spider.yandex.com": ["9.9.9.9"],
    }
    async with NameServer(records) as server:
        ask = ("--reverse-dns", "--nameserver", server.address, "--processes", processes)
        found = await counted(path, *ask)
    tiers = {robot["tier"]: (robot["requests"], robot["evidence"][-1]) for robot in found["robots"]}
    assert {tier: requests for tier, (requests, _) in tiers.items()} == {"verified": 1, "impostor": 2}
    assert "which does not resolve back to it" in tiers["impostor"][1]
    assert {robot["tier"] for robot in (await counted(path))["robots"]} == {"declared"}


async def test_a_name_server_that_fails_is_asked_a_few_times_only(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text("".join(line(n, "/", "YandexBot/3.0", f"9.9.9.{n}") for n in range(40)))
    asked: list[bytes] = []

    def failing(query: bytes) -> bytes:
        asked.append(query)
        answer = dns.message.make_response(dns.message.from_wire(query))
        answer.set_rcode(dns.rcode.SERVFAIL)
        return answer.to_wire()

    records: dict[str, Records] = {f"{n}.9.9.9.in-addr.arpa": failing for n in range(40)}
    async with NameServer(records) as server:
        result = await goodbot("watch", path, "--reverse-dns", "--nameserver", server.address, "--json")
    assert [(robot["tier"], robot["requests"]) for robot in result.json["robots"]] == [("declared", 40)]
    assert "reverse DNS ends here: too many lookups got no answer" in result.err
    addresses = {dns.message.from_wire(query).question[0].name for query in asked}
    assert 0 < len(addresses) <= 11
