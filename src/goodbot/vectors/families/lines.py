"""How a file is cut into lines and records: line ends, spaces, comments, byte order marks, the case of fields."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from goodbot.vectors.case import ALL, HISTORIC, TODAY, Case, Kind, case, expect

_ENDS: Final = {"LF": "\n", "CR": "\r", "CRLF": "\r\n"}
_NO_ENDS: Final = ("\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
_SPACES: Final = (" ", "  ", "\t", " \t ", "\t\t", " " * 50)
_FIELDS: Final = ("User-agent", "Disallow", "Allow")

_FILE: Final = "User-agent: *\nDisallow: /x\nAllow: /x/y\n"
"""Closes /x except /x/y by RFC 9309."""


def line_cases() -> Iterator[Case]:
    """Yields all cases about lines."""
    yield from _line_ends()
    yield from _no_line_ends()
    yield from _spaces()
    yield from _cases_of_fields()
    yield from _comments()
    yield from _byte_order_marks()
    yield from _unreadable_lines()


def _asked(topic: str, text: str, note: str, kind: Kind = "must", dialects: tuple[str, ...] = TODAY) -> Iterator[Case]:
    """Asks a form of _FILE for a URL that it closes, and for two that it does not."""
    for path, allowed in (("/x", False), ("/x/y", True), ("/z", True)):
        yield case(topic, text, path, expect("lines", allowed, dialects, kind), note)


def _line_ends() -> Iterator[Case]:
    for names in product(_ENDS, repeat=2):
        first, second = (_ENDS[name] for name in names)
        for last in ("none", *_ENDS):
            text = f"User-agent: *{first}Disallow: /x{second}Allow: /x/y{_ENDS.get(last, '')}"
            note = f"lines that end with {', '.join(names)}, the last one with {last}"
            yield from _asked("line-end", text, note)
            closed = f"User-agent: *{first}Disallow: /x{second}Disallow: /y{_ENDS.get(last, '')}"
            for path in ("/x", "/y"):
                yield case("line-end", closed, path, expect("lines", False, ALL), note)
    for name, end in _ENDS.items():
        yield from _asked("line-end", _FILE.replace("\n", end * 3), f"blank lines that end with {name}")


def _no_line_ends() -> Iterator[Case]:
    """Characters that some libraries take for line ends."""
    for character in _NO_ENDS:
        kind: Kind = "must" if character >= "\x85" else "reading"
        text = f"User-agent: *\nDisallow: /y{character}Disallow: /x\n"
        note = f"U+{ord(character):04X} ends no line"
        yield case("no-line-end", text, "/x", expect("lines", True, TODAY, kind), note)
        text = f"User-agent: *\n# a comment{character}Disallow: /x\n"
        yield case("no-line-end", text, "/x", expect("lines", True, (*TODAY, *HISTORIC), kind), note + " in a comment")


def _spaces() -> Iterator[Case]:
    places = ("{}{field}:{value}", "{field}{}:{value}", "{field}:{}{value}", "{field}: {value}{}")
    where = ("before the field", "before the colon", "after the colon", "at the end")
    values = dict(zip(_FIELDS, ("*", "/x", "/x/y"), strict=True))
    for field, (place, words), space in product(_FIELDS, zip(places, where, strict=True), _SPACES):
        lines = [
            place.format(space, field=name, value=value) if name == field else f"{name}: {value}"
            for name, value in values.items()
        ]
        yield from _asked("space", "\n".join((*lines, "")), f"{space!r} {words} of {field}")
    for space in ("\u00a0", "\u3000", "\u200b"):
        text = f"User-agent: *\nDisallow:{space}/x\nDisallow: /y\n"
        expected = expect("lines", True, TODAY, "choice")
        yield case("space", text, "/x", expected, f"U+{ord(space):04X} is no space")


def _cases_of_fields() -> Iterator[Case]:
    for change in (str.lower, str.upper, str.title, str.swapcase, _every_other):
        for field in _FIELDS:
            text = _FILE.replace(f"{field}:", f"{change(field)}:")
            yield from _asked("field-case", text, f"{change(field)} as a field name")


def _every_other(text: str) -> str:
    return "".join(character.upper() if at % 2 else character.lower() for at, character in enumerate(text))


def _comments() -> Iterator[Case]:
    rows = (
        ("# first\nUser-agent: *\nDisallow: /x\nAllow: /x/y\n", "a comment at the beginning"),
        ("User-agent: * # all\nDisallow: /x # closed\nAllow: /x/y # open\n", "comments after values"),
        ("User-agent: *# all\nDisallow: /x# closed\nAllow: /x/y# open\n", "comments directly after values"),
        ("User-agent: *\n# Disallow: /z\nDisallow: /x\nAllow: /x/y\n", "a rule in a comment"),
        ("User-agent: *\nDisallow: /x\n#Allow: /x\nAllow: /x/y\n", "an Allow in a comment"),
        ("User-agent: *\nDisallow: /x\nAllow: /x/y\n# User-agent: examplebot\n# Disallow: /\n", "a group in a comment"),
        ("User-agent: *\nDisallow: /x #/y # /z\nAllow: /x/y ##\n", "several # on a line"),
        ("User-agent: *\n   # indented\n\t#\nDisallow: /x\nAllow: /x/y\n", "indented comments"),
        ("#\n##\n# User-agent: *\nUser-agent: *\nDisallow: /x\nAllow: /x/y\n#", "empty comments"),
        ("User-agent: *\nDisallow: /x\n# café ツ\nAllow: /x/y\n", "a comment beyond ASCII"),
        ("User-agent: *\nDisallow: /x\n# : : Allow: /\nAllow: /x/y\n", "colons in a comment"),
    )
    for text, note in rows:
        yield from _asked("comment", text, note)


def _byte_order_marks() -> Iterator[Case]:
    for text, note in (
        ("\ufeff" + _FILE, "a byte order mark before the first group"),
        ("\ufeff# comment\n" + _FILE, "a byte order mark before a comment"),
        ("\ufeff\n" + _FILE, "a byte order mark on a line of its own"),
        ("\ufeff" + _FILE.replace("\n", "\r\n"), "a byte order mark and CRLF"),
    ):
        yield from _asked("byte-order-mark", text, note, "choice")


def _unreadable_lines() -> Iterator[Case]:
    """RFC 9309 2.3.1.5: parsers try every line, and use those that they can parse. The text does not forbid to guess
    what a line like a rule means."""
    dialects: tuple[str, ...]
    kind: Kind
    lines = (
        *("<html>", "</body></html>", "hello", "hello world, this is text", ":", "::::", ": /x", "=", "{", "}", "//"),
        *("Disallow", "Disalow /z", "User-agent", "Dis allow: /z", "-Disallow: /z", "Disallow; /z", "Disallow= /z"),
        *("http://example.org/", "\x00\x01\x02", "\ufeff", "Allow /x", "NoIndex: /z", "xDisallow: /z"),
    )
    for line in lines:
        like_a_rule = any(word in line.lower() for word in ("allow", "alow", "agent"))
        dialects, kind = (("rfc9309",), "reading") if like_a_rule else (TODAY, "must")
        for where, text in (
            ("before the group", f"{line}\n{_FILE}"),
            ("between names and rules", _FILE.replace("Disallow", f"{line}\nDisallow")),
            ("between two rules", _FILE.replace("Allow", f"{line}\nAllow")),
            ("at the end", f"{_FILE}{line}\n"),
        ):
            note = f"{line!r} {where}"
            for path, allowed in (("/x", False), ("/x/y", True), ("/z", True)):
                yield case("unreadable", text, path, expect("errors", allowed, dialects, kind), note)
