"""Drafts the record of a robot in TOML from the fields of a form, and says what is wrong with a field. Pure.

Whether a value is valid is decided by `goodbot.registry`, which reads the record later.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from goodbot.errors import InputError
from goodbot.registry import matches_browsers, parse_tables
from goodbot.registry.agent_words import NamePatterns
from goodbot.web.pages.messages import Message
from goodbot.web.pages.translations import translatable
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS

Kind = Literal["text", "list", "url", "choice"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form: its name, its label, what it may have (`kind`), the most characters, and what to type.
    `wrong` says what a value must be. A `list` has several values, separated by commas."""

    name: str
    label: str
    kind: Kind
    most: int
    wrong: str
    hint: str = ""
    placeholder: str = ""
    required: bool = False
    choices: Mapping[Any, str] | None = None


_LINE: Final = translatable("This must be one line of text.")
_URL: Final = translatable("This must be a whole URL that begins with http:// or https://.")
_CHOICE: Final = translatable("Choose a value from the list.")
_LIKE_BROWSERS: Final = translatable("This also matches browsers. Give words that only the robot sends.")
_MISSING: Final = translatable("This field is required.")
_TOO_LONG: Final = translatable("At most %(most)s characters are allowed.")
_UNMATCHED: Final = translatable(
    "The User-Agent below does not contain these words. Without words it must contain the product token, else the name."
)

FIELDS: Final = (
    Field(
        "name",
        translatable("Name"),
        "text",
        100,
        translatable("This must be one line of text with a letter or a digit."),
        placeholder="ExampleBot",
        required=True,
    ),
    Field("operator", translatable("Operator"), "text", 200, _LINE, placeholder="Example Ltd", required=True),
    Field(
        "purpose",
        translatable("Purpose"),
        "choice",
        40,
        _CHOICE,
        required=True,
        choices={key: words.name for key, words in PURPOSE_WORDS.items()},
    ),
    Field(
        "source",
        translatable("Where you found these facts"),
        "url",
        500,
        _URL,
        hint=translatable("The URL of a page."),
        placeholder="https://www.example.org/bot",
        required=True,
    ),
    Field(
        "token",
        translatable("Product token"),
        "text",
        100,
        _LINE,
        hint=translatable("Its name in robots.txt."),
        placeholder="ExampleBot",
    ),
    Field(
        "aliases",
        translatable("Other names in robots.txt that it obeys"),
        "list",
        300,
        _LINE,
        hint=translatable("Separate several by commas."),
    ),
    Field(
        "patterns",
        translatable("Words that identify it in a User-Agent"),
        "list",
        400,
        translatable("Each must have a letter or a digit."),
        hint=translatable(
            "Separate several by commas. ^ in front: only at the beginning. If empty: the product token, else the name."
        ),
    ),
    Field(
        "example",
        translatable("A User-Agent that it sends"),
        "text",
        1000,
        _LINE,
        placeholder="Mozilla/5.0 (compatible; ExampleBot/1.0; +https://www.example.org/bot)",
    ),
    Field(
        "obeys",
        translatable("Obeys robots.txt"),
        "choice",
        40,
        _CHOICE,
        choices={"": OBEYS_WORDS["unknown"], **{key: name for key, name in OBEYS_WORDS.items() if key != "unknown"}},
    ),
    Field("obeys_source", translatable("Where that is stated"), "url", 500, _URL),
    Field("documentation", translatable("The operator's page about it"), "url", 500, _URL),
    Field(
        "contact",
        translatable("Contact"),
        "text",
        300,
        translatable("This must be a mail address, or a whole URL that begins with http:// or https://."),
        hint=translatable("A mail address, or the URL of a form."),
    ),
    Field(
        "list_url",
        translatable("The list of its IP addresses"),
        "url",
        500,
        _URL,
        hint=translatable("The URL at which the operator publishes it."),
    ),
    Field(
        "reverse_dns",
        translatable("Domains of the reverse DNS names of its addresses"),
        "list",
        300,
        translatable("These must be domains in lower case, such as search.example.org."),
        hint=translatable("Separate several by commas."),
    ),
    Field("signatures", translatable("The keys of its signatures (Web Bot Auth)"), "url", 500, _URL),
)
"""The fields, in the order of the form. All but `list_url` are fields of a record."""

