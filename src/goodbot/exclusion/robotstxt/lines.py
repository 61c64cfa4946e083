"""Turns the bytes of a robots.txt into records, as each family of dialects reads lines. One pass, linear in the size.

A line ends at CR, LF or CRLF and nowhere else (RFC 9309 §2.2: a path may contain other characters that Python treats as
line ends). Comments are removed; lines without a record are skipped.
"""

import re
from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.verdict import Record

BLANK_LINE: Final = ""
"""The field that `read_with_blank_lines` gives to an empty line; no record has it."""

GOOGLE_LINE_BYTES: Final = 16_663
"""How many bytes of a line Google's parser keeps (2,083 × 8, less one for the end)."""

_BOM = "\ufeff"
_BOM_BYTES = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")

_LONE_CR = re.compile(rb"\r(?!\n)")
_COMMENT = re.compile(r"#[^\r\n]*")

_USUAL_FIELDS = {
    spelling: field
    for field in ("user-agent", "disallow", "allow", "sitemap", "crawl-delay")
    for spelling in (field, field.capitalize(), field.title(), field.upper())
}
"""Common spellings, so that most fields need not be stripped and lowered."""

_OTHER_ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters at which Python's `splitlines` also ends a line."""

_ASCII_SPACES = " \t\n\v\f\r"
_TWO_WORDS = re.compile(r"([^ \t]+)[ \t]+([^ \t]+)")
_GOOGLE_FIELDS = (
    ("user-agent", ("user-agent", "useragent", "user agent")),
    ("allow", ("allow",)),
    ("disallow", ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")),
    ("sitemap", ("sitemap", "site-map")),
)


def decode(body: bytes | str) -> str:
    """Returns the text of a robots.txt: UTF-8 (RFC 9309 §2.2), or UTF-16 if it begins with a byte order mark of that
    encoding. The mark is skipped.

    Octets that are not UTF-8 become percent-encoded, the form in which they are compared, so the text can always be
    shown.
    """
    if isinstance(body, str):
        try:
            body.encode()
        except UnicodeEncodeError:  # lone surrogates
            return decode(body.encode("utf-8", "surrogatepass"))
        return body.removeprefix(_BOM)
    if body.startswith(_UTF16_BOMS):
        return body.decode("utf-16", "replace")
    return decode_utf8(body.removeprefix(_BOM_BYTES))


def decode_utf8(body: bytes) -> str:
    """Decodes UTF-8; octets that are not UTF-8 become percent-encoded."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return _NOT_UTF8.sub(lambda octet: f"%{ord(octet.group()) - 0xDC00:02X}", text)


def split_lines(text: str) -> list[str]:
    """Returns the lines of a text; an empty last line may be missing."""
    if "\r" in text:
        if not any(map(text.__contains__, _OTHER_ENDS)):
            return text.splitlines()  # twice as fast
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def utf8_lines(body: bytes | str) -> bytes:
    """Returns the text of a robots.txt as UTF-8, in which LF is the only line end. Unlike `decode` it does not change
    octets that are not UTF-8."""
    if isinstance(body, str) or body.startswith(_UTF16_BOMS):
        body = decode(body).encode()
    else:
        body = body.removeprefix(_BOM_BYTES)
    return _LONE_CR.sub(b"\n", body).replace(b"\r", b"") if b"\r" in body else body


def read_records(body: bytes | str) -> list[Record]:
    """Returns the lines of the form `field: value`."""
    return records_of(decode(body))


def records_of(text: str, first: int = 1) -> list[Record]:
    """Returns the lines of the form `field: value` in `text`, a part of a robots.txt. Its first line has the number
    `first`."""
    if "#" in text:
        text = _COMMENT.sub(" ", text)  # a space, so that CR and LF around a comment stay two line ends
    known = _USUAL_FIELDS.get
    return [
        (number, field, value.strip(" \t"))
        for number, line in enumerate(split_lines(text), first)
        if line
        for written, colon, value in (line.partition(":"),)
        if colon and (field := known(written) or written.strip(" \t").lower())
    ]


def read_with_blank_lines(body: bytes | str) -> Iterator[Record]:
    """Yields the same lines and also the empty ones, which end a group in the dialects of the 1990s.

    A line with only a comment is not empty.
    """
    for number, line in enumerate(split_lines(decode(body)), 1):
        if not line or not line.strip(" \t"):
            yield number, BLANK_LINE, ""
            continue
        field, colon, value = line.partition("#")[0].partition(":")
        if colon and (field := field.strip(" \t").lower()):
            yield number, field, value.strip(" \t")


# ---- Google ---------------------------------------------------------------------------------------------------------


def read_as_google(body: bytes | str) -> Iterator[Record]:
    """Yields the lines of the form `field: value` or `field value`, with fields as Google's parser recognizes them.

    A byte order mark is skipped, even a part of one; a line ends after 16,663 octets and at NUL; all ASCII white space
    counts as space; without a colon, exactly two words are a record. A field is recognized by its beginning, also in
    eight misspellings.
    """
    text = decode_utf8(_long_lines_cut(_without_mark(_octets(body))))
    for number, line in enumerate(split_lines(text), 1):
        record = _google_record(line)
        if record is not None:
            yield number, *record


def _octets(body: bytes | str) -> bytes:
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body


def _without_mark(body: bytes) -> bytes:
    skipped = 0
    while skipped < len(_BOM_BYTES) and body[skipped : skipped + 1] == _BOM_BYTES[skipped : skipped + 1]:
        skipped += 1
    return body[skipped:]


def _long_lines_cut(body: bytes) -> bytes:
    if len(body) <= GOOGLE_LINE_BYTES:
        return body
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return b"\n".join([line[:GOOGLE_LINE_BYTES] for line in lines])


def _google_record(line: str) -> tuple[str, str] | None:
    if "\0" in line:
        line = line.partition("\0")[0]
    if "#" in line:
        line = line.partition("#")[0]
    line = line.strip(_ASCII_SPACES)
    field, colon, value = line.partition(":")
    if not colon:
        words = _TWO_WORDS.fullmatch(line)
        if words is None:
            return None
        field, value = words.groups()
    field = field.strip(_ASCII_SPACES).lower()
    return (_google_field(field), value.strip(_ASCII_SPACES)) if field else None


def _google_field(field: str) -> str:
    for known, beginnings in _GOOGLE_FIELDS:
        if field.startswith(beginnings):
            return known
    return field
