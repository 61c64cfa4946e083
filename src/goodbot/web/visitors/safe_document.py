"""Makes a page from the archive safe to show in a frame. Pure."""

import re
from html import escape
from typing import Final

from goodbot.url import Url
from goodbot.visitor_values import CachedCopy

SANDBOX: Final = "allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
"""What a visitor may do who clicks a link of the copy: leave it in this window or in a new one. Without scripts, only a
click opens a window."""
COPY_POLICY: Final = f"sandbox {SANDBOX}; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The Content-Security-Policy that the document must be sent with.

`sandbox` without `allow-scripts`, `allow-forms` and `allow-same-origin` stops scripts, forms and META refresh, and
gives the document an origin of its own (WHATWG HTML §7.1.5). `default-src` stops every request: frames, fonts, external
styles and images, `object`, prefetching. A policy in a META tag of the page can only forbid more. It does not stop
browsers from connecting to a server: see `_EMPTIED`."""

_EMPTIED: Final = {"link": ' rel=""', "iframe": ' srcdoc=""', "frame": ' src="about:blank"'}
"""Elements for which Chromium connects to the server that they name before it blocks the request, and the attribute
that prevents it: of two attributes with the same name the first one counts (WHATWG HTML §13.2.5.33)."""
_TAG: Final = re.compile(rf"<({'|'.join(_EMPTIED)})(?=[\s/>])", re.IGNORECASE | re.ASCII)


def safe_document(copy: CachedCopy, base_url: Url | None = None) -> bytes:
    """Returns the HTML of a copy, in UTF-8, to be sent with `COPY_POLICY`. Relative links lead to `base_url`, else to
    the page's own base, in the whole window. Empty if the copy is no HTML.

    The page stays as it is, except that frames and `link` elements lead nowhere. What comes first counts: its encoding
    is declared within the first 1,024 bytes (WHATWG HTML §4.2.5.4), so a META charset of the page has no effect, and of
    several `base` elements the first one sets URL and target (§4.2.3).
    """
    if copy.html is None:
        return b""
    base = escape((base_url or copy.base).text, quote=True)
    head = f'<!doctype html><meta charset=utf-8><base href="{base}" target=_top>'
    return (head + _TAG.sub(_emptied, copy.html.lstrip("\ufeff"))).encode("utf-8", "replace")


def _emptied(tag: re.Match[str]) -> str:
    return tag[0] + _EMPTIED[tag[1].lower()]
