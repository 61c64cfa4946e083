"""Mail and news archives → the URLs in their messages. Message by message; each is read up to a bound.

An archive is an mbox file (RFC 4155: a line `From ` begins a message), a news batch (`#! rnews`), or one message.
"""

import re
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.message import Message
from typing import Final

from goodbot.page.encoding import decode_text
from goodbot.page.html import read_html
from goodbot.url import MAX_URL_CHARS, Url, parse_url, resolve

MESSAGE_BYTES: Final = 1024 * 1024
"""Read of one message; an attachment that long has no text behind it."""

PARTS_MOST: Final = 100
"""Of one message; one with more is searched as it stands, undecoded."""

LINE_BYTES: Final = 65_536
"""Of a line, when an archive is read line by line; a longer one is several."""

_SEPARATORS = (b"From ", b"#! rnews ")
_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:[ \t]?")
_MAIL_FIELDS = frozenset({b"from", b"to", b"subject", b"date", b"message-id", b"received", b"return-path", b"path"})
_MAIL_FIELDS_LEAST = 2
_NESTING = re.compile(rb"\n--|content-type", re.IGNORECASE)

_URL = re.compile(r"""https?://[^\s<>"'`\\^{}|\x00-\x20\x7f]++""", re.IGNORECASE)
_TRAILING = ".,;:!?*_~)]"
_BRACKETS = {")": "(", "]": "["}

MailUrls = Iterator[Url | None]
"""URLs, and None for each reference that is none which can be fetched."""


def looks_like_mail(beginning: bytes) -> bool:
    """Whether a file begins as an archive, or as one message with two of the fields every message has."""
    if beginning.startswith(_SEPARATORS):
        return True
    head = re.split(rb"\r?\n\r?\n", beginning[:LINE_BYTES], maxsplit=1)[0]
    lines = head.splitlines()
    if not lines or not _FIELD.match(lines[0]):
        return False
    names = {line.partition(b":")[0].lower() for line in lines}
    return len(names & _MAIL_FIELDS) >= _MAIL_FIELDS_LEAST


def read_mail(readline: Callable[[int], bytes]) -> MailUrls:
    """The URLs in text and HTML parts of every message. Never raises; memory does not grow with the archive.

    `readline` gives at most so many bytes of the next line, empty at the end.
    """
    for message in split_messages(readline):
        yield from read_message(message)


def split_messages(readline: Callable[[int], bytes]) -> Iterator[bytes]:
    """Each message, at most `MESSAGE_BYTES` of it. One begins after an empty line."""
    held = bytearray()
    begins = ends_line = True
    while line := readline(LINE_BYTES):
        if begins and line.startswith(_SEPARATORS):
            if held:
                yield bytes(held)
            held.clear()
        elif len(held) < MESSAGE_BYTES:
            held += line[: MESSAGE_BYTES - len(held)]
        begins = ends_line and line in (b"\n", b"\r\n")
        ends_line = line.endswith(b"\n")
        begins = begins or (not held and line.startswith(b"#! rnews "))
    if held:
        yield bytes(held)


def read_message(message: bytes) -> MailUrls:
    """The URLs of one message. Never raises."""
    # The parser of the standard library asks every line of each part it is in, and calls itself for each: a message
    # made of nothing but beginnings of parts would cost the square of its length.
    if sum(1 for _ in _NESTING.finditer(message)) > 2 * PARTS_MOST:
        return in_text(decode_text(message, html=False)[0])
    return _in_parts(message_from_bytes(message))


def _in_parts(message: Message) -> MailUrls:
    for part in message.walk():
        if part.get_content_maintype() != "text":
            continue
        body = part.get_payload(decode=True)
        if not isinstance(body, bytes):
            continue
        is_html = part.get_content_subtype() == "html"
        text, _ = decode_text(body, str(part.get("content-type", "")), html=is_html)
        yield from in_html(text) if is_html else in_text(text)


def in_text(text: str) -> MailUrls:
    """The URLs that stand in a text; a full stop or a bracket behind one is not part of it."""
    for found in _URL.finditer(text):
        yield parse_url(_without_tail(found[0])) if len(found[0]) <= MAX_URL_CHARS else None


def in_html(html: str) -> MailUrls:
    """The links of a page; relative ones are resolved if the page states its base."""
    page = read_html(html, text=False)
    base = parse_url(page.base) if page.base else None
    for link in page.links:
        if link.rel != ("refresh",):
            yield resolve(base, link.href) if base is not None else parse_url(link.href)


def _without_tail(text: str) -> str:
    """Counts each kind of bracket once: the tail may be as long as the URL."""
    openings = {closing: text.count(opening) for closing, opening in _BRACKETS.items()}
    closings = {closing: text.count(closing) for closing in _BRACKETS}
    end = len(text)
    while end and (last := text[end - 1]) in _TRAILING:
        if last in closings:
            if openings[last] >= closings[last]:
                break
            closings[last] -= 1
        end -= 1
    return text[:end]
