"""What a file is by its first octets: text, UTF-16, a Web page, or something that is not a robots.txt."""

import re
from typing import Final

from goodbot.check.written import FIELDS, MISSPELT
from goodbot.exclusion.access import LIMIT_BYTES

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+<(?:!doctype\s+html|html|head|body|title|meta|script|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)

_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_LOOK_BYTES: Final = 4096
_WIDE_SHARE: Final = 0.75
"""The share of units that are ASCII in a normal file; a few comments may not be."""

_FIRST_OCTETS: Final = (
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
    (b"wOF", "a font (WOFF)"),
)
"""How files of a format begin, by the definition of each."""

_RECORD: Final = re.compile(
    rb"(?:\A|[\r\n])(?:\xef\xbb\xbf)?[ \t]*+(?:%b)[ \t]*+:"
    % b"|".join(map(re.escape, map(str.encode, (*FIELDS, *MISSPELT)))),
    re.IGNORECASE,
)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE: Final = 0.05
"""Of the octets of compressed data a tenth are such characters; of a text none, or a few."""
_HEAD_BYTES: Final = 65_536
_JSON: Final = re.compile(rb"\s*+(?:\{\s*+[\"}]|\[\s*+[\[\]{\"\d-])")
_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<\?xml\s", re.IGNORECASE)


def is_html(body: bytes) -> bool:
    """Whether it begins as a Web page does."""
    return _HTML.match(body) is not None


def wide_encoding(body: bytes) -> str | None:
    """UTF-32 or UTF-16, by its byte order mark, or by the NUL octets that accompany ASCII letters; else None."""
    marked = next((name for mark, name in _WIDE if body.startswith(mark)), None)
    head = body[:_LOOK_BYTES]
    if marked is not None or len(head) < 8 or b"\0" not in head:
        return marked
    for name, octets in (("UTF-32", 4), ("UTF-16", 2)):
        units = [head[at : at + octets] for at in range(0, len(head) - octets + 1, octets)]
        for letter in (0, octets - 1):
            plain = sum(bool(unit[letter]) and unit.count(0) == octets - 1 for unit in units)
            if plain > _WIDE_SHARE * len(units):
                return name
    return None


def is_garbled(body: bytes) -> bool:
    """Whether it is UTF-16 or UTF-32 without a byte order mark: then no word of it can be read."""
    return wide_encoding(body) is not None and not body.startswith(tuple(mark for mark, _ in _WIDE))


def form_of(body: bytes) -> str | None:
    """Names the format of a file that cannot be a robots.txt, with its article: `an image (PNG)`, `an HTML page`,
    `binary data`. None for text (including UTF-16) and for any file with a known field in its first 500 KiB. Linear;
    never raises."""
    if _RECORD.search(body, 0, LIMIT_BYTES) or wide_encoding(body) is not None:
        return None
    known = next((form for octets, form in _FIRST_OCTETS if body.startswith(octets)), None)
    head = body[:_HEAD_BYTES]
    if known is not None:
        return known if _is_binary(head) or known.startswith("a PDF") else None
    if is_html(body):
        return "an HTML page"
    if _XML.match(head):
        return "an XML document"
    if _JSON.match(head) and body.rstrip()[-1:] in b"}]":
        return "JSON"
    return "binary data" if _is_binary(head) else None


def _is_binary(head: bytes) -> bool:
    return b"\0" in head or len(_CONTROL.findall(head)) > _CONTROL_SHARE * len(head)
