"""Whose rules: the product token in an agent's name (RFC 9309 §2.2.1)."""

import re

_FIRST_PRODUCT = re.compile(r"[^\s/()]*")
_AFTER_COMPATIBLE = re.compile(r"compatible;\s*([^\s/();,]+)", re.IGNORECASE)


def product_token(agent: str) -> str:
    """The product token of a bare name or of a whole User-Agent value, as written: `MJ12bot/v1.4` gives
    `MJ12bot`.

    It is the first product name, up to `/`, blank or parenthesis; if that is `Mozilla`, the token after
    `compatible;`, and without one `Mozilla` itself. Compare tokens without regard to case.
    """
    # Deviation (RFC 9309 §2.2.1): digits and other signs are kept, where the RFC's token has letters, `_` and `-` only,
    # so that `MJ12bot` and `360Spider` are found by their names.
    agent = agent.strip()
    first = _FIRST_PRODUCT.match(agent)
    token = first.group() if first else ""
    if token.lower() != "mozilla":
        return token
    named = _AFTER_COMPATIBLE.search(agent)
    return named.group(1) if named else token
