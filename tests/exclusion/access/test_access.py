"""RFC 9309 §2.3.1, §2.4, §2.5: the result of fetching robots.txt, what follows, and until when."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion import LIMIT_BYTES, Access

NOW = 1_000_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR
BODY = b"User-agent: *\nDisallow: /private\nCrawl-delay: 2\n"

STATUSES = [
    # status, result, section, /private allowed, /public allowed
    (200, "successful", "2.3.1.1", False, True),
    (202, "unreachable", "2.3.1.4", False, False),
    (204, "successful", "2.3.1.1", False, True),
    (206, "successful", "2.3.1.1", False, True),
    (299, "successful", "2.3.1.1", False, True),
    (301, "unavailable", "2.3.1.2", True, True),
    (304, "unreachable", "2.3.1.4", False, False),
    (308, "unavailable", "2.3.1.2", True, True),
    (400, "unavailable", "2.3.1.3", True, True),
    (401, "unavailable", "2.3.1.3", True, True),
    (402, "unreachable", "2.3.1.4", False, False),
    (403, "unavailable", "2.3.1.3", True, True),
    (404, "unavailable", "2.3.1.3", True, True),
    (410, "unavailable", "2.3.1.3", True, True),
    (451, "unavailable", "2.3.1.3", True, True),
    (499, "unavailable", "2.3.1.3", True, True),
    (429, "unreachable", "2.3.1.4", False, False),
    (500, "unreachable", "2.3.1.4", False, False),
    (502, "unreachable", "2.3.1.4", False, False),
    (503, "unreachable", "2.3.1.4", False, False),
    (599, "unreachable", "2.3.1.4", False, False),
    (0, "unreachable", "2.3.1.4", False, False),
    (100, "unreachable", "2.3.1.4", False, False),
    (999, "unreachable", "2.3.1.4", False, False),
    (-1, "unreachable", "2.3.1.4", False, False),
]


@pytest.mark.parametrize(("status", "result", "section", "private", "public"), STATUSES)
def test_status(status: int, result: str, section: str, private: bool, public: bool) -> None:
    access = Access.from_response(status, [], BODY, NOW)
    assert (access.result, access.status, access.fetched_at) == (result, status, NOW)
    assert access.section == f"RFC 9309 {section}"
    for path, allowed in (("/private", private), ("/public", public), ("/robots.txt", True)):
        verdict = access.verdict(f"https://example.org{path}", "me")
        assert verdict.allowed is allowed
        assert (verdict.access, verdict.valid_until) == (result, access.valid_until)
        assert verdict.reason.endswith(".")


FAILURES = [
    ("dns", "unreachable", False),
    ("connect", "unreachable", False),
    ("timeout", "unreachable", False),
    ("reset", "unreachable", False),
    ("tls", "unreachable", False),
    ("private-address", "unreachable", False),
    ("protocol", "unreachable", False),
    ("something-new", "unreachable", False),
    ("too-many-redirects", "unavailable", True),
]


@pytest.mark.parametrize(("kind", "result", "allowed"), FAILURES)
def test_failure(kind: str, result: str, allowed: bool) -> None:
    """§2.3.1.2, §2.3.1.4."""
    access = Access.from_failure(kind, NOW)
    assert (access.result, access.status) == (result, None)
    assert access.verdict("/", "me").allowed is allowed
    assert access.rules.allows("/", "me") is allowed
    assert access.verdict("/robots.txt", "me").allowed


def test_the_lines_of_a_good_answer_are_in_force() -> None:
    verdict = Access.from_response(200, [], BODY, NOW).verdict("https://example.org/private/x", "me")
    assert (verdict.allowed, verdict.line, verdict.rule, verdict.delay_s) == (False, 2, "Disallow: /private", 2.0)
    assert (verdict.access, verdict.valid_until, verdict.section) == ("successful", NOW + DAY, "RFC 9309 2.2.2")


def test_unavailable_and_unreachable_name_their_section_and_no_rule() -> None:
    gone = Access.from_response(404, [], BODY, NOW).verdict("/private", "me")
    assert (gone.allowed, gone.section, gone.rule, gone.line) == (True, "RFC 9309 2.3.1.3", None, None)
    assert "404" in gone.reason
    down = Access.from_response(503, [], BODY, NOW).verdict("/private", "me")
    assert (down.allowed, down.section, down.rule, down.line) == (False, "RFC 9309 2.3.1.4", None, None)
    assert "503" in down.reason


def test_a_304_confirms_the_last_good_copy() -> None:
    good = Access.from_response(200, [], BODY, NOW)
    again = Access.from_response(304, [("Cache-Control", "max-age=3600")], b"", NOW + DAY, last_good=good)
    assert (again.result, again.status, again.good_at, again.tries) == ("successful", 304, NOW + DAY, 0)
    assert (again.body, again.valid_until) == (BODY, NOW + DAY + HOUR)
    assert not again.verdict("/private", "me").allowed
    assert again.verdict("/public", "me").allowed
    down = Access.from_response(503, [], b"", NOW + DAY, last_good=good)
    assert Access.from_response(304, [], b"", NOW + DAY + 60, last_good=down).result == "successful"


def test_an_unconditional_304_is_unreachable_and_the_last_good_copy_applies() -> None:
    good = Access.from_response(200, [], BODY, NOW)
    again = Access.from_response(304, [], b"", NOW + DAY, last_good=good, conditional=False)
    assert (again.result, again.in_force, again.good_at, again.tries) == ("unreachable", "rules", NOW, 1)
    assert not again.verdict("/private", "me").allowed
    assert again.verdict("/public", "me").allowed
    for known in (None, Access.from_response(404, [], b"", NOW), Access.from_response(503, [], b"", NOW)):
        for conditional in (True, False):
            alone = Access.from_response(304, [], b"", NOW + DAY, last_good=known, conditional=conditional)
            assert (alone.result, alone.in_force) == ("unreachable", "closed")


def test_too_many_requests_is_unreachable() -> None:
    access = Access.from_response(429, [("Retry-After", "120")], b"", NOW)
    assert access.result == "unreachable"
    assert access.valid_until == NOW + 120


def test_a_wall_is_named_in_the_reason_and_kept_in_the_columns() -> None:
    good = Access.from_response(200, [], BODY, NOW)
    for status in (200, 202, 403):
        walled = Access.from_response(status, [("cf-mitigated", "challenge")], b"", NOW)
        assert (walled.result, walled.status, walled.wall, walled.tries) == ("unreachable", status, "Cloudflare", 1)
        assert (
            walled.reason == "robots.txt is unreachable (a bot wall answered: Cloudflare), so nothing may be fetched."
        )
        assert walled.verdict("/", "me").reason == walled.reason
        stored = Access(**asdict(walled))
        assert (stored.reason, stored.wall) == (walled.reason, "Cloudflare")
        assert stored.in_dialect("google").wall == "Cloudflare"
        again = Access.from_response(status, [("cf-mitigated", "challenge")], b"", NOW + DAY, last_good=good)
        assert (again.body, again.in_force) == (BODY, "rules")
        assert again.verdict("/private", "me").reason.endswith("while robots.txt is unreachable.")
    assert "a bot wall answered" in Access.from_failure("walled", NOW).reason
    assert Access.from_response(200, [], BODY, NOW + DAY, last_good=walled).wall is None


def test_retry_after_of_a_wall_is_respected() -> None:
    headers = [("cf-mitigated", "challenge"), ("Retry-After", "120"), ("Cache-Control", "max-age=99999")]
    assert Access.from_response(200, headers, b"", NOW).valid_until == NOW + 120


FRESH = [
    # headers, seconds fresh
    ([], DAY),
    ([("Cache-Control", "max-age=3600")], HOUR),
    ([("cache-control", "public, MAX-AGE = 3600")], HOUR),
    ([("Cache-Control", 'max-age="3600"')], HOUR),
    ([("Cache-Control", "public"), ("Cache-Control", "max-age=3600")], HOUR),
    ([("Cache-Control", "max-age=3600, max-age=600")], 600.0),
    ([("Cache-Control", "max-age=3600"), ("Age", "600")], 3000.0),
    ([("Cache-Control", "max-age=3600"), ("Age", "x")], HOUR),
    ([("Cache-Control", "max-age=3600"), ("Age", "9999")], 60.0),
    ([("Cache-Control", "max-age=3600"), ("Age", "600, 1200")], 3000.0),
    ([("Cache-Control", "max-age=3600"), ("Age", "600"), ("Age", "1200")], 3000.0),
    ([("Cache-Control", "max-age=3600"), ("Age", "-600")], HOUR),
    ([("Cache-Control", "max-age=3600"), ("Age", "9" * 400)], 60.0),
    ([("Cache-Control", "max-age=31536000")], DAY),
    ([("Cache-Control", "max-age=" + "9" * 400)], DAY),
    ([("Cache-Control", "max-age=" + "0" * 5000 + "3600")], HOUR),
    ([("Cache-Control", "max-age=0")], 60.0),
    ([("Cache-Control", "max-age")], 60.0),
    ([("Cache-Control", "max-age=soon")], 60.0),
    ([("Cache-Control", "max-age=-1")], 60.0),
    ([("Cache-Control", "no-store")], 60.0),
    ([("Cache-Control", "max-age=3600, no-cache")], 60.0),
    ([("Cache-Control", "max-age=3600"), ("Cache-Control", "no-store")], 60.0),
    ([("Cache-Control", "no-store"), ("Cache-Control", "max-age=3600")], 60.0),
    ([("Cache-Control", "max-age=3600"), ("Cache-Control", "max-age=600")], 600.0),
    ([("Cache-Control", "max-age=1e999")], 60.0),
    ([("Cache-Control", "max-age=NaN")], 60.0),
    ([("Cache-Control", "max-age=٣٦٠٠")], 60.0),
    ([("Cache-Control", "")], DAY),
    ([("Cache-Control", "," * 1_000_000)], DAY),
    ([("Cache-Control", "max-age=" + "9" * 1_000_000)], DAY),
    ([("Cache-Control", "x" * 1_000_000 + ", max-age=600")], 600.0),
    ([("Cache-Control", "public")] * 10_000 + [("Cache-Control", "max-age=600")], 600.0),
    ([("Cache-Control", "public, " * 10)] * 10_000, DAY),
    ([(f"X-{number}", "max-age=600") for number in range(10_000)], DAY),
    ([("Expires", " " * 1_000_000)], 60.0),
    ([("Expires", "Sun, " * 200_000)], 60.0),
    ([("\ud800", "\udfff"), ("Expires", "\ud800\x00")], 60.0),
    ([("Cache-Control", "s-maxage=5")], DAY),
    ([("Cache-Control", "max-age=3600"), ("Expires", "0")], HOUR),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT")], HOUR),
    ([("Expires", "Sunday, 09-Sep-01 02:46:40 GMT")], HOUR),
    ([("Expires", "Sun Sep  9 02:46:40 2001")], HOUR),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Date", "Sun, 09 Sep 2001 02:26:40 GMT")], 1200.0),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Date", "nonsense")], HOUR),
    ([("Expires", "Sun, 09 Sep 2091 02:46:40 GMT")], DAY),
    ([("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")], 60.0),
    ([("Expires", "0")], 60.0),
    ([("Expires", "-1")], 60.0),
    ([("Expires", "Sun, 09 Sep 99999 02:46:40 GMT")], 60.0),
    ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], DAY),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Date", "Sun, 09 Sep 99999 02:46:40 GMT")], HOUR),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Date", "Fri, 31 Dec 9999 23:59:59 GMT")], 60.0),
    ([("Expires", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Date", "Sat, 01 Jan 0001 00:00:00 GMT")], DAY),
    ([("Expires", "0"), ("Expires", "Sun, 09 Sep 2001 02:46:40 GMT")], 60.0),
]


@pytest.mark.parametrize(("headers", "seconds"), FRESH, ids=[str(row) for row in range(len(FRESH))])
@pytest.mark.parametrize("status", [200, 404])
def test_valid_until(headers: list[tuple[str, str]], seconds: float, status: int) -> None:
    """RFC 9309 §2.4, RFC 9111 §4.2: never over 24 hours; a minute if it is stale at once."""
    assert Access.from_response(status, headers, BODY, NOW).valid_until == NOW + seconds


HOLD = [
    # headers, retry_s, seconds until due again
    ([], 60.0, 60.0),
    ([], 600.0, 600.0),
    ([], 0.0, 0.0),
    ([], -5.0, 0.0),
    ([], float("inf"), DAY),
    ([("Retry-After", "120")], 60.0, 120.0),
    ([("Retry-After", "10")], 60.0, 60.0),
    ([("retry-after", " 120 ")], 60.0, 120.0),
    ([("Retry-After", "Sun, 09 Sep 2001 02:46:40 GMT")], 60.0, HOUR),
    ([("Retry-After", "Sun, 09 Sep 2001 01:46:30 GMT")], 60.0, 60.0),
    ([("Date", "Sun, 09 Sep 2001 00:46:40 GMT"), ("Retry-After", "Sun, 09 Sep 2001 01:16:40 GMT")], 60.0, HOUR / 2),
    ([("Date", "Sun, 09 Sep 2001 02:46:40 GMT"), ("Retry-After", "Sun, 09 Sep 2001 02:46:50 GMT")], 60.0, HOUR + 10),
    ([("Date", "just now"), ("Retry-After", "Sun, 09 Sep 2001 02:46:40 GMT")], 60.0, HOUR),
    ([("Retry-After", "tomorrow")], 60.0, 60.0),
    ([("Retry-After", "-1")], 60.0, 60.0),
    ([("Retry-After", "1e9")], 60.0, 60.0),
    ([("Retry-After", "9" * 400)], 60.0, DAY),
    ([("Cache-Control", "max-age=99999")], 60.0, 60.0),
    ([("Retry-After", "Sun, 09 Sep 99999 02:46:40 GMT")], 60.0, 60.0),
    ([("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")], 60.0, DAY),
    ([("Retry-After", "9" * 1_000_000)], 60.0, DAY),
    ([("Retry-After", "120"), ("Retry-After", "7200")], 60.0, 120.0),
    ([("Retry-After", "120")] * 10_000, 60.0, 120.0),
]


@pytest.mark.parametrize(("headers", "retry_s", "seconds"), HOLD, ids=[str(row) for row in range(len(HOLD))])
def test_when_an_unreachable_robots_txt_is_due_again(
    headers: list[tuple[str, str]], retry_s: float, seconds: float
) -> None:
    """RFC 9110 §10.2.3; at most 24 hours."""
    assert Access.from_response(503, headers, b"", NOW, retry_s=retry_s).valid_until == NOW + seconds


def test_the_last_good_copy_applies_for_thirty_days() -> None:
    """RFC 9309 §2.3.1.4."""
    good = Access.from_response(200, [], BODY, NOW)
    down = Access.from_response(503, [], b"", NOW + DAY, last_good=good)
    assert (down.result, down.body, down.good_at, down.tries) == ("unreachable", BODY, NOW, 1)
    closed = down.verdict("/private", "me")
    assert (closed.allowed, closed.line, closed.access) == (False, 2, "unreachable")
    assert closed.reason.endswith(", according to the last good copy, while robots.txt is unreachable.")
    assert down.verdict("/public", "me").allowed
    longer = Access.from_failure("timeout", NOW + 30 * DAY - 10, last_good=down)
    assert (longer.tries, longer.good_at, longer.valid_until) == (2, NOW, NOW + 30 * DAY)
    assert longer.verdict("/public", "me").allowed
    over = Access.from_failure("timeout", NOW + 30 * DAY, last_good=longer)
    assert (over.tries, over.in_force, over.valid_until) == (3, "closed", NOW + 30 * DAY + 60)
    assert not over.verdict("/public", "me").allowed
    assert "older than 30 days" in over.verdict("/public", "me").reason
    again = Access.from_response(200, [], BODY, NOW + 31 * DAY, last_good=over)
    assert (again.tries, again.failing_since, again.good_at) == (0, None, NOW + 31 * DAY)


def test_a_copy_that_no_dialect_would_use_is_dropped() -> None:
    """Google uses it until 30 days after the first failure, here a day after it was read."""
    access = Access.from_response(200, [], BODY, NOW)
    for day, kept in ((1, True), (30, True), (30.9, True), (31, False), (32, False)):
        access = Access.from_failure("timeout", NOW + day * DAY, last_good=access)
        assert (access.failing_since, access.good_at is not None, access.body != b"") == (NOW + DAY, kept, kept)


def test_an_unavailable_robots_txt_leaves_no_good_copy() -> None:
    good = Access.from_response(200, [], BODY, NOW)
    gone = Access.from_response(404, [], b"", NOW + 1, last_good=good)
    assert (gone.good_at, gone.body, gone.tries) == (None, b"", 0)
    assert not Access.from_failure("dns", NOW + 2, last_good=gone).verdict("/public", "me").allowed


TOP = b"User-agent: *\n"
FILL = b"#" * 99 + b"\n"


def padded(size: int) -> bytes:
    """A body of `size` octets: one User-agent line and comments."""
    rest = size - len(TOP)
    return TOP + FILL * (rest // 100) + b"#" * (rest % 100)


CUTS = [
    ("at the limit", padded(LIMIT_BYTES), LIMIT_BYTES),
    ("one octet over, in a line", padded(LIMIT_BYTES + 1), len(TOP) + (LIMIT_BYTES - len(TOP)) // 100 * 100),
    ("a line that ends at the limit", padded(LIMIT_BYTES) + b"\nDisallow: /", LIMIT_BYTES),
    ("CR at the limit", padded(LIMIT_BYTES) + b"\rDisallow: /", LIMIT_BYTES),
    ("a rule over the limit", padded(LIMIT_BYTES - 12) + b"\nDisallow: /long", LIMIT_BYTES - 11),
    ("one line alone", b"Disallow: /" + b"x" * LIMIT_BYTES, 0),
]


@pytest.mark.parametrize(("name", "body", "kept"), CUTS, ids=[case[0] for case in CUTS])
def test_limit(name: str, body: bytes, kept: int) -> None:
    """§2.5: 500 KiB count, in whole lines, and the reason reports the cut."""
    access = Access.from_response(200, [], body, NOW)
    assert (len(access.body), access.cut_bytes) == (kept, len(body) - kept)
    assert access.verdict("/long", "me").allowed
    assert (str(access.cut_bytes) in access.reason) is (access.cut_bytes > 0)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("filling", ["x", "\u0a0d", "\u0d0a", "\u0a00"])
def test_limit_of_utf_16(codec: str, end: str, filling: str) -> None:
    """Lines end at whole units: an octet of a letter is no end."""
    text = f"\ufeffUser-agent: *{end}Disallow: /x{end}"
    body = text.encode(codec)
    access = Access.from_response(200, [], body + f"#{filling * LIMIT_BYTES}{end}Disallow: /y".encode(codec), NOW)
    assert access.body == body
    assert not access.verdict("/x", "me").allowed
    assert access.verdict("/y", "me").allowed


READ = Access.from_response(200, [], BODY, NOW)


@pytest.mark.parametrize(
    "access",
    [
        READ,
        Access.from_failure("dns", NOW),
        Access.from_response(503, [], b"", NOW + 1, "google", READ, site_answers=True),
    ],
)
def test_an_access_is_its_columns(access: Access) -> None:
    access.verdict("/", "me")
    again = Access(**asdict(access))
    assert again == access
    assert again.verdict("/private", "me") == access.verdict("/private", "me")


FRESHNESS = [
    # asked how many seconds after the fetch, whether a file that lives an hour is fresh
    (0.0, True),
    (3599.0, True),
    (3600.0, False),
    (3601.0, False),
    (-59.0, True),  # a clock that was set
    (-60.0, True),
    (-61.0, False),  # a clock that went back
    (-40 * DAY, False),
    (float("-inf"), False),
    (float("inf"), False),
    (float("nan"), False),
]


@pytest.mark.parametrize(("after_s", "fresh"), FRESHNESS)
def test_is_fresh(after_s: float, fresh: bool) -> None:
    """Our choice: a clock may go back by a minute."""
    access = Access.from_response(200, [("Cache-Control", "max-age=3600")], BODY, NOW)
    assert access.is_fresh(NOW + after_s) is fresh


def test_a_copy_from_the_future_counts_as_new() -> None:
    """The clock went back: the copy rules, and a run of failures that begins after now has just begun."""
    good = Access.from_response(200, [], BODY, NOW)
    down = Access.from_failure("dns", NOW - 40 * DAY, last_good=good)
    assert (down.in_force, down.valid_until) == ("rules", NOW - 40 * DAY + 60)
    later = Access.from_failure("dns", NOW - 80 * DAY, "google", down)
    assert (later.in_force, later.valid_until, later.failing_since) == ("closed", NOW - 80 * DAY + 60, NOW - 40 * DAY)


def test_rules_are_parsed_once() -> None:
    access = Access.from_response(200, [], BODY, NOW)
    assert access.rules is access.rules


def test_an_unknown_dialect_is_an_input_error() -> None:
    for status in (200, 404, 503):
        with pytest.raises(InputError, match="latin"):
            Access.from_response(status, [], BODY, NOW, "latin")
    for kind in ("dns", "too-many-redirects"):
        with pytest.raises(InputError, match="latin"):
            Access.from_failure(kind, NOW, "latin")


VALUES = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"(max-age|no-store|s-maxage)?=?[0-9]{0,30}", fullmatch=True),
    st.from_regex(r"[A-Z][a-z]{2}, [0-9]{2} (Jan|Feb|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT", fullmatch=True),
)
NAMES = st.sampled_from(["Cache-Control", "Expires", "Date", "Age", "Retry-After", "cache-control"])


@given(
    st.integers(-10, 1000), st.lists(st.tuples(NAMES, VALUES), max_size=6), st.binary(max_size=60), st.floats(0, 4e9)
)
def test_no_answer_raises_and_every_date_is_near(
    status: int, headers: list[tuple[str, str]], body: bytes, now: float
) -> None:
    access = Access.from_response(status, headers, body, now, last_good=Access.from_response(200, [], BODY, 0.0))
    assert now <= access.valid_until <= now + DAY
    assert access.is_fresh(now) is (now < access.valid_until)
    assert access.verdict("/robots.txt", "me").allowed
    assert isinstance(access.verdict("/x", "me").allowed, bool)
