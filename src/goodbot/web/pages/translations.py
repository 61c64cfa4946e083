"""The languages of the interface, and how a page finds out which one its reader wants.

English texts are in the templates and the code; `locale/ru/*.po` has the Russian ones. Sentences of the search and of
the crawl are read back (`known_sentences`); findings of the checker are English in every language.
"""

from dataclasses import dataclass
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

import polib
from starlette.requests import Request

from goodbot.web.pages.accept_language import accepted_languages

LANGUAGES: Final = {"en": "English", "ru": "Русский"}
"""The codes of the languages, each with its name in that language. The first is the default."""
PARAMETER: Final = "hl"
"""The parameter of a URL that chooses a language, on every page."""
LOCALE: Final = Path(__file__).parents[1] / "locale"


def translatable(text: str) -> str:
    """Returns the text. Marks it as one that a template translates later."""
    return text


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a page. `language` is a code of `LANGUAGES`; `has_chosen`: the URL names it, so links keep it."""

    language: str
    has_chosen: bool = False


def reader_of(request: Request) -> Reader:
    """Returns the reader: the language that the URL names, else the first of Accept-Language that exists."""
    chosen = request.query_params.get(PARAMETER, "")
    if chosen in LANGUAGES:
        return Reader(chosen, has_chosen=True)
    wanted = accepted_languages(request)
    return Reader(next((code for code in wanted if code in LANGUAGES), next(iter(LANGUAGES))))


def languages_of(request: Request) -> tuple[str, ...]:
    """Returns the languages in which the reader of a page wants results, as two-letter codes: the one that the URL
    names, then those of Accept-Language."""
    reader = reader_of(request)
    others = accepted_languages(request)
    return tuple(dict.fromkeys((reader.language, *others))) if reader.has_chosen else others


def load_translations(language: str) -> NullTranslations:
    """Loads the texts of a language; for English, none."""
    files = sorted((LOCALE / language).glob("*.po"))
    if not files:
        return NullTranslations()
    catalog = polib.pofile(str(files[0]))
    for file in files[1:]:
        catalog.extend(polib.pofile(str(file)))
    return GNUTranslations(BytesIO(catalog.to_binary()))
