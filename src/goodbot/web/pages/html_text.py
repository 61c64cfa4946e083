"""Text that HTML can hold."""

import re
from typing import Final

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def html_text(text: str) -> str:
    """Replaces characters that are parse errors in HTML (WHATWG HTML §13.2.3.5: controls, noncharacters of the first
    plane, surrogates) by U+FFFD; also the two that override the direction of letters, with which a title could
    pretend to be another one (Unicode Standard Annex 9 §2.2)."""
    return _FORBIDDEN.sub("\ufffd", text)
