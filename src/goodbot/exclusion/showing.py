"""Strangers' text in our sentences."""

SHOWN_CHARS = 120


def shown(text: str) -> str:
    """Fit for a sentence on a terminal: cut after 120 characters with `…`, what cannot be printed is U+FFFD.

    What stands in a robots.txt may be as long as the file and hold control characters.
    """
    text = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
