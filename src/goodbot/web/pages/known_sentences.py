"""Recognizes the sentences of the search, of other search services, of the crawl and of the services for visitors."""

from functools import lru_cache
from typing import Final

from goodbot.web.pages import crawl_sentences, search_sentences, service_sentences, visitor_sentences
from goodbot.web.pages.messages import Message
from goodbot.web.pages.phrases import Clause, Phrases

_KEPT: Final = 1_000
_KEPT_CHARS: Final = 300
"""Longer sentences are not kept."""

SENTENCES: Final = (
    *crawl_sentences.ENDED,
    *search_sentences.SENTENCES,
    *service_sentences.SENTENCES,
    *visitor_sentences.SENTENCES,
    *crawl_sentences.SENTENCES,
)
CLAUSES: Final = {
    "condition": Clause(search_sentences.CONDITIONS, otherwise="value"),
    "reason": Clause(),
    "known": Clause(otherwise="another"),
    "sources": Clause(crawl_sentences.SOURCES),
    "groups": Clause(crawl_sentences.GROUPS),
    "trouble": Clause(crawl_sentences.TROUBLES),
    "hold": Clause(crawl_sentences.HOLDS),
}
_PHRASES: Final = Phrases(SENTENCES, CLAUSES)


def read_sentence(sentence: str) -> Message | None:
    """Returns the message that an English sentence is; None if it is unknown, and stays English."""
    return _kept(sentence) if len(sentence) <= _KEPT_CHARS else _PHRASES.read(sentence)


@lru_cache(maxsize=_KEPT)
def _kept(sentence: str) -> Message | None:
    return _PHRASES.read(sentence)
