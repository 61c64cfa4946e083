"""What a request asks for: one table, and two engines of regular expressions that agree."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting import request_columns
from goodbot.watch.counting.columns import TextColumn
from goodbot.watch.counting.request_cache import RequestCache
from goodbot.watch.counting.request_columns import RequestColumns
from goodbot.watch.counting.request_kinds import RequestKind, request_kind, target_of

PAGE, ASSET, ROBOTS, PROBE, NONE = RequestKind

KINDS = [
    ("GET / HTTP/1.1", PAGE),
    ("GET /index.html HTTP/1.1", PAGE),
    ("HEAD /a.pdf HTTP/1.0", PAGE),
    ("GET /feed.xml", PAGE),
    ("GET /css HTTP/1.1", PAGE),
    ("GET /.css.html HTTP/1.1", PAGE),
    ("GET /a.css#x HTTP/1.1", PAGE),
    ("GET /a.css/ HTTP/1.1", PAGE),
    ("GET /a.css\n", ASSET),
    ("GET /robots.txt\nx", ROBOTS),
    ("GET /a.cssx HTTP/1.1", PAGE),
    ("GET /a?file=b.css HTTP/1.1", PAGE),
    ("GET /\xff\xfe HTTP/1.1", PAGE),
    ("OPTIONS * HTTP/1.1", PAGE),
    ("GET /a.css HTTP/1.1", ASSET),
    ("GET /a.CSS?v=1 HTTP/1.1", ASSET),
    ("GET /b/c.min.js", ASSET),
    ("GET /favicon.ico HTTP/1.1", ASSET),
    ("GET http://example.org/a.png HTTP/1.1", ASSET),
    ("GET /robots.txt HTTP/1.1", ROBOTS),
    ("GET /robots.txt?x HTTP/1.1", ROBOTS),
    ("GET http://example.org/robots.txt HTTP/1.1", ROBOTS),
    ("HEAD /robots.txt", ROBOTS),
    ("GET HTTPS://example.org/robots.txt", ROBOTS),
    ("GET //robots.txt HTTP/1.1", PAGE),
    ("GET /robots.txt/ HTTP/1.1", PAGE),
    ("GET /robots.txt#x HTTP/1.1", PAGE),
    ("GET /%72obots.txt HTTP/1.1", PAGE),
    ("GET /a/robots.txt HTTP/1.1", PAGE),
    ("GET /robots.txt.bak HTTP/1.1", PAGE),
    ("GET /Robots.txt HTTP/1.1", PAGE),
    ("GET /wp-login.php HTTP/1.1", PROBE),
    ("POST /blog/wp-login.php HTTP/1.1", PROBE),
    ("GET /.env HTTP/1.1", PROBE),
    ("GET /app/.git/config HTTP/1.1", PROBE),
    ("GET /PhpMyAdmin/ HTTP/1.1", PROBE),
    ("GET /a/b/c/..%2f..%2fetc/passwd HTTP/1.1", PROBE),
    ("GET /a?q=%3Cscript%3E HTTP/1.1", PROBE),
    ("GET /a?id=1+UNION+ALL+SELECT+1 HTTP/1.1", PROBE),
    ("GET /a?q=union%20select%20a HTTP/1.1", PROBE),
    ("GET /a?q=%24%7Bjndi:ldap HTTP/1.1", PROBE),
    ("GET /a?q=<SCRIPT> HTTP/1.1", PROBE),
    ("GET /../etc/hosts HTTP/1.1", PROBE),
    ("GET /%2E%2E/a.css HTTP/1.1", PROBE),
    ("GET /robots.txt?../ HTTP/1.1", PROBE),
    ("get /../ HTTP/1.1", NONE),
    ("GET /a..b HTTP/1.1", PAGE),
    ("GET /a?q=100%25+off HTTP/1.1", PAGE),
    ("GET /a/b/.env HTTP/1.1", PAGE),
    ("GET /a?b=/.env HTTP/1.1", PAGE),
    ("GET //.env HTTP/1.1", PAGE),
    ("GET http://example.org/.env HTTP/1.1", PAGE),
    ("GET /wp-content/plugins/a/b.php HTTP/1.1", PROBE),
    ("GET /wp-content/plugins/a/b.css HTTP/1.1", ASSET),
    ("GET /old/backup.zip HTTP/1.1", PROBE),
    ("GET /a?q=union+square HTTP/1.1", PAGE),
    ("GET /blog/about-wp-login.php HTTP/1.1", PAGE),
    ("GET /" + "x" * 10_000 + " HTTP/1.1", PAGE),
    ("GET /" + "x" * 10_000 + ".css HTTP/1.1", PAGE),
    ("GET /a.css?" + "x" * 10_000, ASSET),
    ("GET /a\0b.css HTTP/1.1", ASSET),
    ("GET /robots.txt\0 HTTP/1.1", PAGE),
    ("GET \0 HTTP/1.1", NONE),
    ("\0GET / HTTP/1.1", NONE),
    ("GE\0T / HTTP/1.1", NONE),
    ("PRI * HTTP/2.0", PAGE),
    ("CONNECT example.org:443 HTTP/1.1", PAGE),
    ("Get / HTTP/1.1", NONE),
    ("GET\t/ HTTP/1.1", NONE),
    ("", NONE),
    ("-", NONE),
    ("\\x16\\x03\\x01", NONE),
    ("\x16\x03\x01", NONE),
    ("get / HTTP/1.1", NONE),
    ("GET", NONE),
    ("GET  HTTP/1.1", NONE),
]


@pytest.mark.parametrize(("request_line", "kind"), KINDS, ids=[repr(case[0][:60]) for case in KINDS])
def test_the_kind(request_line: str, kind: RequestKind) -> None:
    assert request_kind(request_line) is kind


@pytest.mark.parametrize(
    ("request_line", "target"),
    [
        ("GET /a?b HTTP/1.1", "/a?b"),
        ("GET /a b HTTP/1.1", "/a b"),
        ("GET /a", "/a"),
        ("GET /a b", "/a b"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_the_target(request_line: str, target: str) -> None:
    assert target_of(request_line) == target


PIECES = [
    *(
        "GET ",
        "HEAD ",
        "get ",
        "/",
        "robots.txt",
        ".css",
        ".CSS",
        ".",
        "?",
        " ",
        " HTTP/1.1",
        "wp-login.php",
        ".env",
        "..",
        "%2f",
    ),
    *(
        "%2e",
        "<script",
        "union",
        "+",
        "%20",
        "all",
        "select",
        "%",
        "http://",
        "a",
        "Z",
        "é",
        "\xff",
        "\0",
        "\n",
        "-",
        "$%7bjndi",
    ),
]
request_lines = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(
    st.characters(max_codepoint=255), max_size=60
)


def agree(lines: list[str]) -> bool:
    """Whether RE2 reads request lines as Python's `re` does."""
    cache = RequestCache()
    column = TextColumn(np.arange(len(lines)), pa.array([line.encode("latin-1") for line in lines], pa.binary()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_columns, "FEW", 0)
        many = RequestColumns().read(column)
    expected = [cache[line] for line in lines]
    return [*zip(many.kinds.tolist(), many.page_bits.tolist(), many.is_head.tolist(), strict=True)] == expected


@given(st.lists(request_lines, min_size=1, max_size=20, unique=True))
def test_both_engines_agree(lines: list[str]) -> None:
    assert agree(lines)


def test_both_engines_agree_on_the_table() -> None:
    lines = [line for line, _ in KINDS]
    assert agree(lines)
    assert agree([line + "\n" for line in lines])
    assert agree([line.replace(" ", "\n") for line in lines])
    assert agree([line.replace(" ", " \0", 1) for line in lines])


@pytest.mark.parametrize("piece", ["a.css.", "..%2", "union+", "GET ", "/", "%", "x" * 10])
def test_a_long_request_is_read_in_part(piece: str) -> None:
    """Only its first characters decide, so the time is bounded."""
    assert request_kind("GET /" + piece * 100_000) is request_kind(("GET /" + piece * 100_000)[:1024])
