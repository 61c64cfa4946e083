"""Reads the content of an HTML page, text included, from its tokens. One pass, linear for any markup.

It leaves out comments, `template` (except declared shadow roots, which are displayed), and the text of `script`,
`style` and `iframe`. It keeps `hidden` text, because scripts reveal it, and reads `noscript` and `noframes`, because
this robot runs no scripts. The text of `main` comes first: the text before it is mostly the site's menu.
`data-nosnippet` lasts from its tag to the end tag that closes it, or to the end of the page.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from turbohtml import Tokenizer

from goodbot.exclusion import hides_snippet
from goodbot.page.extract import (
    MAX_ANCHOR_CHARS,
    MAX_FRAGMENT_CHARS,
    MAX_FRAGMENTS,
    MAX_TITLE_CHARS,
    Extract,
    PageCollector,
    folded,
)
from goodbot.page.hidden_parts import HiddenParts
from goodbot.page.menus import folded_blocks, is_menu, text_and_menus, with_link_runs
from goodbot.page.places import MAX_PLACE_CHARS, PlaceCollector, unmarked

MAX_HEADINGS = 500
MAX_HEADING_CHARS = 500
MAX_ALTERNATIVE_TEXTS = 500
MAX_ALTERNATIVE_CHARS = 200
_MAX_PARTS = 100
"""The limit of text pieces read for one anchor or heading: markup inside can make many."""

_BREAK = "\0"
"""Separates blocks until the text is folded. Texts do not contain it, because NUL is removed first."""

_BLOCK_TAGS = """
    address article blockquote body br button caption center details dialog dir fieldset figcaption figure form h5 h6
    hgroup hr legend li listing menu ol optgroup option p plaintext pre search select summary table tbody textarea tfoot
    thead tr xmp
