"""What strangers write, as a file can hold it."""


def storable(text: str) -> str:
    """`text` with what UTF-8 cannot hold (lone surrogates, from strangers' titles) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
