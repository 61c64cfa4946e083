"""Proves that the index of a WARC file lists every URL that the file has records of. Then the index
alone shows whether a moved file may hold records of a host, and the file need not be read at its place."""

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from json import loads
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.errors import DamagedError
from goodbot.store.warc.cdxj import index_path
from goodbot.store.warc.warc_outline import heads

_URL: Final = re.compile(rb'\{"url": ("(?:[^"\\]|\\.)*")')


def proof_of_index(path: Path, file: BinaryIO) -> str:
    """Returns a digest of the index of a file if the index has the URLs of all records of the file, else an empty text.
    `file` is the file. Takes 5 s of CPU per GB, and memory for the URLs in it. Raises OSError."""
    digest, urls = blake2b(digest_size=16), set[bytes]()
    try:
        with index_path(path).open("rb") as lines:
            for line in lines:
                digest.update(line)
                if found := _URL.search(line):
                    urls.add(_key(loads(found[1])))
        is_complete = all(_key(url) in urls for fields in heads(path, file) if (url := _url_of(fields)))
    except (DamagedError, ValueError):  # the index is damaged or does not match the file: it proves nothing
        return ""
    return digest.hexdigest() if is_complete else ""


def proven_urls(path: Path, proof: str, judge: Callable[[str], bool]) -> bool | None:
    """Returns whether `judge` accepts one of the URLs in the index; None if the index is not the one that was proven.
    Raises OSError."""
    digest, is_found = blake2b(digest_size=16), False
    try:
        with index_path(path).open("rb") as lines:
            for line in lines:
                digest.update(line)
                found = None if is_found else _URL.search(line)
                is_found = is_found or (found is not None and judge(loads(found[1])))
    except (FileNotFoundError, ValueError):
        return None
    return is_found if digest.hexdigest() == proof else None


def _url_of(fields: Mapping[str, str]) -> str:
    return fields.get("warc-target-uri", "").strip("<>")


def _key(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "replace"), digest_size=16).digest()
