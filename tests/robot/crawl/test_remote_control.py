"""URLs submitted while a crawl starts: it holds the frontier already, but takes no requests yet."""

import os
import threading
import time
from pathlib import Path

import pytest

from goodbot.crawl_admin import open_control
from goodbot.errors import BusyError
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.sqlite import schema
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery

ONE, MORE = Url("http://127.0.0.1:9/"), Url("http://127.0.0.1:9/more")
SETTINGS = """
seeds = ["http://127.0.0.1:9/"]
allow_private = true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl at rest."""
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True) as frontier:
        frontier.add([Discovery(ONE, 0)])
    (tmp_path / "goodbot.toml").write_text(SETTINGS)
    return tmp_path


def test_a_crawl_that_starts_is_waited_for(folder: Path) -> None:
    frontier, control = SqliteFrontier.open(folder / "frontier.sqlite"), ControlFolder(folder)
    told: list[object] = []
    waiting = threading.Thread(target=lambda: told.extend(open_control(folder, 60.0).submit([MORE])))
    waiting.start()
    try:
        time.sleep(0.2)  # it has found the folder taken by now, or will find a crawl that runs: both are to do
        control.attend()
        while waiting.is_alive():
            for request in control.take(lambda said: None):
                frontier.add(Discovery(url, 0) for url in request.urls)
        assert [str(getattr(item, "now", None)) for item in told] == ["ready"]
    finally:
        control.close()
        frontier.close()
        waiting.join()


def test_a_folder_that_stays_taken(folder: Path) -> None:
    with (
        SqliteFrontier.open(folder / "frontier.sqlite"),
        pytest.raises(BusyError, match="another crawl or command is using"),
    ):
        open_control(folder, 0.0).submit([MORE])


def test_another_writer_of_a_moment_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LOCK_TIMEOUT_S", 60.0)
    taken = schema.lock(folder / "frontier.sqlite")
    leaving = threading.Timer(0.1, os.close, [taken])
    leaving.start()
    SqliteFrontier.open(folder / "frontier.sqlite").close()
    leaving.join()
