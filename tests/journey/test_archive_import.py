"""Archives of other programs become a crawl, in which every command works as in one's own."""

import asyncio
import fcntl
import gzip
import json
import os
import random
import select
import signal
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from goodbot.store.requests.request_store import RequestStore
from goodbot.store.sqlite.frontier import SqliteFrontier
from journey.goodbot_process import Ended, ended, goodbot, start
from store.foreign.foreign_samples import DATE, ID, http, members, page, pages, record, response, sha1, wacz, zipped
from webserver import Exchange, WebServer, answer

LATER = "2024-04-01T10:00:00Z"


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


async def imported(folder: Path, *files: Path, status: int = 0) -> Any:
    result = await goodbot("archive", "import", *files, "--into", folder, "--json")
    assert result.status == status, result.err
    return result.json


async def urls(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (await goodbot("export", "--in", folder, "--what", "urls")).lines
    return {line["url"]: line for line in lines}


async def texts(folder: Path) -> dict[str, str]:
    lines = (await goodbot("export", "--in", folder, "--what", "pages")).lines
    return {line["url"]: line["text"] for line in lines}


async def found(folder: Path, query: str) -> list[str]:
    result = await goodbot("search", query, "--in", folder, "--json")
    assert result.status == 0, result.err
    return sorted(hit["url"] for hit in result.json["hits"])


async def captures(folder: Path) -> int:
    """How many captures the archive has. It is sound."""
    checked = (await goodbot("archive", "check", "--in", folder, "--json")).json
    assert checked["sound"], checked
    return int(checked["captures"])


def linked(number: int, *targets: str, head: str = "") -> bytes:
    links = "".join(f'<a href="{target}">to {target}</a>' for target in targets)
    return f"<title>Page {number}</title>{head}<p>zebra number{number} {links}".encode()


SITE = "http://example.org"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A file with all that an archive may hold."""
    records = [
        record("warcinfo", b"software: other\r\n", content_type="application/warc-fields"),
        response(f"{SITE}/robots.txt", b"User-agent: *\nContent-Signal: search=yes\nDisallow: /closed\n"),
        response(f"{SITE}/", linked(1, "/a", "/missing", "http://elsewhere.example/x")),
        response(f"{SITE}/a", linked(2)),
        response(f"{SITE}/hidden", linked(3, head='<meta name="robots" content="noindex">')),
        response(f"{SITE}/unkept", linked(4, head='<meta name="robots" content="noarchive">')),
        record(
            "response",
            http(b"", "301 Moved", [("Location", "/a")]),
            f"{SITE}/moved",
            content_type="application/http; msgtype=response",
        ),
        response(f"{SITE}/gone", b"<p>gone", "404 Not Found"),
        response(f"{SITE}/busy", b"<p>busy", "503 Busy"),
        response("http://10.0.0.7/private", linked(5)),
        record("response", b"20240301\n", "dns:example.org", content_type="text/dns"),
    ]
    return write(tmp_path / "library.warc.gz", members(records))


async def test_every_command_works_on_what_was_imported(tmp_path: Path, library: Path) -> None:
    folder = tmp_path / "crawl"
    done = await imported(folder, library)
    assert (done["captures"], done["pages"], done["robots_txt"], done["damage_count"]) == (9, 8, 1, 0)
    assert {why: count for why, count in done["skipped"].items() if count} == {"not http": 1}
    known = await urls(folder)
    assert {url: line["state"] for url, line in known.items()} == {
        f"{SITE}/": "visited",
        f"{SITE}/a": "visited",
        f"{SITE}/hidden": "visited",
        f"{SITE}/unkept": "visited",
        f"{SITE}/moved": "visited",
        f"{SITE}/gone": "gone",
        f"{SITE}/busy": "failed",
        "http://10.0.0.7/private": "visited",
        f"{SITE}/missing": "out-of-scope",
        "http://elsewhere.example/x": "out-of-scope",
    }
    assert known[f"{SITE}/missing"]["why"] == "not in the imported archives"
    assert known[f"{SITE}/a"]["fetched_at"] == 1_709_287_200.0
    assert known[f"{SITE}/busy"]["why"] == "status 503"
    assert (await goodbot("status", "--in", folder, "--json")).json["finished"]
    assert await found(folder, "zebra") == ["http://10.0.0.7/private", f"{SITE}/", f"{SITE}/a", f"{SITE}/unkept"]
    assert await found(folder, "number2") == [f"{SITE}/a"]
    links = (await goodbot("export", "--in", folder, "--what", "links")).lines
    assert {link["target"] for link in links} >= {f"{SITE}/missing", "http://elsewhere.example/x"}
    story = (await goodbot("why", f"{SITE}/a", "--in", folder, "--json")).json
    assert any("imported from library.warc.gz" in event["reason"] for event in story["events"])
    assert await captures(folder) == 9
    rebuilt = await goodbot("index", "rebuild", "--in", folder, "--json")
    assert rebuilt.status == 0, rebuilt.err
    assert f"{SITE}/a" in await found(folder, "zebra")
    all_of_it = tmp_path / "all.warc.gz"
    assert (await goodbot("export", "--in", folder, "--what", "warc", "-o", all_of_it)).status == 0
    again = await imported(tmp_path / "copy", all_of_it)
    assert (again["captures"], again["damage_count"]) == (9, 0)
    assert (await urls(tmp_path / "copy")).keys() == known.keys()


async def test_the_same_file_again_changes_nothing(tmp_path: Path, library: Path) -> None:
    folder = tmp_path / "crawl"
    await imported(folder, library)
    before = await urls(folder), await captures(folder)
    done = await imported(folder, library, write(tmp_path / "plain.warc", gzip.decompress(library.read_bytes())))
    assert (done["captures"], done["known"], done["pages"]) == (0, 18, 0)
    assert (await urls(folder), await captures(folder)) == before


@pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=["older first", "newer first"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_the_latest_capture_is_the_page(tmp_path: Path, order: list[int], *, at_once: bool) -> None:
    folder = tmp_path / "crawl"
    old = write(tmp_path / "old.warc.gz", members([response(f"{SITE}/", b"<title>Old</title><p>zebra old")]))
    new = write(
        tmp_path / "new.warc.gz", members([response(f"{SITE}/", b"<title>New</title><p>zebra new", warc_date=LATER)])
    )
    files = [[old, new][number] for number in order]
    for some in [files] if at_once else [[file] for file in files]:
        await imported(folder, *some)
    assert (await texts(folder))[f"{SITE}/"] == "zebra new"
    assert (await found(folder, "old"), await found(folder, "new")) == ([], [f"{SITE}/"])
    assert await captures(folder) == 2
    assert len(await urls(folder)) == 1


async def test_an_error_does_not_take_the_place_of_a_page(tmp_path: Path) -> None:
    records = [
        response(f"{SITE}/", b"<p>busy", "503 Busy", warc_date=LATER),
        response(f"{SITE}/", linked(1)),
        response(f"{SITE}/a", linked(2)),
        response(f"{SITE}/a", b"<p>busy", "503 Busy", warc_date=LATER),
        response(f"{SITE}/b", linked(3)),
        response(f"{SITE}/b", b"<p>gone", "410 Gone", warc_date=LATER),
    ]
    folder = tmp_path / "crawl"
    done = await imported(folder, write(tmp_path / "a.warc.gz", members(records)))
    assert done["captures"] == 6
    known = await urls(folder)
    assert {url: line["state"] for url, line in known.items()} == {
        f"{SITE}/": "visited",
        f"{SITE}/a": "visited",
        f"{SITE}/b": "gone",
    }
    assert await found(folder, "zebra") == [f"{SITE}/", f"{SITE}/a"]
    assert (await goodbot("status", "--in", folder, "--json")).json["finished"]


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
async def test_a_body_that_is_decoded_already_is_read_as_it_is(tmp_path: Path, coding: str) -> None:
    folder, kind = tmp_path / "crawl", "application/http; msgtype=response"
    block = http(linked(1), headers=[("Content-Type", "text/html"), ("Content-Encoding", coding)])
    await imported(
        folder, write(tmp_path / "a.warc.gz", members([record("response", block, f"{SITE}/", content_type=kind)]))
    )
    assert await found(folder, "zebra") == [f"{SITE}/"]
    assert (await texts(folder))[f"{SITE}/"].startswith("zebra number1")


CANONICAL = '<link rel=canonical href="/b">'


@pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=["copy first", "original first"])
@pytest.mark.parametrize("between", [0, 150], ids=["in one batch", "in two batches"])
async def test_a_page_with_a_canonical_url_in_the_archives_is_a_copy(
    tmp_path: Path, order: list[int], between: int
) -> None:
    both = [response(f"{SITE}/a", linked(1, head=CANONICAL)), response(f"{SITE}/b", linked(2))]
    others = [response(f"{SITE}/other/{number}", b"<p>lion") for number in range(between)]
    folder = tmp_path / "crawl"
    records = [both[order[0]], *others, both[order[1]]]
    done = await imported(folder, write(tmp_path / "a.warc.gz", members(records)))
    assert (done["captures"], done["pages"]) == (2 + between, 2 + between)
    assert await found(folder, "zebra") == [f"{SITE}/b"]
    why = (await goodbot("why", f"{SITE}/a", "--in", folder, "--json")).json
    (index,) = [event for event in why["events"] if event["step"] == "index"]
    assert (index["decision"], index["reason"]) == ("no", f"the page says that it is a copy of {SITE}/b")
    assert [event["decision"] for event in why["events"] if event["step"] == "keep"] == ["yes"]
    assert await captures(folder) == 2 + between
    await goodbot("index", "rebuild", "--in", folder)
    assert await found(folder, "zebra") == [f"{SITE}/b"]


@pytest.mark.parametrize(
    ("names", "indexed"), [({"a": "b", "b": "c", "c": "c"}, ["c"]), ({"a": "b", "b": "c", "c": "a"}, None)]
)
@pytest.mark.parametrize("order", ["abc", "acb", "bac", "bca", "cab", "cba"])
async def test_canonical_urls_in_a_row_leave_nothing_to_fetch(
    tmp_path: Path, order: str, names: dict[str, str], indexed: list[str] | None
) -> None:
    folder = tmp_path / "crawl"
    heads = {page: f'<link rel=canonical href="/{target}">' for page, target in names.items()}
    records = [response(f"{SITE}/{page}", linked(ord(page), head=heads[page])) for page in order]
    await imported(folder, write(tmp_path / "a.warc.gz", members(records)))
    assert {line["state"] for line in (await urls(folder)).values()} == {"visited"}
    shown = await found(folder, "zebra")
    assert shown == [f"{SITE}/{page}" for page in indexed] if indexed else shown
    assert (await goodbot("status", "--in", folder, "--json")).json["finished"]


@pytest.mark.parametrize("at_canonical", [[], [response(f"{SITE}/b", b"<p>no", "404 Not Found")]], ids=["", "404"])
async def test_a_page_whose_canonical_url_has_no_page_represents_itself(
    tmp_path: Path, at_canonical: list[bytes]
) -> None:
    folder = tmp_path / "crawl"
    records = [response(f"{SITE}/a", linked(1, head=CANONICAL)), *at_canonical]
    await imported(folder, write(tmp_path / "a.warc.gz", members(records)))
    assert await found(folder, "zebra") == [f"{SITE}/a"]


def revisit(uri: str, payload: str, date: str = LATER) -> bytes:
    return record(
        "revisit",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        uri,
        warc_date=date,
        content_type="application/http; msgtype=response",
        warc_payload_digest=payload,
        warc_profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
    )


@pytest.mark.parametrize("first", ["original", "revisit"])
async def test_revisits_get_the_payload_they_refer_to(tmp_path: Path, first: str) -> None:
    body = linked(1)
    original = response(f"{SITE}/", body, warc_payload_digest=sha1(body))
    both = [original, revisit(f"{SITE}/again", sha1(body)), revisit(f"{SITE}/lost", sha1(b"?"))]
    folder = tmp_path / "crawl"
    data = members(both if first == "original" else both[::-1])
    done = await imported(folder, write(tmp_path / "a.warc.gz", data))
    assert (done["captures"], done["skipped"]["no original"]) == (2, 1)
    assert (await texts(folder))[f"{SITE}/again"] == "zebra number1"
    done = await imported(folder, write(tmp_path / "b.warc.gz", members([revisit(f"{SITE}/later", sha1(body))])))
    assert done["captures"] == 1
    assert (await texts(folder))[f"{SITE}/later"] == "zebra number1"


async def test_a_wacz_file_is_imported(tmp_path: Path) -> None:
    listed = b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n'
    entries = [
        ("archive/data.warc.gz", members(pages(3))),
        ("archive/screenshots.warc.gz", members([record("resource", b"x", "urn:view:http://example.org/0")])),
        ("pages/pages.jsonl", listed),
        ("pages/extraPages.jsonl", listed),
    ]
    folder = tmp_path / "crawl"
    done = await imported(folder, write(tmp_path / "a.wacz", wacz(entries)))
    assert (done["captures"], done["skipped"]["not http"], done["damage_count"]) == (3, 1, 0)
    assert await found(folder, "zebra") == [f"{SITE}/{number}" for number in range(3)]


async def test_damage_is_listed_and_the_rest_imported(tmp_path: Path) -> None:
    torn = write(tmp_path / "torn.warc.gz", members(pages(5))[:-30])
    folder = tmp_path / "crawl"
    done = await imported(folder, torn, status=1)
    assert (done["captures"], done["damage_count"]) == (4, 1)
    assert done["damaged"][0]["file"] == str(torn)
    shown = await goodbot("archive", "import", torn, "--into", folder)
    assert shown.status == 1
    assert "damaged places in the files: 1" in shown.out
    assert "4 captures imported before" in shown.out
    whole = await imported(folder, write(tmp_path / "whole.warc.gz", members(pages(5))))
    assert (whole["captures"], whole["known"]) == (1, 4)
    assert await captures(folder) == 5


BAD = [
    ("empty", b"", "is empty, not a WARC or WACZ file"),
    ("text.warc.gz", b"hello", "is neither a WARC nor a WACZ file"),
    (
        "old.arc.gz",
        gzip.compress(b"filedesc://x 0.0.0.0 20240301 text/plain 76\n"),
        "is an ARC file, not a WARC file: convert it first",
    ),
    ("letter.docx", zipped([("word/document.xml", b"<w/>")]), "is neither a WARC nor a WACZ file"),
    ("nothing.wacz", zipped([]), "is neither a WARC nor a WACZ file"),
    ("named.warc", b"filedesc://x 0.0.0.0 20240301 text/plain 76\n", "is an ARC file"),
]


@pytest.mark.parametrize(("name", "data", "what"), BAD, ids=[row[0] for row in BAD])
async def test_a_file_that_is_no_archive_is_refused_before_anything_is_done(
    tmp_path: Path, name: str, data: bytes, what: str
) -> None:
    good, bad = write(tmp_path / "good.warc.gz", members(pages(2))), write(tmp_path / name, data)
    result = await goodbot("archive", "import", good, bad, "--into", tmp_path / "crawl")
    assert (result.status, result.out) == (2, "")
    assert what in result.complaint
    assert str(bad) in result.complaint
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", bytes(10)], ids=["byte order mark", "zeros"])
async def test_a_file_with_a_damaged_start_is_imported(tmp_path: Path, start: bytes) -> None:
    data = start + b"".join(pages(3))[len(start) if start == bytes(10) else 0 :]
    done = await imported(tmp_path / "crawl", write(tmp_path / "a.warc", data), status=1)
    assert done["captures"] == (2 if start == bytes(10) else 3)


@pytest.mark.parametrize("date", [DATE, "2999-01-01T00:00:00Z"])
async def test_a_lost_page_comes_back_by_importing_again(tmp_path: Path, date: str) -> None:
    records = [response(f"{SITE}/{number}", page(number), warc_date=date) for number in range(3)]
    folder, file = tmp_path / "crawl", write(tmp_path / "a.warc.gz", members(records))
    await imported(folder, file)
    (warc,) = (folder / "warc").glob("*.warc.gz")
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 0x55
    warc.write_bytes(data)
    repaired = await goodbot("archive", "repair", "--in", folder)
    assert "import the files again: goodbot archive import" in repaired.out
    assert len(await texts(folder)) == 2
    again = await imported(folder, file)
    assert (again["captures"], again["known"]) == (1, 2)
    assert len(await texts(folder)) == 3
    assert (await imported(folder, file))["known"] == 3


async def test_an_export_lists_pages_whose_later_answers_are_errors(tmp_path: Path) -> None:
    later = response(f"{SITE}/0", b"busy", "503 Service Unavailable", warc_date="2024-03-02T10:00:00Z")
    folder, target = tmp_path / "crawl", tmp_path / "a.wacz"
    await imported(folder, write(tmp_path / "a.warc.gz", members([*pages(1), later])))
    assert (await goodbot("archive", "export", "-o", target, "--in", folder, "--json")).json["pages"] == 1
    with zipfile.ZipFile(target) as wacz_file:
        page = json.loads(wacz_file.read("pages/pages.jsonl").splitlines()[1])
    assert (page["url"], page["ts"][:10]) == (f"{SITE}/0", "2024-03-01")
    printed = await goodbot("archive", "export", "-o", "-", "--in", folder)
    assert (printed.status, printed.complaint) == (2, "goodbot: a WACZ file cannot go to standard output: name a file")


async def large(folder: Path) -> Path:
    """A crawl whose archive does not fit into a pipe."""
    noise = response(f"{SITE}/noise", random.Random(1).randbytes(500_000))
    await imported(folder / "crawl", write(folder / "a.warc.gz", members([*pages(1), noise])))
    return folder / "crawl"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
async def test_an_export_to_a_full_disk_is_one_line(tmp_path: Path) -> None:
    export = await goodbot("archive", "export", "--wacz", "-o", "/dev/full", "--in", await large(tmp_path))
    assert (export.status, export.out) == (3, "")
    assert export.err == "goodbot: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_an_export_whose_reader_leaves_or_that_is_interrupted_is_one_line(
    tmp_path: Path, is_interrupted: bool
) -> None:
    folder, pipe = await large(tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    process = await start("archive", "export", "--wacz", "-o", pipe, "--in", folder)
    await asyncio.to_thread(select.select, [reader], [], [])
    os.set_blocking(reader, True)
    assert os.read(reader, 2) == b"PK"
    if is_interrupted:
        process.send_signal(signal.SIGINT)
        while await asyncio.to_thread(os.read, reader, 65536):
            pass
    os.close(reader)
    export = await ended(process)
    assert (export.status, export.out) == (130 if is_interrupted else 3, "")
    message = "interrupted" if is_interrupted else f"cannot write {pipe}: Broken pipe"
    assert export.complaint == f"goodbot: {message}"


async def test_suggested_commands_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc.gz", members(pages(1)))
    done = await goodbot("archive", "import", file, "--into", "my cräwl", folder=tmp_path)
    assert done.out.endswith("my cräwl now has 1 visited URL: goodbot search WORD --in 'my cräwl'\n")
    missing = await goodbot("audit", "--in", "it's", folder=tmp_path)
    assert missing.complaint == "goodbot: no such folder: it's"
    (tmp_path / "it's").mkdir()
    empty = await goodbot("audit", "--in", "it's", folder=tmp_path)
    assert empty.complaint.endswith("""start one with: goodbot crawl URL --into 'it'"'"'s'""")


async def test_what_cannot_be_used_is_bad_input(tmp_path: Path) -> None:
    good = write(tmp_path / "good.warc.gz", members(pages(2)))
    missing = await goodbot("archive", "import", tmp_path / "none.warc", "--into", tmp_path / "crawl")
    folder = await goodbot("archive", "import", tmp_path, "--into", tmp_path / "crawl")
    in_the_way = await goodbot("archive", "import", good, "--into", good)
    documents = write(tmp_path / "d.jsonl", b'{"id": "1", "text": "x"}\n')
    await goodbot("index", "import", documents, "--into", tmp_path / "documents")
    taken = await goodbot("archive", "import", good, "--into", tmp_path / "documents")
    RequestStore.open(tmp_path / "spider" / "requests.sqlite", "news").close()
    spider = await goodbot("archive", "import", good, "--into", tmp_path / "spider")
    crawl = await goodbot("crawl", "http://127.0.0.1:9/", "--into", tmp_path / "spider", "--allow-private")
    assert (await goodbot("archive", "import", good, "--into", tmp_path / "other")).status == 0
    inside = [await goodbot("archive", "import", good, "--into", tmp_path / "other" / at) for at in ("warc", "warc/x")]
    assert not list((tmp_path / "other" / "warc").glob("*.toml"))
    write(tmp_path / "goodbot.toml", b"archive = false\n")
    unkept = await goodbot("archive", "import", good, "--into", tmp_path / "x", "--config", tmp_path / "goodbot.toml")
    for result, what in [
        (missing, "no such file"),
        (folder, "not a file"),
        (in_the_way, "a file is in the way"),
        (taken, "has imported documents"),
        (crawl, "is the folder of a Scrapy spider"),
        (spider, f"{tmp_path / 'spider'} is the folder of a Scrapy spider: use another folder"),
        (inside[0], f"is in the archive of the crawl in {tmp_path / 'other'}: import into another folder"),
        (inside[1], f"is in the archive of the crawl in {tmp_path / 'other'}: import into another folder"),
        (unkept, "keeps no archive"),
    ]:
        assert (result.status, result.out) == (2, "")
        assert what in result.complaint


async def test_without_an_index_everything_but_search_works(tmp_path: Path) -> None:
    write(tmp_path / "goodbot.toml", b"index = false\n")
    good, folder = write(tmp_path / "good.warc.gz", members(pages(2))), tmp_path / "crawl"
    result = await goodbot("archive", "import", good, "--into", folder, "--config", tmp_path / "goodbot.toml")
    assert result.status == 0, result.err
    assert len(await texts(folder)) == 2
    assert (await goodbot("search", "zebra", "--in", folder)).status == 2
    assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
    assert len(await found(folder, "zebra")) == 2


async def test_a_forgotten_host_stays_forgotten(tmp_path: Path) -> None:
    robots = response(f"{SITE}/robots.txt", b"User-agent: *\n")
    first = write(tmp_path / "a.warc.gz", members([*pages(2), robots]))
    second = write(tmp_path / "b.warc.gz", members([response(f"{SITE}/new", page(9)), *pages(2, "http://b.example")]))
    folder = tmp_path / "crawl"
    await imported(folder, first)
    assert (await goodbot("forget", "example.org", "--in", folder)).status == 0
    done = await imported(folder, second, first)
    assert (done["known"], done["skipped"]["forgotten"]) == (0, 4)
    assert (await urls(folder)).keys() == {"http://b.example/0", "http://b.example/1"}
    assert await captures(folder) == 2


# ---- with crawls ----------------------------------------------------------------------------------------------------


async def site(exchange: Exchange) -> None:
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"", headers=[("Content-Type", "text/plain")]))
    else:
        await exchange.send(answer(b"<title>Live</title><p>zebra live"))


async def test_a_crawl_fetches_what_the_archives_lack(tmp_path: Path) -> None:
    async with WebServer(fallback=site) as server:
        file = write(tmp_path / "a.warc.gz", members([response(server.url("/"), linked(1, "/a", "/b"))]))
        folder = tmp_path / "crawl"
        await imported(folder, file)
        alone = await goodbot("crawl", "--into", folder, "--allow-private")
        assert alone.status == 2
        assert "no seed given" in alone.complaint
        assert server.targets == []
        result = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        assert result.status == 0, result.err
        assert sorted(server.targets) == ["/a", "/b", "/robots.txt"]
        assert await found(folder, "live") == [server.url("/a")]  # /b has the same text
        assert server.url("/") in await found(folder, "number1")


async def test_a_file_is_imported_into_a_crawl(tmp_path: Path) -> None:
    async with WebServer(fallback=site) as server:
        folder = tmp_path / "crawl"
        result = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        assert result.status == 0, result.err
        records = [response(server.url("/"), b"<p>zebra older"), response(server.url("/new"), linked(2))]
        done = await imported(folder, write(tmp_path / "a.warc.gz", members(records)))
        assert (done["captures"], done["pages"]) == (2, 1)
        assert await found(folder, "live") == [server.url("/")]
        assert await found(folder, "number2") == [server.url("/new")]
        assert await found(folder, "older") == []
        again = await goodbot("crawl", "--into", folder)
        assert again.status == 0, again.err


async def test_captures_dated_in_the_future_are_imported_once_and_replace_no_page(tmp_path: Path) -> None:
    future = "2999-01-01T00:00:00Z"
    async with WebServer(fallback=site) as server:
        folder = tmp_path / "crawl"
        assert (await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")).status == 0
        records = [response(url, linked(1), warc_date=future) for url in (server.url("/"), f"{SITE}/a")]
        robots = response(f"{SITE}/robots.txt", b"User-agent: *\n", warc_date=future)
        file = write(tmp_path / "a.warc.gz", members([*records, robots]))
        done = await imported(folder, file)
        assert (done["captures"], done["pages"]) == (3, 1)
        before = await urls(folder), await captures(folder)
        done = await imported(folder, file)
        assert (done["captures"], done["known"]) == (0, 3)
        assert (await urls(folder), await captures(folder)) == before
        assert await texts(folder) == {server.url("/"): "zebra live", f"{SITE}/a": "zebra number1"}
        assert all((line["fetched_at"] or 0) <= time.time() for line in before[0].values())


@pytest.mark.parametrize("first", ["import", "crawl"])
async def test_a_crawl_that_keeps_fresh_visits_only_imported_pages_in_scope(tmp_path: Path, first: str) -> None:
    async with WebServer(fallback=site) as server:
        folder = tmp_path / "crawl"
        old = [response(server.url("/imported"), linked(3)), response(f"{SITE}/gone", b"<p>gone", "404 Not Found")]
        file = write(tmp_path / "a.warc.gz", members([*pages(2), *old]))
        crawl = ("crawl", server.url("/"), "--into", folder, "--allow-private")
        if first == "crawl":
            assert (await goodbot(*crawl)).status == 0
        await imported(folder, file)
        if first == "import":
            assert (await goodbot("status", "--in", folder, "--json")).json["due_again_at"] is None
            why = (await goodbot("why", f"{SITE}/0", "--in", folder, "--json")).json
            assert not [event for event in why["events"] if event["decision"] == "revisit"]
            alone = await goodbot("crawl", "--into", folder, "--keep-fresh", "--once")
            assert (alone.status, alone.complaint) == (2, f"goodbot: no seed given, and {folder} has none")
            assert (await goodbot(*crawl)).status == 0
        before = await urls(folder)
        assert "/imported" not in server.targets
        for _ in range(2):
            result = await goodbot("crawl", "--into", folder, "--allow-private", "--keep-fresh", "--once")
            assert result.status == 0, result.err
        assert server.targets.count("/imported") == 1
        after = await urls(folder)
        assert {url: line for url, line in after.items() if url.startswith(SITE)} == {
            url: line for url, line in before.items() if url.startswith(SITE)
        }
        assert await found(folder, "zebra") == sorted([f"{SITE}/0", f"{SITE}/1", server.url("/")])
        assert (await texts(folder))[server.url("/imported")] == "zebra live"


async def test_a_running_crawl_is_not_disturbed(tmp_path: Path) -> None:
    file, folder = write(tmp_path / "a.warc.gz", members(pages(2))), tmp_path / "crawl"
    await imported(folder, file)
    with (folder / "frontier.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = await goodbot("archive", "import", file, "--into", folder)
    assert result.status == 3
    assert "another crawl or command is using" in result.complaint


# ---- kills ----------------------------------------------------------------------------------------------------------

MANY = 1500


def many(path: Path) -> Path:
    noise = random.Random(0)
    records = []
    for number in range(MANY):
        words = " ".join(noise.choices(["robot", "crawl", "lease", "frontier", "archive"], k=60))
        body = f"<title>Page {number}</title><p>number{number} {words} {noise.random()} <a href=/{number + 1}>next</a>"
        records.append(response(f"{SITE}/{number}", body.encode(), warc_record_id=ID.format(number)))
    return write(path, members(records))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
async def test_after_a_kill_nothing_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    file, folder = many(tmp_path / "many.warc.gz"), tmp_path / "crawl"
    waits = random.Random(seed)
    for _ in range(4):
        process = await start("archive", "import", file, "--into", folder)
        await asyncio.sleep(waits.uniform(0.1, 1.2))
        if process.returncode is None:
            process.kill()
        await process.wait()
    done = await imported(folder, file)
    assert done["known"] + done["captures"] == MANY
    assert await captures(folder) == MANY
    known = await urls(folder)
    assert sum(line["state"] == "visited" for line in known.values()) == MANY
    assert (await goodbot("status", "--in", folder, "--json")).json["states"]["visited"] == MANY
    assert len(await texts(folder)) == MANY
    stats = await goodbot("index", "stats", "--in", folder, "--json")
    assert stats.json["documents"] == MANY


async def test_a_killed_import_and_a_killed_crawl_after_it_keep_what_they_committed(tmp_path: Path) -> None:
    async with WebServer(fallback=site) as server:
        folder, warc = tmp_path / "crawl", tmp_path / "crawl" / "warc"
        await imported(folder, write(tmp_path / "a.warc.gz", members(pages(2))))
        (first,) = warc.glob("*.warc.gz")
        torn = members([response(f"{SITE}/torn", linked(7))])
        with first.open("ab") as file:  # as if the next batch had been written, and the import killed then
            size = file.tell()
            file.write(torn)
        first.with_name(first.name.removesuffix(".warc.gz") + ".cdxj").unlink()
        with SqliteFrontier.open(folder / "frontier.sqlite") as frontier, frontier.together():
            frontier.import_notes().note_end(first.name, size)
        crawled = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        assert crawled.status == 0, crawled.err
        assert first.stat().st_size == size
        for index in warc.glob("*.cdxj"):
            index.unlink()  # as if the crawl had been killed, too
        done = await imported(folder, write(tmp_path / "b.warc.gz", members(pages(3))))
        assert (done["captures"], done["known"]) == (1, 2)
        check = await goodbot("archive", "check", "--in", folder, "--json")
        assert (check.status, check.json["lost"]) == (0, [])
        assert await found(folder, "live") == [server.url("/")]


async def test_canonical_urls_of_a_killed_import_are_looked_for_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    await imported(folder, write(tmp_path / "a.warc.gz", members([response(f"{SITE}/a", linked(1, head=CANONICAL))])))
    (first,) = (folder / "warc").glob("*.warc.gz")
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier, frontier.together():  # as if it had been killed
        frontier.import_notes().note_end(first.name, first.stat().st_size)
        frontier.import_notes().name(f"{SITE}/a", f"{SITE}/b")
    assert await found(folder, "zebra") == [f"{SITE}/a"]
    await imported(folder, write(tmp_path / "b.warc.gz", members([response(f"{SITE}/b", linked(2))])))
    assert await found(folder, "zebra") == [f"{SITE}/b"]


async def test_ctrl_c_ends_an_import_cleanly(tmp_path: Path) -> None:
    file, folder = many(tmp_path / "many.warc.gz"), tmp_path / "crawl"
    process = await start("archive", "import", file, "--into", folder)
    await asyncio.sleep(0.4)
    process.send_signal(2)
    result: Ended = await ended(process)
    assert result.status in (130, 0)
    assert "Traceback" not in result.err
    if (folder / "index" / "meta.json").exists():
        visited = (await goodbot("status", "--in", folder, "--json")).json["states"]["visited"]
        stats = await goodbot("index", "stats", "--in", folder, "--json")
        assert stats.json["documents"] == visited
    done = await imported(folder, file)
    assert done["known"] + done["captures"] == MANY
    assert await captures(folder) == MANY
