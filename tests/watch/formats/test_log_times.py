"""Times as servers write them."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.formats.log_times import (
    epoch_time,
    parse_any_time,
    parse_common_time,
    parse_iso_time,
    parse_w3c_time,
)

AT = 1431857103
"""17 May 2015, 10:05:03 UTC."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17/May/2015:10:05:03 +0000", (AT, 10)),
        ("17/May/2015:12:05:03 +0200", (AT, 12)),
        ("17/May/2015:12:05:03 +02:00", (AT, 12)),
        ("17/May/2015:06:35:03 -0330", (AT, 6)),
        ("18/May/2015:00:05:03 +1400", (AT, 0)),
        ("17/May/2015:10:05:03.678 +0000", (AT, 10)),
        ("29/Feb/2016:00:00:00 +0000", (1456704000, 0)),
        ("31/Dec/2016:23:59:60 +0000", (1483228800, 23)),
        ("01/Jan/1970:00:00:00 +0000", (0, 0)),
        ("31/Dec/2999:23:59:59 +0000", (32503679999, 23)),
        ("31/Feb/2015:10:05:03 +0000", None),
        ("29/Feb/2015:10:05:03 +0000", None),
        ("00/May/2015:10:05:03 +0000", None),
        ("17/may/2015:10:05:03 +0000", None),
        ("17/Mai/2015:10:05:03 +0000", None),
        ("17/May/1969:10:05:03 +0000", None),
        ("17/May/3000:10:05:03 +0000", None),
        ("17/May/201 :10:05:03 +0000", None),
        ("17/May/2015:24:05:03 +0000", None),
        ("17/May/2015:10:60:03 +0000", None),
        ("17/May/2015:10:05:61 +0000", None),
        ("17/May/2015:10:05:03 +2400", None),
        ("17/May/2015:10:05:03 0000", None),
        ("17/May/2015:10:05:03", None),
        ("17/May", None),
        ("17/May/2015:10:05:03 +0000 x", None),
        ("17/May/2015 10:05:03 +0000", None),
        ("1\xb2/May/2015:10:05:03 +0000", None),
        ("", None),
    ],
)
def test_common_times(text: str, expected: tuple[int, int] | None) -> None:
    assert parse_common_time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2015-05-17T10:05:03Z", (AT, 10)),
        ("2015-05-17T12:05:03+02:00", (AT, 12)),
        ("2015-05-17T12:05:03+0200", (AT, 12)),
        ("2015-05-17T10:05:03.123456789Z", (AT, 10)),
        ("2015-05-17T10:05:03", (AT, 10)),
        ("2015-05-17 10:05:03", (AT, 10)),
        ("2015-05-17 12:05:03 +0200", (AT, 12)),
        ("1970-01-01T00:00:00Z", (0, 0)),
        ("2015-02-31T10:05:03Z", None),
        ("1969-05-17T10:05:03Z", None),
        ("3000-05-17T10:05:03Z", None),
        ("2015-05-17", None),
        ("2015-W20-7T10:05:03", None),
        ("20150517T100503+0000", None),
        ("2015-05-17T10:05:03" + "0" * 100, None),
    ],
)
def test_iso_times(text: str, expected: tuple[int, int] | None) -> None:
    assert parse_iso_time(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2015-05-17 10:05:03", (AT, 10)), ("2015-05-17T10:05:03", None), ("- -", None), ("", None)],
)
def test_w3c_times(text: str, expected: tuple[int, int] | None) -> None:
    assert parse_w3c_time(text) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (AT, (AT, 10)),
        (AT + 0.9, (AT, 10)),
        (AT * 1_000 + 1, (AT, 10)),
        (AT * 1_000_000 + 1, (AT, 10)),
        (AT * 1_000_000_000 + 1, (AT, 10)),
        (0, (0, 0)),
        (-1, None),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_seconds_and_smaller_units(number: float, expected: tuple[int, int] | None) -> None:
    assert epoch_time(number) == expected


@pytest.mark.parametrize(
    "text",
    [
        "17/May/2015:10:05:03 +0000",
        "[17/May/2015:10:05:03 +0000]",
        "2015-05-17T10:05:03Z",
        "2015/05/17 10:05:03",
        "1431857103",
        "1431857103.678",
        "1431857103678",
    ],
)
def test_any_form_is_read(text: str) -> None:
    assert parse_any_time(text) == (AT, 10)


@pytest.mark.parametrize("text", ["", "-", "soon", "-5", "1431857103.", "\xb2", "1e9", "9" * 5_000])
def test_other_text_is_no_time(text: str) -> None:
    assert parse_any_time(text) is None


@given(st.text(max_size=80))
def test_any_text_is_a_time_or_none(text: str) -> None:
    for parse in (parse_any_time, parse_common_time, parse_iso_time, parse_w3c_time):
        parse(text)


@given(st.integers(0, 32503679999))
def test_every_second_is_read(at: int) -> None:
    clock = datetime.fromtimestamp(at, UTC)
    assert parse_common_time(clock.strftime(f"%d/%b/{clock.year:04}:%H:%M:%S +0000")) == (at, clock.hour)
    assert parse_iso_time(clock.isoformat()) == (at, clock.hour)
    assert epoch_time(at) == (at, time.gmtime(at).tm_hour)
