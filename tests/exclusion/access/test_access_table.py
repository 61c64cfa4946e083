"""Whole histories of fetching robots.txt in each dialect, with a clock that jumps."""

from typing import NamedTuple

import pytest

from goodbot.exclusion import DIALECTS, LIMIT_BYTES, Access
from goodbot.exclusion.validity.outage import InForce
from goodbot.testing import FakeClock


class Fetch(NamedTuple):
    """Hours after the start, a status or a kind of failure; headers, body, whether other pages were answered lately."""

    at: float
    outcome: int | str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b"User-agent: *\nDisallow: /ruled-out\n"
    site_answers: bool = False


class Case(NamedTuple):
    """`cell` is the kind of answer. Asked at hour `asked`: is it `fresh`, and what rules; it is due at hour `due`."""

    cell: str
    name: str
    dialects: tuple[str, ...]
    fetches: list[Fetch]
    asked: float
    fresh: bool
    result: str
    in_force: InForce
    ruled_out: bool
    open: bool
    due: float


MINUTE = 1 / 60
DAY = 24.0
WEEK = 7 * DAY
MONTH = 30 * DAY
LAST = 18 / 3600  # the last 18 seconds: less than until the next try

RFC = ("rfc9309",)
GOOGLE = ("google",)
TODAY = RFC + GOOGLE
OLD = ("1996", "book", "1994", "kollar", "conner")
ALL = TODAY + OLD

RULES: tuple[InForce, bool, bool] = ("rules", False, True)
NO_RULES: tuple[InForce, bool, bool] = ("rules", True, True)
OPEN: tuple[InForce, bool, bool] = ("open", True, True)
CLOSED: tuple[InForce, bool, bool] = ("closed", False, False)

READ, GONE, DOWN = "successful", "unavailable", "unreachable"


def control(value: str) -> tuple[tuple[str, str], ...]:
    return (("Cache-Control", value),)


RETRY_DAY = (("Retry-After", "86400"),)
EXPIRES_AT_6 = (("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Expires", "Sun, 06 Nov 1994 14:49:37 GMT"))
RULE = Fetch(0, 200).body
FULL = b"# " + b"x" * (LIMIT_BYTES - 3) + b"\n"
WALLED = (("cf-mitigated", "challenge"),)
CHALLENGE = b"<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt={}</script>"
HTML = b"<html>\n<p>not found</p>\n" + RULE + b"</html>\n"

