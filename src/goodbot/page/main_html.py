"""Finds the main content of an HTML page, and converts it to text, Markdown and clean HTML.

The tree, the conversion and most facts about the page are turbohtml's; `content_choice` finds the content. Measured
beside other libraries in docs/decisions/0054-main-content.md.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import turbohtml
from turbohtml import Markdown

from goodbot.page.bounded_tree import build_tree
from goodbot.page.clean_html import OTHER_SCHEMES, clean_html
from goodbot.page.code_languages import name_languages
from goodbot.page.content_choice import choose_content
from goodbot.page.formulas import BLOCK, INLINE, replace_formulas
from goodbot.page.hidden_style import hides
from goodbot.page.html import read_html
from goodbot.page.main_tables import prepare_tables
from goodbot.page.markdown import html_of_markdown
from goodbot.page.markdown_writing import markdown_of_lines
from goodbot.page.page_facts import author_of, date_of, title_of
from goodbot.url import Url, resolve

MAX_LINK_CHARS: Final = 16 * 1024 * 1024
"""Maximum number of characters that making links absolute may add: a base URL may be long, and a page has many
links."""
MAX_BREAKS: Final = 2
"""Line breaks in a row that are kept; the conversion of more takes quadratic time."""

_UNSEEN: Final = (
    "audio, button, canvas, dialog, embed, head, iframe, input, object, rp, rt, script, select, style, svg, template,"
    " textarea, noscript, video, [hidden]"
)
_UNQUOTED: Final = "!#$%&'()*+,/:;=?@[\\]^{|}"
"""Characters of a fragment that are not percent-encoded, beside letters, digits and `-._~` (WHATWG URL §1.3)."""
_MAX_CHECKED: Final = 5_000
"""At most this many links and headings are checked for text: they may be nested, so checking takes quadratic time."""
_CODE_BLOCK: Final = re.compile(r"<pre\b[^>]*>|</pre>|\n")
_MAX_SCRIPT_CHARS: Final = 40
_TASK: Final = "task-mark"
"""The name that the check box of a task list gets in the tree, so that it is not removed with other input elements."""
_MARKDOWN: Final = Markdown(
    tables=Markdown.Tables(cell_blocks="text"),
    converters={
        "sub": lambda _, content: f"<sub>{content}</sub>",
        "sup": lambda _, content: f"<sup>{content}</sup>",
        _TASK: lambda box, _: "[x]" if "checked" in box.attrs else "[ ]",
        INLINE: lambda formula, _: f"${formula.text}$",
        BLOCK: lambda formula, _: f"\n\n$${formula.text}$$\n\n",
    },
)


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
        unread, markdown = f"the main content was not extracted: {refused}", markdown_of_lines(text)
        return MainHtml(title, None, None, text, markdown, clean_html(html_of_markdown(markdown)), unread)
    facts = title_of(tree, title), author_of(tree), date_of(tree, html)
    _name_tasks(tree)
    tree.remove(_UNSEEN)
    body = tree.select_one("body")
    if body is None:  # a frameset
        return MainHtml(*facts)
    _remove_invisible(body)
    replace_formulas(body)
    _prepare(body)
    root = body if whole else choose_content(body)
    _resolve_links(root, base)
    content = clean_html(root.serialize())
    # Not the tree's own text: it pads the cells of a table, so that one long cell makes all rows as long.
    return MainHtml(*facts, read_html(_broken_lines(content)).text, _markdown(root), content)


def convert_markdown(markdown: str, base: str) -> tuple[str, str]:
    """Returns a Markdown document with absolute links, as Markdown and as clean HTML. Never raises."""
    html = html_of_markdown(markdown)
    tree, _ = build_tree(html)
    body = None if tree is None else tree.select_one("body")
    if tree is None or body is None:
        return markdown, clean_html(html)
    _name_tasks(tree)
    tree.remove(_UNSEEN)
    _prepare(body)
    _resolve_links(body, base)
    clean = clean_html(body.serialize(inner=True))
    return _markdown(body), clean


def _markdown(root: turbohtml.Element) -> str:
    """Returns the content below `root` as Markdown; changes its tree."""
    _limit_scripts(root)
    return root.to_markdown(_MARKDOWN)


def _remove_invisible(body: turbohtml.Element) -> None:
    """Removes elements that a `style` attribute hides: text that no reader sees may be meant for models. Stylesheets,
    which may hide others, are not read."""
    for element in body.select("[style]"):
        if hides(str(element.attrs.get("style") or "")):
            element.decompose()


def _broken_lines(html: str) -> str:
    """Returns clean HTML in which the lines of code blocks end with `br`, so that they stay lines of text."""
    depth = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal depth
        if found[0] == "\n":
            return "<br>" if depth else "\n"
        depth += -1 if found[0] == "</pre>" else 1
        return found[0]

    return _CODE_BLOCK.sub(replaced, html)


def _name_tasks(tree: turbohtml.Document) -> None:
    """Renames the check boxes of task lists, as programs write them for Markdown."""
    for box in tree.select("li input[type=checkbox][disabled]")[:_MAX_CHECKED]:
        box.tag = _TASK


def _prepare(root: turbohtml.Element) -> None:
    """Prepares the tree for Markdown: images of lazy pages get their source, code blocks their language,
    tables fit into lines."""
    name_languages(root)
    _remove_empty(root)
    for image in root.select("img"):
        source = image.attrs.get("src")
        if not source or str(source).startswith("data:"):
            image.attrs["src"] = str(image.attrs.get("data-src") or "")
    prepare_tables(root)
    _limit_breaks(root)


def _remove_empty(root: turbohtml.Element) -> None:
    """Makes links and headings that show nothing ordinary elements: Markdown would show their marks."""
    for element in root.select("a[href], h1, h2, h3, h4, h5, h6")[:_MAX_CHECKED]:
        if next(iter(element.stripped_strings), None) is None and element.select_one("img") is None:
            element.tag = "span"


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


def _limit_scripts(root: turbohtml.Element) -> None:
    """Keeps superscripts and subscripts of a few characters, as in 10<sup>6</sup>. Others, such as those around the
    number of a footnote with its link, become ordinary elements."""
    for element in root.select("sup, sub"):
        chars = 0
        for child in element.children:
            chars += len(child.data) if isinstance(child, turbohtml.Text) else _MAX_SCRIPT_CHARS
            if chars >= _MAX_SCRIPT_CHARS:
                break
        if not 0 < chars < _MAX_SCRIPT_CHARS:
            element.tag = "span"


def _resolve_links(root: turbohtml.Element, base: str) -> None:
    """Makes the links below `root` absolute. Links of other kinds than Web and mail, and invalid ones, become text."""
    links = root.select("a[href], img[src]")
    if len(links) * len(base) > MAX_LINK_CHARS:
        for link in links:
            link.attrs.pop("href", None)
        root.remove("img")
        return
    page = Url(base)
    for link in links:
        name = "src" if link.tag == "img" else "href"
        reference = str(link.attrs.get(name) or "")
        target = _absolute(page, reference) if reference or name == "href" else None
        if target is None:
            link.attrs.pop(name, None)
        else:
            link.attrs[name] = target
    for image in root.select("img:not([src])"):
        image.replace_with(turbohtml.Text(str(image.attrs.get("alt") or "")))


def _absolute(page: Url, reference: str) -> str | None:
    """Returns the URL that a link leads to, with its fragment; None if goodbot does not keep such links."""
    if reference.strip().lower().startswith(OTHER_SCHEMES):
        return quote(reference.strip(), safe=_UNQUOTED, errors="replace")
    url = resolve(page, reference)
    if url is None:
        return None
    fragment = quote(reference.partition("#")[2].strip(), safe=_UNQUOTED, errors="replace")
    return f"{url.text}#{fragment}" if fragment else url.text
