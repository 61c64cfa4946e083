"""HTML → what stands in it.

Read from the tokens of the WHATWG tokenizer, in one pass, without a tree: a tree can be a thousand times as large as
its page. Where no text is wanted, only the head and the links are looked at.
"""

import re

from goodbot.page.found import Extract
from goodbot.page.skim import skim
from goodbot.page.tokens import read_tokens

_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+"
    rb"<(?:!doctype\s+html|html|head|title|meta|body|script|style|link|base|frameset|iframe|table|div|h1|p|a|b|br)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
"""WHATWG MIME Sniffing §7.1, and a few more tags. Possessive, so that nothing is tried twice."""


def looks_like_html(beginning: bytes) -> bool:
    """Whether a document without a type begins as HTML does."""
    return _LOOKS_LIKE_HTML.match(beginning) is not None


def read_html(html: str, *, text: bool = True) -> Extract:
    """Everything a page says; without `text` neither text nor headings, and links need not have anchors."""
    if "\0" in html:
        html = html.replace("\0", "")
    return (None if text else skim(html)) or read_tokens(html, text=text)
