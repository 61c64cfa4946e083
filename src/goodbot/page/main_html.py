"""Finds the main content of an HTML page, and converts it to text, Markdown and clean HTML.

The tree, the conversion and most facts about the page are turbohtml's; `content_choice` finds the content. Measured
beside other libraries in docs/decisions/0054-main-content.md.
"""

from dataclasses import dataclass
from typing import Final

import turbohtml
from turbohtml import Markdown, PlainText

from goodbot.page.bounded_tree import build_tree
from goodbot.page.clean_html import SCHEMES, clean_html
from goodbot.page.content_choice import choose_content
from goodbot.page.markdown_writing import markdown_of_lines
from goodbot.page.page_facts import author_of, date_of, title_of

MAX_LINK_CHARS: Final = 16 * 1024 * 1024
"""The limit for the text that absolute links may add: a base URL may be long, and a page has many links."""
MAX_BREAKS: Final = 2
"""Line breaks in a row that are kept; the conversion of more takes quadratic time."""
MAX_CELLS: Final = 20_000
"""A table that would need more cells is left as HTML if its rows differ in length."""

_UNSEEN: Final = (
    "audio, button, canvas, dialog, embed, head, iframe, input, object, script, select, style, svg, template, textarea,"
    " noscript, video, [hidden]"
)
_BLOCKS: Final = "blockquote, dl, h1, h2, h3, h4, h5, h6, ol, pre, table, ul"
_MARKDOWN: Final = Markdown(tables=Markdown.Tables(cell_blocks="text"))
_TEXT: Final = PlainText()


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


def read_main_html(html: str, base: str, title: str, text: str, *, whole: bool = False) -> MainHtml:
    """Reads a page whose links are relative to the URL `base`, with its title and its whole text as a crawl reads them.
    Never raises. `whole`: everything on the page."""
    tree, refused = build_tree(html)
    if tree is None:
        unread = f"the main content was not looked for: {refused}"
        return MainHtml(title, text=text, markdown=markdown_of_lines(text), unread=unread)
    facts = title_of(tree, title), author_of(tree, tree.article().byline), date_of(html)
    tree.remove(_UNSEEN)
    body = tree.select_one("body")
    if body is None:  # a frameset
        return MainHtml(*facts)
    root = body if whole else choose_content(body)
    _prepare(root)
    _resolve_links(tree, root, base)
    return MainHtml(*facts, root.to_text(_TEXT), root.to_markdown(_MARKDOWN), clean_html(root.serialize()))


def _prepare(root: turbohtml.Element) -> None:
    """Makes the tree one that Markdown can show: images of lazy pages get their source, layout tables become blocks,
    cells do not span others."""
    for image in root.select("img"):
        source = image.attrs.get("src")
        if not source or str(source).startswith("data:"):
            image.attrs["src"] = str(image.attrs.get("data-src") or "")
    for table in root.select("table"):
        if _is_layout(table):
            for part in (table, *table.select("tbody, thead, tfoot, tr, td")):
                part.tag = "div"
        else:
            _fill_rows(table)
    for cell in root.select("[colspan], [rowspan]"):
        for name in ("colspan", "rowspan"):
            cell.attrs.pop(name, None)
    _limit_breaks(root)


def _is_layout(table: turbohtml.Element) -> bool:
    """Whether a table arranges parts of a page: no cell is a heading, and one has blocks other than paragraphs."""
    return table.attrs.get("role") == "presentation" or (
        table.select_one("th") is None and table.select_one(_BLOCKS) is not None
    )


def _limit_breaks(root: turbohtml.Element) -> None:
    """Keeps `MAX_BREAKS` line breaks in a row."""
    breaks = 0
    for node in root.descendants:
        if isinstance(node, turbohtml.Text):
            breaks = 0 if node.data.strip() else breaks
        elif isinstance(node, turbohtml.Element) and node.tag == "br":
            breaks += 1
            if breaks > MAX_BREAKS:
                node.tag = "wbr"  # it shows nothing; taking the element out would take linear time


def _fill_rows(table: turbohtml.Element) -> None:
    """Gives all rows of a table the same number of cells, as tables in Markdown need it."""
    rows = [(row, len(row.select("td, th"))) for row in table.select("tr")]
    width = max((cells for _, cells in rows), default=0)
    if width * len(rows) <= MAX_CELLS:
        for row, cells in rows:
            for _ in range(width - cells):
                row.append(turbohtml.Element("td"))


def _resolve_links(tree: turbohtml.Document, root: turbohtml.Element, base: str) -> None:
    """Makes the links below `root` absolute. Links of other kinds than Web and mail become text."""
    links = root.select("a[href], img[src]")
    if len(links) * len(base) > MAX_LINK_CHARS:
        for link in links:
            link.attrs.pop("href", None)
        root.remove("img")
        return
    tree.resolve_links(base)
    for link in links:
        name = "src" if link.tag == "img" else "href"
        if not str(link.attrs.get(name) or "").lower().startswith(SCHEMES):
            link.attrs.pop(name, None)
    for image in root.select("img:not([src])"):
        image.replace_with(turbohtml.Text(str(image.attrs.get("alt") or "")))
