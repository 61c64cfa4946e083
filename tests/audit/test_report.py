"""Where findings are in SARIF."""

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.audit import index_kinds
from goodbot.audit.finding_store import FindingStore
from goodbot.audit.findings import finding
from goodbot.audit.report import sarif_uri
from goodbot.url import parse_url

URIS = [
    ("https://site.example/", None, "site.example/"),
    ("https://site.example/a/b.html?x=1&y=%C3%A9", None, "site.example/a/b.html?x=1&y=%C3%A9"),
    ("http://127.0.0.1:8000/a", None, "127.0.0.1%3A8000/a"),
    ("http://[::1]:80/a", None, "%5B%3A%3A1%5D/a"),
    ("https://site.example/", "public", "public/index.html"),
    ("https://site.example/shop/?page=2", "public/", "public/shop/index.html"),
    ("https://site.example/shop/a.html", "my site", "my%20site/shop/a.html"),
    ("https://site.example/a%20b", "docs/out", "docs/out/a%20b"),
]


@pytest.mark.parametrize(("url", "root", "uri"), URIS)
def test_uris(url: str, root: str | None, uri: str) -> None:
    parsed = parse_url(url)
    assert parsed is not None
    assert sarif_uri(parsed.text, root) == uri


@given(st.text(), st.none() | st.text(min_size=1))
def test_every_uri_is_relative_ascii(path: str, root: str | None) -> None:
    url = parse_url(f"https://site.example/{path}")
    if url is not None and (root is None or not root.isspace()):
        uri = sarif_uri(url.text, root and root.encode("utf-8", "replace").decode())
        assert uri.isascii()
        assert ":" not in uri.partition("/")[0]
        assert not any(character.isspace() for character in uri)


def test_entries_of_a_sitemap_are_in_its_order() -> None:
    store = FindingStore(sqlite3.connect(":memory:"))
    for line, path in ((12, "/a"), (3, "/b")):
        found = finding(index_kinds.LISTED_GONE, "https://site.example/s.xml", "entry", path, why="status 404")
        store.add([replace(found, line=line, column=1)])
    assert [each.line for each in store.select()] == [3, 12]
