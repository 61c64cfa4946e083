"""`goodbot search` with queries and files of queries that nobody would type."""

import json
from pathlib import Path
from typing import Final

import pytest

from journey.goodbot_process import goodbot

QUERIES: Final[list[tuple[str, str, str]]] = [
    ("1,001 characters, one word", "x" * 1001, ""),
    ("1,001 characters, words", "zebra " * 166 + "zebra", ""),
    ("more than are read", "zebra " * 3000, "the query was cut after 16,384 characters"),
    ("operators that are never closed", "(" * 3000, "the query has neither a word nor a filter"),
    ("only operators", "OR AND NOT | - + ( ) : * \"", "the query has neither a word nor a filter"),
    ("only control characters", "\x07\x1b[31m\u202e\u200b", ""),
    ("no words", "!?.…", "the query has neither a word nor a filter"),
    ("not valid UTF-8", "zebra \udcff", ""),
    ("quotes that are never closed", '"zebra', ""),
    ("quotes of three kinds", "“zebra\" «x", ""),
    ("50 wildcards joined by OR", " OR ".join(f"z{chr(97 + at % 26)}{chr(97 + at // 26)}*" for at in range(50)), ""),
    ("wildcards alone", "* ** z* *z", ""),
    ("filters without a value", "site: title: inurl: filetype: lang: before: after: link:", "lang: needs a language"),
    ("filters with values that are none", "site:// lang:5 before:2020-99 link:[ filetype:%", ""),
    ("only an exclusion", "-zebra", ""),
    ("patterns of other engines", "/(a+)+$/ [a-z]{1000} ~zebra^9 zebra~2 {! \\", ""),
    ("all of the alphabet", " ".join(map(chr, range(0x21, 0x2FF))), ""),
]  # fmt: skip


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """An index with one document."""
    file = tmp_path / "library.jsonl"
    file.write_bytes(b'{"id": "1", "text": "zebra"}\n')
    assert (await goodbot("index", "import", file, "--into", tmp_path / "library")).status == 0
    return tmp_path / "library"


@pytest.mark.parametrize(("name", "query", "note"), QUERIES, ids=[row[0] for row in QUERIES])
async def test_any_query_is_answered_for_people_and_for_programs(
    folder: Path, name: str, query: str, note: str
) -> None:
    """What a query has that would act on a terminal does not reach it."""
    answered = await goodbot("search", "--in", folder, "--json", "--", query)
    assert (answered.status, answered.err) == (0, "")
    assert answered.json["total"] in (0, 1)
    assert note in " ".join(answered.json.get("notes", ()))
    people = await goodbot("search", "--in", folder, "--", query)
    assert (people.status, people.err) == (0, "")
    assert not set(people.out) & set(map(chr, (*range(10), *range(11, 32), 127, 0x200B, 0x202E)))


async def test_a_file_of_queries(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text("\n".join(json.dumps({"id": name, "text": query}) for name, query, _ in QUERIES))
    answered = await goodbot("search", "--run", file, "--in", folder, "--json")
    assert (answered.status, answered.err) == (0, "")
    assert [line["id"] for line in answered.lines] == [name for name, _, _ in QUERIES]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[]", 'line 2: not a JSON object with "id" and "text"'),
        (b"{", 'line 2: not a JSON object with "id" and "text"'),
        (b'{"id": "1"}', 'line 2: not a JSON object with "id" and "text"'),
        (b'{"id": "", "text": "x"}', "line 2: id must be a number, or a string that is not empty"),
        (b'{"id": null, "text": "x"}', "line 2: id must be a number, or a string that is not empty"),
        (b'{"id": "1", "text": " "}', "line 2, id 1: the query is empty"),
        (b"\xff", "is not valid UTF-8"),
    ],
)
async def test_a_file_of_queries_that_cannot_be_used(folder: Path, tmp_path: Path, line: bytes, message: str) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_bytes(b'{"id": "0", "text": "zebra"}\n' + line)
    refused = await goodbot("search", "--run", file, "--in", folder, "--json")
    assert (refused.status, refused.out, message in refused.complaint) == (2, "", True)