F = Fetch
CASES = [
    # ---- 2xx
    # RFC 9309 2.3.1.1; Google, HTTP status codes; draft-koster-robots-00 3.1, the other texts of the 1990s alike
    Case("2xx", "200", TODAY, [F(0, 200)], 1, True, READ, *RULES, DAY),
    Case("2xx", "200", OLD, [F(0, 200)], 1, True, READ, *RULES, WEEK),
    Case("2xx", "206", RFC, [F(0, 206)], 1, True, READ, *RULES, DAY),
    # Google: even of HTML the lines that are valid are used; RFC 9309 2.3.1.5; the 1990s: our reading
    Case("2xx", "HTML with rules", TODAY, [F(0, 200, body=HTML)], 1, True, READ, *RULES, DAY),
    Case("2xx", "HTML with rules", OLD, [F(0, 200, body=HTML)], 1, True, READ, *RULES, WEEK),
    # 1994 and draft-koster-robots-00: an empty file is no file; RFC 9309 2.2.1: no group, no rules
    Case("2xx", "empty", TODAY, [F(0, 200, body=b"")], 1, True, READ, *NO_RULES, DAY),
    Case("2xx", "empty", OLD, [F(0, 200, body=b"")], 1, True, READ, *NO_RULES, WEEK),
    Case("2xx", "a new one replaces it", RFC, [F(0, 200), F(25, 200, body=b"")], 26, True, READ, *NO_RULES, 25 + DAY),
    # ---- 3xx, given once the fetcher gave up
    # RFC 9309 2.3.1.2: MAY be taken as unavailable; Google: as 404; the 1990s: follow until found, what then is our
    # reading
    Case("3xx", "301", ALL, [F(0, 301)], 1, True, GONE, *OPEN, DAY),
    Case("3xx", "308", ALL, [F(0, 308)], 1, True, GONE, *OPEN, DAY),
    Case("3xx", "more than are followed", ALL, [F(0, "too-many-redirects")], 1, True, GONE, *OPEN, DAY),
    Case("3xx", "from a copy", ALL, [F(0, 200), F(200, "too-many-redirects")], 201, True, GONE, *OPEN, 200 + DAY),
    # ---- 401, 403
    # RFC 9309 2.3.1.3: MAY access anything; Google: no restrictions
    Case("401, 403", "401", TODAY, [F(0, 401)], 1, True, GONE, *OPEN, DAY),
    Case("401, 403", "403", TODAY, [F(0, 403)], 1, True, GONE, *OPEN, DAY),
    # draft-koster-robots-00 3.1, HTTP book 9.4: the whole site is disallowed; 1994, kollar, conner: our reading
    Case("401, 403", "401", OLD, [F(0, 401)], 1, True, GONE, *CLOSED, DAY),
    Case("401, 403", "403", OLD, [F(0, 403)], 1, True, GONE, *CLOSED, DAY),
    Case("401, 403", "in spite of a copy", OLD, [F(0, 200), F(169, 403)], 170, True, GONE, *CLOSED, 169 + DAY),
    # ---- 404, other 4xx
    # RFC 9309 2.3.1.3; Google; draft-koster-robots-00 3.1: 404 unlimited (other 4xx there: our reading)
    Case("4xx", "404", ALL, [F(0, 404)], 1, True, GONE, *OPEN, DAY),
    Case("4xx", "410", ALL, [F(0, 410)], 1, True, GONE, *OPEN, DAY),
    Case("4xx", "400", ALL, [F(0, 400)], 1, True, GONE, *OPEN, DAY),
    Case("4xx", "451", ALL, [F(0, 451)], 1, True, GONE, *OPEN, DAY),
    Case("4xx", "a copy is no longer in force", ALL, [F(0, 200), F(200, 404)], 201, True, GONE, *OPEN, 200 + DAY),
    # our reading: a file that was taken away leaves no good copy
    Case("4xx", "no copy is left", RFC, [F(0, 200), F(25, 404), F(50, 503)], 50, True, DOWN, *CLOSED, 50 + MINUTE),
    Case(
        "4xx", "no copy is left", GOOGLE, [F(0, 200), F(25, 404), F(50, 503), F(62, 503)],
        62, True, DOWN, *OPEN, 62 + MINUTE,
    ),
    # ---- 202, 402
    # RFC 9110 15.3.3: 202 is no final answer; 402 asks for money: our choice, as for 429; RFC 9309 2.3.1.3 permits it
    Case("202, 402", "202", TODAY + OLD, [F(0, 202)], 0, True, DOWN, *CLOSED, MINUTE),
    Case("202, 402", "202, a copy", RFC, [F(0, 200), F(25, 202)], 25, True, DOWN, *RULES, 25 + MINUTE),
    Case("202, 402", "402", RFC + OLD, [F(0, 402)], 0, True, DOWN, *CLOSED, MINUTE),
    Case("202, 402", "402, a copy", RFC, [F(0, 200), F(25, 402)], 25, True, DOWN, *RULES, 25 + MINUTE),
    # Google, HTTP status codes: 4xx but 429
    Case("202, 402", "402", GOOGLE, [F(0, 402)], 1, True, GONE, *OPEN, DAY),
    # ---- a bot wall in place of robots.txt, whatever the status: our choice
    *(
        Case("wall", f"{status}", ALL, [F(0, status, WALLED, CHALLENGE)], 0, True, DOWN, *CLOSED, MINUTE)
        for status in (200, 202, 302, 401, 402, 403, 404, 405, 429, 503)
    ),
    Case("wall", "by its page alone", ALL, [F(0, 200, (), CHALLENGE)], 0, True, DOWN, *CLOSED, MINUTE),
    Case("wall", "around rules", ALL, [F(0, 200, WALLED)], 0, True, DOWN, *CLOSED, MINUTE),
    Case("wall", "a copy", RFC, [F(0, 200), F(25, 200, WALLED)], 25, True, DOWN, *RULES, 25 + MINUTE),
    Case("wall", "12 hours, a copy", GOOGLE, [F(0, 200), F(25, 403, WALLED), F(37, 403, WALLED)], 37, True, DOWN,
         *RULES, 37 + MINUTE),
    Case("wall", "it opens", RFC, [F(0, 403, WALLED), F(1, 200)], 2, True, READ, *RULES, 1 + DAY),
    Case("wall", "after the file", RFC, [F(0, 200), F(25, 404), F(50, 403, WALLED)], 50, True, DOWN, *CLOSED,
         50 + MINUTE),
    # ---- 429
    # RFC 9309: our choice; Google: as 5xx; the 1990s: a temporary failure
    Case("429", "429", ALL, [F(0, 429)], 0, True, DOWN, *CLOSED, MINUTE),
    Case("429", "Retry-After", RFC + OLD, [F(0, 429, RETRY_DAY)], 23, True, DOWN, *CLOSED, DAY),
    Case("429", "a copy", RFC, [F(0, 200), F(25, 429)], 25, True, DOWN, *RULES, 25 + MINUTE),
    Case("429", "a copy", GOOGLE + OLD, [F(0, 200), F(200, 429)], 200, True, DOWN, *CLOSED, 200 + MINUTE),
    Case("429", "12 hours of it", GOOGLE, [F(0, 429), F(12, 429)], 12, True, DOWN, *OPEN, 12 + MINUTE),
    # ---- 5xx, no answer, no name: rfc9309
    # RFC 9309 2.3.1.4: complete disallow
    *(
        Case("5xx", f"{outcome}", ALL, [F(0, outcome)], 0, True, DOWN, *CLOSED, MINUTE)
        for outcome in (500, 502, 503, 599, "dns", "connect", "timeout", "reset", "tls", "protocol")
    ),
    Case("5xx", "due again", ALL, [F(0, "dns")], MINUTE, False, DOWN, *CLOSED, MINUTE),
    # RFC 9110 10.2.3; at most 24 hours: our choice
    Case("5xx", "Retry-After", RFC + OLD, [F(0, 503, RETRY_DAY)], 23.9, True, DOWN, *CLOSED, DAY),
    # RFC 9309 2.3.1.4: the cached copy MAY be used on, e.g. for 30 days; counted from its fetch: our choice
    Case("5xx", "a copy", RFC, [F(0, 200), F(25, 503)], 25, True, DOWN, *RULES, 25 + MINUTE),
    Case("5xx", "a copy, no name", RFC, [F(0, 200), F(25, "dns")], 25, True, DOWN, *RULES, 25 + MINUTE),
    Case(
        "5xx", "a copy of 30 days, almost", RFC, [F(0, 200), F(25, 503), F(MONTH - LAST, "timeout")],
        MONTH - LAST, True, DOWN, *RULES, MONTH,
    ),
    Case(
        "5xx", "a copy of 30 days, asked then", RFC, [F(0, 200), F(25, 503), F(MONTH - LAST, "timeout")],
        MONTH, False, DOWN, *RULES, MONTH,
    ),
    # our choice: then closed; the RFC's MAY would open it
    Case(
        "5xx", "a copy of 30 days", RFC, [F(0, 200), F(25, 503), F(MONTH, 503)],
        MONTH, True, DOWN, *CLOSED, MONTH + MINUTE,
    ),
    Case(
        "5xx", "a copy of 90 days", RFC, [F(0, 200), F(25, 503), F(3 * MONTH, 503, site_answers=True)],
        3 * MONTH, True, DOWN, *CLOSED, 3 * MONTH + MINUTE,
    ),
    Case(
        "5xx", "the newer copy counts", RFC, [F(0, 200, body=b""), F(300, 200), F(1000, 503)],
        1000, True, DOWN, *RULES, 1000 + MINUTE,
    ),
    Case("5xx", "no copy, never opened", RFC, [F(0, 503), F(2 * MONTH, 503)], 2 * MONTH, True, DOWN, *CLOSED,
         2 * MONTH + MINUTE),
    Case("5xx", "an answer ends it", TODAY, [F(0, 503), F(1, 200)], 2, True, READ, *RULES, 1 + DAY),
    Case("5xx", "a 404 ends it", ALL, [F(0, 503), F(1, 404)], 2, True, GONE, *OPEN, 1 + DAY),
    # ---- 5xx, no answer, no name: google (HTTP status codes)
    # 12 hours without crawling, copy or not
    Case("5xx", "a copy", GOOGLE, [F(0, 200), F(25, 503)], 25, True, DOWN, *CLOSED, 25 + MINUTE),
    Case("5xx", "11 hours", GOOGLE, [F(0, 200), F(25, 503), F(36, "dns")], 36, True, DOWN, *CLOSED, 36 + MINUTE),
    Case(
        "5xx", "12 hours, almost", GOOGLE, [F(0, 200), F(25, 503), F(37 - LAST, 503)],
        37 - LAST, True, DOWN, *CLOSED, 37,
    ),
    Case("5xx", "Retry-After of a day", GOOGLE, [F(0, 503, RETRY_DAY)], 11.9, True, DOWN, *CLOSED, 12),
    # then the last good copy, until 30 days after the first failure
    Case("5xx", "12 hours, a copy", GOOGLE, [F(0, 200), F(25, 503), F(37, 503)], 37, True, DOWN, *RULES, 37 + MINUTE),
    Case(
        "5xx", "30 days, almost, a copy", GOOGLE, [F(0, 200), F(25, 503), F(25 + MONTH - LAST, "reset")],
        25 + MONTH - LAST, True, DOWN, *RULES, 25 + MONTH,
    ),
    Case(
        "5xx", "a copy of more than 30 days", GOOGLE,
        [F(0, 200, control("max-age=604800")), F(WEEK, "dns"), F(WEEK + MONTH - 1, "dns")],
        WEEK + MONTH - 1, True, DOWN, *RULES, WEEK + MONTH - 1 + MINUTE,
    ),
    # none known: no restrictions
    Case("5xx", "12 hours, no copy", GOOGLE, [F(0, 503), F(12, 503)], 12, True, DOWN, *OPEN, 12 + MINUTE),
    Case("5xx", "12 hours, mixed", GOOGLE, [F(0, "dns"), F(6, 429), F(12, 500)], 12, True, DOWN, *OPEN, 12 + MINUTE),
    Case(
        "5xx", "30 days, almost, no copy", GOOGLE, [F(0, 503), F(MONTH - LAST, 503)],
        MONTH - LAST, True, DOWN, *OPEN, MONTH,
    ),
    # after 30 days: as if there were no file, if the site answers otherwise; else no crawling
    Case(
        "5xx", "30 days, the site answers", GOOGLE, [F(0, 200), F(25, 503), F(25 + MONTH, 503, site_answers=True)],
        25 + MONTH, True, DOWN, *OPEN, 25 + MONTH + MINUTE,
    ),
    Case(
        "5xx", "30 days, it does not", GOOGLE, [F(0, 200), F(25, 503), F(25 + MONTH, 503)],
        25 + MONTH, True, DOWN, *CLOSED, 25 + MONTH + MINUTE,
    ),
    Case(
        "5xx", "30 days, it did before", GOOGLE, [F(0, 503, site_answers=True), F(MONTH, 503)],
        MONTH, True, DOWN, *CLOSED, MONTH + MINUTE,
    ),
    Case(
        "5xx", "90 days, no copy, the site answers", GOOGLE, [F(0, 503), F(3 * MONTH, "dns", site_answers=True)],
        3 * MONTH, True, DOWN, *OPEN, 3 * MONTH + MINUTE,
    ),
    # an answer ends the run, and the 12 hours begin anew
    Case(
        "5xx", "a run after a file", GOOGLE, [F(0, 503), F(20, 200), F(50, 503)],
        50, True, DOWN, *CLOSED, 50 + MINUTE,
    ),
    Case(
        "5xx", "a run after a 403", GOOGLE, [F(0, 503), F(20, 403), F(50, 503)],
        50, True, DOWN, *CLOSED, 50 + MINUTE,
    ),
    # ---- 5xx, no answer, no name: the 1990s
    # draft-koster-robots-00 3.1, the book of 503: put off until it answers; 1994, kollar, conner: our reading
    Case("5xx", "a copy", OLD, [F(0, 200), F(169, 503)], 169, True, DOWN, *CLOSED, 169 + MINUTE),
    Case("5xx", "a copy, no name", OLD, [F(0, 200), F(169, "dns")], 169, True, DOWN, *CLOSED, 169 + MINUTE),
    Case("5xx", "a copy, then it answers", OLD, [F(0, 200), F(169, 503), F(170, 200)], 171, True, READ, *RULES,
         170 + WEEK),
    Case(
        "5xx", "never opened", OLD, [F(0, 503), F(12, 503), F(3 * MONTH, 503, site_answers=True)],
        3 * MONTH, True, DOWN, *CLOSED, 3 * MONTH + MINUTE,
    ),
    Case("5xx", "after a 404", OLD, [F(0, 404), F(25, "timeout")], 25, True, DOWN, *CLOSED, 25 + MINUTE),
    # ---- cache
    # RFC 9309 2.4: SHOULD NOT over 24 hours, RFC 9111 MAY be used;
    # a minute if stale at once, else five seconds at least: our choice
    Case("cache", "nothing said", RFC, [F(0, 200)], 23.9, True, READ, *RULES, DAY),
    Case("cache", "nothing said, a day", RFC, [F(0, 200)], DAY, False, READ, *RULES, DAY),
    Case("cache", "an hour", ALL, [F(0, 200, control("max-age=3600"))], 1, False, READ, *RULES, 1),
    Case("cache", "Expires", ALL, [F(0, 200, EXPIRES_AT_6)], 5.9, True, READ, *RULES, 6),
    Case("cache", "a week", RFC, [F(0, 200, control("max-age=604800"))], DAY, False, READ, *RULES, DAY),
    Case("cache", "no-store", ALL, [F(0, 200, control("no-store, max-age=3600"))], 0, True, READ, *RULES, MINUTE),
    Case("cache", "max-age=2", ALL, [F(0, 200, control("max-age=2"))], 0, True, READ, *RULES, 5 / 3600),
    Case("cache", "max-age=2, later", ALL, [F(0, 200, control("max-age=2"))], 5 / 3600, False, READ, *RULES, 5 / 3600),
    Case("cache", "max-age=0", ALL, [F(0, 200, control("max-age=0"))], MINUTE, False, READ, *RULES, MINUTE),
    # Google, caching: 24 hours, max-age may change it; a week at most: our choice
    Case("cache", "nothing said", GOOGLE, [F(0, 200)], DAY, False, READ, *RULES, DAY),
    Case("cache", "three days", GOOGLE, [F(0, 200, control("max-age=259200"))], 71, True, READ, *RULES, 3 * DAY),
    Case("cache", "a week", GOOGLE, [F(0, 200, control("max-age=604800"))], 167, True, READ, *RULES, WEEK),
    Case("cache", "a year", GOOGLE, [F(0, 200, control("max-age=31536000"))], WEEK, False, READ, *RULES, WEEK),
    # draft-koster-robots-00 3.4: HTTP's rules, else 7 days, the others alike; a week at most: our choice
    Case("cache", "nothing said", OLD, [F(0, 200)], 167, True, READ, *RULES, WEEK),
    Case("cache", "nothing said, a week", OLD, [F(0, 200)], WEEK, False, READ, *RULES, WEEK),
    Case("cache", "three days", OLD, [F(0, 200, control("max-age=259200"))], 71, True, READ, *RULES, 3 * DAY),
    Case("cache", "a year", OLD, [F(0, 200, control("max-age=31536000"))], WEEK, False, READ, *RULES, WEEK),
    # HTTP book 9.4: a week would hide a new file; that headers cannot make it longer, and google: our choice
    Case("cache", "404", ALL, [F(0, 404)], 23.9, True, GONE, *OPEN, DAY),
    Case("cache", "404, a day", ALL, [F(0, 404)], DAY, False, GONE, *OPEN, DAY),
    Case("cache", "404, an hour", ALL, [F(0, 404, control("max-age=3600"))], 1, False, GONE, *OPEN, 1),
    Case("cache", "404, a week", ALL, [F(0, 404, control("max-age=604800"))], DAY, False, GONE, *OPEN, DAY),
    # a clock that goes back: our choice
    Case("cache", "asked a minute before", RFC, [F(0, 200)], -MINUTE, True, READ, *RULES, DAY),
    Case("cache", "asked an hour before", ALL, [F(0, 404)], -1, False, GONE, *OPEN, DAY),
    Case("cache", "a copy from later", RFC, [F(0, 200), F(-9, 503)], -9, True, DOWN, *RULES, -9 + MINUTE),
    Case("cache", "failures from later", GOOGLE, [F(0, 503), F(-9, 503)], -9, True, DOWN, *CLOSED, -9 + MINUTE),
    # ---- size
    # RFC 9309 2.5: at least 500 KiB; Google, file format: 500 KiB; the 1990s give no figure
    Case("size", "a rule before", TODAY, [F(0, 200, body=RULE + FULL)], 1, True, READ, *RULES, DAY),
    Case("size", "a rule before", OLD, [F(0, 200, body=RULE + FULL)], 1, True, READ, *RULES, WEEK),
    Case("size", "a rule behind", TODAY, [F(0, 200, body=FULL + RULE)], 1, True, READ, *NO_RULES, DAY),
    Case("size", "a rule behind", OLD, [F(0, 200, body=FULL + RULE)], 1, True, READ, *NO_RULES, WEEK),
    Case("size", "just within", TODAY, [F(0, 200, body=FULL[len(RULE):] + RULE)], 1, True, READ, *RULES, DAY),
    Case("size", "just within", OLD, [F(0, 200, body=FULL[len(RULE):] + RULE)], 1, True, READ, *RULES, WEEK),
]  # fmt: skip

