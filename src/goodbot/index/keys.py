"""Makes the keys and numbers by which an index identifies documents, hosts, languages and translations. Pure."""

import re
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from goodbot.url import Url, authority_of

MAX_KEY_CHARS: Final = 1000
MAX_ENDING_CHARS: Final = 5
MAX_SITE_TERMS: Final = 16

_CODES: Final = """
    ar bg bn ca cs da de el en es et fa fi fr gu he hi hr hu id it ja ko lt lv mk ml mr nb nl no pa pl pt ro ru sk sl sr
    sv ta te th tr uk vi zh
"""
REGIONAL: Final = frozenset(_CODES.split())
"""Languages whose codes, with a region, may be the name of a folder (`/tr-TR/`)."""

WRITTEN_ALIKE: Final = MappingProxyType({"nb": "no", "nn": "no", "iw": "he"})
"""Codes of languages, each with the code as which it counts."""

_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}|[a-z]{4}|[0-9]{3}))?")
_NAME_TAG = re.compile(
    r"[._-]([a-z]{2})(?:[-_][a-z]{2,4})?(?=\.[a-z0-9]{1,5}$|$)|(?<=\.html)\.([a-z]{2})(?:[-_][a-z]{2,4})?$"
)


def hash_of(text: str) -> int:
    """Returns a number of 63 bits for a text. Among a billion texts, the odds that two share one are 5 %."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") >> 1


def target_of(url: str) -> str:
    """Returns the term of field `targets` for a URL that a page links to."""
    return _cached_target(url) if len(url) <= _MAX_CACHED_CHARS else _target_of(url)


def _target_of(url: str) -> str:
    return f"{hash_of(url):x}"


_MAX_CACHED_CHARS: Final = 256
_cached_target = lru_cache(maxsize=8192)(_target_of)
"""Of the links of 30 consecutive pages, 85 % repeat an earlier one. A full cache takes 1.2 MB, without the URLs, which
`resolve_all` keeps anyway."""


def document_key(document_id: str) -> str:
    """Returns the id, or its digest if it has more than 1,000 characters: the engine limits terms to 65,530 bytes."""
    if len(document_id) <= MAX_KEY_CHARS:
        return cleaned(document_id)
    return "blake2:" + blake2b(document_id.encode("utf-8", "replace"), digest_size=32).hexdigest()


def key_pattern(host: str) -> str:
    """Returns a regular expression for the keys of a host's documents (`Url.host_key`), except digests."""
    url = Url(f"http://{authority_of(host)}/")
    bare = escaped(authority_of(url.host))
    if url.host_key == url.host:
        return f"https?://{bare}(:[0-9]+)?/.*"
    default = {80: f"|http://{bare}/.*", 443: f"|https://{bare}/.*"}.get(url.port, "")
    return f"https?://{bare}:{url.port}/.*{default}"


_OPERATORS: Final = frozenset(".+*?()|[]{}^$\\")
"""The characters that an expression of the engine must escape. To escape many others is an error."""


def escaped(text: str) -> str:
    """Returns a regular expression of the engine that matches exactly `text`."""
    return "".join(f"\\{char}" if char in _OPERATORS else char for char in text)


def cleaned(text: str) -> str:
    """Replaces lone surrogates, which no encoding can represent."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def site_terms(url: Url) -> list[str]:
    """Returns host and parent domains, and host with port if the URL names one."""
    host = url.host
    labels = [] if host[-1:].isdigit() or ":" in host else host.split(".")
    parents = [".".join(labels[at:]) for at in range(1, len(labels))]
    return [host, *{url.authority} - {host}, *parents[:MAX_SITE_TERMS]]


def address_words(url: Url) -> str:
    """Returns host and path as text, without the extension of a file name."""
    folder, slash, name = url.path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    path = f"{folder}{slash}{stem}" if stem and len(ending) <= MAX_ENDING_CHARS else url.path
    return f"{url.host.removeprefix('www.')} {unquote(path, errors='replace')}"


def extension_of(url: Url) -> str:
    """Returns the extension of the file name in lower case, without the dot; empty if there is none."""
    name = url.path.rpartition("/")[2]
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return extension if extension.isascii() and extension.isalnum() and len(extension) <= 8 else ""


def depth_of(url: Url) -> int:
    """Returns the number of directories in the path."""
    return url.path.count("/") - 1


def language_in(url: str) -> str:
    """Returns the two-letter code of the language that a folder of a URL names together with a region (`/tr-TR/`);
    empty if there is none."""
    for part in url.partition("?")[0].lower().split("/")[3:-1]:
        found = _TAG.fullmatch(part)
        if found and found[2] and found[1] in REGIONAL:
            return found[1]
    return ""


def tongue_of(language: str) -> int:
    """Returns the tongue of a language: its two-letter code as a number, since the index orders by numbers; 0 if it is
    unknown."""
    code = WRITTEN_ALIKE.get(language[:2].lower(), language[:2].lower())
    return ord(code[0]) << 8 | ord(code[1]) if len(code) == 2 and code.isascii() else 0


def untranslated(url: str, *languages: str) -> str:
    """Returns `url` without the tag of one of these languages (two letters), so that the translations of a page give
    the same: `/de/faq.html`, `/faq.de.html`, `/faq.html.de` and `/faq.html`. A folder named by language and region
    (`/tr-TR/`) is left out whatever the languages are; other tags stay."""
    known = frozenset(languages) - {""}
    address, mark, query = url.partition("?")
    *folders, name = address.split("/")
    kept = [part for place, part in enumerate(folders) if place < 3 or not _is_tag(part.lower(), known)]
    found = _NAME_TAG.search(name.lower())
    if found and not known.isdisjoint(found.groups()):
        name = name[: found.start()] + name[found.end() :]
    if len(kept) > 2:
        host = kept[2]
        first, _, rest = host.partition(".")
        kept[2] = rest if first in known and "." in rest else host
    return "/".join([*kept, name]) + mark + query


def _is_tag(part: str, languages: frozenset[str]) -> bool:
    found = _TAG.fullmatch(part)
    return found is not None and (found[1] in languages or (found[2] is not None and found[1] in REGIONAL))


def tongue_name(tongue: int) -> str:
    """Returns the two-letter code for a number of `tongue_of`; empty for 0."""
    return chr(tongue >> 8) + chr(tongue & 0xFF) if tongue else ""
