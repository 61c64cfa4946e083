"""The pages to announce: each once, and with a state file only those that changed."""

import os
import sqlite3
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest

from goodbot.announce.announce_values import GONE, Batch, Change, Service
from goodbot.announce.state_file import translated
from goodbot.announce.worklist import Worklist
from goodbot.errors import BusyError, DamagedError, GoodbotError, InputError, RunError
from goodbot.url import Url

ONE, TWO = (Service(name, Url(f"https://{name}.example/indexnow")) for name in ("one", "two"))


def url(path: str, origin: str = "https://a.example") -> Url:
    return Url(origin + path)


def found(work: Worklist, service: Service = ONE) -> list[str]:
    changes = [change.url.text for change in work.changes(service)]
    assert len(changes) == sum(host.pages for host in work.hosts(service))
    return changes


def accept(work: Worklist, service: Service, changes: Iterable[Change]) -> None:
    work.accept(service, Batch("a.example", "0123456789", url("/0123456789.txt"), tuple(changes)))


def test_each_page_once_sorted_by_host() -> None:
    with Worklist() as work:
        assert not work
        work.add([Change(url("/b")), Change(url("/", "https://z.example")), Change(url("/a")), Change(url("/b"))])
        work.add([Change(url("/b")), Change(url("/", "http://a.example")), Change(url("/gone"), GONE)])
        assert found(work) == [
            "http://a.example/",
            "https://a.example/a",
            "https://a.example/b",
            "https://z.example/",
        ]
        assert work.hosts(ONE) == [("a.example", "https://a.example", 3), ("z.example", "https://z.example", 1)]
        assert work.first_page("z.example") == url("/", "https://z.example")
        accept(work, ONE, work.changes(ONE))
        assert len(found(work)) == 4


MARKS = [GONE, "", "text t1", "written 27.11.26", "written 28.11.26", "lastmod -5", "lastmod 99", "lastmod 99.500"]
"""Each supersedes those before it."""


@pytest.mark.parametrize("first", MARKS)
def test_the_newest_mark_counts_in_any_order(first: str, tmp_path: Path) -> None:
    for order in permutations(MARKS[MARKS.index(first) : MARKS.index(first) + 4], 3):
        with Worklist(tmp_path / "state") as work:
            for mark in order[:2]:
                work.add([Change(url("/"), mark)])
            work.add([Change(url("/"), order[2]), Change(url("/"), order[0])])
            (change,) = work.changes(ONE)
            assert change.mark == max(order, key=MARKS.index)


PARTIAL = [
    ("lastmod 5", "lastmod 6", True),
    ("lastmod 5", "lastmod 4", False),
    ("lastmod 5", "", False),
    ("lastmod 5", "text t1", False),
    ("lastmod 5", GONE, True),
    ("text t1", "text t2", True),
    ("text t1", GONE, True),
    ("", "lastmod 4", True),
    (GONE, "", True),
]


@pytest.mark.parametrize(("accepted", "mark", "is_announced"), PARTIAL)
def test_what_was_not_read_stays_as_it_was_accepted(
    accepted: str, mark: str, is_announced: bool, tmp_path: Path
) -> None:
    with Worklist(tmp_path / "state") as work:
        accept(work, ONE, [Change(url("/"), accepted)])
        work.add([Change(url("/"), mark), Change(url("/new"), "lastmod 1")])
        for is_partial in (False, True):
            work.is_partial = is_partial
            assert (url("/").text in found(work)) == (is_announced or not is_partial)
            assert url("/new").text in found(work)


@pytest.mark.parametrize(
    ("page", "folder", "is_outside"),
    [
        ("https://a.example/x/y", "/x/", False),
        ("https://a.example/x", "/x/", True),
        ("http://a.example/x/y?/z", "/", False),
        ("http://a.example/y/?/x/", "/x/", True),
    ],
)
def test_pages_outside_a_folder(page: str, folder: str, is_outside: bool) -> None:
    with Worklist() as work:
        work.add([Change(Url(page)), Change(url("/", "https://b.example"))])
        assert work.page_outside("a.example", folder) == (Url(page) if is_outside else None)


