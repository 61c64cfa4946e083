"""The tables: what a row looks like, whatever strangers wrote into pages."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from goodbot.archive_values import ArchivedResponse
from goodbot.cli.export import command
from goodbot.exclusion.text.shown_text import strict_json
from goodbot.exports.tables import TABLES, Table, link_rows, page_row, url_row
from goodbot.page import read_page
from goodbot.url import Url
from goodbot.values import Link, RecordRef, Response, UrlRecord
from programs import ROOT

URL = Url("https://example.org/a")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))
"""With NUL, lone surrogates and everything else that a str can hold."""


def test_names_are_unique_and_need_no_quotes() -> None:
    for name, table in TABLES.items():
        assert table.name == name
        assert len(set(table.names)) == len(table.names)
        assert all(column.islower() and column.isidentifier() for column in table.names)
        assert table.key is None or table.key in table.names


def test_the_help_names_the_columns() -> None:
    text = " ".join(inspect.cleandoc(command.help or "").split())
    for table in TABLES.values():
        assert f"{table.name} {table.about}: {', '.join(table.names)} " in text


def test_the_how_to_has_the_columns() -> None:
    page = (ROOT / "docs" / "how-to" / "export.md").read_text(encoding="utf-8")
    for table in TABLES.values():
        kinds = {column: f"{column.kind}, or null" if column.optional else column.kind for column in table.columns}
        rows = "\n".join(f"| `{column.name}` | {kind} | {column.about} |" for column, kind in kinds.items())
        assert f"**`{table.name}`**: {table.about}\n\n| column | kind | |\n|---|---|---|\n{rows}\n" in page


@given(title=ANY_TEXT, why=ANY_TEXT)
def test_texts_are_those_of_json_lines(title: str, why: str) -> None:
    """Lone surrogates cannot be written as UTF-8: every format gets what JSON lines have in their place."""
    row = url_row(UrlRecord(URL, "visited", 0, title=title, why=why))
    assert strict_json([title, why]) == strict_json([row[6], row[7]])
    assert all(isinstance(value, str) and value.encode() is not None for value in row[6:])


def test_rows_have_the_columns_of_their_table() -> None:
    body = b"<html lang=en><title>T</title><p>words <a rel='ugc nofollow' href=/b>anchor</a>"
    archived = ArchivedResponse(
        URL, 12.5, Response(200, (("Content-Type", "text/html"),), body), RecordRef("a.warc.gz", 0)
    )
    page = read_page(URL, archived.response, "goodbot", 10_000)
    assert as_json(TABLES["pages"], page_row(archived, page)) == {
        "url": "https://example.org/a",
        "fetched_at": 12.5,
        "status": 200,
        "type": "text/html",
        "title": "T",
        "text": "words anchor",
        "lang": "en",
    }
    assert [as_json(TABLES["links"], row) for row in link_rows(page)] == [
        {"source": URL.text, "target": "https://example.org/b", "anchor": "anchor", "rel": "ugc nofollow"}
    ]
    known = url_row(UrlRecord(URL, "ready", 3))
    assert as_json(TABLES["urls"], known) == {
        "url": URL.text,
        "state": "ready",
        "status": None,
        "depth": 3,
        "fetched_at": None,
        "digest": None,
        "title": None,
        "why": "",
    }
    assert Link(URL).rel == ()


def as_json(table: Table, row: tuple[str | int | float | None, ...]) -> dict[str, object]:
    """The row as an object, after a check that only optional columns are null."""
    for column, value in zip(table.columns, row, strict=True):
        assert value is not None or column.optional, column.name
    return dict(table.as_json(row))
