"""Logs of any lines: their formats are recognized line by line."""

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.formats.pattern import parse_pattern
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LONGEST_LINE, SKIP_REASONS, LogEntry, SkipReason

COMMON: Final = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5316'
COMBINED: Final = f'{COMMON} "-" "Agent/1"'
TIMED: Final = f"{COMBINED} 0.005"
FIELDS: Final = "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-win32-status"
IIS: Final = "2015-05-17 10:05:03 192.0.2.1 GET /a 200 0"
JSON: Final = json.dumps({"remote_addr": "192.0.2.1", "msec": 1431857103.5, "status": 200, "request": "GET /a"})
CADDY: Final = json.dumps(
    {"ts": 1431857103.5, "request": {"remote_ip": "192.0.2.1", "method": "GET", "uri": "/a"}, "status": 200}
)


def kinds(reader: LineReader, lines: list[str]) -> list[str]:
    """Returns why each line was skipped, or `entry`."""
    return [entry if isinstance(entry := reader.read(line), str) else "entry" for line in lines]


def test_formats_may_change_with_every_line() -> None:
    reader = LineReader()
    lines = [COMBINED, COMMON, TIMED, JSON, CADDY, FIELDS, IIS, COMBINED, IIS, JSON, JSON, COMBINED]
    assert kinds(reader, lines) == ["entry"] * 5 + ["comment"] + ["entry"] * 6
    assert reader.formats == {
        "combined": 3,
        "common": 1,
        "combined with times": 1,
        "JSON": 3,
        "JSON (Caddy)": 1,
        "W3C (IIS)": 2,
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "empty"),
        ("\r\n", "empty"),
        (" \t", "empty"),
        ("\0\0\0", "empty"),
        ("# a comment", "comment"),
        (FIELDS, "comment"),
        ("hello", "unknown format"),
        ("{", "unknown format"),
        (IIS, "unknown format"),
        ("x" * (LONGEST_LINE + 1), "too long"),
        (COMBINED.replace("May", "Mai"), "bad time"),
        (COMBINED.replace("200", "20"), "bad status"),
        (JSON.replace("200", "20"), "bad status"),
        ("\x16\x03\x01\x02", "unknown format"),
    ],
)
def test_lines_are_skipped_for_a_reason(line: str, reason: SkipReason) -> None:
    reader = LineReader()
    assert reader.read(line) == reason
    assert isinstance(reader.read(COMBINED), LogEntry)
    assert reader.read(line) == reason
    assert reader.formats == {"combined": 1}


@pytest.mark.parametrize(
    "line",
    [COMBINED, f"{COMBINED}\r", f"{COMBINED}\r\n", f"\0\0{COMBINED}", f"\xef\xbb\xbf{COMBINED}", f"  {COMBINED}  "],
)
def test_noise_around_a_line(line: str) -> None:
    assert LineReader().read(line) == LineReader().read(COMBINED)


def test_the_longest_line_is_read() -> None:
    line = COMBINED.replace("Agent/1", "x" * LONGEST_LINE)[:LONGEST_LINE]
    entry = LineReader().read(line)
    assert isinstance(entry, LogEntry)
    assert entry.agent is not None
    assert len(entry.agent) > 65_000


def test_a_reader_that_begins_within_a_log_is_given_its_header() -> None:
    first = LineReader()
    assert kinds(first, [FIELDS + "\r", IIS]) == ["comment", "entry"]
    second = LineReader(header=first.header)
    assert second.read(IIS) == first.read(IIS)
    assert (first.header, second.header) == (FIELDS, FIELDS)


def test_columns_may_change() -> None:
    reader = LineReader()
    other = "#Fields: date time cs-method c-ip sc-status"
    line = "2015-05-17 10:05:03 GET 192.0.2.1 200"
    assert kinds(reader, [FIELDS, IIS, other, line, IIS, "#Fields: x", line]) == [
        *["comment", "entry", "comment", "entry", "unknown format", "comment", "unknown format"]
    ]


def test_a_pattern_is_the_format_of_all_lines() -> None:
    reader = LineReader(parse_pattern("%h %{sec}t"))
    lines = ["192.0.2.1 1431857103", COMBINED, "# x", "#1 1431857103", "", "192.0.2.1 soon"]
    assert kinds(reader, lines) == ["entry", "bad time", "comment", "entry", "empty", "bad time"]
    assert reader.formats == {"custom pattern": 2}