def test_only_what_changed_since_a_service_accepted_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    pages = [Change(url("/same"), "1"), Change(url("/new"), "1"), Change(url("/gone"), "1"), Change(url("/x"), GONE)]
    with Worklist(state) as work:
        work.add(pages)
        assert found(work) == ["https://a.example/gone", "https://a.example/new", "https://a.example/same"]
        for change in work.changes(ONE):  # accepted one by one, while the list is read
            accept(work, ONE, [change])
        accept(work, TWO, [pages[0]])
        assert found(work) == []
        assert found(work, TWO) == ["https://a.example/gone", "https://a.example/new"]
    later = [Change(url("/same"), "1"), Change(url("/new"), "2"), Change(url("/gone"), GONE), Change(url("/x"), "1")]
    with Worklist(state) as work:
        work.add(later)
        assert found(work) == ["https://a.example/gone", "https://a.example/new", "https://a.example/x"]
        assert found(work, TWO) == ["https://a.example/new", "https://a.example/x"]
        accept(work, ONE, work.changes(ONE))
        assert found(work) == []
    with Worklist(state) as work:
        work.add([Change(url("/gone"), "1")])
        assert found(work) == ["https://a.example/gone"]  # it came back


def test_many_pages_are_read_in_pieces(tmp_path: Path) -> None:
    pages = [Change(url(f"/{number:05}"), "1") for number in range(25_000)]
    with Worklist(tmp_path / "state") as work:
        work.add(reversed(pages))
        assert [*work.changes(ONE)] == pages
        accept(work, ONE, pages[::2])
        assert [*work.changes(ONE)] == pages[1::2]


def test_a_rehearsal_leaves_the_state_alone(tmp_path: Path) -> None:
    state, page = tmp_path / "state", Change(url("/"), "1")
    with Worklist(state, read_only=True) as work:
        work.add([page])
        assert found(work) == ["https://a.example/"]
    assert not state.exists()
    with Worklist(state) as work:
        accept(work, ONE, [page])
    before = state.read_bytes()
    with Worklist(state, read_only=True) as work:
        work.add([page, Change(url("/b"), "1")])
        assert found(work) == ["https://a.example/b"]
    assert state.read_bytes() == before


def of_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE other (x)")
    db.close()


def torn(path: Path) -> None:
    with Worklist(path) as work:
        accept(work, ONE, [Change(url(f"/{number}"), "1") for number in range(2_000)])
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))


def newer(path: Path) -> None:
    Worklist(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


BAD = [
    ("a text", lambda path: path.write_text("https://a.example/ " * 100), InputError, "not a state file"),
    ("another SQLite file", of_sqlite, InputError, "not a state file"),
    ("a folder", lambda path: path.mkdir(), InputError, "is a folder"),
    ("a pipe", os.mkfifo, InputError, "is not a file that can keep the state"),
    ("a device", lambda path: path.symlink_to("/dev/null"), InputError, "is not a file that can keep the state"),
    ("damage", torn, DamagedError, "is damaged; remove it"),
    ("of a newer goodbot", newer, InputError, "newer goodbot"),
]


@pytest.mark.parametrize(("make", "error", "text"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
@pytest.mark.parametrize("read_only", [False, True])
def test_bad_state_files(make: object, error: type[GoodbotError], text: str, read_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "state"
    make(path)  # type: ignore[operator]

    def use() -> None:
        with Worklist(path, read_only=read_only) as work:
            work.add([Change(url(f"/{number}"), "1") for number in range(2_000)])
            found(work)

    with pytest.raises(error, match=text):
        use()


def test_an_empty_file_is_a_new_state(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    for read_only in (True, False):
        with Worklist(tmp_path / "state", read_only=read_only) as work:
            assert found(work) == []


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Worklist(tmp_path / "none" / "state")


def test_one_user_at_a_time(tmp_path: Path) -> None:
    with Worklist(tmp_path / "state"):
        for read_only in (False, True):
            with pytest.raises(BusyError, match="another goodbot announce is using"):
                Worklist(tmp_path / "state", read_only=read_only)
    Worklist(tmp_path / "state").close()


def test_what_is_kept_when_the_state_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for is_kept in (False, True):
        with pytest.raises(RunError) as error, translated(path):
            sqlite3.connect(f"file:{tmp_path}/none/state?mode=ro", uri=True)
        kept = "; what was accepted before is kept" if is_kept else ""
        assert str(error.value) == f"cannot use {path}: unable to open database file{kept}"
        Worklist(path).close()
