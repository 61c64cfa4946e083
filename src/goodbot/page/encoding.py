"""Decodes bytes to text by the WHATWG encoding sniffing, and corrects wrong labels.

Labels and decoders are turbohtml's, which follow the WHATWG Encoding standard where Python differs (iso-8859-1 is
windows-1252, gb2312 is GBK). It does not know Python codecs that are not encodings (rot13, hex, idna).
"""

import re
from functools import lru_cache
from typing import Final

import turbohtml
from turbohtml.detect import Detection, detect

PRESCAN_BYTES = 2048
"""How far it searches for META. The standard says 1024; real pages put scripts before it."""

_SAMPLE_BYTES = 8192
_SAMPLED_BYTES = 262144

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

_LABEL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*+=\s*+["']?\s*+([^\s"';,>/]+)""", re.IGNORECASE)
"""The quantifiers are possessive: a header of spaces would otherwise be scanned once for each space."""

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_NOT_ASCII = re.compile(rb"[\x80-\xff][^<>]*")
_ASCII = bytes(range(128))
_UKRAINIAN = re.compile(rb"[\xa4\xa6\xa7\xad\xae\xb4\xb6\xb7\xbd\xbe]")


def decode_text(body: bytes, content_type: str | None = None, *, html: bool = True) -> tuple[str, str]:
    """Returns the text, and the lower-case WHATWG name of its encoding. Never raises; bad bytes become U+FFFD.

    It tries in this order: byte order mark, `charset` of `content_type`, META in the first `PRESCAN_BYTES` if `html`,
    UTF-8 if the bytes are valid or nearly so, the encoding the bytes look like, windows-1252.
    """
    # Deviation (WHATWG HTML §13.2.3.2): the bytes overrule a label. Valid UTF-8 beyond ASCII is UTF-8 under any label
    # but UTF-16; text that is labelled UTF-8 and mostly is not valid is examined again.
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    declared = _from_header(content_type, body) or (_from_meta(body) if html else None)
    if body.isascii():
        return _decoded(body, declared or "utf-8")
    if declared in ("utf-16le", "utf-16be"):
        return _decoded(body, declared)
    if (text := _from_utf8(body)) is not None:
        return text, "utf-8"
    if declared not in (None, "utf-8"):
        return _decoded(body, declared)
    if (text := _from_damaged_utf8(body, declared)) is not None:
        return text, "utf-8"
    return _decoded(body, _looks_like(body))


def charset_of(content_type: str | None) -> str | None:
    """Returns the lower-case WHATWG name of the `charset` parameter, or None if it is missing or unknown."""
    found = _CHARSET.search(content_type or "")
    return encoding_of(found[1]) if found else None


MAX_LABEL_CHARS: Final = 64
"""The limit for a label; the longest known one has 19 characters."""


def encoding_of(label: str) -> str | None:
    """Returns the lower-case WHATWG name of a label, or None if it is unknown or decodes to nothing (iso-2022-kr)."""
    return _encoding_of(label) if len(label) <= MAX_LABEL_CHARS else None


@lru_cache(maxsize=256)
def _encoding_of(label: str) -> str | None:
    if not _LABEL.fullmatch(label):
        return None
    try:
        name = turbohtml.parse(b"", encoding=label).encoding
    except LookupError:
        return None
    return None if name is None or name == "replacement" else name.lower()


def _from_header(content_type: str | None, body: bytes) -> str | None:
    name = charset_of(content_type)
    if name in ("utf-16le", "utf-16be") and b"\0" not in body[:PRESCAN_BYTES]:
        return None  # text of any length has line ends or spaces, whose upper byte is 0
    return name


def _from_meta(body: bytes) -> str | None:
    """Finds the charset of META (WHATWG HTML §13.2.3.2, "prescan"). A META that is readable as ASCII is not UTF-16,
    whatever it says."""
    for tag in _META.findall(_COMMENT.sub(b"", body[:PRESCAN_BYTES])):
        name = charset_of(tag.decode("latin-1"))
        if name in ("utf-16le", "utf-16be"):
            return "utf-8"
        if name:
            return "windows-1252" if name == "x-user-defined" else name
    return None


def _from_utf8(body: bytes) -> str | None:
    """Returns the text if the body is valid UTF-8, except that its last character may be cut off; else None."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data" and not body[: error.start].isascii()
        return body.decode("utf-8", "replace") if is_cut else None


def _from_damaged_utf8(body: bytes, declared: str | None) -> str | None:
    """Returns the text if at most one in ten bytes beyond ASCII is wrong, or one in three if the text is declared as
    UTF-8; else None."""
    beyond_ascii = len(body.translate(None, _ASCII))
    text = body.decode("utf-8", "replace")
    return text if text.count("\ufffd") * (3 if declared == "utf-8" else 10) <= beyond_ascii else None


def _looks_like(body: bytes) -> str:
    """Detects the encoding by letter frequencies, in a sample without markup."""
    sample = bytearray()
    for run in _NOT_ASCII.finditer(body, 0, _SAMPLED_BYTES):
        sample += run[0][:_SAMPLE_BYTES] + b" "
        if len(sample) >= _SAMPLE_BYTES:
            break
    name = (detect(bytes(sample[:_SAMPLE_BYTES]), _CONTENT).encoding or "windows-1252").lower()
    if name == "koi8-u" and not _UKRAINIAN.search(sample):
        return "koi8-r"  # the detector has one model for both
    return name


_CONTENT = Detection(excluded=frozenset({"UTF-8", "UTF-16LE", "UTF-16BE", "replacement", "x-user-defined"}))


def _decoded(body: bytes, name: str) -> tuple[str, str]:
    if name in ("utf-8", "utf-16le", "utf-16be"):
        return body.decode(name, "replace"), name
    return body.decode(f"whatwg-{name}", "replace"), name
