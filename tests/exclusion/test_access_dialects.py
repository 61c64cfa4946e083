"""What an answer to the fetch of robots.txt means in each dialect, and for how long."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, Access

NOW = 1_000_000_000.0
MINUTE = 60.0
DAY = 24 * 3600.0
WEEK = 7 * DAY
BODY = b"User-agent: *\nDisallow: /private\n"
HISTORIC = ("1996", "book", "1994", "kollar", "conner")

STATUSES = [
    # status, result, is / allowed today (rfc9309, google), is / allowed in the 1990s
    (200, "successful", True, True),
    (301, "unavailable", True, True),
    (400, "unavailable", True, True),
    (401, "unavailable", True, False),
    (403, "unavailable", True, False),
    (404, "unavailable", True, True),
    (410, "unavailable", True, True),
    (429, "unreachable", False, False),
    (500, "unreachable", False, False),
    (503, "unreachable", False, False),
]


@pytest.mark.parametrize(("status", "result", "today", "then"), STATUSES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_status(dialect: str, status: int, result: str, today: bool, then: bool) -> None:
    access = Access.from_response(status, [], BODY, NOW, dialect)
    allowed = then if dialect in HISTORIC else today
    verdict = access.verdict("https://h/", "me")
    assert (access.result, verdict.access, verdict.allowed, verdict.dialect) == (result, result, allowed, dialect)
    assert access.robots.allows("/", "me") is allowed
    assert access.is_closed is (not allowed)
    assert verdict.valid_until == access.valid_until
    if status != 200:
        assert (verdict.reason, verdict.section) == (access.reason, access.section)
        assert (verdict.rule, verdict.pattern, verdict.line, verdict.group_line) == (None, None, None, None)
        assert (verdict.group_agents, verdict.lost) == ((), ())


SECTIONS = [
    # dialect, status, section, reason
    ("1996", 403, "draft-koster-robots-00 3.1", "robots.txt is refused (status 403), so the whole site is closed."),
    ("book", 401, "HTTP book 9.4, response codes", "robots.txt is refused (status 401), so the whole site is closed."),
    ("1994", 403, "draft-koster-robots-00 3.1", "robots.txt is refused (status 403), so the whole site is closed."),
    ("1994", 404, "Koster 1994, the method", "robots.txt is not to be had (status 404), so everything is allowed."),
    (
        "google",
        403,
        "Google, HTTP status codes",
        "robots.txt is not to be had (status 403), so everything is allowed.",
    ),
    (
        "google",
        503,
        "Google, HTTP status codes",
        "robots.txt is unreachable (its server answers 503), so everything is closed.",
    ),
    (
        "conner",
        302,
        "draft-koster-robots-00 3.1",
        "robots.txt was not found behind its redirects, so everything is allowed.",
    ),
]


@pytest.mark.parametrize(("dialect", "status", "section", "reason"), SECTIONS)
def test_section_and_sentence(dialect: str, status: int, section: str, reason: str) -> None:
    access = Access.from_response(status, [], b"", NOW, dialect)
    assert (access.section, access.reason) == (section, reason)
    assert Access.from_response(status, [], b"", NOW).in_dialect(dialect) == access or dialect in HISTORIC


def test_robots_txt_itself_stays_open_where_the_text_says_so() -> None:
    for dialect in ("rfc9309", "1996", "book"):
        for status in (403, 503):
            assert Access.from_response(status, [], b"", NOW, dialect).verdict("/robots.txt", "me").allowed


LIFETIMES = [
    # status, headers, seconds fresh today, and in the 1990s
    (200, [], DAY, WEEK),
    (404, [], DAY, DAY),
    (403, [], DAY, DAY),
    (200, [("Expires", "Sun, 09 Sep 2001 02:46:40 GMT")], 3600.0, 3600.0),
    (200, [("Cache-Control", "max-age=259200")], DAY, 3 * DAY),
    (404, [("Cache-Control", "max-age=259200")], DAY, 3 * DAY),
    (200, [("Cache-Control", "max-age=31536000")], DAY, WEEK),
    (200, [("Cache-Control", "no-store")], MINUTE, MINUTE),
]


@pytest.mark.parametrize(("status", "headers", "today", "then"), LIFETIMES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_lifetime(dialect: str, status: int, headers: list[tuple[str, str]], today: float, then: float) -> None:
    """draft-koster-robots-00 3.4: what HTTP says, else seven days; of a file that is not there, a day."""
    fresh_s = Access.from_response(status, headers, BODY, NOW, dialect).valid_until - NOW
    assert fresh_s == (then if dialect in HISTORIC else today)


def test_deviation_google_without_a_copy_stays_closed() -> None:
    """Google opens such a site after twelve hours."""
    access = Access.from_response(503, [], b"", NOW, "google")
    later = Access.from_response(503, [], b"", NOW + 2 * DAY, "google", last_good=access)
    assert not later.verdict("/", "me").allowed


@pytest.mark.parametrize("name", DIALECTS)
@given(status=st.integers(-1, 600), body=st.binary(max_size=40), dialect=st.sampled_from(list(DIALECTS)))
def test_the_same_answer_in_another_dialect(name: str, status: int, body: bytes, dialect: str) -> None:
    """As if the answer had been read in it; only until when it is valid stays."""
    there = Access.from_response(status, [], body, NOW, dialect).in_dialect(name)
    direct = Access.from_response(status, [], body, NOW, name)
    assert {**asdict(there), "valid_until": 0.0} == {**asdict(direct), "valid_until": 0.0}
    assert there.verdict("/x", "me").allowed is direct.verdict("/x", "me").allowed


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_copy_rules_on_in_every_dialect(dialect: str) -> None:
    good = Access.from_response(200, [], BODY, NOW, dialect)
    down = Access.from_failure("timeout", NOW + DAY, dialect, good)
    assert not down.is_closed
    assert (down.verdict("/", "me").allowed, down.verdict("/private", "me").allowed) == (True, False)
    assert down.verdict("/private", "me").pattern == "/private"


def test_an_unknown_dialect_is_an_input_error() -> None:
    with pytest.raises(InputError, match="latin"):
        Access.from_response(200, [], BODY, NOW).in_dialect("latin")
