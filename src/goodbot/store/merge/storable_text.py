"""Makes text from strangers storable."""


def storable(text: str) -> str:
    """Returns `text` with U+FFFD in place of NUL, which PostgreSQL cannot store, and with lone surrogates, which UTF-8
    cannot encode, replaced. Both occur in strangers' titles."""
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
