"""Patterns as administrators write them, and what is wrong with them."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.watch.formats.pattern import NAME, parse_pattern
from goodbot.watch.log_entries import LogEntry, SignatureFields, SkipReason

AT: Final = 1431857103
COMBINED: Final = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D'
LINE: Final = (
    '192.0.2.1 - ann lee [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5316 "http://example.org/" "Agent/1" 250000'
)
HIT: Final = LogEntry("192.0.2.1", AT, 10, "GET /a HTTP/1.1", 200, 5316, True, "Agent/1", 0.25)
NGINX: Final = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
)
SHORT: Final = LogEntry("192.0.2.1", AT, 10, "", 0, 0, None, None)

LINES: Final[dict[str, tuple[str, str, LogEntry]]] = {
    "Apache": (COMBINED, LINE, HIT),
    "Apache, quotes escaped": (COMBINED.replace('"', r"\""), LINE, HIT),
    "a line of Apache's configuration": (f'LogFormat "{COMBINED.replace(chr(34), chr(92) + chr(34))}" own', LINE, HIT),
    "conditions": (COMBINED.replace("%{Referer}i", "%!200,304{Referer}i"), LINE, HIT),
    "first and last": (COMBINED.replace("%{User-Agent}i", "%<{User-agent}i"), LINE, HIT),
    "nginx": (NGINX, LINE.removesuffix(" 250000"), HIT._replace(duration_s=None)),
    "nginx, braces": ("${remote_addr}|${msec}", "192.0.2.1|1431857103.678", SHORT),
    "lines of nginx's configuration": (
        f"log_format own escape=default '{NGINX[:40]}'\n    '{NGINX[40:]}';",
        LINE.removesuffix(" 250000"),
        HIT._replace(duration_s=None),
    ),
    "other variables": (
        "$host $remote_addr $time_iso8601 $request_time $my_own",
        "example.org 192.0.2.1 2015-05-17T10:05:03+00:00 0.005 any thing",
        SHORT._replace(duration_s=0.005, host="example.org"),
    ),
    "virtual hosts": (
        "%v %V %h %t",
        "example.org a 192.0.2.1 [17/May/2015:10:05:03 +0000]",
        SHORT._replace(host="example.org"),
    ),
    "no host": ("%{Host}i %h %t", "- 192.0.2.1 [17/May/2015:10:05:03 +0000]", SHORT),
    "lists of upstreams": (
        "$upstream_addr $remote_addr $upstream_response_time [$time_local] $upstream_status $status",
        "10.0.0.1:80, 10.0.0.2:80 192.0.2.1 0.001, 0.249 : 0.1 [17/May/2015:10:05:03 +0000] 502, 200 200",
        SHORT._replace(status=200),
    ),
    "parts of a request": (
        "%a,%{sec}t,%m,%U%q,%H,%s,%B",
        "192.0.2.1,1431857103,GET,/a,?b=c,HTTP/1.1,200,5316".replace("/a,?", "/a?"),
        LogEntry("192.0.2.1", AT, 10, "GET /a?b=c HTTP/1.1", 200, 5316, None, None),
    ),
    "nginx, parts of a request": (
        "$remote_addr,$msec,$request_method,$uri$is_args$args,$server_protocol",
        "192.0.2.1,1431857103.000,GET,/a?b=c,HTTP/1.1",
        SHORT._replace(request="GET /a?b=c HTTP/1.1"),
    ),
    "query apart": ("%h|%{sec}t|%m|%U|%q", "192.0.2.1|1431857103|GET|/a|?b", SHORT._replace(request="GET /a?b")),
    "nginx, query apart": (
        "$remote_addr|$msec|$uri|$args",
        "192.0.2.1|1431857103.000|/a|b",
        SHORT._replace(request="/a?b"),
    ),
    "nothing was requested": (
        "%h|%{sec}t|%m|%U%q|%H",
        "192.0.2.1|1431857103|-|-|HTTP/1.0",
        SHORT._replace(request="-"),
    ),
    "tabs": (r"%h\t%t\t%{User-Agent}i", "192.0.2.1\t[17/May/2015:10:05:03 +0000]\tA b", SHORT._replace(agent="A b")),
    "percent sign": ("%h 100%% %t", "192.0.2.1 100% [17/May/2015:10:05:03 +0000]", SHORT),
    "text around": ("<%h %t>", "<192.0.2.1 [17/May/2015:10:05:03 +0000]>", SHORT),
    "text of UTF-8": ("%h »%t", "192.0.2.1 \xc2\xbb[17/May/2015:10:05:03 +0000]", SHORT),
    "strftime": ("%h (%{%d/%b/%Y:%T %z}t)", "192.0.2.1 (17/May/2015:12:05:03 +0200)", SHORT._replace(hour=12)),
    "strftime, ISO": ("%h %{%Y-%m-%dT%H:%M:%S%z}t", "192.0.2.1 2015-05-17T12:05:03+0200", SHORT._replace(hour=12)),
    "fractions apart": ("%h %{usec}t %{msec_frac}t", "192.0.2.1 1431857103678000 678", SHORT),
    "seconds": ("%h %{sec}t %T", "192.0.2.1 1431857103 2", SHORT._replace(duration_s=2.0)),
    "milliseconds": ("%h %{sec}t %{ms}T", "192.0.2.1 1431857103 250", SHORT._replace(duration_s=0.25)),
    "microseconds": ("%h %{sec}t %{us}T", "192.0.2.1 1431857103 250", SHORT._replace(duration_s=0.00025)),
    "forwarded": (
        '%h %{sec}t "%{X-Forwarded-For}i"',
        '192.0.2.1 1431857103 "203.0.113.7, 198.51.100.2"',
        SHORT._replace(forwarded="203.0.113.7, 198.51.100.2"),
    ),
    "forwarded, no address": (
        '"%{X-Forwarded-For}i" %{sec}t',
        '"203.0.113.7, 198.51.100.2" 1431857103',
        SHORT._replace(address="198.51.100.2", forwarded="203.0.113.7, 198.51.100.2"),
    ),
    "several addresses": ("%{c}a %h %{sec}t", "- 192.0.2.1 1431857103", SHORT),
    "several sizes": ("%h %{sec}t %b %O", "192.0.2.1 1431857103 - 174", SHORT),
    "escaped quotes": (
        '%h %{sec}t "%r" "%{User-Agent}i" %s',
        r'192.0.2.1 1431857103 "GET /\" HTTP" "A \" \\" 200',
        SHORT._replace(request=r"GET /\" HTTP", agent=r"A \" \\", status=200),
    ),
    "signed, Apache": (
        '%h %{sec}t "%{Host}i" "%{Signature-Input}i" "%{Signature}i" "%{Signature-Agent}i"',
        r'192.0.2.1 1431857103 "a.example" "s=(\"@method\");tag=\"\\x\"" "s=:AA==:" "-"',
        SHORT._replace(
            signature=SignatureFields(r's=("@method");tag="\x"', "s=:AA==:", None, "a.example"), host="a.example"
        ),
    ),
    "signed, nginx": (
        '$remote_addr $msec "$http_signature_input" "$http_signature" "$http_signature_agent" "$host"',
        r'192.0.2.1 1431857103.678 "s=(\x22@method\x22);x=\x22\x5Cx\x22" "-" "s=\x22https://b\x22" "a.example"',
        SHORT._replace(
            signature=SignatureFields(r's=("@method");x="\x"', None, 's="https://b"', "a.example"), host="a.example"
        ),
    ),
    "not signed": (
        '$remote_addr $msec "$http_signature_input" "$http_signature"',
        '192.0.2.1 1431857103.678 "-" "keyId=x"',
        SHORT,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "line", "expected"), LINES.values(), ids=LINES)
def test_lines(pattern: str, line: str, expected: LogEntry) -> None:
    found = parse_pattern(pattern)
    assert (found.name, found.parse(line)) == (NAME, expected)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "unknown format"),
        ("hello world", "unknown format"),
        (LINE[:60], "unknown format"),
        (LINE.replace("17/May", "31/Feb"), "bad time"),
        (LINE.replace(" 200 ", " OK "), "bad status"),
        (LINE[9:], "unknown format"),
    ],
)
def test_other_lines_are_skipped(line: str, reason: SkipReason) -> None:
    assert parse_pattern(COMBINED).parse(line) == reason


def test_what_follows_the_pattern_is_another_format() -> None:
    assert parse_pattern('%h %l %u %t "%r" %>s %b').parse(LINE) == "unknown format"
    assert parse_pattern("<%h %t>").parse("<192.0.2.1 [17/May/2015:10:05:03 +0000]> more") == "unknown format"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "has no fields"),
        ("combined", "has no fields"),
        ("LogFormat combined", "has no fields"),
        ("log_format main", "has no fields"),
        ("%h %t %Z", "'%Z' in --log-format is not a field of Apache's LogFormat"),
        ("%h %t %{ns}T", "'%{ns}T' in --log-format is not a field: %{ms}T, %{us}T and %{s}T are"),
        ("%h %t %{Referer", "has no field after '%{Referer'"),
        ("%h %t 100% sure", "has no field after '% sure'"),
        ("%h%t %r", None),
        ("%h%u %t", "nothing separates %h and %u"),
        ("$remote_addr$status $msec", "nothing separates $remote_addr and $status"),
        ("%t %r", "no address of the client: add %h or $remote_addr"),
        ("%h %r", "no time: add %t or [$time_local]"),
        ("%h %{%Z}t", "no time"),
        ("%h %t %{sec}t", "several times: %t and %{sec}t"),
        ("%h %t " + "x" * 5_000, "more than 4096 characters"),
    ],
)
def test_bad_patterns(pattern: str, message: str | None) -> None:
    if message is None:
        parse_pattern(pattern)
        return
    with pytest.raises(InputError) as caught:
        parse_pattern(pattern)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=200))
def test_any_pattern_is_read_or_refused(pattern: str) -> None:
    try:
        found = parse_pattern(pattern)
    except InputError:
        return
    found.parse(LINE)


@given(
    st.lists(st.sampled_from(["%h", "%t", "%r", "$status", "[", "]", '"', " ", "%{Referer}i", "$msec", "%", "{"])),
    st.text(alphabet=st.characters(max_codepoint=255), max_size=300),
)
def test_any_line_is_read_or_skipped(parts: list[str], line: str) -> None:
    for pattern in (COMBINED, NGINX, f"%h %t{''.join(parts)}"):
        try:
            found = parse_pattern(pattern)
        except InputError:
            continue
        found.parse(line)
