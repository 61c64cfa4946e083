"""The forms in which dialects other than RFC 9309 compare paths: as written, decoded (1996 and the book), as Google
does.

Both forms in `Compared` are the same text here, since only the RFC needs two. All functions are linear and never raise.
"""

import re

from goodbot.exclusion.text.octets import Compared, octets_of, path_and_query

_ENCODED = re.compile("%([0-9A-Fa-f]{2})")
_ENCODED_SLASH = "\u0100"
"""A character outside the octets, for an encoded slash: `%2F` then differs from the `%2F` that `%252F` decodes to."""

_TO_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|[\x80-\xff]")


def _one_form(text: str) -> Compared:
    return Compared(text, text)


def written_target(url: str) -> Compared:
    """Returns path and query of `url`, nothing decoded."""
    return _one_form(path_and_query(url))


# ---- draft-koster-robots-00 3.2.2, and the book ---------------------------------------------------------------------


def decoded_target(url: str) -> Compared:
    """Returns path and query of `url` as octets, every `%xx` decoded except that of the slash."""
    return _one_form(decoded(path_and_query(url)))


def decoded(path: str) -> str:
    """Returns the octets of `path`, one character each, every `%xx` decoded; an encoded slash becomes a character of
    its own."""
    octets = octets_of(path)
    return _ENCODED.sub(_decoded, octets) if "%" in octets else octets


def _decoded(found: re.Match[str]) -> str:
    octet = chr(int(found.group(1), 16))
    return _ENCODED_SLASH if octet == "/" else octet


# ---- Google ---------------------------------------------------------------------------------------------------------


def google_target(url: str) -> Compared:
    """Returns what Google's parser treats as path and query: from the first `/`, `?` or `;` after `://` to the
    fragment.

    Nothing is encoded or decoded: callers must pass an encoded URL.
    """
    # Deviation (Google, GetPathParamsQuery): `//x` is a path here, as in every dialect, not a URL without a scheme.
    first = _first_of_path(url, 0)
    scheme_end = url.find("://")
    begins = first if scheme_end < 0 or first < scheme_end else _first_of_path(url, scheme_end + 3)
    fragment = url.find("#")
    if begins < 0 or 0 <= fragment < begins:
        return _one_form("/")
    target = url[begins : fragment if fragment >= 0 else len(url)]
    return _one_form(target if target.startswith("/") else "/" + target)


def _first_of_path(url: str, start: int) -> int:
    return min((at for character in "/?;" if (at := url.find(character, start)) >= 0), default=-1)


def google_pattern(pattern: str) -> str:
    """Returns the pattern with octets beyond ASCII encoded and hexadecimal digits in upper case; decodes nothing."""
    octets = octets_of(pattern)
    return octets if octets.isascii() and "%" not in octets else _TO_ESCAPE.sub(_escaped, octets)


def _escaped(found: re.Match[str]) -> str:
    text = found.group()
    return text.upper() if len(text) > 1 else f"%{ord(text):02X}"


def directory_of_index(pattern: str) -> str | None:
    """Returns `/x/$` for `/x/index.html` and other patterns whose last part begins with `index.htm`; else None."""
    directory, slash, file = pattern.rpartition("/")
    return f"{directory}/$" if slash and file.startswith("index.htm") else None
