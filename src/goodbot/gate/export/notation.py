"""The notations of regular expressions that servers read: PCRE (nginx, Apache, HAProxy) and RE2 (Caddy, Traefik)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.watch.remedies.name_regex import name_regex, re2_name_regex


@dataclass(frozen=True, slots=True)
class Notation:
    """How expressions are written. All of them are free of quotation marks, backquotes, braces, spaces, `$NAME` and
    `#`, so every configuration language takes them between quotes as they stand."""

    name_regex: Callable[[str], str]
    """Returns the expression that finds a robot's name in a User-Agent."""
    ignoring_case: str = ""
    """What an expression begins with if it ignores the case of letters, unless the server has its own mark for that."""
    has_atomic_groups: bool = False
    """With them, an expression with several `*` takes linear time. RE2 takes linear time without."""
    reads_octets: bool = True
    """Whether an octet beyond ASCII is a character of its own; RE2 reads characters of UTF-8."""
    reads_decoded: bool = False
    """Whether the server compares the decoded path (Traefik)."""
    uri: str = r"[^\x23]"
    """A character that `*` matches. A fragment is never part of a target."""
    end: str = r"(?:\x23|$)"
    """What follows a whole target."""


PCRE: Final = Notation(name_regex, has_atomic_groups=True)

REQUEST_LINE: Final = Notation(name_regex, has_atomic_groups=True, uri=r"[^\x23\s]", end=r"(?:[\x23\s]|$)")
"""PCRE for the request line, where the protocol follows the target (Apache)."""

RE2: Final = Notation(re2_name_regex, "(?i)", reads_octets=False)

RE2_PATH: Final = Notation(re2_name_regex, "(?i)", reads_octets=False, reads_decoded=True, end="$")
"""RE2 for the path alone (Traefik)."""
