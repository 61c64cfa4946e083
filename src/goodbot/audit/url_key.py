"""The key of a URL in the temporary file of an audit."""

from hashlib import blake2b


def key_of(url: str) -> int:
    """Returns the key of a URL."""
    return int.from_bytes(blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)
