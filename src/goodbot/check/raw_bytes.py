"""R1: checks the bytes of a file: its encoding, line endings and invisible characters."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from goodbot.check.file_kind import wide_encoding
from goodbot.check.findings import Edit, Finding, Kind
from goodbot.check.subject import Subject
from goodbot.exclusion.robotstxt.lines import GOOGLE_LINE_BYTES

MAX_EACH: Final = 100
"""The most findings of one kind in one file: a file in the wrong encoding has one on every line."""

_RULES: Final = b"User-agent: *\nDisallow: /private/\n"
_REWRITE: Final = Edit(1, 0, 0, "")
"""An edit that changes no line: the whole file is written without a byte order mark or with one line ending."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ENDS = re.compile(rb"\r\n|\r|\n")
_ODD: Final = {
    "\u00a0": "a no-break space",
    "\u00ad": "a soft hyphen",
    "\u115f": "a Hangul filler",
    "\u1160": "a Hangul filler",
    "\u180e": "a Mongolian vowel separator",
    **{chr(code): "a typographic space" for code in (*range(0x2000, 0x2007), *range(0x2008, 0x200B), 0x205F)},
    "\u2007": "a figure space",
    "\u200b": "a zero-width space",
    "\u200c": "a zero-width non-joiner",
    "\u200d": "a zero-width joiner",
    "\u200e": "a left-to-right mark",
    "\u200f": "a right-to-left mark",
    "\u2010": "a typographic hyphen",
    "\u2011": "a no-break hyphen",
    "\u2012": "a figure dash",
    "\u2013": "an en dash",
    "\u2014": "an em dash",
    "\u2018": "a typographic quote",
    "\u2019": "a typographic quote",
    "\u201c": "a typographic quote",
    "\u201d": "a typographic quote",
    "\u2026": "an ellipsis",
    "\u2028": "a line separator",
    "\u2029": "a paragraph separator",
    **{
        chr(code): "a character that changes the writing direction"
        for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
    "\u202f": "a narrow no-break space",
    "\u2060": "a word joiner",
    "\u3000": "an ideographic space",
    "\u3164": "a Hangul filler",
    "\ufeff": "a byte order mark in the middle",
    "\uff0f": "a full-width slash",
    "\uff1a": "a full-width colon",
    "\uff0a": "a full-width asterisk",
}
_ODD_CHARACTER = re.compile(f"(?!(?<=[^\\W\\da-zA-Z_])[\u200c\u200d][^\\W\\da-zA-Z_])[{''.join(_ODD)}]")
"""Does not match joiners between letters beyond ASCII, which Persian and Hindi need."""

MARK = Kind(
    "R101",
    "byte order mark",
    "info",
    "the file begins with a byte order mark (the bytes EF BB BF)",
    "robots that do not skip it: they miss the first line",
    "save the file as UTF-8 without a byte order mark",
    "RFC 9309 2.2; Google's parser skips it",
    Subject(b"\xef\xbb\xbf" + _RULES),
    Subject(_RULES),
)
WIDE = Kind(
    "R102",
    "UTF-16 or UTF-32",
    "error",
    "the file is in {encoding}, but robots expect UTF-8, so they find no rules in it",
    "every robot that follows RFC 9309; a few recognize the byte order mark",
    "save the file as UTF-8 without a byte order mark: its rules then apply",
    "RFC 9309 2.2",
    Subject(b"\xff\xfe" + _RULES.decode().encode("utf-16-le")),
    Subject(_RULES),
)
CONTROL = Kind(
    "R103",
    "NUL or control character",
    "warning",
    "this line contains a control character ({character}), which robots treat differently",
    "every robot: Google's end the line at NUL, others look for the character in the URL, which never contains it",
    "remove the character: robots then read the line without it",
    "RFC 9309 2.2 (control characters are in no part of the grammar)",
    Subject(b"User-agent: *\nDisallow: /a\x00b\n"),
    Subject(b"User-agent: *\nDisallow:\t/a\n"),
)
NOT_UTF8 = Kind(
    "R104",
    "not UTF-8",
    "warning",
    "this line is not valid UTF-8 (byte {byte}): robots disagree on what it matches",
    "every robot: in URLs, letters beyond ASCII are percent-encoded UTF-8, which this byte does not match",
    "save the file as UTF-8, or percent-encode the letter as UTF-8 (`é` is `%C3%A9`): the rule then matches it",
    "RFC 9309 2.2, 2.2.2",
    Subject(b"User-agent: *\nDisallow: /caf\xe9\n"),
    Subject("User-agent: *\nDisallow: /café\n".encode()),
)
ENDS = Kind(
    "R105",
    "CR only, or mixed line endings",
    "info",
    "the lines end in {how}",
    "robots that know only one line ending: they read several lines as one",
    "end every line with LF, or every line with CR LF",
    "RFC 9309 2.2 (EOL); A Standard for Robot Exclusion, 1994",
    Subject(_RULES.replace(b"\n", b"\r")),
    Subject(_RULES.replace(b"\n", b"\r\n")),
)
ODD_CHARACTER = Kind(
    "R106",
    "invisible or typographic character",
    "warning",
    "this line contains {character} ({code}), which robots read as part of the text",
    "every robot: the character makes the word or path a different one",
    "retype the line in a plain text editor: robots then read what you see",
    "RFC 9309 2.2",
    Subject("User-agent: *\nDisallow: /private\u200b/\n".encode()),
    Subject("User-agent: * # «robots» – all of them\nDisallow: /café\n".encode()),
)
LONG_LINE = Kind(
    "R107",
    "very long line",
    "warning",
    "the line is {bytes} bytes long, but Google reads only the first 16,663",
    "Google's robots; others have undocumented limits",
    "write several rules, or a shorter pattern with `*`, which matches more URLs",
    "Google's robots.txt parser (2,083 × 8 bytes)",
    Subject(b"User-agent: *\nDisallow: /" + b"a" * GOOGLE_LINE_BYTES + b"\n"),
    Subject(b"User-agent: *\nDisallow: /" + b"a" * 2000 + b"\n"),
)

FOREIGN = Kind(
    "R108",
    "not a robots.txt",
    "error",
    "this is {form}, not a robots.txt: {found}",
    "every robot",
    "replace it with a robots.txt, or let the server answer 404 if there is none",
    "RFC 9309 2.2, 2.3",
    Subject(b"\x7fELF\x02\x01\x01\x00"),
    Subject(b"User-agent: *\nDisallow: /\x7fELF\x02\n"),
)

KINDS = (MARK, WIDE, CONTROL, NOT_UTF8, ENDS, ODD_CHARACTER, LONG_LINE, FOREIGN)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about the bytes."""
    if subject.form is not None and not subject.is_html:
        yield FOREIGN.at(form=subject.form, found=subject.found_in_it)
        return
    wide = wide_encoding(subject.body)
    if wide is not None:
        yield WIDE.at(encoding=wide)
        return
    if subject.body.startswith(b"\xef\xbb\xbf"):
        yield MARK.at(edit=_REWRITE)
    yield from _ends(subject.body)
    yield from islice(_not_utf8(subject), MAX_EACH)
    yield from islice(_characters(subject), MAX_EACH)
    yield from islice(_long_lines(subject), MAX_EACH)


def _ends(body: bytes) -> Iterator[Finding]:
    kinds = {end.decode() for end in {match.group() for match in _ENDS.finditer(body)}}
    if kinds == {"\r"} and body.count(b"\r") > 1:
        yield ENDS.at(how="CR alone, as on old Macintoshes", edit=_REWRITE)
    elif len(kinds) > 1:
        names = {"\r": "CR", "\n": "LF", "\r\n": "CR LF"}
        yield ENDS.at(how=f"a mix of {' and '.join(sorted(names[end] for end in kinds))}", edit=_REWRITE)


def _not_utf8(subject: Subject) -> Iterator[Finding]:
    for number, (byte, column) in subject.not_utf8.items():
        yield NOT_UTF8.at(number, column, column + 1, byte=f"{byte:02X}")


def _characters(subject: Subject) -> Iterator[Finding]:
    """Finds the first control character and the first odd character of each line, except in comments."""
    for line in subject.lines:
        content = line.text if line.comment_at < 0 else line.text[: line.comment_at]
        if match := _CONTROL.search(content):
            at = match.start() + 1
            yield CONTROL.at(line.number, at, at + 1, character=f"U+{ord(match.group()):04X}")
        if not content.isascii() and (match := _ODD_CHARACTER.search(content)):
            at, odd = match.start() + 1, match.group()
            yield ODD_CHARACTER.at(line.number, at, at + 1, character=_ODD[odd], code=f"U+{ord(odd):04X}")


def _long_lines(subject: Subject) -> Iterator[Finding]:
    for line in subject.lines:
        if line.is_record and len(line.text) > GOOGLE_LINE_BYTES // 4:
            size = len(line.text.encode("utf-8", "replace"))
            if size > GOOGLE_LINE_BYTES:
                yield LONG_LINE.at(line.number, 1, len(line.text) + 1, bytes=f"{size:,}")
