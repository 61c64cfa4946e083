"""Tests that a host is removed from the frontier and the archive, and that nothing brings it back."""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from math import inf
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from goodbot.archive_values import DamagedRange
from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc import warc_filler, warc_forget
from goodbot.store.warc.warc_filler import LEAST_BYTES, filler
from goodbot.url import Url, authority_of
from goodbot.values import Capture, Discovery, LastVisit, Outcome, RecordRef, Release, Response
from store.warc.archive_samples import capture, index_of, only_file, reader, warc_files, writer

HOST = "gone.example"
NOW = 1_700_000_000.0


# ---- the frontier ---------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A frontier with one page of two hosts visited, and more known."""
    made = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(made, create=True, now=lambda: NOW) as frontier:
        pages = [Discovery(Url(f"http://{host}/{page}"), 0) for host in (HOST, "b.example") for page in range(3)]
        pages.append(Discovery(Url(f"https://{HOST}:8443/plain"), 0))
        frontier.add(pages)
        for lease in frontier.lease(2, 1, NOW):
            (leased,) = lease.urls
            there = Discovery(Url("http://b.example/found"), 1, leased.url)
            back = Discovery(Url(f"http://{HOST}/back"), 1, leased.url)
            outcome = Outcome(leased.url, "visited", NOW, "status 200", 200, to_index=True, links=(there, back))
            frontier.settle([outcome], [Release(lease.host, NOW)])
        for origin in (f"http://{HOST}", f"https://{HOST}:8443", "http://b.example", f"http://www.{HOST}"):
            frontier.save_robots(origin, Access.from_response(404, [], b"", NOW))
        frontier.save_courtesies([Courtesy(HOST, 2), Courtesy("b.example", 2)])
    return made


def test_what_revisits_and_lessons_know_of_it_goes_too(path: Path) -> None:
    here, there = Url(f"http://{HOST}/0"), Url("http://b.example/0")
    with SqliteFrontier.open(path, revisit_until=inf) as frontier:
        for lease in frontier.lease(2, 9, NOW + 9):
            done = [
                Outcome(
                    item.url, "visited", NOW, "", seen=LastVisit(NOW, NOW + 99, 9.0, NOW), from_index=True, same_as=same
                )
                for item in lease.urls
                for same in (there if lease.host == HOST else here,)
            ]
            frontier.settle(done, [Release(lease.host, NOW)])
        lessons = [
            Lesson(HOST, "prefix", "/calendar/", "few texts", NOW),
            Lesson("b.example", "mirror", HOST, "the same pages", NOW),
            Lesson("b.example", "parameter", "sid", f"{here}?sid=1 is the same", NOW),
            Lesson("b.example", "parameter", "page", "a bound of 100", NOW),
        ]
        frontier.save_lessons(lessons)
        assert frontier.bar_host(HOST)
        assert frontier.next_ready_at() is not None
        frontier.remove_host(HOST)
        assert frontier.load_lessons([HOST, "b.example"]) == lessons[3:]
        assert {url.host for url in frontier.leaving()} == {"b.example"}
        assert (frontier.copies_of(there), frontier.copies_of(here)) == ([], [])
        assert {record.same_as for record in frontier.records()} == {None}
        visited = {record.url for record in frontier.records() if record.state == "visited"}
        assert visited == {there}, "copies are read again: they stand for themselves now"
        assert {item.url.host for lease in frontier.lease(9, 9, NOW + 99) for item in lease.urls} == {"b.example"}
    assert HOST not in content(path).replace(f"www.{HOST}", "").replace(f"courtesies\" VALUES('{HOST}'", "").replace(
        f"hosts\" VALUES(1,'{HOST}','http://{HOST}'", ""
    )
    with closing(sqlite3.connect(path)) as connection:
        (orphans,) = connection.execute("SELECT count(*) FROM seen WHERE seq NOT IN (SELECT seq FROM urls)").fetchone()
    assert orphans == 0


def content(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump())


