"""Decides whether the description of a page (META DESCRIPTION) is a summary that its author wrote for it. Pure.

Many descriptions are not: programs make them from templates (`module: java.xml, class: Attr`), and sites repeat one on
every page. Such a description shows less of a page than a passage of its text.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from goodbot.index.analysis import stop_words, words_of
from goodbot.index.languages import FREQUENT

SUMMARY_CHARS: Final = 40
"""A shorter description is a heading rather than a summary."""
_SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", "।", "؟")


def is_summary(description: str, title: str, language: str) -> bool:
    """Whether a description is running text, and other than the title. Running text ends like a sentence or has a stop
    word, of `language` or English; languages without a list of stop words are not examined."""
    line = _on_one_line(description)
    if len(line) < SUMMARY_CHARS or line.casefold() == _on_one_line(title).casefold():
        return False
    is_sentence = line.endswith(_SENTENCE_ENDS) or language not in FREQUENT
    return is_sentence or bool(stop_words(words_of(line), (language, "en")))


def repeated(descriptions: Iterable[str]) -> frozenset[str]:
    """Returns the descriptions that several pages have."""
    return frozenset(description for description, times in Counter(descriptions).items() if times > 1)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