"""
_SEPARATORS = dict.fromkeys(_BLOCK_TAGS.split(), _BREAK) | dict.fromkeys(
    ("audio", "object", "rp", "td", "th", "video"), " "
)
"""What the tags of these elements add to the text; nothing else is to be done for them."""
_BOXES = ("aside", "div", "footer", "header", "nav", "section", "ul")
"""Blocks that may be menus, or carry the anchor of a heading."""
_HIDEABLE = frozenset({"div", "section", "span"})
"""The tags where `data-nosnippet` may count; `hides_snippet` decides."""

_HIDING = re.compile("-nosnippet", re.IGNORECASE)
"""In pages without it, `div` and `span` need no examination. The search takes 5 µs for a page of 18 kB."""


def read_tokens(html: str, *, text: bool = True) -> Extract:
    """Returns the content of a page; without `text` it has no text and no headings. `html` has no NUL."""
    reader = _Reader(_tables(text, hides=text and _HIDING.search(html) is not None))
    reader.read(html)
    return reader.finish(text)


_Attributes = list[tuple[str, str]]
"""Attributes with names in lower case, each once; an attribute without a value has an empty one."""

_StartHandler = Callable[["_Reader", str, _Attributes], None]
_EndHandler = Callable[["_Reader", str], None]


class _Tables(NamedTuple):
    """What some tags add to the text, and the handlers of other tags."""

    separators: dict[str, str]
    starts: dict[str, _StartHandler]
    ends: dict[str, _EndHandler]


@dataclass(slots=True)
class _Reader:
    """The state of the pass. Text that must not be read (raw text, templates) is removed at its end tag."""

    tables: _Tables
    gathering: PageCollector = field(default_factory=PageCollector)
    parts: list[str] = field(default_factory=list)
    headings: list[str] = field(init=False)
    fragments: dict[str, dict[str, str]] = field(init=False)
    seen: dict[tuple[str, str | None], bool] = field(init=False)
    places: PlaceCollector = field(init=False)
    alternative_texts: dict[str, None] = field(default_factory=dict)
    title: str | None = None
    hiding: str | None = None
    hiding_depth: int = 0
    hidden: HiddenParts = field(default_factory=HiddenParts)
    raw: str | None = None
    raw_at: int = 0
    inside_fallback: bool = False
    templates: int = 0
    template_at: int = 0
    svg: int = 0
    heading_at: int | None = None
    subheading_at: int | None = None
    main_at: int | None = None
    main_end: int | None = None
    menu: str | None = None
    menu_at: int = 0
    menu_depth: int = 0
    menus: list[tuple[int, int]] = field(default_factory=list)
    link_at: int | None = None
    links: list[tuple[int, int]] = field(default_factory=list)
    anchor: tuple[str, str | None] | None = None
    anchor_alt: str = ""
    fragment: str = ""
    fragments_left: int = MAX_FRAGMENTS

    def __post_init__(self) -> None:
        found = self.gathering.found
        self.headings = found.headings
        self.fragments = found.fragments
        self.seen = self.gathering.seen
        self.places = PlaceCollector(found, self.parts, self.hidden)

    def read(self, html: str) -> None:
        """Reads all of `html`."""
        tokenizer = Tokenizer()
        tokenizer.feed(html)
        tokenizer.close()
        tokenizer.dispatch(_Calls(self))

    def finish(self, text: bool) -> Extract:
        """Returns the content. The input has ended, so this closes everything that is still open."""
        self._end_open()
        self.end_anchor()
        found = self.gathering.found
        found.title = folded(self.title or "", MAX_TITLE_CHARS)
        if text:
            self._keep_text(found)
        return found

    def _keep_text(self, found: Extract) -> None:
        self.end_heading()
        self.places.end_term()
        self._end_hiding()
        found.alternative_texts = list(self.alternative_texts)
        found.text, found.menus = self._text(self.parts)
        if self.hidden.ranges:
            shown = self.hidden.shown(self.parts, 0, len(self.parts))
            found.shown, found.menus = self._text(shown)

    def _end_open(self) -> None:
        if self.raw is not None:
            self.end_raw(self.raw)
        if self.templates:
            self.templates = 0
            del self.parts[self.template_at :]

    def _text(self, parts: list[str]) -> tuple[str, list[tuple[int, int]]]:
        """Returns one line for each block, the text of `main` first, and the ranges of it that are menus."""
        found = with_link_runs(self.menus, parts, self.links)
        ranges = [(0, len(parts))]
        if self.main_at is not None:
            start, end = self.main_at, self.main_end or len(parts)
            ranges = [(start, end), (0, start), (end, len(parts))]
            parts = [*parts[start:end], *parts[:start], *parts[end:]]
        if not found:
            return folded_blocks(parts), []
        moved, menus = 0, list[tuple[int, int]]()
        for first, last in ranges:
            cut = [(max(start, first), min(end, last)) for start, end in found]
            menus += [(start - first + moved, end - first + moved) for start, end in cut if start < end]
            moved += last - first
        return text_and_menus(parts, menus)

    # ---- text ----

    def start_heading(self, tag: str, attributes: _Attributes) -> None:
        self.end_heading()
        self.parts.append(_BREAK)
        self.heading_at = len(self.parts)
        self.places.begin(_id_of(attributes))

    def end_heading(self, tag: str = "") -> None:
        self.parts.append(_BREAK)
        if self.heading_at is not None and len(self.headings) < MAX_HEADINGS:
            text = unmarked("".join(self.parts[self.heading_at : self.heading_at + _MAX_PARTS]), MAX_HEADING_CHARS)
            if text:
                self.headings.append(text)
            self.places.end(self._as_shown(text, self.heading_at)[:MAX_PLACE_CHARS], is_term=False)
        self.heading_at = None

    def start_subheading(self, tag: str, attributes: _Attributes) -> None:
        self.end_subheading()
        self.subheading_at = len(self.parts)
        self.places.begin(_id_of(attributes))

    def end_subheading(self, tag: str = "") -> None:
        self.parts.append(_BREAK)
        if self.subheading_at is not None:
            text = unmarked("".join(self.parts[self.subheading_at : self.subheading_at + _MAX_PARTS]), MAX_PLACE_CHARS)
            self.places.end(self._as_shown(text, self.subheading_at), is_term=False)
        self.subheading_at = None

    def _as_shown(self, text: str, start: int) -> str:
        """Returns the text of a heading that began at `start`, without what is hidden of it."""
        if not self.hidden.touch(start):
            return text
        return unmarked("".join(self.hidden.shown(self.parts, start, start + _MAX_PARTS)), MAX_HEADING_CHARS)

    def start_term(self, tag: str, attributes: _Attributes) -> None:
        self.places.end_term()
        self.parts.append(_BREAK)
        self.places.begin_term(_id_of(attributes))

    def end_term(self, tag: str) -> None:
        self.places.end_term()
        self.parts.append(_BREAK)

    def start_definition(self, tag: str, attributes: _Attributes) -> None:
        self.places.end_term()
        self.parts.append(_BREAK)

    def start_box(self, tag: str, attributes: _Attributes) -> None:
        self.parts.append(_BREAK)
        for name, value in attributes:
            if name == "id":
                self.places.note(value)
        if self.menu is not None:
            self.menu_depth += tag == self.menu
        elif is_menu(tag, attributes):
            self.menu, self.menu_at, self.menu_depth = tag, len(self.parts), 1

    def end_box(self, tag: str) -> None:
        if tag == self.menu:
            self.menu_depth -= 1
            if not self.menu_depth:
                self.menus.append((self.menu_at, len(self.parts)))
                self.menu = None
        self.parts.append(_BREAK)

    def start_main(self, tag: str, attributes: _Attributes) -> None:
        if self.main_at is None:
            self.main_at = len(self.parts)
        self.parts.append(_BREAK)

    def end_main(self, tag: str) -> None:
        self.parts.append(_BREAK)
        if self.main_at is not None and self.main_end is None:
            self.main_end = len(self.parts)

    def start_hideable(self, tag: str, attributes: _Attributes) -> None:
        if tag in _BOXES:
            self.start_box(tag, attributes)
        if self.hiding is not None:
            self.hiding_depth += tag == self.hiding
        elif hides_snippet(tag, (name for name, _ in attributes)):
            self.hiding, self.hiding_depth = tag, 1
            self.hidden.begin(len(self.parts))

    def end_hideable(self, tag: str) -> None:
        if tag == self.hiding:
            self.hiding_depth -= 1
            if not self.hiding_depth:
                self._end_hiding()
        if tag in _BOXES:
            self.end_box(tag)

    def _end_hiding(self) -> None:
        if self.hiding is not None:
            self.hidden.end(len(self.parts))
        self.hiding = None

    def start_raw(self, tag: str, attributes: _Attributes) -> None:
        self.raw = tag
        self.raw_at = len(self.parts)

    def end_raw(self, tag: str) -> None:
        if tag != self.raw:
            return
        text = "".join(self.parts[self.raw_at :]) if tag in _READ_RAW else ""
        del self.parts[self.raw_at :]
        self.raw = None
        if tag == "title":
            if self.title is None and not self.svg:
                self.title = text
        elif text and not self.inside_fallback:
            self._read_fallback(text)

    def _read_fallback(self, html: str) -> None:
        """Reads markup that the tokenizer took as text. A fallback inside it stays text: every level would cost a
        pass."""
        svg, self.inside_fallback = self.svg, True
        hiding, self.hiding = (self.hiding, self.hiding_depth), None
        self.read(html)
        self._end_open()
        self._end_hiding()
        self.svg, self.inside_fallback = svg, False
        self.hiding, self.hiding_depth = hiding

    def start_svg(self, tag: str, attributes: _Attributes) -> None:
        self.svg += 1

    def end_svg(self, tag: str) -> None:
        self.svg -= self.svg > 0

    def start_template(self, tag: str, attributes: _Attributes) -> None:
        if all(name != "shadowrootmode" for name, _ in attributes):
            self.templates = 1
            self.template_at = len(self.parts)

    def end_template(self, tag: str) -> None:
        if self.templates:
            self.templates -= 1
            if not self.templates:
                del self.parts[self.template_at :]

    # ---- links ----

    def start_a(self, tag: str, attributes: _Attributes) -> None:
        if self.link_at is not None:
            self.end_anchor()
        href = other = rel = None
        for name, value in attributes:  # cheaper than a dict
            if name == "href":
                href = value
            elif name == "rel":
                rel = value
            elif name in _ANCHOR_NAMES:
                self.places.note(value)
            elif name == "xlink:href":
                other = value
        href = other if href is None else href
        if href is None:
            return
        if rel and "alternate" in rel.lower():
            self._note_translation(attributes, rel, href)
        address, _, fragment = href.partition("#")
        self.places.begin_link(address, fragment)
        self.link_at = len(self.parts)
        fragment = fragment and self._if_new(address, fragment)
        anchor = (address, rel)
        if fragment or not self.seen.get(anchor):
            self.anchor = anchor
            self.fragment = fragment
            self.anchor_alt = ""

    def _note_translation(self, attributes: _Attributes, rel: str, href: str) -> None:
        language = next((value for name, value in attributes if name == "hreflang"), "")
        if language:
            self.gathering.note_translation(rel.lower().split(), language, href)

    def _if_new(self, address: str, fragment: str) -> str:
        """Returns the fragment if no link to it with a text was found yet, or else an empty string."""
        is_known = not address or self.fragments_left <= 0 or self.fragments.get(address, _NOTHING).get(fragment)
        return "" if is_known else fragment

    def end_anchor(self, tag: str = "") -> None:
        self.places.end_link()
        start, self.link_at = self.link_at, None
        if start is None:
            return
        self.links.append((start, len(self.parts)))
        if self.anchor is not None:
            text = "".join(self.parts[start : start + _MAX_PARTS])
            anchor = folded(text, MAX_ANCHOR_CHARS) or folded(self.anchor_alt, MAX_ANCHOR_CHARS)
            if not self.seen.get(self.anchor):
                self.gathering.add(self.anchor, anchor)
            if self.fragment:
                self.fragments_left -= 1
                texts = self.fragments.setdefault(self.anchor[0], {})
                texts[self.fragment[:MAX_FRAGMENT_CHARS]] = anchor[:MAX_FRAGMENT_CHARS]
            self.anchor = None

    def start_img(self, tag: str, attributes: _Attributes) -> None:
        self.parts.append(" ")
        alternative = next((value for name, value in attributes if name == "alt"), "")
        if not alternative:
            return
        if self.anchor and not self.anchor_alt:
            self.anchor_alt = alternative
        if len(self.alternative_texts) < MAX_ALTERNATIVE_TEXTS:
            self.alternative_texts[folded(alternative, MAX_ALTERNATIVE_CHARS)] = None

    def start_iframe(self, tag: str, attributes: _Attributes) -> None:
        self.gathering.frame(dict(attributes).get)
        self.start_raw(tag, attributes)


class _Calls:
    """The handlers that `Tokenizer.dispatch` calls, named as in html.parser.

    The list itself appends text, without a call into Python; the handlers of tags are closures. They are separate from
    the reader, so that there is no reference cycle: a page's memory is free as soon as it is read.
    """

    def __init__(self, reader: _Reader) -> None:
        self.handle_data = reader.parts.append
        self.handle_starttag = _at_start(reader)
        self.handle_endtag = _at_end(reader)

    def handle_startendtag(self, tag: str, attributes: _Attributes) -> None:
        """Handles `<tag/>`. Only `svg` and `template` can close themselves; in HTML the slash means nothing."""
        if tag not in ("svg", "template"):
            self.handle_starttag(tag, attributes)

    def handle_comment(self, text: str) -> None: ...
    def handle_decl(self, text: str) -> None: ...
    def handle_pi(self, text: str) -> None: ...


def _at_start(reader: _Reader) -> Callable[[str, _Attributes], None]:
    separators, starts, _ = reader.tables
    append = reader.parts.append

    def handle(tag: str, attributes: _Attributes) -> None:
        if tag in separators:
            append(separators[tag])
        elif tag in starts:
            if not reader.templates:
                starts[tag](reader, tag, attributes)
            elif tag == "template":
                reader.templates += 1

    return handle


def _at_end(reader: _Reader) -> Callable[[str], None]:
    separators, _, ends = reader.tables
    append = reader.parts.append

    def handle(tag: str) -> None:
        if tag in separators:
            append(separators[tag])
        elif tag in ends and (not reader.templates or tag == "template"):
            ends[tag](reader, tag)

    return handle


_NOTHING: dict[str, str] = {}
_ANCHOR_NAMES = ("id", "name")


def _id_of(attributes: _Attributes) -> str | None:
    return next((value for name, value in attributes if name == "id"), None) if attributes else None


_RAW = ("title", "script", "style", "iframe", "noembed", "noframes", "noscript")
"""Elements whose content the tokenizer returns as one piece of text."""

_READ_RAW = frozenset({"title", "noframes", "noscript"})

_STARTS: dict[str, _StartHandler] = {
    **dict.fromkeys(_RAW, _Reader.start_raw),
    "a": _Reader.start_a,
    "iframe": _Reader.start_iframe,
    "svg": _Reader.start_svg,
    "template": _Reader.start_template,
    "area": lambda reader, tag, attributes: reader.gathering.area(dict(attributes).get),
    "base": lambda reader, tag, attributes: reader.gathering.base(dict(attributes).get),
    "frame": lambda reader, tag, attributes: reader.gathering.frame(dict(attributes).get),
    "html": lambda reader, tag, attributes: reader.gathering.html(dict(attributes).get),
    "link": lambda reader, tag, attributes: reader.gathering.link(dict(attributes).get),
    "meta": lambda reader, tag, attributes: reader.gathering.meta(dict(attributes).get),
}
_TEXT_STARTS: dict[str, _StartHandler] = _STARTS | {
    **dict.fromkeys(("h1", "h2", "h3"), _Reader.start_heading),
    **dict.fromkeys(("dd", "dl"), _Reader.start_definition),
    **dict.fromkeys(_BOXES, _Reader.start_box),
    "h4": _Reader.start_subheading,
    "dt": _Reader.start_term,
    "img": _Reader.start_img,
    "input": lambda reader, tag, attributes: reader.parts.append(" "),
    "main": _Reader.start_main,
}
_ENDS: dict[str, _EndHandler] = {
    **dict.fromkeys(_RAW, _Reader.end_raw),
    "a": _Reader.end_anchor,
    "svg": _Reader.end_svg,
    "template": _Reader.end_template,
}
_TEXT_ENDS: dict[str, _EndHandler] = _ENDS | {
    **dict.fromkeys(("h1", "h2", "h3"), _Reader.end_heading),
    **dict.fromkeys(("dt", "dd", "dl"), _Reader.end_term),
    **dict.fromkeys(_BOXES, _Reader.end_box),
    "h4": _Reader.end_subheading,
    "main": _Reader.end_main,
}


@cache
def _tables(text: bool, *, hides: bool) -> _Tables:
    if not text:
        return _Tables({}, _STARTS, _ENDS)
    if not hides:
        return _Tables(_SEPARATORS, _TEXT_STARTS, _TEXT_ENDS)
    starts = _TEXT_STARTS | dict.fromkeys(_HIDEABLE, _Reader.start_hideable)
    return _Tables(_SEPARATORS, starts, _TEXT_ENDS | dict.fromkeys(_HIDEABLE, _Reader.end_hideable))