def test_bytes_at_the_end_of_a_line_are_kept() -> None:
    entry = LineReader(parse_pattern("%h %{sec}t %{User-Agent}i")).read("192.0.2.1 1431857103 \xc2\xbb\r")
    assert isinstance(entry, LogEntry)
    assert entry.agent == "\xc2\xbb"


START: Final = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "'
HOSTILE: Final = {
    "quotes": '"',
    "escaped quotes": r"\"",
    "backslashes": "\\",
    "answers": '" 200 1 "',
    "spaces": " ",
    "keys": "rt=",
    "numbers": "0.0 ",
    "digits": "9",
    "brackets": "[",
    "objects": '{"request":',
    "commas": ", ",
    "percent signs": "%25",
    "any byte": "".join(map(chr, range(256))),
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("start", ["", START, f'{START}GET /" 200 1 "', f"{COMBINED} ", '{"request":"', IIS[:30]])
def test_hostile_lines_end(start: str, piece: str) -> None:
    line = (start + piece * LONGEST_LINE)[:LONGEST_LINE]
    pattern = parse_pattern('%h %l %u %t "%r" "%{Referer}i" "%{User-Agent}i" %s')
    for reader in (LineReader(), LineReader(header=FIELDS), LineReader(pattern)):
        for _ in range(3):
            entry = reader.read(line)
            assert isinstance(entry, LogEntry) or entry in SKIP_REASONS


PIECES: Final = (
    *('"', "\\", " ", "-", "[", "]", "{", "}", ":", ",", ".", "%", "+", "\t", "\0", "\r", "\x16\x03", "\xff"),
    *("192.0.2.1", "::1", "17/May/2015:10:05:03 +0000", "2015-05-17T10:05:03Z", "GET /a HTTP/1.1", "200", "5316"),
    *("0.005", "12ms", "rt=", "https://example.org/", "Agent/1", START, COMMON, COMBINED, IIS, JSON, CADDY),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(alphabet=st.characters(max_codepoint=255), max_size=5)))
def test_any_line_is_read_or_skipped(pieces: list[str]) -> None:
    for header in (None, FIELDS):
        _check(LineReader(header=header), "".join(pieces))


@given(st.lists(st.binary(max_size=200)))
def test_any_bytes_are_read_or_skipped(lines: list[bytes]) -> None:
    reader = LineReader(header=FIELDS)
    for line in lines:
        _check(reader, line.decode("latin-1"))


@pytest.mark.parametrize("line", [COMBINED, TIMED, JSON, CADDY, IIS])
def test_cut_lines_are_read_or_skipped(line: str) -> None:
    patterns = (None, parse_pattern('%h %l %u %t "%r" %s'))
    for at in range(len(line)):
        for cut in (line[:at], line[at:], line[:at] + line[at + 1 :], line[:at] + line[at] * 2 + line[at:]):
            for pattern in patterns:
                _check(LineReader(pattern, FIELDS), cut)


@given(st.sampled_from([COMBINED, TIMED, JSON, CADDY, IIS]), st.data())
def test_damaged_lines_are_read_or_skipped(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    piece = data.draw(st.sampled_from(PIECES))
    cut = data.draw(st.integers(0, 20))
    _check(LineReader(header=FIELDS), line[:at] + piece + line[at + cut :])


@given(st.text(max_size=50))
def test_any_header_is_read(header: str) -> None:
    reader = LineReader(header=f"#Fields: {header}")
    _check(reader, IIS)


def _check(reader: LineReader, line: str) -> None:
    entry = reader.read(line)
    if isinstance(entry, str):
        assert entry in SKIP_REASONS
        return
    assert entry.address
    assert 0 <= entry.hour <= 23
    assert entry.status == 0 or 100 <= entry.status <= 999
    assert entry.size >= 0
    assert entry.duration_s is None or entry.duration_s >= 0
    texts = [text for text in (entry.address, entry.request, entry.agent, entry.forwarded) if text is not None]
    assert all(ord(character) < 256 for text in texts for character in text)
    assert sum(reader.formats.values()) >= 1


@pytest.mark.parametrize("line", [COMMON, COMBINED, TIMED, JSON, CADDY])
def test_one_line_is_enough_to_recognize_a_format(line: str) -> None:
    reader = LineReader()
    assert kinds(reader, [line] * 3) == ["entry"] * 3
    assert [*reader.formats.values()] == [3]
