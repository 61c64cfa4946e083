"""Log messages: as text on standard error, and as JSON lines in a file that several processes share."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from goodbot.errors import InputError
from goodbot.logs import LogSettings, start_logging

LOG = logging.getLogger("goodbot.somewhere")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    start_logging(LogSettings())


def lines_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("ascii").splitlines()]


def test_text_goes_to_standard_error_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings("warning"))
    LOG.warning("host %s given up", "a.example")
    LOG.info("not this one")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ WARNING goodbot\.somewhere: host a\.example given up\n",
        capsys.readouterr().err,
    )


def test_text_from_the_web_cannot_steer_a_terminal_or_begin_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings("warning"))
    LOG.warning("reason: %s", "\x1b[2J\nforged \udc80")
    assert capsys.readouterr().err.endswith(": reason: \\x1b[2J\\nforged \\udc80\n")


def test_text_shows_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings("error"))
    try:
        int("wrong\x1b")
    except ValueError:
        LOG.exception("failed")
    err = capsys.readouterr().err
    assert ": failed\nTraceback (most recent call last):\n" in err
    assert "ValueError: invalid literal" in err
    assert "\x1b" not in err


def test_json_lines_hold_the_fields_of_the_event(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    start_logging(LogSettings(json_file=file))
    LOG.info("host paused: %s", "\udc80", extra={"host": "a.example", "until": 12.5})
    LOG.debug("not this one: the level is info unless one is set")
    (line,) = lines_of(file)
    assert isinstance(line.pop("at"), float)
    assert isinstance(line.pop("process"), int)
    assert line == {
        "level": "info",
        "logger": "goodbot.somewhere",
        "message": "host paused: %80",
        "host": "a.example",
        "until": 12.5,
    }


def test_json_lines_hold_a_traceback(tmp_path: Path) -> None:
    start_logging(LogSettings(json_file=tmp_path / "log"))
    try:
        int("wrong")
    except ValueError:
        LOG.exception("failed")
    assert "ValueError: invalid literal" in str(lines_of(tmp_path / "log")[0]["traceback"])


def test_several_processes_append_to_one_file(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    program = (
        "import sys, logging; from pathlib import Path; from goodbot.logs import LogSettings, start_logging\n"
        "start_logging(LogSettings('debug', Path(sys.argv[1])))\n"
        "for number in range(200): logging.getLogger('goodbot.x').debug('%d %s', number, 'x' * 5000)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-P", "-c", program, file], stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [process.wait() for process in running] == [0, 0]
    lines = lines_of(file)
    assert len(lines) == 400
    assert {line["process"] for line in lines} == {process.pid for process in running}


def test_only_the_logger_of_goodbot_is_touched(tmp_path: Path) -> None:
    before = list(logging.root.handlers), logging.root.level
    start_logging(LogSettings("debug", tmp_path / "log"))
    assert (list(logging.root.handlers), logging.root.level) == before
    assert len(logging.getLogger("goodbot").handlers) == 2
    start_logging(LogSettings())
    assert [type(handler) for handler in logging.getLogger("goodbot").handlers] == [logging.NullHandler]


def test_an_unknown_level_and_a_file_that_cannot_be_written_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown log level 'loud': use one of debug, info, warning, error"):
        start_logging(LogSettings("loud"))
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        start_logging(LogSettings(json_file=tmp_path / "missing" / "log"))


def test_a_full_disk_is_reported_once_and_the_program_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings("warning", Path("/dev/full")))
    LOG.info("one")
    LOG.info("two")
    LOG.warning("three")
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "goodbot: cannot write the log /dev/full: No space left on device"
    assert len(err) == 2
    assert err[1].endswith(": three")


def test_a_level_may_be_written_in_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings("INFO"))
    LOG.info("shown")
    assert capsys.readouterr().err.endswith(": shown\n")
