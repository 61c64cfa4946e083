"""Finds the product token, the name of a robot in robots.txt, in a robot's name (RFC 9309 §2.2.1)."""

import re

# Deviation (RFC 9309 §2.2.1): the RFC's token has letters, `_` and `-` only. Digits, and a dot between two of these
# characters, are kept too, so that `MJ12bot`, `360Spider` and `archive.org_bot` are found by their names.
_NAME = r"[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*"
_FIRST_NAME = re.compile(_NAME)
_GOOGLE_NAME = re.compile(r"[A-Za-z_\-]*")
_VERSION = re.compile(r"/[^\s();,]*")
_AFTER_COMPATIBLE = re.compile(rf"(?i:compatible);\s*({_NAME})")


def product_token(agent: str) -> str:
    """Returns the product token of a bare name or of a whole User-Agent value, as written: `MJ12bot/v1.4` gives
    `MJ12bot`, `MyBot; +https://example.org/` gives `MyBot`.

    It is the value's first name (`first_name`); if that is `Mozilla`, the name after `compatible;`, and without one
    `Mozilla` itself. Compare tokens without regard to case.
    """
    token = first_name(agent)
    if token.lower() != "mozilla":
        return token
    named = _AFTER_COMPATIBLE.search(agent)
    return named.group(1) if named else token


def first_name(value: str) -> str:
    """Returns the name at the start of the value: ASCII letters, digits, `_`, `-`, and dots between two of these.

    It ends at the first other character: `GPTBot, CCBot` and `GPTBot*` give `GPTBot`. A value that begins with another
    character gives "" unless the value is `*`.
    """
    value = value.strip()
    found = _FIRST_NAME.match(value)
    return found.group() if found else value if value == "*" else ""


def google_token(value: str) -> str:
    """Returns the letters, `_` and `-` with which the value begins, in lower case, as Google's parser does."""
    found = _GOOGLE_NAME.match(value)
    return found.group().lower() if found else ""


def without_versions(value: str) -> str:
    """Returns the whole value in lower case without versions (a `/` and what follows, up to a space, parenthesis, comma
    or semicolon): `Lycos_Spider_(Rex)/1.0` gives `lycos_spider_(rex)`."""
    return _VERSION.sub("", value).strip().lower()
