"""W3C logs, in the words of the documentation of IIS and CloudFront."""

from typing import Final

import pytest

from goodbot.watch.formats.w3c import W3cFormat, w3c_format
from goodbot.watch.log_entries import LogEntry, SkipReason

AT: Final = 1431857103
IIS: Final = (
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer)"
    " sc-status sc-substatus sc-win32-status time-taken"
)
IIS_WITH_BYTES: Final = (
    "#Fields: date time c-ip cs-method cs-uri-stem cs-version sc-status sc-bytes X-Forwarded-For s-ip"
)
CLOUDFRONT: Final = (
    "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer)"
    " cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes"
    " time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status"
    " fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len"
    " sc-range-start sc-range-end"
)
PLAIN: Final = "#Fields: time date c-dns cs-uri sc-status bytes time-taken"


def cloudfront(**changes: str) -> str:
    """Returns a line of CloudFront."""
    values = {
        "date": "2015-05-17", "time": "10:05:03", "location": "FRA56-P1", "size": "1045", "address": "192.0.2.1",
        "method": "GET", "host": "d111111abcdef8.cloudfront.net", "stem": "/a%20b", "status": "200", "referrer": "-",
        "agent": "Mozilla/5.0%20(compatible;%20Bot/1;%20+http://example.org/)", "query": "-", "cookie": "-",
        "result": "Hit", "id": "MRVMF7KydIvxMWfJIglgwHQwZsbG2IhRJ07sn9AkKUFSHS9EXAMPLE==",
        "asked": "example.org", "scheme": "https", "in": "23", "taken": "0.250", "forwarded": "-", "tls": "TLSv1.3",
        "cipher": "TLS_AES_128_GCM_SHA256", "response": "Hit", "version": "HTTP/2.0", "fle": "-", "fields": "-",
        "port": "11040", "first": "0.001", "detail": "Hit", "type": "text/html", "length": "78", "from": "-", "to": "-",
    }  # fmt: skip
    return "\t".join((values | changes).values())


FROM_CLOUDFRONT: Final = LogEntry(
    "192.0.2.1",
    AT,
    10,
    "GET /a%20b HTTP/2.0",
    200,
    1045,
    False,
    "Mozilla/5.0 (compatible; Bot/1; +http://example.org/)",
    0.25,
    host="example.org",
)
FROM_IIS: Final = LogEntry(
    "192.0.2.1", AT, 10, "GET /a", 200, 0, False, "Mozilla/5.0 (compatible; Bot/1; +http://example.org/)", 0.25
)

IIS_AGENT: Final = "Mozilla/5.0+(compatible;+Bot/1;++http://example.org/)"

