"""The log of decisions: what `goodbot watch` reads in it, and what happens when it cannot be written."""

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from disks import MOUNTS, small_disk
from gate.gate_sockets import WITHIN_S
from gate.running_gate import BROWSER, CLOSED, running_gate
from goodbot.errors import RunError
from goodbot.gate.clients import Client
from goodbot.gate.decision import Decision
from goodbot.gate.gate_log import MOST_WAITING_BYTES, DecisionLog, log_line
from goodbot.gate.gate_request import read_request
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.formats.json_lines import FlatJsonFormat, json_format
from goodbot.watch.log_entries import LogEntry
from journey.goodbot_process import goodbot

GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
FORM = AddressRanges(())


@contextmanager
def logging_to(file: Path) -> Iterator[DecisionLog]:
    log = DecisionLog(file)
    try:
        yield log
    finally:
        log.close()


def wait_until(condition: object) -> None:
    assert callable(condition)
    until = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


# ---- lines ----------------------------------------------------------------------------------------------------------


async def test_watch_reads_each_decision(tmp_path: Path) -> None:
    robots, file = tmp_path / "robots.txt", tmp_path / "gate.log"
    robots.write_text(CLOSED)
    with logging_to(file) as log:
        async with running_gate(robots, log=log) as gate:
            for number in range(30):
                await gate.asked(f"/private/{number}", "FooBot/1.0", "X-Real-IP: 9.9.9.9")
            for number in range(5):
                await gate.asked(f"/{number}", GPTBOT, "X-Real-IP: 9.9.9.9", "X-Original-Method: POST")
            await gate.asked("/%D0%B9?q=\x22\\", BROWSER, "X-Real-IP: 2001:db8::1")
            await gate.asked("/no/address", "")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 37
    watched = await goodbot("watch", file, "--json", "--log-level", "error")
    assert watched.status == 0, watched.err
    report = watched.json
    assert (report["lines"], report["skipped"]) == (37, 0)
    (robot,) = [found for found in report["robots"] if found["name"] == "GPTBot"]
    assert (robot["requests"], robot["tier"]) == (5, "impostor")


def entry_of(line: bytes) -> LogEntry:
    """Returns what `goodbot watch` reads."""
    text = line.decode().rstrip("\n")
    form = json_format(text)
    assert isinstance(form, FlatJsonFormat)
    entry = form.parse(text)
    assert isinstance(entry, LogEntry), entry
    return entry


def line_of(target: str, *fields: tuple[bytes, bytes], code: str = "allowed", status: int = 200) -> bytes:
    request = read_request("GET", target, fields, "192.0.2.1", FORM)
    decision = Decision("allowed" if code == "allowed" else "disallowed", Client("unverified", None, ""), "no rule")
    return log_line(request, decision, status, 1_700_000_000.25)


def test_a_line_has_what_was_decided() -> None:
    line = line_of("/a", (b"host", b"example.org"), (b"user-agent", b"FooBot/1.0"), code="disallowed", status=403)
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250Z",
        "client_ip": "192.0.2.1",
        "host": "example.org",
        "method": "GET",
        "uri": "/a",
        "status": 403,
        "user_agent": "FooBot/1.0",
        "decision": "disallowed",
        "identity": "unverified",
    }
    entry = entry_of(line)
    assert (entry.address, entry.request, entry.status, entry.agent) == ("192.0.2.1", "GET /a", 403, "FooBot/1.0")
    assert (entry.at, entry.host) == (1_700_000_000, "example.org")


@pytest.mark.parametrize(
    ("agent", "read"),
    [
        (b"\xff\xfe bot", "\ufffd\ufffd bot"),
        ("кот/1".encode(), "кот/1"),
        (b'quote " back \\ slash', 'quote " back \\ slash'),
        (b"tab\tand \x01\x7f", "tab\tand \x01\x7f"),
        (b"line \xe2\x80\xa8 end", "line \u2028 end"),
    ],
)
def test_octets_of_every_kind_make_one_line(agent: bytes, read: str) -> None:
    line = line_of("/", (b"user-agent", agent), (b"host", agent))
    assert line.count(b"\n") == 1
    assert line.endswith(b"}\n")
    assert (json.loads(line)["user_agent"], json.loads(line)["host"]) == (read, read)
    entry_of(line)


