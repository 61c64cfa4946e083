"""Makes text from strangers storable."""


def storable(text: str) -> str:
    """Returns `text` with lone surrogates, which UTF-8 cannot encode (they occur in strangers' titles), replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
