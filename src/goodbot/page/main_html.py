"""Finds the main content of an HTML page, and converts it to text, Markdown and clean HTML."""

import re
from dataclasses import dataclass
from datetime import date

from turbohtml import Markdown

from goodbot.page.bounded_tree import build_tree
from goodbot.page.markdown_writing import iso_date, markdown_of_lines
from goodbot.page.sitemap import parse_list_date

_UNSEEN = "script, style, template, noscript, svg, textarea, select, button, iframe, object, video, audio, canvas"
_MARKDOWN = Markdown()
_DAY = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])", re.ASCII)


@dataclass(frozen=True, slots=True)
class MainHtml:
    """The main content of a page. `unread` says why it could not be found; then `text` is that of the whole page."""

    title: str = ""
    author: str | None = None
    date: str | None = None
    text: str = ""
    markdown: str = ""
    html: str = ""
    unread: str = ""


def read_main_html(html: str, base: str, text: str, *, whole: bool = False) -> MainHtml:
    """Reads a page whose links are relative to the URL `base`, and whose whole text is `text`. Never raises."""
    tree, refused = build_tree(html)
    if tree is None:
        return MainHtml(text=text, markdown=markdown_of_lines(text), unread=f"the main content: {refused}")
    article = tree.article()
    tree.remove(_UNSEEN)
    tree.resolve_links(base)
    body = tree.select_one("body")
    root = body if whole else article.element or body
    if root is None:
        return MainHtml(article.title or "", article.byline, day_of(article.date))
    return MainHtml(
        article.title or "",
        article.byline,
        day_of(article.date),
        root.to_text(),
        root.to_markdown(_MARKDOWN),
        root.serialize(),
    )


def day_of(stated: str | None) -> str | None:
    """Returns the day of a date as a page states it (`2026-03-04`), or None. A time with a zone gives the day there."""
    found = _DAY.match(stated or "")
    if found is not None:
        try:
            return date.fromisoformat(found[1]).isoformat()
        except ValueError:
            return None
    at = parse_list_date(stated) if stated else None
    return None if at is None else iso_date(at) or None
