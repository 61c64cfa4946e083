"""URLs submitted to a crawl: also while it starts, when it holds the frontier already but takes no requests yet."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event

import pytest

from goodbot import files
from goodbot.crawl_admin import open_control
from goodbot.errors import BusyError
from goodbot.robot.crawl.submissions import submitted_urls
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release, State

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
            for request, done in control.take(lambda said: None):
                frontier.add(Discovery(url, 0) for url in request.urls)
                done()
            time.sleep(0.01)
        assert [str(getattr(item, "now", None)) for item in told] == ["ready"]
    finally:
        control.close()
        frontier.close()
        waiting.join()


@pytest.mark.parametrize("state", ["gone", "disallowed"])
@pytest.mark.parametrize("is_running", [True, False])
def test_a_page_without_a_next_visit_comes_back(folder: Path, state: State, is_running: bool) -> None:
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        (lease,) = frontier.lease(1, 1, 2e9)
        frontier.settle([Outcome(ONE, state, 1.0, "status 404")], [Release(lease.host, 0.0)])
    with taking_requests(folder) if is_running else nullcontext():
        one, more = open_control(folder, 60.0).submit([ONE, MORE])
    assert (one.before, one.now) == (state, "ready")
    assert (more.before, more.now) == (None, "ready")


@contextmanager
def taking_requests(folder: Path) -> Iterator[None]:
    """Takes the requests to the crawl, as one that is running."""
    control, is_over = ControlFolder(folder), Event()

    def take() -> None:
        with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
            while not is_over.wait(0.01):
                for request, done in control.take(lambda said: None):
                    frontier.add(submitted_urls(lambda url, depth: None, request.urls, False, request.modified_at))
                    done()

    control.attend()
    taking = threading.Thread(target=take)
    taking.start()
    try:
        yield
    finally:
        is_over.set()
        taking.join()
        control.close()


def test_a_folder_that_stays_taken(folder: Path) -> None:
    with (
        SqliteFrontier.open(folder / "frontier.sqlite"),
        pytest.raises(BusyError, match="another crawl or command is using"),
    ):
        open_control(folder, 0.0).submit([MORE])


def test_another_writer_of_a_moment_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_TIMEOUT_S", 60.0)
    taken = files.lock_folder(folder / "frontier.sqlite")
    leaving = threading.Timer(0.1, os.close, [taken])
    leaving.start()
    SqliteFrontier.open(folder / "frontier.sqlite").close()
    leaving.join()
