"""Recognizes what a file is: a robots.txt, a Web page, UTF-16, or something else."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Final

from goodbot.check.source_lines import FIELDS, MISSPELT
from goodbot.exclusion.access.access import LIMIT_BYTES
from goodbot.exclusion.robotstxt.lines import decode, split_lines

HTML: Final = "an HTML page"
"""What `form_of` returns for a Web page without any record."""

MIN_SIMILARITY: Final = 0.75
"""How similar a misspelling must be to its field."""

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+<(?:!doctype\s+html|html|head|body|title|meta|script|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_TAG: Final = re.compile(
    rb"<(?:!doctype|/?(?:html|head|body|title|meta|div|span|p|br|hr|a|img|h[1-6]|table|ul|ol|pre|center|font|b))[\s/>]",
    re.IGNORECASE,
)
_TAG_WITHIN_BYTES: Final = 1_000
"""A Web page without a head has an HTML tag within so many bytes."""

_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_LOOK_BYTES: Final = 4096
_WIDE_SHARE: Final = 0.75
"""The least share of ASCII characters in a UTF-16 or UTF-32 file; some comments may not be ASCII."""

_FIRST_BYTES: Final = (
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"\xfe\xed\xfa", "a program (Mach-O)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "a program (Java or Mach-O)"),
    (b"\x00asm", "a program (WebAssembly)"),
    (b"\x89PNG", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"GIF8", "an image (GIF)"),
    (b"RIFF", "an image, sound or film (RIFF)"),
    (b"\x00\x00\x01\x00", "an image (ICO)"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "an archive (ZIP)"),
    (b"\x1f\x8b", "an archive (gzip)"),
    (b"BZh", "an archive (bzip2)"),
    (b"\xfd7zXZ\x00", "an archive (xz)"),
    (b"\x28\xb5\x2f\xfd", "an archive (Zstandard)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7-Zip)"),
    (b"Rar!\x1a\x07", "an archive (RAR)"),
    (b"SQLite format 3\x00", "a database (SQLite)"),
    (b"\x37\x7f\x06\x82", "a database (SQLite's log)"),
    (b"\x37\x7f\x06\x83", "a database (SQLite's log)"),
    (b"wOF", "a font (WOFF)"),
)
"""The first bytes of files, as the definition of each format states them."""

_RECORD: Final = re.compile(
    rb"(?:\A|[\r\n])(?:\xef\xbb\xbf)?[ \t]*+(?:%b)[ \t]*+:"
    % b"|".join(map(re.escape, map(str.encode, (*FIELDS, *MISSPELT)))),
    re.IGNORECASE,
)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE: Final = 0.05
"""Above this share of control characters a file is binary: compressed data has a tenth, text has none or a few."""
_MAX_CONTROL_SHARE: Final = 0.3
"""Above this share a file is binary even if it has records and is UTF-8: programs and databases are full of NULs."""
_MAX_CONTROLS: Final = 32
"""A file with records and at most so many control characters is a robots.txt, however short it is."""
_HEAD_BYTES: Final = 65_536
_JSON: Final = re.compile(rb"\s*+(?:\{\s*+[\"}]|\[\s*+[\[\]{\"\d-])")
_OTHER_TEXT: Final = "plain text"
_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<\?xml\s", re.IGNORECASE)

_CORE: Final = ("user-agent", "disallow", "allow", "sitemap", "crawl-delay")
"""The fields whose misspellings identify a robots.txt; misspellings of other fields (`Hosts:`) are common words."""
_WORDS: Final = re.compile(r"[^A-Za-z]*+([A-Za-z][\w\-]*+)(?:[ \t]++([A-Za-z][\w\-]*+))?", re.ASCII)
_VALUE: Final = re.compile(r"[ \t=;,.]*+(?:[/*\d]|https?:)")
"""What must follow a field without a colon, because it could also be the first word of a sentence."""
_FIELD_AND_COLON: Final = re.compile(r"[A-Za-z][A-Za-z\-]*+[ \t]*+:", re.ASCII)
_MAX_LINES: Final = 200
_MAX_FIELD: Final = 40
_STRAY_CHARACTERS: Final = " \t\"'`*+-_;,./"
"""Characters that may surround a field by mistake."""


def is_html(body: bytes) -> bool:
    """Returns whether a file begins as a Web page does, in UTF-8, UTF-16 or UTF-32."""
    return _HTML.match(_as_ascii(body)) is not None


def _as_ascii(body: bytes) -> bytes:
    """Returns the body; for UTF-16 and UTF-32 only its beginning, in which only ASCII characters are reliable."""
    if wide_encoding(body) is None:
        return body
    return body[:_HEAD_BYTES].lstrip(b"\0\xff\xfe").replace(b"\0", b"")


def wide_encoding(body: bytes) -> str | None:
    """Returns UTF-32 or UTF-16, recognized by the byte order mark or by the NUL bytes in ASCII letters; else None."""
    marked = next((name for mark, name in _WIDE if body.startswith(mark)), None)
    head = body[:_LOOK_BYTES]
    if marked is not None or len(head) < 8 or b"\0" not in head:
        return marked
    for name, unit_bytes in (("UTF-32", 4), ("UTF-16", 2)):
        units = [head[at : at + unit_bytes] for at in range(0, len(head) - unit_bytes + 1, unit_bytes)]
        for letter in (0, unit_bytes - 1):
            plain = sum(bool(unit[letter]) and unit.count(0) == unit_bytes - 1 for unit in units)
            if plain > _WIDE_SHARE * len(units):
                return name
    return None


def is_garbled(body: bytes) -> bool:
    """Returns whether a file is UTF-16 or UTF-32 without a byte order mark, so that robots can read no word of it."""
    return wide_encoding(body) is not None and not body.startswith(tuple(mark for mark, _ in _WIDE))


def form_of(body: bytes) -> str | None:
    """Says what a file is that is not a robots.txt: `an image (PNG)`, `an HTML page`, `binary data`.

    Returns None for a file that may be a robots.txt: an empty one, comments alone, UTF-16, and any text with a known
    field in its first 500 KiB, misspelt or not. Linear; never raises.
    """
    head = body[:_HEAD_BYTES]
    known = next((form for start, form in _FIRST_BYTES if body.startswith(start)), None)
    if known is not None and (known.startswith("a PDF") or _is_binary(head)):
        return known
    if wide_encoding(body) is not None:
        return HTML if is_html(body) and not _RECORD.search(_as_ascii(body)) else None
    if _RECORD.search(body, 0, LIMIT_BYTES):
        return "binary data" if _is_never_text(head) else None
    if known is not None:
        return None if _may_be_rules(body) else _OTHER_TEXT
    return _form_of_no_records(body, head)


def _form_of_no_records(body: bytes, head: bytes) -> str | None:
    if is_html(body):
        return HTML
    if _XML.match(head):
        return "an XML document"
    if _JSON.match(head) and body.rstrip()[-1:] in b"}]":
        return "JSON"
    if _is_binary(head):
        return "binary data"
    if _may_be_rules(body):
        return None
    return HTML if _TAG.search(body, 0, _TAG_WITHIN_BYTES) else _OTHER_TEXT


def _is_binary(head: bytes) -> bool:
    return b"\0" in head or _control_share(head) > _CONTROL_SHARE


def _is_never_text(head: bytes) -> bool:
    """Returns whether there are so many control characters that the records must be accidental."""
    share = _control_share(head)
    if share * len(head) <= _MAX_CONTROLS:
        return False
    return share > _MAX_CONTROL_SHARE or (share > _CONTROL_SHARE and not _is_utf8(head))


def _control_share(head: bytes) -> float:
    return len(_CONTROL.findall(head)) / max(len(head), 1)


def _is_utf8(head: bytes) -> bool:
    try:
        head[:-3].decode()  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _may_be_rules(body: bytes) -> bool:
    """Returns whether a text without any record may be a robots.txt: it has only comments, one of its first lines is a
    misspelt record, or all of them have the form of records."""
    lines = list(islice(_content_lines(body), _MAX_LINES))
    return all(_FIELD_AND_COLON.match(line) for line in lines) or any(map(_is_misspelt, lines))


def _content_lines(body: bytes) -> Iterator[str]:
    """Yields the lines without comments and outer spaces, except empty ones."""
    for line in split_lines(decode(body[:LIMIT_BYTES])):
        if text := line.partition("#")[0].strip():
            yield text


def _is_misspelt(line: str) -> bool:
    """Returns whether a line begins with a field, or something similar, and continues as a record (`Disallow /a`)."""
    field, colon, _ = line.partition(":")
    if colon and _is_like_a_field(field, _CORE):
        return True
    found = _WORDS.match(line)
    if found is None:
        return False
    first, second = found[1].lower(), (found[2] or "").lower()
    if first in ("user-agent", "disallow") or f"{first}-{second}" in ("user-agent", "crawl-delay"):
        return True
    return _is_like_a_field(first, _CORE) and _VALUE.match(line, found.end(1)) is not None


def _is_like_a_field(word: str, fields: tuple[str, ...]) -> bool:
    return len(word) <= _MAX_FIELD and bool(
        get_close_matches(word.strip(_STRAY_CHARACTERS).lower(), fields, 1, MIN_SIMILARITY)
    )