def test_nothing_of_it_is_left_but_what_it_was_asked(path: Path) -> None:
    with SqliteFrontier.open(path) as frontier:
        before = frontier.status()
        assert frontier.bar_host(HOST)
        assert [url.text for part in frontier.visited_on(HOST) for url in part] == [f"http://{HOST}/0"]
        assert frontier.hosts_to_remove() == [HOST]
        assert frontier.remove_host(HOST) == 5
        assert frontier.hosts_to_remove() == []
        after = frontier.status()
        assert [url for url, _ in frontier.pending()] == [Url("http://b.example/0")]
        assert frontier.load_robots(f"http://{HOST}") is None
        assert frontier.load_robots(f"https://{HOST}:8443") is None
        assert frontier.load_robots(f"http://www.{HOST}") is not None
        assert frontier.load_courtesies([HOST])[HOST].requests == 2
        record = frontier.record(Url("http://b.example/found"))
        assert record is not None
        assert record.events[0].reason == "linked from a page that is forgotten, depth 1"
    assert (before.states["ready"] - after.states["ready"], before.pages - after.pages) == (4, 1)
    assert (before.hosts, after.hosts) == (2, 1)
    assert f"http://{HOST}/" not in content(path).replace(f"VALUES('http://www.{HOST}", "")
    assert f"http://{HOST}/0".encode() not in path.read_bytes()


def test_a_purged_file_holds_nothing_of_rows_that_were_moved(tmp_path: Path) -> None:
    path = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True, now=lambda: NOW) as frontier:
        hosts = (HOST, "b.example")
        frontier.add(Discovery(Url(f"http://{host}/of-{host}/{page}"), 0) for page in range(3000) for host in hosts)
        for lease in frontier.lease(2, 1000, NOW):
            done = [Outcome(item.url, "visited", NOW, f"why {item.url}", 200) for item in lease.urls]
            frontier.settle(done, [Release(lease.host, NOW)])
        frontier.bar_host(HOST)
        frontier.remove_host(HOST)
        frontier.purge()
        data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert (f"/of-{HOST}/".encode() in data, b"/of-b.example/" in data) == (False, True)
        assert frontier.status().states["ready"] == 2000


def test_neither_links_nor_seeds_bring_it_back(path: Path) -> None:
    with SqliteFrontier.open(path) as frontier:
        frontier.bar_host(HOST)
        frontier.remove_host(HOST)
    with SqliteFrontier.open(path) as frontier:
        new = [Discovery(Url(f"http://{HOST}/0"), 0), Discovery(Url(f"https://{HOST}/x"), 1, Url("http://b.example/0"))]
        assert frontier.add([*new, Discovery(Url("http://b.example/new"), 0)]) == 1
        frontier.reconsider(lambda url, depth: None)
        assert [lease.host for lease in frontier.lease(9, 9, NOW + 9)] == ["b.example"]
        assert frontier.record(Url(f"http://{HOST}/0")) is None
        assert frontier.unbar_host(HOST)
        assert not frontier.unbar_host(HOST)
    with SqliteFrontier.open(path) as frontier:
        assert frontier.add(new) == 2
        assert {lease.host for lease in frontier.lease(9, 9, NOW + 9)} == {HOST, "b.example"}


def test_while_it_is_being_asked(path: Path) -> None:
    """The lease ends as ever, and there is no other."""
    with SqliteFrontier.open(path) as frontier:
        lease = next(lease for lease in frontier.lease(2, 1, NOW + 9) if lease.host == HOST)
        assert frontier.bar_host(HOST)
        link = Discovery(Url(f"http://{HOST}/more"), 1, lease.urls[0].url)
        frontier.settle([Outcome(lease.urls[0].url, "visited", NOW, "", links=(link,))], [Release(HOST, NOW)])
        assert frontier.lease(9, 9, NOW + 99) == []
        assert frontier.record(link.url) is None
        assert frontier.remove_host(HOST) == 5
        assert frontier.status().states["leased"] == 1


def test_a_host_not_known(path: Path) -> None:
    with SqliteFrontier.open(path) as frontier:
        frontier.save_courtesies([Courtesy("c.example", 1)])  # a robots.txt led there
        assert frontier.bar_host("c.example")
        assert frontier.remove_host("c.example") == 0
        assert frontier.remove_host("d.example") == 0


@pytest.mark.parametrize("host", ["c.example", "127.0.0.1:8000", "2606:4700::1111", "[::1]:8080"])
def test_a_host_not_known_is_barred(path: Path, host: str) -> None:
    with SqliteFrontier.open(path) as frontier:
        known = frontier.status()
        assert not frontier.bar_host(host)
        assert frontier.hosts_to_remove() == []
        assert host in frontier.forgotten_hosts()
        urls = [Url(f"http://{authority_of(host)}/"), Url(f"https://{authority_of(host)}/x")]
        found = [url for url in urls if url.host_key == host]
        assert found
        assert frontier.add(Discovery(url, 0) for url in found) == 0
        assert frontier.status() == known
        assert frontier.unbar_host(host)
        assert frontier.add(Discovery(url, 0) for url in found) == len(found)
        assert host in {lease.host for lease in frontier.lease(9, 9, NOW + 9)}


# ---- the archive ----------------------------------------------------------------------------------------------------


