"""Every text of the interface has a translation, and no catalog has a text that the interface does not have."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from jinja2 import Environment
from jinja2.ext import extract_from_ast

import goodbot.web
from goodbot.web.pages.translations import LANGUAGES, LOCALE

WEB = Path(goodbot.web.__file__).parent
PLACEHOLDERS = re.compile(r"%\(\w+\)s")
TAGS = re.compile(r"</?\w+|`[^`]*`")
OTHERS = [language for language in LANGUAGES if language != "en"]
PLURALS = {"ru": 3}
"""How many plural forms each language has."""

Text = tuple[str, str]
"""A text and its plural; empty: it has none."""


def marked_in_templates() -> Iterator[tuple[str, Text]]:
    environment = Environment(extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True)
    environment.policies["ext.i18n.trimmed"] = True
    for file in sorted((WEB / "templates").glob("*.html")):
        for _, function, found in extract_from_ast(environment.parse(file.read_text("utf-8"))):
            if function == "ngettext" and isinstance(found, tuple):
                yield file.name, (str(found[0]), str(found[1]))
            elif isinstance(found, str):
                yield file.name, (found, "")


def marked_in_modules() -> Iterator[tuple[str, Text]]:
    for file in sorted(WEB.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "translatable":
                assert [type(argument) for argument in node.args] == [ast.Constant], f"{file.name}:{node.lineno}"
                yield file.name, (ast.literal_eval(node.args[0]), "")


def entries(language: str) -> Iterator[tuple[str, polib.POEntry]]:
    for file in sorted((LOCALE / language).glob("*.po")):
        for entry in polib.pofile(str(file)):
            yield file.name, entry


@pytest.fixture(scope="module")
def marked() -> dict[Text, str]:
    """Each text with a file that has it."""
    return {text: file for file, text in (*marked_in_templates(), *marked_in_modules())}


def test_texts_are_found(marked: dict[Text, str]) -> None:
    assert ("Search help", "") in marked
    assert ("%(number)s page found", "%(number)s pages found") in marked
    assert ("past week", "") in marked


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated(language: str, marked: dict[Text, str]) -> None:
    translated = {
        (entry.msgid, entry.msgid_plural)
        for _, entry in entries(language)
        if (all(entry.msgstr_plural.values()) if entry.msgid_plural else entry.msgstr) and not entry.fuzzy
    }
    assert sorted((file, text) for text, file in marked.items() if text not in translated) == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_is_left_over(language: str, marked: dict[Text, str]) -> None:
    stale = [
        (file, entry.msgid) for file, entry in entries(language) if (entry.msgid, entry.msgid_plural) not in marked
    ]
    assert stale == []


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_same_placeholders_tags_and_code(language: str) -> None:
    for file, entry in entries(language):
        for text in entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]:
            for pattern in (PLACEHOLDERS, TAGS):
                expected = sorted(pattern.findall(entry.msgid_plural or entry.msgid))
                assert sorted(pattern.findall(text)) == expected, (file, entry.msgid)


@pytest.mark.parametrize("language", OTHERS)
def test_a_text_has_the_same_translation_in_every_catalog(language: str) -> None:
    known: dict[Text, tuple[str, object]] = {}
    for file, entry in entries(language):
        text = (entry.msgid, entry.msgid_plural)
        other, translation = known.setdefault(text, (file, entry.msgstr or entry.msgstr_plural))
        assert translation == (entry.msgstr or entry.msgstr_plural), (file, other, text)


@pytest.mark.parametrize("language", OTHERS)
def test_catalogs_have_the_plural_forms_of_the_language(language: str) -> None:
    for file in (LOCALE / language).glob("*.po"):
        catalog = polib.pofile(str(file), check_for_duplicates=True)
        assert catalog.metadata["Content-Type"] == "text/plain; charset=UTF-8"
        assert catalog.metadata["Plural-Forms"].startswith(f"nplurals={PLURALS[language]};")
        assert {len(entry.msgstr_plural) for entry in catalog if entry.msgid_plural} <= {PLURALS[language]}, file
