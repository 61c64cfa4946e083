"""RFC 9110 §5.6.7: dates in header fields."""

import pytest

from goodbot.exclusion import parse_http_date

DATES = [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777.0),
    ("Sun Nov  6 08:49:37 1994", 784111777.0),
    (" Sun, 06 Nov 1994 08:49:37 GMT ", 784111777.0),
    ("Sun, 06 Nov 1994 08:49:60 GMT", 784111799.0),
    ("Sun, 31 Feb 1994 08:49:37 GMT", None),
    ("Sun, 06 Foo 1994 08:49:37 GMT", None),
    ("Sun, 06 Nov 1994 25:49:37 GMT", None),
    ("Sun, 06 Nov 0000 08:49:37 GMT", None),
    ("Sun, 06 Nov 1994 08:49:37 PST", None),
    ("Sun, ٠٦ Nov 1994 08:49:37 GMT", None),
    ("", None),
]


def test_deviation_two_digit_years_from_70_on_are_in_the_1900s() -> None:
    """RFC 9110 §5.6.7 counts them as at most 50 years in the future."""
    assert parse_http_date("Sunday, 06-Nov-69 08:49:37 GMT") == 3150953377.0
    assert parse_http_date("Friday, 06-Nov-70 08:49:37 GMT") == 26729377.0


@pytest.mark.parametrize(("text", "seconds"), DATES)
def test_http_dates(text: str, seconds: float | None) -> None:
    """RFC 9110 §5.6.7."""
    assert parse_http_date(text) == seconds
