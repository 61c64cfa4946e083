"""Files that are not a robots.txt get one finding that says so; others do not."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check.test_kinds import BODIES
from goodbot.check import HttpAnswer, Subject, check
from goodbot.check.file_kind import form_of

NOISE = zlib.compress(b"".join(number.to_bytes(4, "big") for number in range(5_000)))
LINES = b"a line without a record\n" * 2_000
PLAIN = "plain text"
CONTROLS = bytes([*range(9), *range(14, 32), 127])

FORMS: list[tuple[bytes, str | None]] = [
    (b"\x7fELF\x02\x01\x01\0" + LINES, "a program (ELF)"),
    (b"MZ\x90\0\x03\0" + LINES, "a program (Windows)"),
    (b"\x89PNG\r\n\x1a\n\0\0", "an image (PNG)"),
    (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "an image (JPEG)"),
    (b"PK\x03\x04\x14\0" + NOISE, "an archive (ZIP)"),
    (b"\x1f\x8b\x08\0\0\0\0\0" + NOISE, "an archive (gzip)"),
    (b"%PDF-1.7\n1 0 obj\n", "a PDF document"),
    (NOISE, "binary data"),
    (b"hello\0", "binary data"),
    (b"\x7fELF\x02\x01\x01\0\0\nUser-Agent: %s\n\0" + LINES, "a program (ELF)"),
    (b"SQLite format 3\0\x10\0\0\nUser-agent: *\nDisallow: /\n", "a database (SQLite)"),
    (b"\x89PNG\r\n\x1a\n\0\0\nDisallow: /a\n", "an image (PNG)"),
    (b"%PDF-1.7\nAllow: x\n", "a PDF document"),
    (NOISE + b"\nAllow: /a\n" + NOISE, "binary data"),
    (b"\0\0\1\2x" * 100 + b"\nAllow: /a\n", "binary data"),
    (b"<!DOCTYPE html>\n<title>Not found</title>\n" + LINES, "an HTML page"),
    (b"\n\n  <div>hello</div>\n", "an HTML page"),
    (b"Not Found<br><html><body></body></html>", "an HTML page"),
    ("<!DOCTYPE html>\n<title>Pas trouvé</title>\n".encode("utf-16"), "an HTML page"),
    ("<html>\n<p>Not found, try another\n".encode("utf-16-be"), "an HTML page"),
    (b"404 page not found\n", PLAIN),
    (b"404 page not found", PLAIN),
    (LINES, PLAIN),
    (b"MZ, GIF8 and PK are no fields\n", PLAIN),
    (b"[section]\nkey = 1\n", PLAIN),
    (b'"""A program."""\n\nimport re\n\n# the answer\ndef answer(url: str) -> int:\n    return 42\n', PLAIN),
    (b"# Title\n\nAllow me to say: this is no rule.\nSee User-agent.\n\n    goodbot --crawl-delay-most 5\n", PLAIN),
    (b"<?xml version='1.0'?>\n<urlset/>\n", "an XML document"),
    (b'{"error": {"code": 404}}\n', "JSON"),
    (b'[\n  {"a": 1}\n]', "JSON"),
    # what may be one
    (b"", None),
    (b"# nothing but this\n\n# and that\n", None),
    (b"Disallow /private/\n", None),
    (b"The rules\nDisalow: /x\n", None),
    (b"User agent *\nDisallow /\n", None),
    (b"Dis-allow /\n", None),
    (b"Dis allow: /\n", None),
    ("User\u2013agent: *\n".encode(), None),
    (b'"User-agent": *\n', None),
    (b"Sitemap https://example.org/s.xml\n", None),
    (b"Crawl delay 10\n", None),
    (b"X-Ours: yes\nFoo: bar\n", None),
    (b"<!DOCTYPE html>\nUser-agent: *\nDisallow: /\n", None),
    (b"<html>\r  Dissallow : /\r", None),
    ("User-agent: *\nDisallow: /\n".encode("utf-16"), None),
    ("User-agent: *\nDisallow: /\n".encode("utf-16-le"), None),
    (b"\xef\xbb\xbf User-agent: *\0\0\n", None),
]


@pytest.mark.parametrize(("body", "form"), FORMS, ids=[f"{form} {body[:12]!r}" for body, form in FORMS])
def test_what_a_file_is(body: bytes, form: str | None) -> None:
    assert form_of(body) == form
    answer = HttpAnswer(200, (("Content-Type", "image/png"),))
    for subject in (Subject(body), Subject(body, "https://example.org/robots.txt", answer)):
        found = [(each.code, each.severity) for each in check(subject)]
        if form == "an HTML page":
            assert ("R003", "error") in found
            assert not [code for code, _ in found if code >= "R1"]
        else:
            assert (("R108", "error") in found) == (form is not None)
            assert form is None or len(found) == 1


def test_a_body_that_cannot_be_decoded_is_recognized_by_its_content_encoding() -> None:
    answer = HttpAnswer(200, (("Content-Type", "text/plain"), ("Content-Encoding", "br")))
    assert [each.code for each in check(Subject(NOISE, "https://example.org/robots.txt", answer))] == ["R004"]


@given(st.one_of(st.binary(max_size=200), BODIES), BODIES)
def test_text_with_a_record_is_a_robots_txt(before: bytes, after: bytes) -> None:
    """A PDF, and a file full of control characters, is binary, even if it has records."""
    body = before + b"\nDisallow: /a\n" + after
    is_pdf = before.translate(None, CONTROLS).startswith(b"%PDF-")
    assert is_pdf or form_of(body) is None or len(body.translate(None, CONTROLS)) < len(body)
    assert is_pdf or form_of(before.translate(None, CONTROLS) + b"\nDisallow: /a\n") is None
    assert isinstance(form_of(before), str | None)
