"""Reads Markdown by converting it to HTML, so that HTML that writers mix in is read by the same rules.

Links are those of CommonMark: inline, by reference, in angle brackets, and in HTML; a bare URL is text. Tables,
footnotes and task lists are GitHub's.
"""

import re

from pyromark import Markdown, Options

from goodbot.page.extract import MAX_TITLE_CHARS, Extract, folded
from goodbot.page.html import read_html

_FRONT_CHARS = 65536
_FRONT = re.compile(r"(---|\+\+\+)[ \t]*+\r?\n(.*?)^(?:\1|\.\.\.)[ \t\r]*+$", re.DOTALL | re.MULTILINE)
"""Matches front matter: YAML or TOML before the document, as in the sources of static site generators."""

_FIELD = re.compile(r"""^(title|lang|language)[ \t]*+[:=][ \t]*+(["']?+)(.*)$""", re.MULTILINE)

_HIDING_TAG = re.compile(
    r"<(?=/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext|template|base)\b)", re.IGNORECASE
)
"""Matches tags that would hide the text after them (GitHub Flavored Markdown §6.11), or change its links. In a sentence
such a tag is meant as its name."""

_TO_HTML = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_HEADING_ATTRIBUTES
)


def read_markdown(content: str, *, text: bool = True) -> Extract:
    """Returns the text without markup, the headings, the links, and the title: from front matter, or the first heading
    that snippets may show.

    Linear: 2 MB of the worst nesting take 0.2 s and become 27 MB of HTML.
    """
    front, html = _converted(content)
    stated = _fields(front)
    found = read_html(html)
    found.title = stated.get("title") or _first_shown_heading(found)
    found.language = stated.get("language", stated.get("lang"))
    if not text:
        found.text, found.shown, found.headings = "", None, []
    return found


def html_of_markdown(content: str) -> str:
    """Returns a document as HTML, without its front matter. HTML that its writer mixed in stays."""
    return _converted(content)[1]


def _converted(content: str) -> tuple[str, str]:
    """Returns the front matter, and the rest as HTML."""
    content = content.replace("\0", "")
    front = _FRONT.match(content, 0, _FRONT_CHARS)
    html = _TO_HTML.html(content[front.end() :] if front else content)
    return front[2] if front else "", _HIDING_TAG.sub("&lt;", html)


def _first_shown_heading(found: Extract) -> str:
    return next((text for text in found.headings if found.shown is None or text in found.shown), "")


def _fields(front: str) -> dict[str, str]:
    """Returns the first value of each field, without its quotes."""
    fields: dict[str, str] = {}
    for name, quote, value in _FIELD.findall(front):
        fields.setdefault(name, folded(value.strip().removesuffix(quote), MAX_TITLE_CHARS))
    return fields
