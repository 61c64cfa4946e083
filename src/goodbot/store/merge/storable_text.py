"""Makes text from strangers storable."""


def storable(text: str) -> str:
    """Replaces NUL, which PostgreSQL cannot store, by U+FFFD, and lone surrogates, which UTF-8 cannot encode, by `?`.
    Both occur in strangers' titles."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