LINES: Final[dict[str, tuple[str, str, LogEntry]]] = {
    "IIS": (
        IIS,
        f"2015-05-17 10:05:03 192.0.2.9 GET /a - 443 - 192.0.2.1 {IIS_AGENT} - 200 0 0 250",
        FROM_IIS,
    ),
    "IIS, query and referrer": (
        IIS,
        "2015-05-17 10:05:03 192.0.2.9 POST /a x=1&y=2 443 ann fe80::1%3 Bot/1+(+https://a.b/) https://a.b/ 404 0 2 0",
        FROM_IIS._replace(
            address="fe80::1%3",
            request="POST /a?x=1&y=2",
            status=404,
            referrer=True,
            agent="Bot/1 (+https://a.b/)",
            duration_s=0.0,
        ),
    ),
    "IIS, no agent": (
        IIS,
        "2015-05-17 10:05:03 192.0.2.9 GET /a - 443 - 192.0.2.1 - - 200 0 0 250",
        FROM_IIS._replace(agent=""),
    ),
    "IIS, spaces in a stem": (
        IIS,
        "2015-05-17 10:05:03 192.0.2.9 GET /a+b - 443 - 192.0.2.1 - - 200 0 0 -",
        FROM_IIS._replace(request="GET /a+b", agent="", duration_s=None),
    ),
    "IIS, bytes and X-Forwarded-For": (
        IIS_WITH_BYTES,
        "2015-05-17 10:05:03 192.0.2.1 GET /a HTTP/1.1 200 5316 203.0.113.7,+198.51.100.2 192.0.2.9",
        LogEntry("192.0.2.1", AT, 10, "GET /a HTTP/1.1", 200, 5316, None, None, None, "203.0.113.7, 198.51.100.2"),
    ),
    "CloudFront": (CLOUDFRONT, cloudfront(), FROM_CLOUDFRONT),
    "CloudFront, encoded twice": (
        CLOUDFRONT,
        cloudfront(agent="Mozilla/5.0%2520(compatible;%2520Bot/1;%2520+http://example.org/)"),
        FROM_CLOUDFRONT,
    ),
    "CloudFront, more": (
        CLOUDFRONT,
        cloudfront(
            query="x=%D0%B9",
            forwarded="203.0.113.7,%20198.51.100.2",
            referrer="https://example.org/",
            agent="%D0%B9",
            address="2001:db8::1",
        ),
        FROM_CLOUDFRONT._replace(
            request="GET /a%20b?x=%D0%B9 HTTP/2.0",
            forwarded="203.0.113.7, 198.51.100.2",
            referrer=True,
            agent="\xd0\xb9",
            address="2001:db8::1",
        ),
    ),
    "CloudFront, client gone": (CLOUDFRONT, cloudfront(status="000"), FROM_CLOUDFRONT._replace(status=0)),
    "CloudFront, tabs lost": (CLOUDFRONT, cloudfront().replace("\t", " "), FROM_CLOUDFRONT),
    "another server": (
        PLAIN,
        "10:05:03 2015-05-17 host.example.org - 200 5 0.25",
        LogEntry("host.example.org", AT, 10, "-", 200, 5, None, None, 0.25),
    ),
}


@pytest.mark.parametrize(("header", "line", "expected"), LINES.values(), ids=LINES)
def test_lines(header: str, line: str, expected: LogEntry) -> None:
    found = w3c_format(header)
    assert found is not None
    assert found.parse(line) == expected


@pytest.mark.parametrize(
    ("header", "name"), [(IIS, "W3C (IIS)"), (CLOUDFRONT, "CloudFront"), (PLAIN, "W3C"), (IIS.upper(), None)]
)
def test_names(header: str, name: str | None) -> None:
    found = w3c_format(header)
    assert (found and found.name) == name


def test_names_of_columns_may_be_in_capitals() -> None:
    found = w3c_format("#Fields:" + IIS[8:].upper())
    assert isinstance(found, W3cFormat)
    assert found.parse(LINES["IIS"][1]) == FROM_IIS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "unknown format"),
        ("192.0.2.1 - -", "unknown format"),
        (" ".join("x" * 15), "unknown format"),
        (LINES["IIS"][1].replace("05-17", "02-31"), "bad time"),
        (LINES["IIS"][1].replace("10:05:03", "25:05:03"), "bad time"),
        (LINES["IIS"][1].replace(" 200 ", " 20 "), "bad status"),
        (LINES["IIS"][1] + " more", "unknown format"),
    ],
)
def test_other_lines_are_skipped(line: str, reason: SkipReason) -> None:
    found = w3c_format(IIS)
    assert found is not None
    assert found.parse(line) == reason


@pytest.mark.parametrize(
    "header",
    [
        "",
        "#Fields:",
        "#Version: 1.0",
        "#Fields: date time cs-uri-stem sc-status",
        "#Fields: time c-ip cs-uri-stem sc-status",
        "#Fields: date time c-ip cs-uri-stem",
        "#Fields: date time c-ip sc-status" + " x" * 1_000,
    ],
)
def test_columns_that_do_not_suffice(header: str) -> None:
    assert w3c_format(header) is None
