"""`goodbot export --what warc`: everything fetched, as one file that other programs read."""

import asyncio
import errno
import io
import os
import pty
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

from journey.goodbot_process import goodbot, start
from store.warc.archive_samples import member_ends
from webserver import Route, WebServer, answer

PAGES = 12
NOISE = random.Random(3).randbytes(400_000).hex().encode()
"""Half of it stays when packed: a few such pages are more than the smallest `warc_size`."""


def site() -> dict[str, Route]:
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(PAGES))
    pages: dict[str, Route] = {f"/{n}": answer(b"<p>%d %s" % (n, NOISE)) for n in range(PAGES)}
    return {"/": answer(links.encode()), "/10": pages["/9"], **{path: pages[path] for path in pages if path != "/10"}}


@pytest.fixture
async def crawled(tmp_path: Path) -> Path:
    """The folder of a crawl whose archive has several files."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    (folder / "goodbot.toml").write_text("warc_size = 1000000\n")
    async with WebServer(site()) as server:
        result = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--no-index")
    assert result.status == 0, result.err
    assert len(list((folder / "warc").glob("*.warc.gz"))) > 3
    return folder


async def exported(folder: Path) -> bytes:
    process = await start("export", "--what", "warc", "--in", folder)
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    return out


async def test_one_file_of_all(crawled: Path) -> None:
    content = await exported(crawled)
    files = sorted((crawled / "warc").glob("*.warc.gz"))
    assert content == b"".join(path.read_bytes() for path in files)
    member_ends(content)
    kinds: Counter[str] = Counter()
    paths = set()
    for record in ArchiveIterator(io.BytesIO(content), check_digests="raise"):
        kinds[record.rec_type] += 1
        paths.add((record.rec_headers["WARC-Target-URI"] or "").rpartition("/")[2])
        record.raw_stream.read()
    assert kinds["warcinfo"] == len(files)
    assert kinds["response"] + kinds["revisit"] == kinds["request"] == PAGES + 2
    assert paths == {"", "robots.txt", *(str(number) for number in range(PAGES))}
    every = FastIterator(io.BytesIO(content), record_types=WarcRecordType.any_type, verify_digests=True)
    assert len(list(every)) == kinds.total()


async def test_what_a_kill_has_torn_is_left_out(crawled: Path) -> None:
    whole = await exported(crawled)
    *_, last = sorted((crawled / "warc").glob("*.warc.gz"))
    ends = member_ends(last.read_bytes())
    last.write_bytes(last.read_bytes()[:-7])
    last.with_name(last.name.replace(".warc.gz", ".cdxj")).unlink()
    assert await exported(crawled) == whole[: ends[-2] - ends[-1]]


async def test_not_to_a_terminal_and_not_as_json(crawled: Path) -> None:
    refused = await goodbot("export", "--what", "warc", "--in", crawled, "--json")
    assert (refused.status, refused.out) == (2, "")
    assert "--json: a WARC file cannot be printed as JSON" in refused.complaint
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", f'exec "$0" "$@" > {os.ttyname(theirs)}'),
        *(sys.executable, "-m", "goodbot", "export", "--what", "warc", "--in", str(crawled)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, err) == (2, b"goodbot: a WARC file is not for a terminal: add -o all.warc.gz\n")


async def test_on_a_terminal_it_says_how_far_it_is_if_it_takes_long(crawled: Path) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "goodbot", "export", "--what", "warc", "--in", str(crawled)),
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    assert process.stdout is not None
    await process.stdout.readexactly(1)
    await asyncio.sleep(2.2)  # it cannot go on meanwhile: the pipe is full
    await process.communicate()
    os.close(theirs)
    said = _all_of(ours).decode()
    assert process.returncode == 0
    assert re.match(r"\r\x1b\[K\d+\.\d [kM]B of \d+\.\d MB, \d+\.\d [kM]B/s, about \d+ s left\r\x1b\[K", said)


def _all_of(terminal: int) -> bytes:
    """What was written to a terminal that nobody has open any more; closes it."""
    said = b""
    with open(terminal, "rb", buffering=0) as stream:
        try:
            while more := stream.read(10_000):
                said += more
        except OSError as error:
            if error.errno != errno.EIO:  # which is how Linux says that this is the end
                raise
    return said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
async def test_a_full_disk_is_one_line(crawled: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", 'exec "$0" "$@" > /dev/full'),
        *(sys.executable, "-m", "goodbot", "export", "--what", "warc", "--in", str(crawled)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    assert (process.returncode, err) == (3, b"goodbot: cannot write the WARC file: No space left on device\n")


async def test_a_crawl_without_archive_has_none(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        options = ("--into", tmp_path / "crawl", "--allow-private", "--no-archive", "--no-index", "--max-pages", "1")
        assert (await goodbot("crawl", server.url("/"), *options)).status == 0
    refused = await goodbot("export", "--what", "warc", "--in", tmp_path / "crawl")
    assert refused.status == 2
    assert "no archive" in refused.complaint
