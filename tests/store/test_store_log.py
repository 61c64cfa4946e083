"""Tests which events of the stores are logged, and at which level."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from goodbot.errors import DamagedError, RunError
from goodbot.store.sqlite import migrations
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.schema import FORMAT
from goodbot.url import Url
from goodbot.values import Discovery
from store.warc.archive_samples import index_of, leave_as_killed, member_ends, numbered, only_file, reader, writer

NOW = 1_700_000_000.0


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="goodbot.store")
    return caplog


def logged(log: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    """Returns level, module and message, and forgets them."""
    found = [(item.levelname, item.name.removeprefix("goodbot.store."), item.getMessage()) for item in log.records]
    log.clear()
    return found


# ---- the archive ----------------------------------------------------------------------------------------------------


def test_each_new_file_of_the_archive(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    archive = writer(tmp_path, size_limit_bytes=1)
    for number in range(2):
        archive.put(numbered(number))
    archive.close()
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert logged(log) == [("INFO", "warc.warc_archive", f"new archive file {file}") for file in files]


def test_a_torn_record_and_damage(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    archive = writer(tmp_path)
    for number in range(3):
        archive.put(numbered(number))
    archive.close()
    file, content = only_file(tmp_path), only_file(tmp_path).read_bytes()
    leave_as_killed(file, content[:-5])
    logged(log)
    writer(tmp_path).close()
    torn = len(content) - 5 - member_ends(content)[-2]
    message = f"{file} was not closed: the last {torn} bytes, a torn record, are cut off"
    assert logged(log) == [("WARNING", "warc.warc_files", message)]
    start, end = member_ends(content)[2:4]
    damaged = content[: start + 40] + bytes(40) + content[start + 80 :]
    index_of(file).unlink()
    file.write_bytes(damaged)
    writer(tmp_path).close()
    (found,) = [item for item in logged(log) if item[0] == "ERROR"]
    assert found[1:] == ("warc.warc_archive", f"{file} is damaged in 1 places: goodbot archive check names them")
    assert sum(1 for _ in reader(tmp_path).captures()) == 2
    ((level, module, message),) = logged(log)
    assert (level, module) == ("WARNING", "warc.warc_archive")
    assert message.startswith(f"{file.name}: {end - start} bytes from offset {start} on are skipped: ")


def test_a_host_that_is_removed_from_the_archive(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    archive = writer(tmp_path)
    archive.put(numbered(1))
    logged(log)
    archive.forget("example.org")
    archive.close()
    message = f"removed 1 captures of example.org from {tmp_path}"
    assert logged(log) == [("INFO", "warc.warc_archive", message)]


def test_an_archive_that_cannot_be_written_is_an_error_and_not_logged_too(
    tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "warc").write_bytes(b"")
    with pytest.raises(RunError):
        writer(tmp_path / "warc")
    assert logged(log) == []


# ---- the frontier ---------------------------------------------------------------------------------------------------


def test_a_frontier_of_an_older_format_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "frontier.sqlite"
    SqliteFrontier.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT - 1}")
    monkeypatch.setattr(migrations, "STEPS", {FORMAT - 1: lambda connection: None})
    SqliteFrontier.open(path).close()
    message = f"{path} is migrated from format {FORMAT - 1} to {FORMAT}"
    assert logged(log) == [("WARNING", "sqlite.migrations", message)]


def test_a_damaged_frontier_is_an_error_and_not_logged_too(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "frontier.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(DamagedError):
        SqliteFrontier.open(path)
    assert logged(log) == []


def test_what_a_run_that_was_killed_has_left(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True, now=lambda: NOW) as frontier:
        frontier.add([Discovery(Url(f"http://example.org/{number}"), 0) for number in range(3)])
        frontier.lease(1, 2, NOW)
    with SqliteFrontier.open(path, now=lambda: NOW - 86_400.0) as frontier:
        frontier.bar_host("example.org")
        frontier.remove_host("example.org")
    assert logged(log) == [
        ("INFO", "sqlite.transaction", "the last run did not end properly: 2 leased URLs are ready again"),
        (
            "WARNING",
            "sqlite.transaction",
            "the clock was set back by 86400 s since the last run: all waits are shortened",
        ),
        ("INFO", "sqlite.frontier", f"removed 3 URLs of example.org from {path}"),
    ]
