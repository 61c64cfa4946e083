"""Whose rules: the product token in an agent's name (RFC 9309 §2.2.1)."""

import re

_FIRST_PRODUCT = re.compile(r"[^\s/()]*")
_GOOGLE_NAME = re.compile(r"[A-Za-z_\-]*")
_VERSION = re.compile(r"/[^\s();,]*")
_AFTER_COMPATIBLE = re.compile(r"compatible;\s*([^\s/();,]+)", re.IGNORECASE)


def product_token(agent: str) -> str:
    """The product token of a bare name or of a whole User-Agent value, as written: `MJ12bot/v1.4` gives
    `MJ12bot`.

    It is the first product name, up to `/`, blank or parenthesis; if that is `Mozilla`, the token after
    `compatible;`, and without one `Mozilla` itself. Compare tokens without regard to case.
    """
    # Deviation (RFC 9309 §2.2.1): digits and other signs are kept, where the RFC's token has letters, `_` and `-` only,
    # so that `MJ12bot` and `360Spider` are found by their names.
    token = first_product(agent)
    if token.lower() != "mozilla":
        return token
    named = _AFTER_COMPATIBLE.search(agent)
    return named.group(1) if named else token


def first_product(value: str) -> str:
    """The first product name, up to `/`, blank or parenthesis, whatever it is."""
    found = _FIRST_PRODUCT.match(value.strip())
    return found.group() if found else ""


def google_token(value: str) -> str:
    """As Google's parser cuts a User-agent line: the letters, `_` and `-` it begins with, in lower case."""
    found = _GOOGLE_NAME.match(value)
    return found.group().lower() if found else ""


def without_versions(value: str) -> str:
    """The whole value in lower case, but for what follows a `/` up to blank, parenthesis, comma or semicolon:
    `Lycos_Spider_(Rex)/1.0` gives `lycos_spider_(rex)`."""
    return _VERSION.sub("", value).strip().lower()
