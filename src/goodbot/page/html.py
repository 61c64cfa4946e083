"""Reads the content of HTML.

It reads the tokens of the WHATWG tokenizer in one pass, without a tree: a tree can be a thousand times as large as its
page. If no text is needed, it reads only the head and the links.
"""

import re

from goodbot.page.extract import Extract
from goodbot.page.skim import skim
from goodbot.page.tokens import read_tokens

_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+"
    rb"<(?:!doctype\s+html|html|head|title|meta|body|script|style|link|base|frameset|iframe|table|div|h1|p|a|b|br)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
"""The tags of WHATWG MIME Sniffing §7.1, and a few more. The quantifiers are possessive, so that nothing is tried
twice."""


def looks_like_html(beginning: bytes) -> bool:
    """Whether a document without a type begins like HTML."""
    return _LOOKS_LIKE_HTML.match(beginning) is not None


def read_html(html: str, *, text: bool = True) -> Extract:
    """Returns the content of a page; without `text` it has no text and no headings, and links may lack anchors."""
    if "\0" in html:
        html = html.replace("\0", "")
    return (None if text else skim(html)) or read_tokens(html, text=text)
