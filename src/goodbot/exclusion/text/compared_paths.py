"""What two paths are compared as outside RFC 9309: as written, decoded (1996 and the book), as Google's parser does.

`Compared` holds the same text twice here: only the RFC knows a second form. All are linear and never raise.
"""

import re

from goodbot.exclusion.text.octets import Compared, octets_of, path_and_query

_ENCODED = re.compile("%([0-9A-Fa-f]{2})")
_ENCODED_SLASH = "\u0100"
"""One sign beyond the octets, so that `%2F` is told from the `%2F` that `%252F` decodes to."""

_TO_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|[\x80-\xff]")


def _once(text: str) -> Compared:
    return Compared(text, text)


def written_target(url: str) -> Compared:
    """Path and query of `url`, nothing decoded."""
    return _once(path_and_query(url))


# ---- draft-koster-robots-00 3.2.2, and the book ---------------------------------------------------------------------


def decoded_target(url: str) -> Compared:
    """Path and query of `url` as octets, every `%xx` decoded but that of the slash."""
    return _once(decoded(path_and_query(url)))


def decoded(path: str) -> str:
    """The octets of `path`, one sign each, every `%xx` decoded but that of the slash, which stays one of its own."""
    octets = octets_of(path)
    return _ENCODED.sub(_decoded, octets) if "%" in octets else octets


def _decoded(found: re.Match[str]) -> str:
    octet = chr(int(found.group(1), 16))
    return _ENCODED_SLASH if octet == "/" else octet


# ---- Google ---------------------------------------------------------------------------------------------------------


def google_target(url: str) -> Compared:
    """What Google's parser takes for path and query: from the first `/`, `?` or `;` behind `://` to the fragment.

    Nothing is encoded or decoded: whoever asks is to give a URL that is encoded.
    """
    # Deviation (Google, GetPathParamsQuery): `//x` is a path here, as in every dialect, and no URL without a scheme.
    first = _first_of_path(url, 0)
    scheme_end = url.find("://")
    begins = first if scheme_end < 0 or first < scheme_end else _first_of_path(url, scheme_end + 3)
    fragment = url.find("#")
    if begins < 0 or 0 <= fragment < begins:
        return _once("/")
    target = url[begins : fragment if fragment >= 0 else len(url)]
    return _once(target if target.startswith("/") else "/" + target)


def _first_of_path(url: str, start: int) -> int:
    return min((at for sign in "/?;" if (at := url.find(sign, start)) >= 0), default=-1)


def google_pattern(pattern: str) -> str:
    """Octets beyond ASCII encoded, hexadecimal digits in upper case; nothing is decoded."""
    octets = octets_of(pattern)
    return octets if octets.isascii() and "%" not in octets else _TO_ESCAPE.sub(_escaped, octets)


def _escaped(found: re.Match[str]) -> str:
    text = found.group()
    return text.upper() if len(text) > 1 else f"%{ord(text):02X}"


def directory_of_index(pattern: str) -> str | None:
    """`/x/$` for `/x/index.html` and whatever else begins its last part with `index.htm`; None for other patterns."""
    directory, slash, file = pattern.rpartition("/")
    return f"{directory}/$" if slash and file.startswith("index.htm") else None