NAMES: Final = tuple(field.name for field in FIELDS)
_SHARED: Final = ("operator", "source")
_SPECIMEN: Final = {"name": "Robot", "purpose": "other", "patterns": ["Robot"]}
"""A record to which each field is added, to see whether it is valid."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form gives: `record` is the TOML text, empty if a field is wrong; then `errors` has a sentence for each
    such field. `file` is a name for the file of the record."""

    record: str
    file: str
    errors: Mapping[str, str | Message]


def draft_record(typed: Mapping[str, str], year: int) -> Draft:
    """Drafts the record of the typed fields. `year`: when the facts were looked up."""
    values = {field.name: _value(field, typed.get(field.name, "")) for field in FIELDS}
    given = {name: value for name, value in values.items() if value}
    errors: dict[str, str | Message] = {
        field.name: error for field in FIELDS if (error := _error(field, typed, given)) is not None
    }
    if not errors:
        given.setdefault("patterns", [str(given.get("token", given["name"]))])
        errors = _errors_as_a_whole(given, wordless=next(name for name in ("token", "name") if name in given))
    slug = _slug(str(given.get("name", "")))
    return Draft("" if errors else "\n".join(_lines(given, year, slug)) + "\n", f"{slug}.toml", errors)


def _value(field: Field, typed: str) -> str | list[str]:
    if field.kind == "list":
        return [part.strip() for part in typed.split(",") if part.strip()]
    return typed.strip()


def _error(field: Field, typed: Mapping[str, str], given: Mapping[str, Any]) -> str | Message | None:
    if field.name not in given:
        return _MISSING if field.required else None
    if len(typed[field.name].strip()) > field.most:
        return Message(_TOO_LONG, {"most": field.most})
    if field.name == "patterns" and matches_browsers(given["patterns"]):
        return _LIKE_BROWSERS
    name = "documentation" if field.name == "list_url" else field.name  # both are URLs
    try:
        parse_tables([{**_SPECIMEN, name: given[field.name]}], "", 2000)
    except InputError:
        return field.wrong
    return None


def _errors_as_a_whole(given: Mapping[str, Any], wordless: str) -> dict[str, str | Message]:
    """Says what is wrong with the fields together: the patterns, which may be the text of the field `wordless`, have no
    word, match browsers, or are not in the example."""
    if matches_browsers(given["patterns"]):
        return {wordless: _LIKE_BROWSERS}
    try:
        (robot,) = parse_tables([{name: value for name, value in given.items() if name != "list_url"}], "", 2000)
    except InputError:
        return {wordless: FIELDS[0].wrong}
    is_found = robot.example is None or NamePatterns([robot]).find(robot.example) is not None
    return {} if is_found else {"patterns": _UNMATCHED}


# ---- TOML -----------------------------------------------------------------------------------------------------------


def _lines(given: Mapping[str, Any], year: int, slug: str) -> Iterator[str]:
    yield f"operator = {_toml(given['operator'])}"
    yield f"looked_up = {year}"
    yield f"source = {_toml(given['source'])}"
    if "list_url" in given:
        yield from ("", "[[list]]", f"name = {_toml(slug)}", f"url = {_toml(given['list_url'])}")
    yield from ("", "[[robot]]")
    for name in NAMES:
        if name == "list_url" and name in given:
            yield f"address_lists = {_toml([slug])}"
        elif name in given and name not in _SHARED:
            yield f"{name} = {_toml(given[name])}"


def _toml(value: str | list[str]) -> str:
    """Writes a value. The strings of JSON are strings of TOML; DEL, the only exception, is in no value."""
    return json.dumps(value, ensure_ascii=False)


def _slug(name: str) -> str:
    """Returns a name for files and lists: lower-case letters, digits and single hyphens."""
    return "-".join(re.findall("[a-z0-9]+", name.lower()))[:60].rstrip("-") or "robot"
