"""Wire text: text in which each character is one byte of the log (latin-1), so that any bytes can be kept."""


def readable(text: str) -> str:
    """Decodes wire text as UTF-8; bytes that are not UTF-8 become U+FFFD."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")


def to_wire(text: str) -> str:
    """Returns text as the bytes of its UTF-8, one character each."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")
