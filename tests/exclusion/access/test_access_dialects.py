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
    (202, "unreachable", False, False),
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
    assert access.rules.allows("/", "me") is allowed
    assert access.is_closed is (not allowed)
    assert verdict.valid_until == access.valid_until
    if status != 200:
        assert (verdict.reason, verdict.section) == (access.reason, access.section)
        assert (verdict.rule, verdict.pattern, verdict.line, verdict.group_line) == (None, None, None, None)
        assert (verdict.group_agents, verdict.lost) == ((), ())


SECTIONS = [
    # dialect, status, section, reason
    ("1996", 403, "draft-koster-robots-00 3.1", "robots.txt is refused (status 403), so the whole site is disallowed."),
    (
        "book",
        401,
        "HTTP book 9.4, response codes",
        "robots.txt is refused (status 401), so the whole site is disallowed.",
    ),
    ("1994", 403, "draft-koster-robots-00 3.1", "robots.txt is refused (status 403), so the whole site is disallowed."),
    ("1994", 404, "Koster 1994, the method", "There is no robots.txt (404), so everything is allowed."),
    (
        "google",
        403,
        "Google, HTTP status codes",
        "robots.txt is unavailable (status 403), so everything is allowed.",
    ),
    (
        "google",
        402,
        "Google, HTTP status codes",
        "robots.txt is unavailable (status 402), so everything is allowed.",
    ),
    (
        "rfc9309",
        402,
        "RFC 9309 2.3.1.4",
        "robots.txt is unreachable (its server answered 402), so everything is disallowed.",
    ),
    (
        "google",
        503,
        "Google, HTTP status codes",
        "robots.txt is unreachable (its server answered 503), so everything is disallowed for the first 12 hours.",
    ),
    (
        "rfc9309",
        503,
        "RFC 9309 2.3.1.4",
        "robots.txt is unreachable (its server answered 503), so everything is disallowed.",
    ),
    (
        "book",
        503,
        "HTTP book 9.4, response codes",
        "robots.txt is unreachable (its server answered 503), so everything is disallowed until it answers.",
    ),
    (
        "conner",
        302,
        "draft-koster-robots-00 3.1",
        "No robots.txt was found after following its redirects, so everything is allowed.",
    ),
]


@pytest.mark.parametrize(("dialect", "status", "section", "reason"), SECTIONS)
def test_section_and_sentence(dialect: str, status: int, section: str, reason: str) -> None:
    access = Access.from_response(status, [], b"", NOW, dialect)
    assert (access.section, access.reason) == (section, reason)
    for other in DIALECTS:
        there = Access.from_response(status, [], b"", NOW, other).in_dialect(dialect)
        assert {**asdict(there), "valid_until": 0.0} == {**asdict(access), "valid_until": 0.0}
    assert Access.from_response(status, [], b"", NOW).in_dialect(dialect).valid_until <= access.valid_until


def test_robots_txt_itself_stays_open_where_the_text_says_so() -> None:
    for dialect in ("rfc9309", "1996", "book"):
        for status in (403, 503):
            assert Access.from_response(status, [], b"", NOW, dialect).verdict("/robots.txt", "me").allowed


LIFETIMES = [
    # status, headers, seconds fresh in rfc9309, in google, and in the 1990s
    (200, [], DAY, DAY, WEEK),
    (404, [], DAY, DAY, DAY),
    (403, [], DAY, DAY, DAY),
    (200, [("Expires", "Sun, 09 Sep 2001 02:46:40 GMT")], 3600.0, 3600.0, 3600.0),
    (200, [("Cache-Control", "max-age=259200")], DAY, 3 * DAY, 3 * DAY),
    (404, [("Cache-Control", "max-age=259200")], DAY, DAY, DAY),
    (200, [("Cache-Control", "max-age=31536000")], DAY, WEEK, WEEK),
    (200, [("Cache-Control", "no-store")], MINUTE, MINUTE, MINUTE),
]