def page(host: str, number: int, body: bytes | None = None) -> Capture:
    noise = random.Random(f"{host} {number}").randbytes(random.Random(number).randrange(200_000))
    data = noise if body is None else body
    return capture(Response(200, (("X-Number", str(number)),), data), f"http://{host}/{number}")


def test_its_records_go_and_all_others_stay_where_they_are(tmp_path: Path) -> None:
    archive = writer(tmp_path, size_limit_bytes=300_000)
    kept: dict[RecordRef, Capture] = {}
    for number in range(12):
        for host in (HOST, "b.example"):
            record = archive.put(page(host, number))
            if host != HOST:
                kept[record] = page(host, number)
    archive.close()
    sizes = [file.stat().st_size for file in warc_files(tmp_path)]
    assert len(sizes) > 2
    archive = writer(tmp_path)
    assert archive.forget(HOST) == (12, 0)
    assert archive.forget(HOST) == (0, 0)
    archive.close()
    assert [file.stat().st_size for file in warc_files(tmp_path)] == sizes
    again = reader(tmp_path)
    for record, was in kept.items():
        found = again.read(record)
        assert (found.url, found.response) == (was.request.url, was.result)
    assert [archived.url.host for archived in again.captures()] == ["b.example"] * 12
    for file in warc_files(tmp_path):
        assert HOST not in index_of(file).read_text()
        with file.open("rb") as stream:
            urls = [record.headers.get("WARC-Target-URI") for record in ArchiveIterator(stream, verify_digests=True)]
        also = []
        with file.open("rb") as stream:
            for item in WarcioIterator(stream, check_digests="raise"):
                item.content_stream().read()
                also.append(item.rec_headers.get_header("WARC-Target-URI"))
        assert [url for url in urls if url] == [url for url in also if url]
        assert not any(HOST in url for url in also if url)


@pytest.mark.parametrize("host", ["2606:4700::1111", "2606:4700::abcd", "[::1]:8080"])
def test_an_address_of_version_6_is_found_by_the_index(tmp_path: Path, host: str) -> None:
    archive = writer(tmp_path)
    archive.put(page(authority_of(host), 1))
    archive.close()
    archive = writer(tmp_path)
    assert archive.forget(host) == (1, 0)
    archive.close()


def test_a_payload_that_others_repeat_is_kept_for_them(tmp_path: Path) -> None:
    body = random.Random(0).randbytes(5000)
    archive = writer(tmp_path)
    archive.put(page(HOST, 0, body))
    records = [archive.put(page(host, number, body)) for number, host in enumerate(["b.example", "c.example", HOST])]
    archive.close()
    archive = writer(tmp_path)
    assert archive.forget(HOST) == (2, 0)
    for record, (number, host) in zip(records, enumerate(["b.example", "c.example"]), strict=False):
        found = archive.read(record)
        assert (found.url.text, found.response.body) == (f"http://{host}/{number}", body)
        assert found.response.header("x-number") == str(number)
    with pytest.raises(DamagedError, match="not a response record"):
        archive.read(records[2])
    assert sorted(archived.url.host for archived in archive.captures()) == ["b.example", "c.example"]
    archive.close()
    with only_file(tmp_path).open("rb") as stream:
        kinds = [record.record_type for record in ArchiveIterator(stream, verify_digests=True)]
    assert kinds.count(WarcRecordType.response) == 1
    assert kinds.count(WarcRecordType.revisit) == 1
    assert index_of(only_file(tmp_path)).read_text().count("b.example") == 1
    archive = writer(tmp_path)
    assert archive.forget("b.example") == (1, 0)  # once more, from what was moved
    assert archive.read(records[1]).response.body == body
    archive.close()