EACH = [(case, dialect) for case in CASES for dialect in case.dialects]


def lived(fetches: list[Fetch], dialect: str, clock: FakeClock, start: float) -> Access:
    """What is known after all fetches; the clock stands at the last one."""
    access: Access | None = None
    for fetch in fetches:
        clock.advance(start + fetch.at * 3600 - clock.now())
        now, answers = clock.now(), fetch.site_answers
        if isinstance(fetch.outcome, str):
            access = Access.from_failure(fetch.outcome, now, dialect, access, site_answers=answers)
        else:
            headers, body = fetch.headers, fetch.body
            access = Access.from_response(fetch.outcome, headers, body, now, dialect, access, site_answers=answers)
    assert access is not None
    return access


@pytest.mark.parametrize(("case", "dialect"), EACH, ids=[f"{d}: {case.cell}: {case.name}" for case, d in EACH])
def test_table(case: Case, dialect: str) -> None:
    clock = FakeClock()
    start = clock.now()
    access = lived(case.fetches, dialect, clock, start)
    clock.advance(start + case.asked * 3600 - clock.now())
    assert access.is_fresh(clock.now()) is case.fresh
    assert access.valid_until == pytest.approx(start + case.due * 3600, abs=1e-3)
    assert (access.result, access.in_force) == (case.result, case.in_force)
    for path, allowed in (("/ruled-out", case.ruled_out), ("/open", case.open)):
        verdict = access.verdict(f"https://example.org{path}", "me")
        assert (verdict.allowed, verdict.access, verdict.dialect) == (allowed, case.result, dialect)
        assert verdict.valid_until == access.valid_until
        assert access.rules.allows(path, "me") is allowed


def test_every_cell_of_every_dialect_is_there() -> None:
    cells = {"2xx", "3xx", "401, 403", "4xx", "202, 402", "wall", "429", "5xx", "cache", "size"}
    assert {(case.cell, dialect) for case, dialect in EACH} == {
        (cell, dialect) for cell in cells for dialect in DIALECTS
    }
    assert len(EACH) == len({(case.cell, case.name, dialect) for case, dialect in EACH})


def test_the_reason_reports_what_was_cut() -> None:
    for dialect in DIALECTS:
        access = Access.from_response(200, (), FULL + RULE, 0.0, dialect)
        assert access.cut_bytes == len(RULE)
        assert f"{len(RULE)} bytes over the limit" in access.reason
