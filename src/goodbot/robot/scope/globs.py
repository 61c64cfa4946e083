"""Matches the user's globs with whole URLs and media types, and returns the first that matches. Pure.

`*` matches any text, including `/` and the empty text; `?` any one character; `[a-z]` one character of a set, `[!a-z]`
one outside it.
"""

import fnmatch
import re
from collections.abc import Iterable
from urllib.parse import quote

from goodbot.errors import InputError
from goodbot.url import parse_url

_SET = re.compile(r"\[!?+\]?+[^\]]*+\]")
_BEGINNINGS = ("http://", "https://")
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F))


class GlobTable:
    """Globs in the order given, each matched against a whole text.

    All globs together are one regular expression with a group for each, since a crawl may have many globs and most
    links are compared with all of them: 16 globs take 0.3 µs a link, and 1.9 one by one. `fnmatch` writes each glob
    with atomic groups, so matching never backtracks from one `*` to another and ends soon for hostile globs too.
    """

    def __init__(self, globs: Iterable[str]) -> None:
        self.globs = tuple(globs)
        self._match = re.compile("|".join(map(_as_group, self.globs))).match

    def first(self, text: str) -> str | None:
        """Returns the first glob that matches; None if none does."""
        found = self._match(text) if self.globs else None
        return self.globs[found.lastindex - 1] if found and found.lastindex else None


def _as_group(glob: str) -> str:
    """Writes a glob as a group. A `[` that begins a host starts an IPv6 address, not a set."""
    return f"({fnmatch.translate(glob.replace('://[', '://[[]', 1))})"


def parse_url_globs(globs: Iterable[str], option: str) -> GlobTable:
    """Reads globs over normalised URLs. Raises InputError, which names `option`, for a glob that is wrong or can match
    no URL."""
    return GlobTable(_url_glob(glob.strip(), option) for glob in globs)


def parse_type_globs(globs: Iterable[str], option: str) -> GlobTable:
    """Reads globs over media types: `text/html`, `text/*`, `application/*+xml`. Raises InputError."""
    table = GlobTable(glob.strip().lower() for glob in globs)
    for glob in table.globs:
        _check_sets(glob, option)
        if glob != "*" and glob.count("/") != 1:
            raise InputError(f"{option} must be a media type such as text/html or text/*: {glob!r}")
    return table


def _url_glob(glob: str, option: str) -> str:
    """Writes the glob the way URLs in normal form are written."""
    if not glob:
        raise InputError(f"{option} is empty: give a glob for the whole URL, such as 'https://example.org/docs/*'")
    _check_sets(glob, option)
    if "?" in glob and not glob.strip("*?"):
        raise InputError(f"{option} {glob!r} matches every URL: ? is any character; write [?] for a question mark")
    scheme, separator, rest = glob.partition("://")
    if separator and not set(scheme) & set("*?["):
        glob = f"{scheme.lower()}://{_with_host(rest, scheme, glob, option)}"
    literal = re.split(r"[*?[]", glob, maxsplit=1)[0]
    if not any(literal.startswith(begin) or (begin.startswith(literal) and literal != glob) for begin in _BEGINNINGS):
        raise InputError(f"{option} {glob!r} matches no URL: a glob must match the whole URL; did you mean '*{glob}' ?")
    return quote(glob, safe=_PRINTABLE)


def _with_host(rest: str, scheme: str, glob: str, option: str) -> str:
    """Returns `HOST[:PORT]/…` with the host as in normalised URLs: lower case, punycode, no default port."""
    host, slash, path = rest.partition("/")
    if not (set("*?") & set(host) or "[" in host[1:]):
        url = parse_url(f"{scheme}://{host}/")
        if url is None:
            raise InputError(f"{option} {glob!r} matches no URL: not an http or https URL")
        return f"{url.authority}/{path}"
    if not slash:  # `*` may also match a path, where case matters
        host, star, path = host.partition("*")
        return host.lower() + star + path
    if not host.isascii():
        raise InputError(f"{option} {glob!r}: a host with * or ? must be written in ASCII (xn--…)")
    return f"{host.lower()}/{path}"


def _check_sets(glob: str, option: str) -> None:
    if "[" in _SET.sub("", glob.replace("://[", "://", 1)):
        raise InputError(f"{option} {glob!r} has a [ without a ]; write [[] for a [ itself")
