"""Parses dictionaries of RFC 9651 (Structured Field Values for HTTP): in one pass without backtracking, linear in the
text."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes


class Member(NamedTuple):
    """The value of one key. `kind` is `token`, `string`, `integer`, `decimal`, `boolean`, `date`, `bytes`,
    `display_string` or `inner_list`; `text` is the value as written, without its parameters."""

    kind: str
    text: str


class Parameterized(NamedTuple):
    """A value with its parameters, as pairs of key and value as written (`?1` if it has none), and the items of an
    inner list."""

    value: Member
    parameters: tuple[tuple[str, str], ...] = ()
    items: tuple["Parameterized", ...] = ()


_TRUE: Final = Member("boolean", "?1")

_KEY = re.compile(r"[a-z*][a-z0-9_\-.*]*+")
_PARAMETER = re.compile(rf"; *+({_KEY.pattern})(=)?")
_NEXT_MEMBER = re.compile(r"[ \t]*+(?:\Z|,[ \t]*+(?!\Z))")
_SPACES = re.compile(" *+")

# A number longer than these limits (§4.2.4) matches too short, and is rejected because no digit may follow a value.
_BARE_ITEM = re.compile(
    r"""(?P<decimal>-?[0-9]{1,12}\.[0-9]{1,3})
    |(?P<integer>-?[0-9]{1,15})
    |(?P<string>"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*+")
    |(?P<token>[A-Za-z*][A-Za-z0-9!\#$%&'*+\-.^_`|~:/]*+)
    |(?P<bytes>:[A-Za-z0-9+/]*+={0,2}:)
    |(?P<boolean>\?[01])
    |(?P<date>@-?[0-9]{1,15})
    |(?P<display_string>%"(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*+")""",
    re.VERBOSE,
)

_Parsed = tuple[Parameterized, int] | None
"""What was parsed, and where it ends; None: the text is invalid."""


def parse_dictionary(text: str) -> dict[str, Member] | None:
    """Returns the members by key without their parameters; see `parse_parameterized`."""
    members = parse_parameterized(text)
    return None if members is None else {key: member.value for key, member in members.items()}


def parse_parameterized(text: str) -> dict[str, Parameterized] | None:
    """Returns the members by key, of a repeated key the last one; None if the text is no dictionary. Never raises.

    Join several fields of one name with commas first (§4.2). Source: RFC 9651 §4.2.2.
    """
    text = text.strip(" ")
    members: dict[str, Parameterized] = {}
    at = 0
    while at < len(text):
        key = _KEY.match(text, at)
        parsed = _member(text, key.end()) if key else None
        if key is None or parsed is None:
            return None
        members[key.group()], at = parsed
        more = _NEXT_MEMBER.match(text, at)
        if more is None:
            return None
        at = more.end()
    return members


def _member(text: str, at: int) -> _Parsed:
    """Parses what follows a key (§4.2.2, step 2): `=` and a value, or nothing, which means true."""
    if not text.startswith("=", at):
        return _with_parameters(Parameterized(_TRUE), text, at)
    return _inner_list(text, at + 1) if text.startswith("(", at + 1) else _item(text, at + 1)


def _inner_list(text: str, start: int) -> _Parsed:
    """Parses items separated by spaces; lists do not nest (§4.2.1.2)."""
    at = start + 1
    items: list[Parameterized] = []
    while True:
        at = _after_spaces(text, at)
        if text.startswith(")", at):
            value = Member("inner_list", text[start : at + 1])
            return _with_parameters(Parameterized(value, (), tuple(items)), text, at + 1)
        parsed = _item(text, at)
        if parsed is None or not text.startswith((" ", ")"), parsed[1]):
            return None
        items.append(parsed[0])
        at = parsed[1]


def _item(text: str, at: int) -> _Parsed:
    """Parses a bare item with parameters (§4.2.3)."""
    parsed = _bare_item(text, at)
    return _with_parameters(Parameterized(parsed[0]), text, parsed[1]) if parsed else None


def _with_parameters(member: Parameterized, text: str, at: int) -> _Parsed:
    """Parses the parameters of a member (§4.2.3.2); of a repeated key the last value counts."""
    parameters: dict[str, str] = {}
    while text.startswith(";", at):
        parameter = _PARAMETER.match(text, at)
        if parameter is None:
            return None
        at = parameter.end()
        value = _bare_item(text, at) if parameter.group(2) else (_TRUE, at)
        if value is None:
            return None
        parameters[parameter.group(1)] = value[0].text
        at = value[1]
    return (member._replace(parameters=tuple(parameters.items())) if parameters else member), at


def _bare_item(text: str, at: int) -> tuple[Member, int] | None:
    """Parses a value without parameters (§4.2.3.1)."""
    found = _BARE_ITEM.match(text, at)
    if found is None or found.lastgroup is None:
        return None
    member = Member(found.lastgroup, found.group())
    return (member, found.end()) if _is_valid(member) else None


def _is_valid(member: Member) -> bool:
    """Checks what the regular expression cannot: the length of base64, and UTF-8."""
    if member.kind == "bytes":
        digits = member.text.strip(":").rstrip("=")
        return len(digits) % 4 != 1 and (bool(digits) or member.text == "::")
    return member.kind != "display_string" or _is_utf8(member.text)


def _is_utf8(text: str) -> bool:
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return False
    return True


def _after_spaces(text: str, at: int) -> int:
    spaces = _SPACES.match(text, at)
    return spaces.end() if spaces else at
