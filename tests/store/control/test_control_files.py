"""Tests the control files: requests in order, one crawl at a time, and any other file in their folder."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.live import ControlRequest, CrawlMemory, FetchError, Holding, LiveStatus, ProcessMemory
from goodbot.store.control.control_files import (
    MAX_DAMAGED,
    MAX_FILE_BYTES,
    MAX_REQUEST_URLS,
    MAX_REQUESTS,
    ControlFolder,
)
from goodbot.store.control.control_token import load_token, make_token
from goodbot.store.control.live_file import format_live, parse_live
from goodbot.url import MAX_URL_CHARS, Url

LIVE = LiveStatus(
    pid=1,
    started_at=1.0,
    at=2.0,
    pace="running",
    pages=3,
    bytes=4,
    rate=5.5,
    mean_rate=6.5,
    to_fetch=7,
    in_flight=8,
    hosts=9,
    workers=2,
    left_s=10.0,
    errors=(("404", 2), ("dns", 1)),
    troubles=(FetchError(1.5, "http://a.example/", "dns", "no such name"),),
    memory=CrawlMemory(
        (
            ProcessMemory("coordinator", 1, 500, 600, (Holding("leased_urls", 8),)),
            ProcessMemory("worker", 2, None, None, (Holding("robots_txt", 3, 4000), Holding("recent_links", 9))),
        ),
        700,
    ),
    store_away="the database server does not answer, for 3 s",
)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[ControlFolder]:
    """The half of a running crawl."""
    control = ControlFolder(tmp_path)
    control.attend()
    yield control
    control.close()


def taken(control: ControlFolder) -> tuple[list[ControlRequest], list[str]]:
    """Takes all requests and carries them out."""
    said: list[str] = []
    requests = []
    for request, done in control.take(said.append):
        requests.append(request)
        done()
    return requests, said


def test_wishes_are_taken_once_in_order(tmp_path: Path, crawl: ControlFolder) -> None:
    user = ControlFolder(tmp_path)
    some = (Url("http://a.example/"),)
    requests = [
        ControlRequest("pause"),
        ControlRequest("submit", some),
        ControlRequest("resume"),
        ControlRequest("forget", some),
        ControlRequest("stop"),
    ]
    requests.append(ControlRequest("unlearn", lessons=("5ab31c90e2", "00")))
    requests.append(ControlRequest("submit", some, public_only=True, modified_at=1_795_000_000.5))
    names = [user.post(request) for request in requests]
    assert all(user.is_waiting(name) for name in names)
    assert taken(crawl) == (requests, [])
    assert not any(user.is_waiting(name) for name in names)
    assert taken(crawl) == ([], [])


def test_a_wish_waits_until_it_is_carried_out_and_is_taken_once(tmp_path: Path, crawl: ControlFolder) -> None:
    user = ControlFolder(tmp_path)
    first = user.post(ControlRequest("submit", (Url("http://a.example/"),)))
    ((request, done),) = crawl.take(lambda said: None)
    second = user.post(ControlRequest("pause"))
    assert taken(crawl) == ([ControlRequest("pause")], [])
    assert (user.is_waiting(first), user.is_waiting(second)) == (True, False)
    again = ControlFolder(tmp_path)  # after a kill, the next crawl takes it
    assert [item for item, _ in again.take(lambda said: None)] == [request]
    done()
    assert not user.is_waiting(first)


def test_the_longest_wish_fits(tmp_path: Path, crawl: ControlFolder) -> None:
    long = "http://a.example/" + "x" * (MAX_URL_CHARS - 30)
    request = ControlRequest("submit", tuple(Url(f"{long}{number}") for number in range(MAX_REQUEST_URLS)))
    ControlFolder(tmp_path).post(request)
    assert taken(crawl) == ([request], [])


def test_a_wish_withdrawn(tmp_path: Path, crawl: ControlFolder) -> None:
    user = ControlFolder(tmp_path)
    name = user.post(ControlRequest("stop"))
    assert user.withdraw(name) is True
    assert user.withdraw(name) is False
    assert taken(crawl) == ([], [])


def test_running_is_what_a_process_does(tmp_path: Path) -> None:
    user, crawl = ControlFolder(tmp_path), ControlFolder(tmp_path)
    assert not user.is_running()
    crawl.attend()
    assert user.is_running()
    assert user.live() is None
    crawl.show(LIVE)
    assert user.live() == LIVE
    crawl.close()
    crawl.close()
    assert not user.is_running()
    assert user.live() is None


def test_a_killed_crawl_does_not_run(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from goodbot.store.control.control_files import ControlFolder;"
        "control = ControlFolder(Path(sys.argv[1])); control.attend(); print('there', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        (tmp_path / "live.json").write_text(format_live(LIVE))
        user = ControlFolder(tmp_path)
        assert user.is_running()
        process.kill()
        process.wait()
        assert not user.is_running()
        assert user.live() is None


def test_wishes_to_a_dead_crawl_are_not_those_to_the_next(tmp_path: Path) -> None:
    first = ControlFolder(tmp_path)
    first.attend()
    first.close()
    submitted = ControlRequest("submit", (Url("http://a.example/"),))
    for request in (ControlRequest("stop"), submitted, ControlRequest("pause")):
        first.post(request)
    (tmp_path / "control" / "half.request.part").write_text("{")
    second = ControlFolder(tmp_path)
    second.attend()
    assert taken(second) == ([submitted], [])
    assert sorted(os.listdir(tmp_path / "control")) == ["lock"]
    second.close()


def _folder(place: Path) -> None:
    (place / "deep").mkdir(parents=True)


def _link(place: Path) -> None:
    place.symlink_to("/etc/hostname")


HOSTILE = {
    "empty": b"",
    "no JSON": b"stop",
    "not UTF-8": b'{"request": "\xff"}',
    "no object": b'["stop"]',
    "no request": b'{"urls": []}',
    "unknown request": b'{"request": "explode"}',
    "a list for a request": b'{"request": ["stop"]}',
    "a number for URLs": b'{"request": "submit", "urls": 5}',
    "text for URLs": b'{"request": "submit", "urls": "http://a.example/"}',
    "no URLs": b'{"request": "submit", "urls": []}',
    "a file URL": b'{"request": "submit", "urls": ["file:///etc/passwd"]}',
    "one URL of two": b'{"request": "submit", "urls": ["http://a.example/", 7]}',
    "a number for a mark": b'{"request": "submit", "urls": ["http://a.example/"], "public_only": 1}',
    "text for a time": b'{"request": "submit", "urls": ["http://a.example/"], "modified_at": "now"}',
    "no time": b'{"request": "submit", "urls": ["http://a.example/"], "modified_at": NaN}',
    "true for a time": b'{"request": "submit", "urls": ["http://a.example/"], "modified_at": true}',
    "a stop with lessons": b'{"request": "stop", "lessons": ["5ab31c90e2"]}',
    "no lessons": b'{"request": "unlearn", "lessons": []}',
    "numbers for lessons": b'{"request": "unlearn", "lessons": [5]}',
    "a number for lessons": b'{"request": "unlearn", "lessons": 5}',
    "long lessons": json.dumps({"request": "unlearn", "lessons": ["5" * 101]}).encode(),
    "too many lessons": json.dumps({"request": "unlearn", "lessons": ["5"] * (MAX_REQUEST_URLS + 1)}).encode(),
    "a stop with URLs": b'{"request": "stop", "urls": ["http://a.example/"]}',
    "too many URLs": json.dumps({"request": "submit", "urls": ["http://a.example/"] * (MAX_REQUEST_URLS + 1)}).encode(),
    "deep": b'{"request": ' + b"[" * 200_000,
    "a huge number": b'{"request": ' + b"9" * 10_000 + b"}",
    "too long": b'{"request": "stop", "x": "' + b"x" * MAX_FILE_BYTES + b'"}',
    "a folder": _folder,
    "a link": _link,
    "a dead link": lambda place: place.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("what", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_no_wish_is_put_aside(tmp_path: Path, crawl: ControlFolder, what: object) -> None:
    place = tmp_path / "control" / "00.request"
    if isinstance(what, bytes):
        place.write_bytes(what)
    elif callable(what):
        what(place)
    good = ControlRequest("pause")
    ControlFolder(tmp_path).post(good)
    requests, said = taken(crawl)
    assert requests == [good]
    assert len(said) == 1
    assert "'00.request'" in said[0]
    assert not os.path.lexists(place)
    assert len(os.listdir(tmp_path / "control" / "damaged")) == 1
    assert taken(crawl) == ([], [])


def test_a_name_of_control_characters_is_said_in_letters(tmp_path: Path, crawl: ControlFolder) -> None:
    (tmp_path / "control" / "\x1b[2J\n.request").write_bytes(b"")
    (tmp_path / "control" / os.fsdecode(b"\xff" * 200 + b".request")).write_bytes(b"")
    _, said = taken(crawl)
    assert len(said) == 2
    assert not any("\x1b" in line or "\n" in line for line in said)


def test_the_number_is_bounded(tmp_path: Path, crawl: ControlFolder) -> None:
    for number in range(MAX_REQUESTS + 50):
        (tmp_path / "control" / f"{number:05}.request").write_bytes(b"nonsense")
    said = [taken(crawl)[1], taken(crawl)[1], taken(crawl)[1]]
    assert [len(lines) for lines in said] == [MAX_REQUESTS, 50, 0]
    assert len(os.listdir(tmp_path / "control" / "damaged")) == MAX_DAMAGED


def test_files_of_other_names_stay(tmp_path: Path, crawl: ControlFolder) -> None:
    (tmp_path / "control" / "notes.txt").write_text("mine")
    assert taken(crawl) == ([], [])
    assert (tmp_path / "control" / "notes.txt").exists()


def test_the_folder_may_vanish(tmp_path: Path, crawl: ControlFolder) -> None:
    (tmp_path / "control" / "lock").unlink()
    (tmp_path / "control").rmdir()
    assert taken(crawl) == ([], [])
    assert not ControlFolder(tmp_path).is_running()


@given(st.binary() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_no_live_file_raises(data: bytes | str) -> None:
    assert parse_live(data if isinstance(data, bytes) else data.encode()) is None


def test_a_live_file_with_a_wrong_value_is_none() -> None:
    value = json.loads(format_live(LIVE))
    assert parse_live(json.dumps(value).encode()) == LIVE
    wrong = {"pid": "1", "pages": -1, "rate": "fast", "pace": "flying", "errors": [], "troubles": 5, "at": True * 1e300}
    for name, wrong_value in wrong.items():
        assert parse_live(json.dumps({**value, name: wrong_value}).encode()) is None, name
        assert parse_live(json.dumps({key: item for key, item in value.items() if key != name}).encode()) is None, name


def test_a_live_file_of_an_older_goodbot_has_no_memory() -> None:
    value = json.loads(format_live(LIVE))
    del value["memory"]
    assert parse_live(json.dumps(value).encode()) == replace(LIVE, memory=None)


def test_a_live_file_with_a_wrong_memory_is_none() -> None:
    worker = {"role": "worker", "pid": 1, "pss_bytes": None, "rss_bytes": 5, "holdings": {}}
    wrong = [
        {},
        [],
        {"processes": [], "peak_bytes": "5"},
        {"processes": [{**worker, "role": "cook"}], "peak_bytes": 5},
        {"processes": [{**worker, "pss_bytes": -1}], "peak_bytes": 5},
        {"processes": [{**worker, "holdings": {"robots_txt": 7}}], "peak_bytes": 5},
    ]
    value = json.loads(format_live(LIVE))
    for memory in wrong:
        assert parse_live(json.dumps({**value, "memory": memory}).encode()) is None, memory


def test_wishes_keep_their_order_when_the_clock_is_set_back(
    tmp_path: Path, crawl: ControlFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([1_800_000_000_000_000_000, 1_700_000_000_000_000_000, 1_700_000_000_000_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(times))
    user = ControlFolder(tmp_path)
    requests = [ControlRequest("pause"), ControlRequest("resume"), ControlRequest("stop")]
    names = [user.post(request) for request in requests]
    assert names == sorted(names)
    assert taken(crawl) == (requests, [])


# ---- the token ------------------------------------------------------------------------------------------------------


def test_a_token_is_made_once_and_is_the_owners(tmp_path: Path) -> None:
    assert load_token(tmp_path) is None
    make_token(tmp_path)
    token = load_token(tmp_path)
    assert token is not None
    assert len(token) >= 32
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    make_token(tmp_path)
    assert load_token(tmp_path) == token


@pytest.mark.parametrize("text", [b"", b"\n", b"short", b"\xff" * 40, b"x\x00" * 20])
def test_a_weak_token_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "token").write_bytes(text)
    assert load_token(tmp_path) is None
