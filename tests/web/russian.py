"""What a Russian page shows of an English sentence."""

from goodbot.web.pages.known_sentences import read_sentence
from goodbot.web.pages.local_formats import Speaker
from goodbot.web.pages.translations import load_translations

RUSSIAN = Speaker("ru", load_translations("ru"))


def english_in(sentence: str) -> list[str]:
    """The parts that stay English. Also checks that nothing of the sentence is lost."""
    message = read_sentence(sentence)
    assert message is None or str(message) in (sentence, sentence.removesuffix("."))
    return [piece.text for piece in RUSSIAN.pieces(sentence) if piece.text and piece.kind == "English"]
