"""The head and the links of a page, without its text: half the work, where nothing is to be indexed.

turbohtml's streaming rewriter finds the elements and calls Python for those only. Nothing is rewritten but a mark set
before each element whose text is needed, by which it is found in the output. Links stand in document order, those of
`noscript` and `noframes` last.
"""

from collections.abc import Callable

from turbohtml import TokenType, tokenize
from turbohtml.rewrite import Element, rewrite

from goodbot.page.found import MAX_TITLE_CHARS, Extract, Gathering, Get, folded

MAX_TAGS = 32_768
"""The rewriter looks for what an end tag closes in all open elements, so it is quadratic: the most hostile page with so
many tags takes 0.1 s, one of 5 MB would take half a minute. Real pages have so many from 1 MB on."""

_MARK = "\0"
"""No page holds one, as NUL is taken out first."""

_ELEMENTS = "area,base,frame,html,iframe,link,meta,noframes,noscript,svg,template,title"


def skim(html: str) -> Extract | None:
    """Title, META, base, canonical, language and links, without anchors. `html` has no NUL.

    None if that takes all tokens: the page has too many tags, a template, or SVG before its title. A raw text element
    whose start tag ends in `/>` (`<script/>`) is empty here, as its author meant; for the tokenizer it goes on.
    """
    if len(html) > MAX_TAGS and html.count("<") > MAX_TAGS:
        return None
    skimmer = _Skimmer()
    skimmer.read(html)
    skimmer.found.title = folded(skimmer.title or "", MAX_TITLE_CHARS)
    return None if skimmer.is_odd else skimmer.found


class _Skimmer(Gathering):
    """The state of the pass."""

    def __init__(self) -> None:
        super().__init__()
        self.title: str | None = None
        self.is_titled = False
        self.marked: list[str] = []
        self.inside_fallback = False
        self.is_odd = False

    def read(self, html: str) -> None:
        """All of `html`, then what the marked elements hold. Fallbacks inside fallbacks are left alone."""
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
            self.is_odd |= not element.has_attribute("shadowrootmode")
        elif tag == "svg":
            self.is_odd |= not self.is_titled
        else:
            _GATHERED[tag](self, _getter(element))

    def _mark(self, tag: str, element: Element) -> None:
        if tag == "title":
            self.is_titled = True
        elif self.inside_fallback:
            return
        self.marked.append(tag)
        element.before(_MARK, html=True)


def _at_a(gathering: Gathering) -> Callable[[Element], None]:
    """A closure, as it is called for every `a`."""
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
    """An attribute without a value has an empty one, as the tokenizer has it."""

    def get(name: str) -> str | None:
        value = element.get(name)
        return "" if value is None and element.has_attribute(name) else value

    return get


def _raw_text(html: str) -> str:
    """The text of the element that `html` begins with."""
    tokens = tokenize(html)
    next(tokens)
    text = next(tokens, None)
    return text.data or "" if text is not None and text.type is TokenType.TEXT else ""


_GATHERED = {
    "area": Gathering.area,
    "base": Gathering.base,
    "frame": Gathering.frame,
    "html": Gathering.html,
    "iframe": Gathering.frame,
    "link": Gathering.link,
    "meta": Gathering.meta,
}
