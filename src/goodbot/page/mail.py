"""Finds the URLs in mail and news archives, message by message, each up to a limit.

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
"""The limit for one message; no text follows an attachment that long."""

MAX_PARTS: Final = 100
"""The limit for the parts of one message; one with more is searched without decoding its parts."""

LINE_BYTES: Final = 65_536
"""The limit for a line of an archive; a longer one counts as several."""

_SEPARATORS = (b"From ", b"#! rnews ")
_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:[ \t]?")
_MAIL_FIELDS = frozenset({b"from", b"to", b"subject", b"date", b"message-id", b"received", b"return-path", b"path"})
_MIN_MAIL_FIELDS = 2
_NESTING = re.compile(rb"\n--|content-type", re.IGNORECASE)

_URL = re.compile(r"""https?://[^\s<>"'`\\^{}|\x00-\x20\x7f]++""", re.IGNORECASE)
_TRAILING = ".,;:!?*_~)]"
_BRACKETS = {")": "(", "]": "["}

MailUrls = Iterator[Url | None]
"""The URLs found, and None for each reference that cannot be fetched."""


def looks_like_mail(beginning: bytes) -> bool:
    """Whether a file begins like an archive, or like a message with two of the fields that every message has."""
    if beginning.startswith(_SEPARATORS):
        return True
    head = re.split(rb"\r?\n\r?\n", beginning[:LINE_BYTES], maxsplit=1)[0]
    lines = head.splitlines()
    if not lines or not _FIELD.match(lines[0]):
        return False
    names = {line.partition(b":")[0].lower() for line in lines}
    return len(names & _MAIL_FIELDS) >= _MIN_MAIL_FIELDS


def read_mail(readline: Callable[[int], bytes]) -> MailUrls:
    """Yields the URLs in the text and HTML parts of every message. Never raises; memory does not grow with the archive.

    `readline` returns at most the given number of bytes of the next line, and nothing at the end.
    """
    for message in split_messages(readline):
        yield from read_message(message)


def split_messages(readline: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yields each message, at most `MESSAGE_BYTES` of it. A message begins after an empty line."""
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
    """Yields the URLs of one message. Never raises."""
    # The standard library's parser tests each line once for every enclosing part, and recurses for each part: a message
    # of nothing but part beginnings would take quadratic time.
    if sum(1 for _ in _NESTING.finditer(message)) > 2 * MAX_PARTS:
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
    """Yields the URLs in a text, without a full stop or a bracket that follows one."""
    for found in _URL.finditer(text):
        yield parse_url(_without_tail(found[0])) if len(found[0]) <= MAX_URL_CHARS else None


def in_html(html: str) -> MailUrls:
    """Yields the links of a page; relative ones are resolved if the page has a base."""
    page = read_html(html, text=False)
    base = parse_url(page.base) if page.base else None
    for link in page.links:
        if link.rel != ("refresh",):
            yield resolve(base, link.href) if base is not None else parse_url(link.href)


def _without_tail(text: str) -> str:
    """Removes punctuation from the end. It counts brackets only once, because the tail may be as long as the URL."""
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
