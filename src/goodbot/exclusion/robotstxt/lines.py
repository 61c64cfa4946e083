"""bytes → the lines that hold a record, as each family of dialects reads them. One walk, linear in the size.

A line ends at CR, LF or CRLF and at nothing else (RFC 9309 §2.2: other signs Python takes for line ends may stand in a
path). Comments are cut off; lines that hold no record are passed over.
"""

import re
from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.verdict import Record

BLANK_LINE: Final = ""
"""The field of what `read_with_blank_lines` gives for an empty line; no record has it."""

GOOGLE_LINE_BYTES: Final = 16_663
"""How much of a line Google's parser keeps (2,083 × 8, less one for its end)."""

_BOM = "\ufeff"
_BOM_BYTES = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")

_USUAL_FIELDS = {
    spelling: field
    for field in ("user-agent", "disallow", "allow", "sitemap", "crawl-delay")
    for spelling in (field, field.capitalize(), field.title(), field.upper())
}
"""Without a search for blanks and capitals."""

_OTHER_ENDS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""What Python takes for the end of a line, too."""

_ASCII_BLANKS = " \t\n\v\f\r"
_TWO_WORDS = re.compile(r"([^ \t]+)[ \t]+([^ \t]+)")
_GOOGLE_FIELDS = (
    ("user-agent", ("user-agent", "useragent", "user agent")),
    ("allow", ("allow",)),
    ("disallow", ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")),
    ("sitemap", ("sitemap", "site-map")),
)


def decode(body: bytes | str) -> str:
    """The text of a robots.txt: UTF-8 (RFC 9309 §2.2), its byte order mark skipped; UTF-16 if it begins with
    that one's.

    Octets that are no UTF-8 come out percent-encoded, as they are compared, so that the text can always be
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
    return _utf8(body.removeprefix(_BOM_BYTES))


def _utf8(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return _NOT_UTF8.sub(lambda octet: f"%{ord(octet.group()) - 0xDC00:02X}", text)


def split_lines(text: str) -> list[str]:
    """Its lines; the last one may be missing if it is empty."""
    if "\r" in text:
        if not any(map(text.__contains__, _OTHER_ENDS)):
            return text.splitlines()  # takes half the time
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def read_records(body: bytes | str) -> list[Record]:
    """The lines `field: value`."""
    records: list[Record] = []
    known, append = _USUAL_FIELDS.get, records.append
    for number, line in enumerate(split_lines(decode(body)), 1):
        if "#" in line:
            line = line.partition("#")[0]  # noqa: PLW2901
        written, colon, value = line.partition(":")
        if colon and (field := known(written) or written.strip(" \t").lower()):
            append((number, field, value.strip(" \t")))
    return records


def read_with_blank_lines(body: bytes | str) -> Iterator[Record]:
    """The same, and the empty lines between them, which end a record in the dialects of the 1990s.

    A line that holds only a comment is not empty.
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
    """The lines `field: value` or `field value`, their fields as Google's parser knows them.

    A byte order mark is skipped, also a part of one; a line ends after 16,663 octets and at NUL; blanks are all
    those of ASCII; without a colon exactly two words are a record. A field is known by how it begins, eight
    misspellings with it.
    """
    text = _utf8(_long_lines_cut(_without_mark(_octets(body))))
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
    line = line.strip(_ASCII_BLANKS)
    field, colon, value = line.partition(":")
    if not colon:
        words = _TWO_WORDS.fullmatch(line)
        if words is None:
            return None
        field, value = words.groups()
    field = field.strip(_ASCII_BLANKS).lower()
    return (_google_field(field), value.strip(_ASCII_BLANKS)) if field else None


def _google_field(field: str) -> str:
    for known, beginnings in _GOOGLE_FIELDS:
        if field.startswith(beginnings):
            return known
    return field
