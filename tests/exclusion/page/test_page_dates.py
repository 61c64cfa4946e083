"""Dates of `unavailable_after`: Google's page names RFC 822, RFC 850 and ISO 8601 and prints two of the examples."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.page.page_dates import parse_page_date

DATES = [
    # text, the same moment as ISO 8601 with its zone, source
    ("25 Jun 2010 15:00:00 PST", "2010-06-25T23:00:00+00:00", "Google, X-Robots-Tag"),
    ("2020-09-21", "2020-09-21T00:00:00+00:00", "Google, META"),
    ("Sunday, 01-Sep-24 12:34:56 GMT", "2024-09-01T12:34:56+00:00", "RFC 850"),
    ("Saturday, 01-Jan-94 00:00:00 GMT", "1994-01-01T00:00:00+00:00", "RFC 850"),
    ("Sunday 01-Sep-24 12:34:56", "2024-09-01T12:34:56+00:00", "without its comma and zone: our reading"),
    ("25-Aug-2007 15:00:00 EST", "2007-08-25T20:00:00+00:00", "Google, 2007"),
    ("Sun, 01 Sep 2024 12:34:56 GMT", "2024-09-01T12:34:56+00:00", "RFC 822 with RFC 1123's year"),
    ("Sun, 1 Sep 24 12:34 UT", "2024-09-01T12:34:00+00:00", "RFC 822 §5.1"),
    ("sun, 01 sep 2024 12:34:56 edt", "2024-09-01T16:34:56+00:00", "RFC 822 §5.1, any case"),
    ("01 Sep 2024 12:34:56 CDT", "2024-09-01T17:34:56+00:00", "RFC 822 §5.1"),
    ("01 Sep 2024 12:34:56 MST", "2024-09-01T19:34:56+00:00", "RFC 822 §5.1"),
    ("01 Sep 2024 12:34:56 +0200", "2024-09-01T10:34:56+00:00", "RFC 822 §5.1"),
    ("01 Sep 2024 12:34:56 -0330", "2024-09-01T16:04:56+00:00", "RFC 822 §5.1"),
    ("01 Sep 2024 12:34:56 Z", "2024-09-01T12:34:56+00:00", "RFC 822 §5.1"),
    ("01 Sep 2024 12:34:56 CEST", "2024-09-01T12:34:56+00:00", "RFC 5322 §4.3: an unknown zone is UTC"),
    ("1 September 2024", "2024-09-01T00:00:00+00:00", "month in full, no time: our reading"),
    ("30 Jun 2012 23:59:60 GMT", "2012-06-30T23:59:59+00:00", "leap second"),
    ("2024-09-01T12:34:56+00:00", "2024-09-01T12:34:56+00:00", "ISO 8601"),
    ("2024-09-01T12:34:56Z", "2024-09-01T12:34:56+00:00", "ISO 8601"),
    ("2024-09-01T12:34:56.789+02:00", "2024-09-01T10:34:56+00:00", "ISO 8601"),
    ("20240901T123456Z", "2024-09-01T12:34:56+00:00", "ISO 8601, basic form"),
    ("2024-09-01T12:34-08", "2024-09-01T20:34:00+00:00", "ISO 8601"),
    ("2024-09-01 12:34:56", "2024-09-01T12:34:56+00:00", "a blank for T: our reading"),
    ("2024-09-01 12:34:56 PDT", "2024-09-01T19:34:56+00:00", "a zone by its name: our reading"),
    ("  2024-09-01  ", "2024-09-01T00:00:00+00:00", "blanks around"),
    ("0001-01-01", "0001-01-01T00:00:00+00:00", "the first day"),
    ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00", "the last one"),
]


@pytest.mark.parametrize(("text", "moment", "source"), DATES)
def test_dates(text: str, moment: str, source: str) -> None:
    assert parse_page_date(text) == datetime.fromisoformat(moment).timestamp(), source


def test_an_offset_may_lead_out_of_the_calendar() -> None:
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
    assert parse_page_date("9999-12-31T23:59:59-23:59") == last + 86_340


UNREADABLE = [
    "",
    "soon",
    "2024",
    "2024-13-01",
    "2024-02-30",
    "30 Feb 2024",
    "2024-09-01T25:00:00",
    "2024-09-01T12:60:00",
    "01 Sep 2024 12:34:61 GMT",
    "99999-01-01",
    "01 Jan 99999 00:00:00 GMT",
    "0000-01-01",
    "01 Foo 2024 00:00:00 GMT",
    "01 Sep 2024 00:00:00 +9999",
    "2024-09-01T12:34:56+24:00",
    "9" * 400,
    "9" * 400 + "-01-01",
    "2024-09-01" + "T" * 1_000_000,
    "1 " * 500_000,
    "٢٠٢٤-٠٩-٠١",
    "2024-09-01\x00",
    "\ud800",
    "NaN",
    "1e999",
    "-1",
]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: text[:20].encode("unicode_escape").decode())
def test_unreadable_dates_are_none(text: str) -> None:
    assert parse_page_date(text) is None


MOMENTS = st.builds(
    datetime.fromtimestamp,
    st.integers(0, int(datetime(2069, 12, 31, tzinfo=UTC).timestamp())),
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
).filter(lambda moment: 1970 <= moment.year < 2070)


@given(MOMENTS, st.sampled_from(["%Y-%m-%dT%H:%M:%S%z", "%a, %d %b %Y %H:%M:%S %z", "%A, %d-%b-%y %H:%M:%S %z"]))
def test_what_is_written_is_read(moment: datetime, form: str) -> None:
    assert parse_page_date(moment.strftime(form)) == moment.timestamp()


@given(st.one_of(st.text(max_size=80), st.text("0123456789-:+TZ, janfeb", max_size=40)))
def test_never_raises(text: str) -> None:
    at = parse_page_date(text)
    assert at is None or abs(at) < 1e12
