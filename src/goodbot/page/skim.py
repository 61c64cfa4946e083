"""Reads the head and the links of a page without its text: half the work, if nothing is indexed.

turbohtml's streaming rewriter finds the elements and calls Python only for those. It changes nothing, but inserts a
mark before each element whose text is needed, to find it in the output. Links are in document order, those of
`noscript` and `noframes` last.
"""

from collections.abc import Callable

from turbohtml import TokenType, tokenize
from turbohtml.rewrite import Element, rewrite

from goodbot.page.extract import MAX_TITLE_CHARS, Extract, Get, PageCollector, folded

MAX_TAGS = 32_768
"""The limit of tags. For each end tag the rewriter searches all open elements, so it is quadratic: the most hostile
page with this many tags takes 0.1 s, one of 5 MB would take half a minute. Real pages have this many from 1 MB on."""

_MARK = "\0"
"""Pages do not contain it, because NUL is removed first."""

_ELEMENTS = "area,base,frame,html,iframe,link,meta,noframes,noscript,svg,template,title"


def skim(html: str) -> Extract | None:
    """Returns title, META, base, canonical, language and links, without anchors. `html` has no NUL.

    Returns None if only the tokens can tell: the page has too many tags, a template, or SVG before its title. A raw
    text element whose start tag ends in `/>` (`<script/>`) is empty here, as its author meant; for the tokenizer it
    goes on.
    """
    if len(html) > MAX_TAGS and html.count("<") > MAX_TAGS:
        return None
    skimmer = _Skimmer()
    skimmer.read(html)
    skimmer.found.title = folded(skimmer.title or "", MAX_TITLE_CHARS)
    return None if skimmer.needs_tokens else skimmer.found


class _Skimmer(PageCollector):
    """The state of the pass."""

    def __init__(self) -> None:
        super().__init__()
        self.title: str | None = None
        self.is_titled = False
        self.marked: list[str] = []
        self.inside_fallback = False
        self.needs_tokens = False

    def read(self, html: str) -> None:
        """Reads `html`, then the contents of the marked elements. It ignores fallbacks inside fallbacks."""
        marked: list[str] = []
        self.marked = marked
        self.is_titled = self.title is not None
        _, *pieces = rewrite(html, elements=(("a", _at_a(self)), (_ELEMENTS, self._at_other))).split(_MARK)
        for tag, piece in zip(marked, pieces, strict=True):
            text = _raw_text(piece)
            if tag != "title":
                self.inside_fallback = True
                self.read(text)
                self.inside_fallback = False
            elif self.title is None:
                self.title = text

    def _at_other(self, element: Element) -> None:
        tag = element.tag
        if tag in ("title", "noscript", "noframes"):
            self._mark(tag, element)
        elif tag == "template":
            self.needs_tokens |= not element.has_attribute("shadowrootmode")
        elif tag == "svg":
            self.needs_tokens |= not self.is_titled
        else:
            _GATHERED[tag](self, _getter(element))

    def _mark(self, tag: str, element: Element) -> None:
        if tag == "title":
            self.is_titled = True
        elif self.inside_fallback:
            return
        self.marked.append(tag)
        element.before(_MARK, html=True)


def _at_a(gathering: PageCollector) -> Callable[[Element], None]:
    """Returns a closure, because it is called for every `a`."""
    seen, add = gathering.seen, gathering.add

    def handle(element: Element) -> None:
        href = element.get("href")
        if href is None:
            href = "" if element.has_attribute("href") else element.get("xlink:href")
        if href is not None:
            key = (href.partition("#")[0], element.get("rel"))
            if key not in seen:
                add(key, "")

    return handle


def _getter(element: Element) -> Get:
    """Returns a getter that gives attributes without a value an empty one, as the tokenizer does."""

    def get(name: str) -> str | None:
        value = element.get(name)
        return "" if value is None and element.has_attribute(name) else value

    return get


def _raw_text(html: str) -> str:
    """Returns the text of the first element of `html`."""
    tokens = tokenize(html)
    next(tokens)
    text = next(tokens, None)
    return text.data or "" if text is not None and text.type is TokenType.TEXT else ""


_GATHERED = {
    "area": PageCollector.area,
    "base": PageCollector.base,
    "frame": PageCollector.frame,
    "html": PageCollector.html,
    "iframe": PageCollector.frame,
    "link": PageCollector.link,
    "meta": PageCollector.meta,
}
