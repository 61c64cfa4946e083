"""Which statements in robots.txt and in header fields keep pages out of search."""

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.search_preferences import SearchPreferences, StoredPreferences, field_refusal
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Response

NOW = 1_700_000_000.0
PAGE = Url("https://example.org/a/page")

# robots.txt, and the line that keeps the page out of search (None: no line does)
FILES: list[tuple[str, bytes, int | None]] = [
    ("no file to speak of", b"", None),
    ("rules only", b"User-agent: *\nDisallow: /b\n", None),
    ("Content-Signal", b"User-agent: *\nContent-Signal: search=no\n", 2),
    ("among others", b"User-agent: *\nContent-Signal: ai-train=no, SEARCH = No , use=reference\n", 2),
    ("yes", b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n", None),
    ("neither yes nor no", b"User-agent: *\nContent-Signal: search=maybe\n", None),
    ("for another robot", b"User-agent: otherbot\nContent-Signal: search=no\n\nUser-agent: *\nDisallow:\n", None),
    (
        "for this robot",
        b"User-agent: *\nContent-Signal: search=yes\n\nUser-agent: goodbot\nContent-Signal: search=no\n",
        5,
    ),
    ("not for this robot", b"User-agent: *\nContent-Signal: search=no\n\nUser-agent: goodbot\nAllow: /\n", None),
    ("yes and no", b"User-agent: *\nContent-Signal: search=yes\nContent-Signal: search=no\n", 3),
    ("Content-Usage", b"User-agent: *\nContent-Usage: search=n\n", 2),
    ("allowed", b"User-agent: *\nContent-Usage: search=y, train-ai=n\n", None),
    ("for its path", b"User-agent: *\nContent-Usage: /a/ search=n\n", 2),
    ("for another path", b"User-agent: *\nContent-Usage: /b/ search=n\n", None),
    ("the longest path", b"User-agent: *\nContent-Usage: search=n\nContent-Usage: /a/ search=y\n", None),
    ("the other one says no", b"User-agent: *\nContent-Signal: search=no\nContent-Usage: search=y\n", 2),
    ("no dictionary", b"User-agent: *\nContent-Usage: search=n,,\n", None),
    ("UTF-16", "\ufeffUser-agent: *\nContent-Signal: search=no\n".encode("utf-16-le"), 2),
    ("only a comment", b"User-agent: *\nDisallow:\n# Content-Signal: search=no\n", None),
]


def access_of(body: bytes, status: int = 200) -> Access:
    return Access.from_response(status, (), body, NOW)


@pytest.mark.parametrize(("body", "line"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
async def test_robots_txt(body: bytes, line: int | None) -> None:
    found = SearchPreferences(access_of(body), "goodbot")
    for _ in range(2):
        refusal = found.refusal(PAGE)
        assert (refusal and refusal.line) == line
    store = MemoryFrontier()
    store.save_robots(PAGE.origin, access_of(body))
    stored = StoredPreferences(store, "goodbot", "rfc9309")
    assert [stored.refusal(PAGE), stored.refusal(PAGE)] == [refusal, refusal]
    web = FakeWeb({PAGE.robots_txt.text: Response(200, (), body)}, clock := FakeClock())
    permission = Permission(Settings(), "goodbot", web, MemoryFrontier(), clock)
    assert (await permission.check(PAGE)).no_search == refusal


SIGNAL = b"User-agent: *\nContent-Signal: search=no\nDisallow: /b\n"


def test_paths_differ_but_signals_hold_for_the_whole_site() -> None:
    found = SearchPreferences(access_of(SIGNAL), "goodbot")
    assert found.refusal(PAGE) == found.refusal(Url("https://example.org/")) is not None
    found = SearchPreferences(access_of(b"User-agent: *\nContent-Usage: /a search=n"), "goodbot")
    assert [found.refusal(Url(f"https://example.org/{path}")) is None for path in ("a", "b", "ab", "")] == [
        *(False, True, False, True)
    ]


async def test_a_page_that_robots_txt_forbids_has_no_preference() -> None:
    web = FakeWeb({PAGE.robots_txt.text: Response(200, (), SIGNAL)}, clock := FakeClock())
    permission = Permission(Settings(), "goodbot", web, MemoryFrontier(), clock)
    assert (await permission.check(Url("https://example.org/b"))).no_search is None


@pytest.mark.parametrize("status", [404, 500])
def test_a_robots_txt_that_is_not_in_force_states_nothing(status: int) -> None:
    found = SearchPreferences(access_of(SIGNAL, status), "goodbot")
    assert (found.are_stated, found.refusal(PAGE)) == (False, None)


def test_the_last_good_copy_counts_in_an_outage() -> None:
    access = Access.from_response(500, (), b"", NOW, last_good=access_of(SIGNAL))
    refusal = SearchPreferences(access, "goodbot").refusal(PAGE)
    assert refusal is not None
    assert refusal.line == 2


def test_a_site_that_was_never_visited() -> None:
    assert StoredPreferences(MemoryFrontier(), "goodbot", "rfc9309").refusal(PAGE) is None


def test_the_dialect_of_the_crawl_reads_a_stored_file() -> None:
    store = MemoryFrontier()
    body = b"User-agent: goodbot\nDisallow: /b\n\nUser-agent: goodbot\nContent-Signal: search=no\nDisallow: /c\n"
    store.save_robots(PAGE.origin, access_of(body))
    lines = {}
    for dialect in ("rfc9309", "1994"):
        refusal = StoredPreferences(store, "goodbot", dialect).refusal(PAGE)
        lines[dialect] = refusal and refusal.line
    assert lines == {"rfc9309": 5, "1994": None}, "in 1994 the first record of a robot counts alone"


@pytest.mark.parametrize(
    ("headers", "refuses"),
    [
        ((), False),
        ((("content-usage", "search=n"),), True),
        ((("Content-Usage", "train-ai=n"), ("CONTENT-USAGE", "search=n;x=1")), True),
        ((("Content-Usage", "search=y"),), False),
        ((("Content-Usage", "search=n"), ("Content-Usage", "search=y")), False),
        ((("Content-Usage", "search=n"), ("Content-Usage", "?")), False),
        ((("X-Content-Usage", "search=n"),), False),
        ((("Content-Usage", "train-ai=n"),), False),
        ((("content-signal", "Search=No"),), True),
        ((("Content-Signal", "ai-train=no, search=yes"), ("Content-Signal", "search=no")), True),
        ((("Content-Signal", "search=yes, ai-train=no"),), False),
        ((("Content-Usage", "search=y"), ("Content-Signal", "search=no")), True),
        ((("Content-Usage", "search=n"), ("Content-Signal", "search=yes")), True),
        ((("X-Content-Signal", "search=no"),), False),
    ],
)
def test_the_http_field(headers: tuple[tuple[str, str], ...], refuses: bool) -> None:
    assert (field_refusal(headers) is not None) is refuses
