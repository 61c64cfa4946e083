"""Bytes → text, by the WHATWG encoding sniffing, with a second look at labels that are wrong.

Labels and decoders are turbohtml's, which follow the WHATWG Encoding standard where Python's differ (iso-8859-1 is
windows-1252, gb2312 is GBK). Labels of Python codecs that are no encodings (rot13, hex, idna) are unknown there.
"""

import re
from functools import lru_cache
from typing import Final

import turbohtml
from turbohtml.detect import Detection, detect

PRESCAN_BYTES = 2048
"""How far META is looked for. The standard says 1024; real pages put scripts before it."""

_SAMPLE_BYTES = 8192
_SAMPLED_BYTES = 262144

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

_LABEL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*+=\s*+["']?\s*+([^\s"';,>/]+)""", re.IGNORECASE)
"""Possessive: a header of blanks would else be gone through once for each of them."""

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_NOT_ASCII = re.compile(rb"[\x80-\xff][^<>]*")
_ASCII = bytes(range(128))
_UKRAINIAN = re.compile(rb"[\xa4\xa6\xa7\xad\xae\xb4\xb6\xb7\xbd\xbe]")


def decode_text(body: bytes, content_type: str | None = None, *, html: bool = True) -> tuple[str, str]:
    """The text, and the WHATWG name in lower case of the encoding it was in. Never raises; bad bytes become U+FFFD.

    In this order: byte order mark, `charset` of `content_type`, META in the first `PRESCAN_BYTES` if `html`, UTF-8 if
    it is valid or nearly so, what the bytes look like, windows-1252.
    """
    # Deviation (WHATWG HTML §13.2.3.2): a label does not count against the bytes. What is valid UTF-8 beyond ASCII is
    # UTF-8 under any other label but UTF-16; what is called UTF-8 and mostly is not is looked at again.
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    declared = _from_header(content_type, body) or (_from_meta(body) if html else None)
    if body.isascii():
        return _decoded(body, declared or "utf-8")
    if declared not in (None, "utf-8") and (declared in ("utf-16le", "utf-16be") or not _is_utf8(body)):
        return _decoded(body, declared or "utf-8")
    if _is_mostly_utf8(body, declared):
        return body.decode("utf-8", "replace"), "utf-8"
    return _decoded(body, _looks_like(body))


def charset_of(content_type: str | None) -> str | None:
    """The WHATWG name of the `charset` parameter, in lower case; None if there is none or it is unknown."""
    found = _CHARSET.search(content_type or "")
    return encoding_of(found[1]) if found else None


LABEL_MOST: Final = 64
"""Octets of a label; the longest there is has 19."""


def encoding_of(label: str) -> str | None:
    """The WHATWG name of a label, in lower case; None if it is unknown or decodes to nothing (iso-2022-kr)."""
    return _encoding_of(label) if len(label) <= LABEL_MOST else None


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
        return None  # text of any length has line ends or blanks, whose upper half is 0
    return name


def _from_meta(body: bytes) -> str | None:
    """WHATWG HTML §13.2.3.2, "prescan": a META that can be read as ASCII is not UTF-16, whatever it says."""
    for tag in _META.findall(_COMMENT.sub(b"", body[:PRESCAN_BYTES])):
        name = charset_of(tag.decode("latin-1"))
        if name in ("utf-16le", "utf-16be"):
            return "utf-8"
        if name:
            return "windows-1252" if name == "x-user-defined" else name
    return None


def _is_utf8(body: bytes) -> bool:
    """Whether all is UTF-8, but for a character cut off at the end."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and not body[: error.start].isascii()
    return True


def _is_mostly_utf8(body: bytes, declared: str | None) -> bool:
    """Whether of the bytes beyond ASCII at most one in ten is wrong; one in three if they are declared UTF-8."""
    if _is_utf8(body):
        return True
    beyond_ascii = len(body.translate(None, _ASCII))
    wrong = body.decode("utf-8", "replace").count("\ufffd")
    return wrong * (3 if declared == "utf-8" else 10) <= beyond_ascii


def _looks_like(body: bytes) -> str:
    """By the frequencies of letters, in a sample without markup."""
    sample = bytearray()
    for run in _NOT_ASCII.finditer(body, 0, _SAMPLED_BYTES):
        sample += run[0][:_SAMPLE_BYTES] + b" "
        if len(sample) >= _SAMPLE_BYTES:
            break
    name = (detect(bytes(sample[:_SAMPLE_BYTES]), _CONTENT).encoding or "windows-1252").lower()
    if name == "koi8-u" and not _UKRAINIAN.search(sample):
        return "koi8-r"  # the same letters; the detector has one model for both
    return name


_CONTENT = Detection(excluded=frozenset({"UTF-8", "UTF-16LE", "UTF-16BE", "replacement", "x-user-defined"}))


def _decoded(body: bytes, name: str) -> tuple[str, str]:
    if name in ("utf-8", "utf-16le", "utf-16be"):
        return body.decode(name, "replace"), name
    return body.decode(f"whatwg-{name}", "replace"), name