@pytest.mark.parametrize(("status", "headers", "rfc9309", "google", "then"), LIFETIMES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_lifetime(
    dialect: str, status: int, headers: list[tuple[str, str]], rfc9309: float, google: float, then: float
) -> None:
    """draft-koster-robots-00 3.4: what HTTP says, else seven days; of a file that is not there, a day."""
    fresh_s = Access.from_response(status, headers, BODY, NOW, dialect).valid_until - NOW
    assert fresh_s == {"rfc9309": rfc9309, "google": google}.get(dialect, then)


OUTAGES = [
    # dialect, hours since the first failure, whether a copy (read a day before) is known, whether the site answers
    ("rfc9309", 0, True, False, "the last good copy applies."),
    ("rfc9309", 0, False, True, "everything is disallowed."),
    ("rfc9309", 29 * 24, True, True, "everything is disallowed, since the last good copy is older than 30 days."),
    ("google", 0, True, True, "everything is disallowed for the first 12 hours."),
    ("google", 12, True, False, "the last good copy applies."),
    ("google", 12, False, False, "everything is allowed, since no copy is known after 12 hours."),
    (
        "google",
        30 * 24,
        True,
        True,
        "everything is allowed, since robots.txt has failed for 30 days and other requests succeed.",
    ),
    (
        "google",
        30 * 24,
        True,
        False,
        "everything is disallowed, since robots.txt has failed for 30 days and other requests fail too.",
    ),
    *((dialect, 0, True, True, "everything is disallowed until it answers.") for dialect in HISTORIC),
    *((dialect, 60 * 24, False, True, "everything is disallowed until it answers.") for dialect in HISTORIC),
]


@pytest.mark.parametrize(("dialect", "hours", "copy", "answers", "words"), OUTAGES)
def test_what_an_outage_says(dialect: str, hours: float, copy: bool, answers: bool, words: str) -> None:
    before = Access.from_response(200, [], BODY, NOW - DAY, dialect) if copy else None
    first = Access.from_failure("timeout", NOW, dialect, before)
    last = Access.from_failure("timeout", NOW + hours * 3600, dialect, first, site_answers=answers)
    assert last.reason == f"robots.txt is unreachable (no answer arrived in time), so {words}"
    verdict = last.verdict("/private", "me")
    if last.in_force == "rules":
        assert verdict.reason.endswith(", according to the last good copy, while robots.txt is unreachable.")
        assert (verdict.allowed, verdict.pattern) == (False, "/private")
    else:
        assert (verdict.reason, verdict.section) == (last.reason, last.section)
        assert (verdict.allowed, verdict.pattern) == (last.in_force == "open", None)


Step = tuple[float, int | str, bool]
"""Hours since the step before (the clock may go back), a status or a kind of failure, whether the site answers."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 12.0, 24.0, 24.0 * 7, 24.0 * 30, -1.0, -24.0 * 40]) | st.floats(-100, 1000),
        st.sampled_from([200, 200, 202, 403, 404, 429, 500, 503, "dns", "timeout", "too-many-redirects"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def lived(steps: list[Step], body: bytes, dialect: str) -> Access:
    """What is known after all steps."""
    access, now = None, NOW
    for hours, outcome, answers in steps:
        now += hours * 3600
        if isinstance(outcome, str):
            access = Access.from_failure(outcome, now, dialect, access, retry_s=DAY, site_answers=answers)
        else:
            access = Access.from_response(outcome, [], body, now, dialect, access, retry_s=DAY, site_answers=answers)
        assert now <= access.valid_until <= now + WEEK
    assert access is not None
    return access


@pytest.mark.parametrize("name", DIALECTS)
@given(steps=STEPS, body=st.binary(max_size=40) | st.just(BODY), dialect=st.sampled_from(list(DIALECTS)))
def test_the_same_history_in_another_dialect(name: str, steps: list[Step], body: bytes, dialect: str) -> None:
    """As if all had been read in it; only `valid_until` may be earlier, as the first dialect had it."""
    here, direct = lived(steps, body, dialect), lived(steps, body, name)
    there = here.in_dialect(name)
    assert {**asdict(there), "valid_until": 0.0} == {**asdict(direct), "valid_until": 0.0}
    assert (there.in_force, there.reason, there.section) == (direct.in_force, direct.reason, direct.section)
    if name != "google" or here.result != "successful":  # its 24 hours may be a week where headers say so
        assert there.valid_until == min(here.valid_until, direct.valid_until)
    assert there.valid_until <= here.valid_until
    assert there.verdict("/private", "me").allowed is direct.verdict("/private", "me").allowed
    assert here.in_dialect(dialect) == here


@pytest.mark.parametrize("status", [200, 403, 404, 503])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_in_force_is_what_is_allowed(dialect: str, status: int) -> None:
    access = Access.from_response(status, [], BODY, NOW, dialect)
    allowed = {"rules": [False, True], "open": [True, True], "closed": [False, False]}[access.in_force]
    assert [access.rules.allows(path, "me") for path in ("/private", "/public")] == allowed
    assert access.is_closed is (access.in_force == "closed")


def test_an_unknown_dialect_is_an_input_error() -> None:
    with pytest.raises(InputError, match="latin"):
        Access.from_response(200, [], BODY, NOW).in_dialect("latin")
