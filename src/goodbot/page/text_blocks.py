"""Decodes a document in pieces of bytes to blocks of text, by its stated or detected encoding. It keeps only one block
in memory."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from goodbot.page.encoding import decode_text, encoding_of

BLOCK_BYTES: Final = 65_536

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,20}=\s{0,20}["']([\w.:+-]{1,40})""")
_SHIFTING = ("iso-2022-jp",)
"""Encodings that use ASCII bytes for all characters."""


def text_blocks(pieces: Iterable[bytes], content_type: str | None = None) -> Iterator[str]:
    """Yields the text in blocks that end after a line or a tag if possible. Never raises; bad bytes become U+FFFD.

    Byte order mark, `charset` of `content_type` and XML declaration count as in `decode_text`, which examines the first
    block that is not ASCII.
    """
    blocks = blocks_of(pieces)
    first = next(blocks, b"")
    wide = _wide(first)
    if wide is not None:
        yield from codecs.iterdecode(chain([first], blocks), wide, errors="replace")
        return
    label = _DECLARED.match(first.removeprefix(codecs.BOM_UTF8).lstrip())
    stated = f"{content_type or ''};charset={label[1].decode()}" if label else content_type
    name = encoding_of(label[1].decode()) if label else None
    if name not in _SHIFTING:
        name = None
    for block in chain([first], blocks):
        if name is None and not block.isascii():
            text, name = decode_text(block, stated, html=False)
            yield text
        else:
            yield _decoded(block, name)


def blocks_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields blocks of at least `BLOCK_BYTES`, except the last, cut after a line end or a `>`. No multibyte character
    of an encoding that extends ASCII contains these bytes."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= BLOCK_BYTES:
            end = max(held.rfind(b"\n"), held.rfind(b">")) + 1 or len(held)
            yield bytes(held[:end])
            del held[:end]
    if held:
        yield bytes(held)


def _wide(first: bytes) -> str | None:
    """Detects UTF-16 by its byte order mark, or by the NUL next to the first `<`."""
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if first.startswith(b"<\0"):
        return "utf-16-le"
    return "utf-16-be" if first.startswith(b"\0<") else None


def _decoded(block: bytes, name: str | None) -> str:
    if name in (None, "utf-8"):
        return block.decode("utf-8", "replace")
    return block.decode(f"whatwg-{name}", "replace")