def test_the_fields_of_a_signature_are_what_came() -> None:
    given = (b'sig=("@authority");created=1', b"sig=:YWJj:", b'"https://bot.example"')
    names = (b"signature-input", b"signature", b"signature-agent")
    fields = entry_of(line_of("/", (b"host", b"example.org"), *zip(names, given, strict=True))).signature
    assert fields is not None
    assert given[0].decode() in fields
    assert given[1].decode() in fields
    without = json.loads(line_of("/", (b"signature-input", b"sig=()")))
    assert (without["signature_input"], "signature" in without, "signature_agent" in without) == (
        "sig=()",
        False,
        False,
    )


# ---- files ----------------------------------------------------------------------------------------------------------


def test_all_lines_are_written_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "gate.log"
    file.write_text("an older line\n")
    with logging_to(file) as log:
        for number in range(20_000):
            log.write(b"%d\n" % number)
    assert file.read_text().splitlines() == ["an older line", *map(str, range(20_000))]
    assert log.lost == 0


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    file, older = tmp_path / "gate.log", tmp_path / "gate.log.1"
    descriptors = len(os.listdir("/proc/self/fd"))
    with logging_to(file) as log:
        log.write(b"1\n")
        wait_until(lambda: file.read_bytes() == b"1\n")
        for number in range(2, 5):
            file.replace(older)
            log.write(b"%d\n" % number)
            wait_until(lambda: file.exists() and file.read_bytes())
            assert older.read_bytes() == b"%d\n" % (number - 1)
            assert file.read_bytes() == b"%d\n" % number
        os.truncate(file, 0)  # copytruncate
        log.write(b"5\n")
        wait_until(lambda: file.read_bytes() == b"5\n")
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert file.stat().st_mode & 0o777 == 0o640 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RunError, match="nobody reads this pipe"):
        DecisionLog(tmp_path / "pipe")


def test_a_folder_that_is_away_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    with logging_to(folder / "gate.log") as log:
        folder.rename(tmp_path / "moved")
        for _ in range(3):
            lost = log.lost
            log.write(b"lost\n")
            wait_until(lambda: log.lost == lost + 1)  # noqa: B023  (waited for here)
        folder.mkdir()
        log.write(b"kept\n")
        wait_until(lambda: (folder / "gate.log").exists() and (folder / "gate.log").read_bytes() == b"kept\n")
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("decisions cannot be logged: cannot write ")
    assert message.endswith("; the gate continues without")


def test_a_full_disk_loses_lines_and_counts_them(caplog: pytest.LogCaptureFixture) -> None:
    with logging_to(Path("/dev/full")) as log:
        for number in range(1, 4):
            log.write(b"a line\n")
            wait_until(lambda: log.lost == number)  # noqa: B023  (waited for here)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, "decisions cannot be logged: No space left on device; the gate continues without")
    ]


@MOUNTS
def test_a_line_that_a_full_disk_cut_off_spoils_no_other(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        file, filler = disk / "gate.log", disk / "filler"
        with logging_to(file) as log:
            log.write(b"first\n")
            wait_until(file.read_bytes)
            with filler.open("wb") as taken:
                taken.write(bytes(1024 * 1024 - 2 * 4096))
            line = b"x" * 2999 + b"\n"
            for _ in range(5):
                log.write(line)
            wait_until(lambda: log.lost)
            filler.unlink()
            log.write(b"last\n")
            wait_until(lambda: file.read_bytes().endswith(b"last\n"))
        lines = file.read_bytes().splitlines(keepends=True)
        assert (lines[0], lines[-1]) == (b"first\n", b"last\n")
        assert lines.count(line) == 5 - log.lost
        torn = [found for found in lines[1:-1] if found != line]
        assert len(torn) <= 1
        assert all(line.startswith(found.rstrip(b"\n")) for found in torn)


def test_what_finds_no_place_is_lost_and_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # reads nothing: a disk that hangs
    log = DecisionLog(tmp_path / "pipe")
    line = b"x" * 1_000_000 + b"\n"
    for _ in range(MOST_WAITING_BYTES // len(line) + 10):
        log.write(line)
    assert 5 <= log.lost <= 10
    os.close(reader)
    log.close()
    assert log.lost >= MOST_WAITING_BYTES // len(line)


def test_after_the_end_lines_are_lost_and_counted(tmp_path: Path) -> None:
    with logging_to(tmp_path / "gate.log") as log:
        log.write(b"in time\n")
    log.write(b"late\n")
    log.close()
    assert (log.lost, (tmp_path / "gate.log").read_bytes()) == (1, b"in time\n")
