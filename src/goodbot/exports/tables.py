"""The tables that a crawl can be exported as: one definition for JSON lines, Parquet, SQLite, the help and the docs."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from goodbot.archive_values import ArchivedResponse
from goodbot.exclusion.text.shown_text import unicode_only
from goodbot.values import Page, UrlRecord

Kind = Literal["text", "integer", "time"]
"""What a column holds; a time is in Unix seconds, as a float."""
TableName = Literal["urls", "pages", "links"]
TABLE_NAMES: Final[tuple[TableName, ...]] = get_args(TableName)
SCHEMA_VERSION: Final = 1
"""Increases when a column changes its name, its kind or its meaning, or is removed."""

Value = str | int | float | None
Row = tuple[Value, ...]
"""The values of one row, in the order of the columns. Texts have no lone surrogates."""
NamedRow = tuple[TableName, Row]
"""A row with the name of its table."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `optional`: it may be null. `indexed`: SQLite has an index on it."""

    name: str
    kind: Kind
    about: str
    optional: bool = False
    indexed: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `key` is the column whose value no two rows share; None: there is none."""

    name: TableName
    about: str
    columns: tuple[Column, ...]
    key: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def as_json(self, row: Row) -> dict[str, Value]:
        """Returns a row as the object of a JSON line."""
        return dict(zip(self.names, row, strict=True))


URLS: Final = Table(
    "urls",
    "every known URL",
    (
        Column("url", "text", "the URL"),
        Column("state", "text", "ready, leased, visited, disallowed, out-of-scope, failed or gone", indexed=True),
        Column("status", "integer", "HTTP status of the last response", optional=True),
        Column("depth", "integer", "number of links from a seed"),
        Column("fetched_at", "time", "time of the last request, even if it failed", optional=True),
        Column("digest", "text", "SHA-1 of the payload, in base 32 as in WARC files", optional=True),
        Column("title", "text", "title of the page", optional=True),
        Column("why", "text", "why it has its state"),
    ),
    key="url",
)
PAGES: Final = Table(
    "pages",
    "every visited document, such as HTML, PDF and sitemaps",
    (
        Column("url", "text", "URL of the page", indexed=True),
        Column("fetched_at", "time", "time at which its copy in the archive was fetched"),
        Column("status", "integer", "HTTP status of that response"),
        Column("type", "text", "media type"),
        Column("title", "text", "title"),
        Column("text", "text", "the words of the page, without markup"),
        Column("lang", "text", "language, as a code such as en", optional=True),
    ),
)
LINKS: Final = Table(
    "links",
    "every link in these documents",
    (
        Column("source", "text", "URL of the page with the link", indexed=True),
        Column("target", "text", "URL to which it leads", indexed=True),
        Column("anchor", "text", "text of the link"),
        Column("rel", "text", "its rel values, separated by spaces"),
    ),
)
TABLES: Final = MappingProxyType({table.name: table for table in (URLS, PAGES, LINKS)})


def url_row(record: UrlRecord) -> Row:
    """Returns the row of `urls` for what the frontier knows about a URL."""
    return (
        _text(record.url.text),
        record.state,
        record.status,
        record.depth,
        record.fetched_at,
        _text(record.digest),
        _text(record.title),
        _text(record.why),
    )


def page_row(archived: ArchivedResponse, page: Page) -> Row:
    """Returns the row of `pages` for an archived page."""
    return (
        _text(archived.url.text),
        archived.fetched_at,
        archived.response.status,
        _text(archived.response.media_type),
        _text(page.title),
        _text(page.text),
        _text(page.language),
    )


def link_rows(page: Page) -> Iterator[Row]:
    """Yields the rows of `links` for the links of a page."""
    source = _text(page.url.text)
    for link in page.links:
        yield source, _text(link.url.text), _text(link.anchor), _text(" ".join(link.rel))


def _text(text: str | None) -> str | None:
    return text if text is None or text.isascii() else unicode_only(text)
