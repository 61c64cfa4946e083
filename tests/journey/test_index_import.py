"""`goodbot index import`: what lines may be, and an index that is open, newer or damaged."""

import asyncio
import json
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from goodbot.index import TantivyIndex
from goodbot.index.schema import SCHEMA_VERSION
from goodbot.index.version_file import VERSION_FILE
from journey.goodbot_process import Ended, ended, goodbot, start

OLD: Final = b'{"id": "old", "text": "zebra"}\n'


async def imported(folder: Path, lines: bytes) -> Ended:
    file = folder.with_suffix(".jsonl")
    file.write_bytes(lines)
    return await goodbot("index", "import", file, "--into", folder, "--json")


async def found(folder: Path, query: str) -> list[str]:
    searched = await goodbot("search", query, "--in", folder, "--json")
    assert (searched.status, searched.err) == (0, "")
    return sorted(hit.get("id", hit["url"]) for hit in searched.json["hits"])


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """An index with one document."""
    made = await imported(tmp_path / "library", OLD)
    assert (made.status, made.err) == (0, "")
    return tmp_path / "library"


IMPORTED: list[tuple[str, bytes, int, list[str]]] = [
    ("an empty file", b"", 0, ["old"]),
    ("lines without anything", b"\n  \n\t\r\n", 0, ["old"]),
    ("ids twice: the last one counts", b'{"id": "1", "text": "no"}\n{"id": "1", "text": "zebra"}\n', 2, ["1", "old"]),
    ("an id again, with another text", b'{"id": "old", "text": "no"}', 1, []),
    ("a number as an id", b'{"id": 1, "text": "no"}\n{"id": "1", "text": "zebra"}', 2, ["1", "old"]),
    ("the URL as an id", b'{"url": "https://a.example/", "text": "zebra"}', 1, ["https://a.example/", "old"]),
    ("an id that is null", b'{"id": null, "url": "http://b.test/", "text": "zebra"}', 1, ["http://b.test/", "old"]),
    ("an id of 100,000 characters", b'{"id": "%s", "text": "zebra"}' % (b"1" * 100_000), 1, ["1" * 100_000, "old"]),
    ("no text in it", b'{"id": "1", "text": "", "title": "zebra"}', 1, ["1", "old"]),
    ("unknown fields", b'{"id": "1", "text": "zebra", "links": 5, "x": [{}]}', 1, ["1", "old"]),
    ("line ends of Windows", b'{"id": "1", "text": "zebra"}\r\n{"id": "2", "text": "zebra"}\r\n', 2, ["1", "2", "old"]),
    ("no line end at the end", b'{"id": "1", "text": "zebra"}', 1, ["1", "old"]),
    ("a URL that is none", b'{"id": "1", "url": "http://[", "text": "zebra"}', 1, ["1", "old"]),
    ("a lone surrogate", b'{"id": "1\\ud800", "text": "zebra \\udfff"}', 1, ["1?", "old"]),
    ("control characters, escaped", b'{"id": "1", "text": "zebra \\u0000\\u202e"}', 1, ["1", "old"]),
    ("a language that is none", b'{"id": "1", "text": "zebra", "language": "\\ud800*"}', 1, ["1", "old"]),
    ("a byte order mark", b'\xef\xbb\xbf{"id": "1", "text": "zebra"}', 1, ["1", "old"]),
    ("a line of 10 MB", b'{"id": "1", "text": "zebra %s"}' % (b"word " * 2_000_000), 1, ["1", "old"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "read", "expected"), IMPORTED, ids=[row[0] for row in IMPORTED])
async def test_lines_that_are_imported(folder: Path, name: str, lines: bytes, read: int, expected: list[str]) -> None:
    ended = await imported(folder, lines)
    assert (ended.status, ended.err) == (0, "")
    assert (ended.json["imported"], await found(folder, "zebra")) == (read, expected)


NEW: Final = b'{"id": "new", "text": "zebra"}\n'
REFUSED: list[tuple[str, bytes, str]] = [
    ("a string", NEW + b'"new"\n', "line 2: not a JSON object"),
    ("a number", NEW + b"5", "line 2: not a JSON object"),
    ("null", NEW + b"null", "line 2: not a JSON object"),
    ("two objects in one line", NEW + NEW.strip() + NEW, "line 2: not valid JSON"),
    ("an object in two lines", NEW + b'{"id": "1",\n"text": "x"}', "line 2: not valid JSON"),
    ("blank lines count", b"\n\n" + b"5", "line 3: not a JSON object"),
    ("a control character", NEW + b'{"id": "1", "text": "\x00"}', "line 2: not valid JSON"),
    ("no number", NEW + b'{"id": NaN, "text": "x"}', "id must be a number, or a string that is not empty"),
    ("true as an id", NEW + b'{"id": true, "text": "x"}', "id must be a number, or a string that is not empty"),
    ("an empty id", NEW + b'{"id": "", "text": "x"}', "id must be a number, or a string that is not empty"),
    ("a list as an id", NEW + b'{"id": ["1"], "text": "x"}', "id must be a number, or a string that is not empty"),
    ("a number of 5,000 digits", NEW + b'{"id": %s, "text": "x"}' % (b"9" * 5000), "line 2: not valid JSON"),
    ("a title that is a list", NEW + b'{"id": "1", "text": "x", "title": ["x"]}', "title is not a string;"),
    ("deep in a field that is not used", NEW + b'{"x": %s' % (b"[" * 100_000), "line 2: not valid JSON"),
    ("not UTF-8", NEW + b'{"id": "1", "text": "\xff"}', "not valid UTF-8; nothing was imported"),
    ("not UTF-8, far behind", NEW * 20_000 + b"\xff", "not valid UTF-8; nothing was imported"),
    ("UTF-16", NEW.decode().encode("utf-16"), "not valid UTF-8; nothing was imported"),
    ("compressed", bytes.fromhex("1f8b08000000000002ff"), "not valid UTF-8; nothing was imported"),
    (
        "a line over 16 MiB",
        NEW + b'{"id": "1", "text": "%s"}' % (b"zebra " * 3_000_000),
        "line 2: longer than 16,777,216",
    ),
    ("one long word", b"x" * 5_000_000, "line 1: not valid JSON"),
]


@pytest.mark.parametrize(("name", "lines", "message"), REFUSED, ids=[row[0] for row in REFUSED])
async def test_lines_that_are_refused_leave_the_index_as_it_was(
    folder: Path, name: str, lines: bytes, message: str
) -> None:
    ended = await imported(folder, lines)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.complaint
    assert "nothing was imported" in ended.complaint
    assert len(ended.complaint) < 400
    assert await found(folder, "zebra") == ["old"]
    assert (await imported(folder, NEW)).status == 0


async def test_a_file_that_cannot_be_read_and_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(NEW)
    for source, target, message in (
        (tmp_path / "missing", tmp_path / "library", "No such file or directory"),
        (tmp_path, tmp_path / "library", "Is a directory"),
        (file, file, "a file is in the way"),
    ):
        ended = await goodbot("index", "import", source, "--into", target)
        assert (ended.status, message in ended.complaint) == (2, True)


def is_torn(index: Path) -> None:
    for file in index.glob("*.idx"):
        file.write_bytes(file.read_bytes()[:-9])


def has_half_a_meta(index: Path) -> None:
    file = index / "meta.json"
    file.write_bytes(file.read_bytes()[:100])


def is_newer(index: Path) -> None:
    (index / VERSION_FILE).write_text(json.dumps({"schema": SCHEMA_VERSION + 1, "identity": "x"}))


def is_older(index: Path) -> None:
    (index / VERSION_FILE).write_text(json.dumps({"schema": SCHEMA_VERSION - 1, "identity": "x"}))


def has_a_torn_version(index: Path) -> None:
    (index / VERSION_FILE).write_text('{"schema')


FAULTS: list[tuple[Callable[[Path], None], str]] = [
    (is_torn, ".idx is damaged"),
    (has_half_a_meta, "meta.json is damaged"),
    (is_newer, f"a newer goodbot made the index in .*schema {SCHEMA_VERSION + 1}, this goodbot knows"),
    (is_older, "an older goodbot made the index in"),
    (has_a_torn_version, "goodbot.json cannot be read"),
]
COMMANDS: Final = [
    ("search", "zebra", "--in"),
    ("index", "stats", "--in"),
    ("index", "refresh", "--in"),
    ("index", "import", "lines.jsonl", "--into"),
]


@pytest.mark.parametrize(("fault", "said"), FAULTS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
async def test_an_index_that_cannot_be_used_is_named_in_one_line_and_left_as_it_is(
    folder: Path, fault: Callable[[Path], None], said: str, command: tuple[str, ...]
) -> None:
    fault(folder / "index")
    (folder / "lines.jsonl").write_bytes(NEW)
    before = {file: file.read_bytes() for file in (folder / "index").rglob("*") if file.is_file()}
    ended = await goodbot(*command, folder, folder=folder)
    assert (ended.status, ended.out) == (3, "")
    assert re.search(said, ended.complaint)
    assert str(folder) in ended.complaint
    assert {file: file.read_bytes() for file in (folder / "index").rglob("*") if file.is_file()} == before


WRITER = """
    import sys
    from pathlib import Path
    from goodbot.index import TantivyIndex
    from goodbot.search_values import Document
    index = TantivyIndex(Path(sys.argv[1]))
    print("open", flush=True)
    number = 0
    for line in sys.stdin:
        for _ in range(100):
            index.add(Document(str(number), "", f"Number {number}", "zebra " + "word " * 50))
            number += 1
        index.commit()
        print(number, flush=True)
"""


async def test_an_index_that_another_process_writes_is_searched_and_not_written(folder: Path) -> None:
    script, pipe = textwrap.dedent(WRITER), asyncio.subprocess.PIPE
    place = str(folder / "index")
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", script, place, stdin=pipe, stdout=pipe)
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert await writer.stdout.readline() == b"open\n"
    for number in range(3):
        writer.stdin.write(b"\n")
        committed = int(await writer.stdout.readline())
        assert committed == 100 * (number + 1)
        searched = await goodbot("search", "zebra", "--in", folder, "--json")
        assert (searched.status, searched.err, searched.json["total"]) == (0, "", committed + 1)
        refused = await imported(folder, NEW)
        assert refused.status == 3
        assert refused.complaint == f"goodbot: another process is writing the index in {folder / 'index'}"
        refreshed = await goodbot("index", "refresh", "--in", folder, "--json")
        assert (refreshed.status, refreshed.json["documents"]) == (0, committed + 1)
    writer.kill()
    await writer.communicate()
    assert (await imported(folder, NEW)).json == {"imported": 1, "documents": 302}


async def test_an_empty_index_of_documents_is_searched(tmp_path: Path) -> None:
    TantivyIndex(tmp_path / "library" / "index").close()
    assert await found(tmp_path / "library", "zebra") == []


async def test_standard_input_must_be_utf_8_in_any_locale(tmp_path: Path) -> None:
    settings = {"LC_ALL": "C"}
    process = await start("index", "import", "-", "--into", tmp_path / "library", preloaded=False, settings=settings)
    refused = await ended(process, b'{"id": "1", "text": "\xff\xfe zebra"}\n')
    assert (refused.status, refused.complaint) == (2, "goodbot: -, line 1: not valid UTF-8; nothing was imported")


async def test_a_file_of_queries_that_is_nested_deeply_is_refused(folder: Path) -> None:
    file = folder.with_suffix(".queries")
    file.write_text("[" * 100_000)
    refused = await goodbot("search", "--run", file, "--in", folder)
    assert refused.status == 2
    assert "line 1: not a" in refused.complaint
