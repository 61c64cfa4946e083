"""Only one driver works on a store, whatever happens to it. A driver on another machine is one whose record names
another machine: nothing else of it could be seen here."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from disks import MOUNTS, remount, small_disk
from goodbot.cluster.spark.driver_lock import DriverLock, driver_lock
from goodbot.cluster.spark.driver_record import Process, has_ended, this_process
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.errors import BusyError, DamagedError, RunError
from s3_server import Fault, S3Server

ELSEWHERE = Process("machine-2", "another start", 7, "1")
NEVER_S = 3600.0
ENDLESS = (
    b'{"driver":"a","process":{"host":"h","machine":"","pid":1,"started":""},"command":"c","beat":1,"passed_s":1.0,'
    b'"valid_s":1e9}'
)
HOLDS = """
import sys, time
from goodbot.cluster.spark.driver_lock import driver_lock
from goodbot.cluster.spark.opening import open_files
with driver_lock(open_files(sys.argv[1]), "goodbot cluster cycle", print, valid_s=600):
    print("holds", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["local", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "local":
        return str(tmp_path / "store")
    found: str = request.getfixturevalue("s3_url")
    return found


@pytest.fixture
def files(url: str) -> StoreFiles:
    return open_files(url)


@pytest.fixture
def local(tmp_path: Path) -> StoreFiles:
    return open_files(str(tmp_path / "store"))


def never(line: str) -> None:
    """For a lock that must be taken or refused at once."""
    raise AssertionError(line)


@contextmanager
def silent(files: StoreFiles, valid_s: float, process: Process | None = ELSEWHERE) -> Iterator[DriverLock]:
    """A driver that never renews its lock."""
    with driver_lock(files, "cycle", never, valid_s=valid_s, renew_s=NEVER_S, process=process) as lock:
        yield lock


def record_of(files: StoreFiles) -> dict[str, object]:
    found: dict[str, object] = json.loads(files.read("driver.json") or b"")
    return found


def wait_for(what: str, seen: list[str]) -> None:
    while what not in " ".join(seen):
        time.sleep(0.01)


def test_the_lock_is_given_back(files: StoreFiles) -> None:
    for process in (None, ELSEWHERE, None):
        with driver_lock(files, "cycle", never, process=process) as lock:
            assert lock.holds
            lock.check()
            assert record_of(files)["is_released"] is False
        with pytest.raises(RunError, match="this driver has given back the lock of "):
            lock.check()
        assert record_of(files)["is_released"] is True
    assert [path for path, _ in files.list()] == ["driver.json"]


def test_it_is_given_back_after_an_error(local: StoreFiles) -> None:
    with pytest.raises(KeyError), driver_lock(local, "cycle", never):
        raise KeyError
    with driver_lock(local, "cycle", never):
        pass


def test_a_second_driver_on_this_machine_is_refused_at_once(files: StoreFiles) -> None:
    with driver_lock(files, "goodbot cluster \n cycle", never) as lock:
        with (
            pytest.raises(
                BusyError,
                match=rf"another driver works on {files.url}: `goodbot cluster cycle` on {os.uname().nodename}"
                rf" \(process {os.getpid()}\) renewed its lock \d+ seconds? ago; wait until it ends, or stop it",
            ),
            driver_lock(files, "other", never),
        ):
            pass
        lock.check()


def test_a_driver_on_another_machine_that_renews_its_lock_is_left_alone(files: StoreFiles) -> None:
    said: list[str] = []
    with driver_lock(files, "cycle", never, valid_s=60, renew_s=0.05, process=ELSEWHERE) as lock:
        with (
            pytest.raises(BusyError, match=r"`cycle` on machine-2 \(process 7\) renewed its lock \d+ seconds? ago"),
            driver_lock(files, "other", said.append),
        ):
            pass
        holder = "`cycle` on machine-2 (process 7)"
        [line] = said
        assert line == f"{holder} holds the lock of {files.url}: waiting up to 60 seconds to see whether it still runs"
        lock.check()


def test_a_driver_on_another_machine_that_does_not_is_dead(files: StoreFiles) -> None:
    said: list[str] = []
    with silent(files, 0.3) as old:
        with driver_lock(files, "other", said.append) as lock:
            assert len(said) == 1
            assert not old.holds
            with pytest.raises(RunError, match=r"`other` on .* has taken over .*/store, so this driver stops"):
                old.check()
            lock.check()
        with pytest.raises(RunError, match="has taken over"):
            old.check()
    assert record_of(files)["command"] == "other"


def test_a_driver_on_another_machine_ends_while_one_waits(local: StoreFiles) -> None:
    said: list[str] = []
    order: list[str] = []

    def second() -> None:
        with driver_lock(local, "other", said.append):
            order.append("second")

    with silent(local, 600):
        thread = threading.Thread(target=second)
        thread.start()
        wait_for("holds the lock", said)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_driver_renews_its_lock(files: StoreFiles) -> None:
    with driver_lock(files, "cycle", never, renew_s=0.01) as lock:
        first = files.read("driver.json")
        while files.read("driver.json") == first:
            time.sleep(0.01)
        lock.check()
        lock.check()


def test_a_lock_that_was_not_renewed_in_time_is_renewed_by_the_check(files: StoreFiles) -> None:
    with silent(files, 2) as lock:
        while lock.holds:
            time.sleep(0.01)
        lock.check()


@pytest.mark.long
def test_a_killed_driver_on_this_machine_is_replaced_at_once(url: str, files: StoreFiles) -> None:
    for is_reaped in (False, True):
        with running(url) as program:
            with pytest.raises(BusyError, match=rf"\(process {program.pid}\)"), driver_lock(files, "other", never):
                pass
            program.kill()
            if is_reaped:
                program.wait()
            else:
                os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
            with driver_lock(files, "other", never) as lock:
                lock.check()


def test_a_driver_that_is_interrupted_gives_the_lock_back(tmp_path: Path, local: StoreFiles) -> None:
    with running(str(tmp_path / "store")) as program:
        program.send_signal(signal.SIGINT)
        program.wait()
    assert record_of(local)["is_released"] is True


@contextmanager
def running(url: str) -> Iterator["subprocess.Popen[str]"]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, url], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "holds\n"
        try:
            yield program
        finally:
            program.kill()


def test_a_driver_on_this_machine_that_hangs_is_replaced_at_once(local: StoreFiles) -> None:
    with silent(local, 0.05, process=None) as old:
        time.sleep(0.06)
        with driver_lock(local, "other", never) as lock, pytest.raises(RunError, match="has taken over"):
            old.check()
        lock.release()


def test_another_process_with_the_number_of_the_driver(local: StoreFiles) -> None:
    """Numbers of processes are given again."""
    with silent(local, 600, process=replace(this_process(), started="1")) as old, driver_lock(local, "other", never):
        old._renew()
        assert not old.holds


def test_whether_a_process_has_ended() -> None:
    here = this_process()
    assert not has_ended(here, here)
    assert has_ended(replace(here, pid=2**40), here)
    assert has_ended(replace(here, started="1"), here)
    assert not has_ended(replace(here, started=""), here)
    for elsewhere in (replace(here, host="other"), replace(here, machine="other")):
        assert not has_ended(replace(elsewhere, pid=2**40), here)
    unknown = replace(here, machine="", pid=2**40)
    assert not has_ended(unknown, replace(here, machine=""))


def test_somebody_removes_the_record(files: StoreFiles) -> None:
    with driver_lock(files, "cycle", never, renew_s=NEVER_S) as lock:
        files.remove(["driver.json"])
        lock._renew()
        assert not lock.holds
        with pytest.raises(RunError, match=r"store/driver\.json was removed, so this driver stops"):
            lock.check()
    assert files.read("driver.json") is None


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[]", b'{"driver": 1}', ENDLESS])
def test_a_damaged_record(local: StoreFiles, content: bytes) -> None:
    local.write("driver.json", content)
    with (
        pytest.raises(DamagedError, match=r"store/driver\.json is damaged: if no driver runs on this store, remove it"),
        driver_lock(local, "cycle", never),
    ):
        pass
    assert local.read("driver.json") == content


@MOUNTS
def test_the_store_is_away_for_longer_than_the_lock_is_valid(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        files = open_files(str(disk))
        with driver_lock(files, "cycle", never, valid_s=1, renew_s=0.2) as lock:
            remount(disk, "ro")
            while lock.holds:
                time.sleep(0.01)
            with pytest.raises(
                RunError,
                match=r"/disk could not be written for 1 seconds, so another driver may have taken it .*: cannot write",
            ):
                lock.check()
            remount(disk, "rw")
            lock.check()
            assert lock.holds


@MOUNTS
def test_the_store_is_away_when_the_driver_ends(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        with driver_lock(open_files(str(disk)), "cycle", never, renew_s=NEVER_S):
            remount(disk, "ro")
        assert "was not released: cannot write" in caplog.text
        remount(disk, "rw")


def test_the_answer_to_a_renewal_is_lost(
    s3: S3Server, s3_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It was carried out, but the server is away when the driver looks: the next renewal finds its own record."""
    files = open_files(s3_url)
    with driver_lock(files, "cycle", never, renew_s=NEVER_S) as lock:
        s3.faults.append(Fault("PUT", is_done=True))
        s3.faults.append(Fault("GET", 503, "SlowDown"))
        with monkeypatch.context() as once:  # only here: the server may close a connection when it is used again
            once.setenv("AWS_MAX_ATTEMPTS", "1")
            assert not lock._renew()
        assert "SlowDown" in caplog.text
        lock.check()
        assert lock._renew()
        assert record_of(files)["beat"] == 2
    assert record_of(files)["is_released"] is True


def test_one_of_many_drivers_gets_the_lock(files: StoreFiles) -> None:
    """All find a dead driver, and all wait for it."""
    start = threading.Barrier(6)
    held: list[int] = []
    done = threading.Event()
    refused = threading.Semaphore(0)

    def drive(number: int) -> bool:
        start.wait()
        here = Process(f"machine-{number}", "started", 1, "1")
        try:
            with driver_lock(files, "cycle", lambda _: None, valid_s=600, renew_s=0.05, process=here) as lock:
                held.append(number)
                done.wait()
                lock.check()
                return True
        except BusyError:
            refused.release()
            return False

    with silent(files, 0.3), ThreadPoolExecutor(6) as threads:
        outcomes = [threads.submit(drive, number) for number in range(6)]
        for _ in range(5):
            assert refused.acquire(timeout=60)
        done.set()
        assert sorted(outcome.result() for outcome in outcomes) == [False] * 5 + [True]
    assert len(held) == 1