def test_while_records_are_being_written(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.put(page(HOST, 1))
    kept = archive.put(page("b.example", 1))
    assert archive.forget(HOST) == (1, 0)
    assert archive.read(kept).url.host == "b.example"
    archive.put(page("b.example", 2))
    archive.close()
    assert len(warc_files(tmp_path)) == 2
    with pytest.raises(ValueError, match="not open"):
        reader(tmp_path).forget(HOST)


@pytest.mark.parametrize("step", ["copyfile", "settle"])
def test_cut_off_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The old file or the new one, whole; the next time does the rest."""
    archive = writer(tmp_path)
    archive.put(page(HOST, 1))
    kept = archive.put(page("b.example", 1))
    archive.close()
    archive = writer(tmp_path)

    def cut(*arguments: object) -> None:
        if step == "copyfile":
            Path(str(arguments[1])).write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil if step == "copyfile" else warc_forget, step, cut)
        with pytest.raises(KeyboardInterrupt):
            archive.forget(HOST)
    assert reader(tmp_path).read(kept).url.host == "b.example"
    archive.close()
    archive = writer(tmp_path)
    assert archive.forget(HOST) == (1 if step == "copyfile" else 0, 0)
    archive.close()
    assert [archived.url.host for archived in reader(tmp_path).captures()] == ["b.example"]
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".cdxj", ".gz"]
    assert HOST not in index_of(only_file(tmp_path)).read_text()


@pytest.mark.parametrize("host_of_damage", [HOST, "b.example"])
def test_what_is_damaged_goes_too_and_stays_noted(tmp_path: Path, host_of_damage: str) -> None:
    archive = writer(tmp_path)
    first = archive.put(page(HOST, 1))
    damaged = archive.put(page(host_of_damage, 2))
    last = archive.put(page("b.example", 3))
    archive.close()
    file = only_file(tmp_path)
    data = bytearray(file.read_bytes())
    data[damaged.offset + 300 : damaged.offset + 900] = bytes(600)
    file.write_bytes(data)
    archive = writer(tmp_path)
    assert len(archive.damage) == 1
    captures, dropped = archive.forget(HOST)
    assert captures == 1
    assert 0 < dropped < last.offset - damaged.offset
    assert archive.forget(HOST) == (0, 0)
    gaps: list[DamagedRange] = []
    assert [archived.record for archived in archive.captures(gaps.append)] == [last]
    assert gaps == []
    with pytest.raises(DamagedError):
        archive.read(first)
    archive.close()
    assert data[damaged.offset + 1000 : damaged.offset + 1100] not in file.read_bytes()
    assert len(file.read_bytes()) == len(data)
    archive = writer(tmp_path)
    assert [gap.start for gap in archive.damage] == [damaged.offset], "pages of others may have been lost"
    archive.close()


def test_what_is_damaged_stays_where_the_index_knows_nothing_of_the_host(tmp_path: Path) -> None:
    archive = writer(tmp_path, size_limit_bytes=1)
    archive.put(page("b.example", 1))
    archive.put(page(HOST, 1))
    archive.close()
    file, _ = warc_files(tmp_path)
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    data = bytearray(file.read_bytes())
    data[-2000] ^= 0xFF
    file.write_bytes(data)
    os.utime(file, ns=times)
    archive = writer(tmp_path)
    assert archive.forget(HOST) == (1, 0)
    archive.close()
    assert file.read_bytes() == data


@pytest.mark.parametrize("length", [*range(330, 345), 65_553, 65_554, 65_558, 65_559, 65_700, 131_110, 1_000_000])
def test_an_emptied_record_has_any_length(length: int, tmp_path: Path) -> None:
    for moved_to in (None, 10**12):
        made = filler(length, moved_to)
        assert len(made) == length
        file = tmp_path / "x.warc.gz"
        file.write_bytes(made)
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                assert record.headers.get("WARC-Goodbot-Moved-To") == (None if moved_to is None else str(moved_to))
                assert record.reader.read().strip(b"\0") == b""
    with pytest.raises(ValueError, match="cannot be made"):
        filler(200, None)


def test_a_gap_is_filled_with_as_many_records_as_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_filler, "_MAX_RECORD_BYTES", 1000)
    for length in (1330, 1329, 2500, 5000):
        file = tmp_path / f"{length}.warc.gz"
        with file.open("wb") as stream:
            warc_filler.fill(stream, 0, length)
        with file.open("rb") as stream:
            assert len(list(ArchiveIterator(stream))) == max(1, (length - LEAST_BYTES) // 1000 + 1)
        assert file.stat().st_size == length


def test_visited_urls_come_in_parts_between_which_the_file_may_be_written(tmp_path: Path) -> None:
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True) as frontier:
        urls = [Url(f"http://{HOST}/{number}") for number in range(2500)]
        frontier.add([Discovery(url, 0) for url in [*urls, Url("http://b.example/")]])
        asked = urls[:2200]
        (lease,) = [lease for lease in frontier.lease(9, 9999, NOW) if lease.host == HOST]
        assert {item.url for item in lease.urls} >= set(asked)
        frontier.settle([Outcome(url, "visited", NOW, "") for url in asked], [Release(HOST, NOW)])
        found: list[Url] = []
        for part in frontier.visited_on(HOST):
            assert len(part) <= 1000
            found += part
            frontier.settle([], [])
            frontier.add([Discovery(Url(f"http://b.example/{len(found)}"), 0)])
        assert sorted(found) == sorted(asked)
        assert list(frontier.visited_on("nobody.example")) == []
