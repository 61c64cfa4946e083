"""Globs of the user over whole URLs and media types: which of them matches first? Pure.

`*` is any run of characters, also `/` and none; `?` any one; `[a-z]` one of a set, `[!a-z]` one outside it.
"""

import fnmatch
import re
from collections.abc import Iterable
from urllib.parse import quote

from goodbot.errors import InputError
from goodbot.exclusion.text.patterns import Cut, PatternTable
from goodbot.url import parse_url

_ONE = re.compile(r"\[([^*!])\]")
_SET = re.compile(r"\[!?+\]?+[^\]]*+\]")
_BEGINNINGS = ("http://", "https://")
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F))


class GlobTable:
    """Globs in the order given, compared with a whole text.

    None goes back over the text, whatever the globs: those of `*` alone are searched piece by piece, prefixes all at
    once (see `PatternTable`), others are regular expressions that keep the first place found for each piece.
    """

    def __init__(self, globs: Iterable[str]) -> None:
        self.globs = tuple(globs)
        starred = [_starred(glob) for glob in self.globs]
        self._table = PatternTable([Cut.whole(glob) for glob in starred if glob is not None])
        self._ranks = (*(rank for rank, glob in enumerate(starred) if glob is not None), len(self.globs))
        self._signed = [
            (rank, re.compile(fnmatch.translate(self.globs[rank].replace("://[", "://[[]", 1))).match)
            for rank, glob in enumerate(starred)
            if glob is None
        ]

    def first(self, text: str) -> str | None:
        """The first glob that matches; None if none does."""
        best = self._ranks[self._table.best(text)]
        for rank, match in self._signed:
            if rank > best:
                break
            if match(text):
                return self.globs[rank]
        return self.globs[best] if best < len(self.globs) else None


def parse_url_globs(globs: Iterable[str], option: str) -> GlobTable:
    """Globs over normalised URLs; `option` is named in the InputError for one that is wrong or can match none."""
    return GlobTable(_url_glob(glob.strip(), option) for glob in globs)


def parse_type_globs(globs: Iterable[str], option: str) -> GlobTable:
    """Globs over media types: `text/html`, `text/*`, `application/*+xml`. Raises InputError."""
    table = GlobTable(glob.strip().lower() for glob in globs)
    for glob in table.globs:
        _check_sets(glob, option)
        if glob != "*" and glob.count("/") != 1:
            raise InputError(f"{option} is a media type such as text/html or text/*: {glob!r}")
    return table


def _url_glob(glob: str, option: str) -> str:
    """The glob as a URL in normal form would be written."""
    if not glob:
        raise InputError(f"{option} is empty: give a glob over the whole URL, such as 'https://example.org/docs/*'")
    _check_sets(glob, option)
    if "?" in glob and not glob.strip("*?"):
        raise InputError(f"{option} {glob!r} means any URL, ? being any one character; a question mark is [?]")
    scheme, separator, rest = glob.partition("://")
    if separator and not set(scheme) & set("*?["):
        glob = f"{scheme.lower()}://{_with_host(rest, scheme, glob, option)}"
    literal = re.split(r"[*?[]", glob, maxsplit=1)[0]
    if not any(literal.startswith(begin) or (begin.startswith(literal) and literal != glob) for begin in _BEGINNINGS):
        raise InputError(f"{option} {glob!r} matches no URL: globs are over the whole URL; did you mean '*{glob}' ?")
    return quote(glob, safe=_PRINTABLE)


def _with_host(rest: str, scheme: str, glob: str, option: str) -> str:
    """`HOST[:PORT]/…` with the host as URLs have it: in lower case, in punycode, without the default port."""
    host, slash, path = rest.partition("/")
    if not (set("*?") & set(host) or "[" in host[1:]):
        url = parse_url(f"{scheme}://{host}/")
        if url is None:
            raise InputError(f"{option} {glob!r} matches no URL: not an http or https URL")
        return f"{url.authority}/{path}"
    if not slash:  # then `*` may stand for a path too, which has its case
        host, star, path = host.partition("*")
        return host.lower() + star + path
    if not host.isascii():
        raise InputError(f"{option} {glob!r}: beside * and ? a host has to be written in its ASCII form (xn--…)")
    return f"{host.lower()}/{path}"


def _check_sets(glob: str, option: str) -> None:
    if "[" in _SET.sub("", glob.replace("://[", "://", 1)):
        raise InputError(f"{option} {glob!r} has a [ without its ]; a [ that is meant is [[]")


def _starred(glob: str) -> str | None:
    """The glob if `*` is all that is special in it, a set of one sign being that sign; else None.

    A `[` that begins a host is that of an IPv6 address.
    """
    scheme, address, rest = glob.partition("://[")
    if not address:
        scheme, rest = "", glob
    if set("?[") & set(scheme + _ONE.sub("", rest)):
        return None
    return scheme + address + _ONE.sub(r"\1", rest)
