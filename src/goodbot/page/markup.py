"""Reads the tags of real-world XML, and the text before each. It builds no tree, expands no entities and never fails.

This is not a conforming XML parser. Real sitemaps and feeds have bare `&`, control characters, HTML entities and
missing ends, where a conforming parser has to stop; this one goes on at the next `<`. It skips the declarations of a
DOCTYPE, so there is nothing to expand and nothing to fetch. Expat protects itself against expansion (from 2.4) and
against large tokens in pieces (from 2.6), but Debian 12 has 2.5, so neither can be relied on.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

TAG_CHARS: Final = 65_536
"""The limit for a tag or a DOCTYPE. A `<` without a `>` within it is text; after a longer DOCTYPE nothing is read."""

TEXT_CHARS: Final = 65_536
"""The limit for the text before one tag."""

_MARK = re.compile(
    r"""<(/?)([^\s<>/!?"'=][^\s<>/"']*+)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+|[^<>]*+)>|<!--|<!\[CDATA\[|<!|<\?"""
)
"""No attempt to match goes past the next `<`, so that each character is examined a few times at most."""

_DOCTYPE = re.compile(
    r"""<!DOCTYPE(?:[^\[<>"']++|"[^"]*+"|'[^']*+')*+
    (?:\[(?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--(?:[^-]++|-(?!->))*+-->|<(?!!--))*+\]\s*+)?>""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_START = len("<!DOCTYPE")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))""")


class MarkupTag(NamedTuple):
    """A tag. `text` is the text between the previous tag and this one, `name` is as written, `attributes` is unparsed.
    `whole` is the element with its content, if `Markup.whole` matched it."""

    text: str
    closing: bool
    name: str
    attributes: str
    whole: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the tag is `<name/>`, which has no end tag."""
        return self.attributes.endswith("/")


class Markup:
    """Reads one document in blocks. Afterwards `error` says what was not read, if anything.

    The caller may set `whole` meanwhile: a pattern of elements to return in one piece if they are within one block.
    """

    def __init__(self) -> None:
        self.error = ""
        self.whole: re.Pattern[str] | None = None
        self._begun = False
        self._rest = ""
        self._text: list[str] = []
        self._raw: list[str] = []
        self._room = TEXT_CHARS
        self._until = ""

    def tags(self, blocks: Iterable[str]) -> Iterator[MarkupTag]:
        """Yields every tag as its block arrives. Memory does not grow with the document."""
        for block in blocks:
            yield from self._block(block)
            if self._until == _NEVER:
                return

    def _block(self, block: str) -> Iterator[MarkupTag]:
        data, at = self._rest + block, 0
        self._rest = ""
        last = data.rfind("<")
        while at < len(data):
            if self._until:
                at = self._skip(data, at)
                continue
            found = _MARK.search(data, at)
            if found is None or (found.start() == last and _is_half(found)):
                self._keep_end(data, at, last)
                return
            self._add(data[at : found.start()])
            closing, name, attributes = found.groups()
            if name is None:
                at = self._declared(data, found)
                continue
            self._begun = True
            whole = self.whole.match(data, found.start()) if self.whole is not None and not closing else None
            at = (whole or found).end()
            yield MarkupTag(self._take_text(), bool(closing), name, attributes, whole[0] if whole else "")

    def _add(self, text: str) -> None:
        if text and self._room > 0:
            self._raw.append(text[: self._room])
            self._room -= len(text)

    def _unescape(self) -> None:
        """Replaces references in the text so far: one may have arrived in two blocks."""
        if self._raw:
            self._text.append(unescaped("".join(self._raw)))
            self._raw.clear()

    def _take_text(self) -> str:
        self._unescape()
        text = "".join(self._text)
        self._text.clear()
        self._room = TEXT_CHARS
        return text

    def _keep_end(self, data: str, at: int, start: int) -> None:
        """Keeps the possible beginning of a tag for the next block."""
        if start < at or len(data) - start > TAG_CHARS:
            start = len(data)
        self._add(data[at:start])
        self._rest = data[start:]

    def _skip(self, data: str, at: int) -> int:
        """Skips to the end of a comment, a CDATA section or a processing instruction."""
        found = data.find(self._until, at)
        end = found if found >= 0 else max(at, len(data) - len(self._until) + 1)
        if self._until == "]]>" and self._room > 0:
            self._unescape()
            self._text.append(data[at:end][: self._room])
            self._room -= end - at
        if found < 0:
            self._rest = data[end:]
            return len(data)
        end += len(self._until)
        self._until = ""
        return end

    def _declared(self, data: str, found: re.Match[str]) -> int:
        """Reads `<!` and `<?`; returns where to go on."""
        mark, at = found[0], found.start()
        if mark == "<!" and len(data) - at < _LONGEST_START:
            self._rest = data[at:]
            return len(data)
        if mark == "<!":
            is_doctype = not self._begun and data[at : at + _LONGEST_START].upper() == "<!DOCTYPE"
            return self._doctype(data, at) if is_doctype else found.end()
        self._until = {"<!--": "-->", "<![CDATA[": "]]>", "<?": ">"}[mark]
        return found.end()

    def _doctype(self, data: str, at: int) -> int:
        found = _DOCTYPE.match(data, at)
        if found is not None and found.end() - at <= TAG_CHARS:
            if "<!entity" in found[0].lower():
                self.error = "it declares entities, which are not expanded"
            return found.end()
        if len(data) - at > TAG_CHARS:
            self.error, self._until = f"its DOCTYPE does not end within {TAG_CHARS} characters", _NEVER
        else:
            self._rest = data[at:]
        return len(data)


def _is_half(found: re.Match[str]) -> bool:
    """Whether a quote is still open at the end of the match: the `>` may be inside an attribute value."""
    attributes = found[3]
    return bool(attributes) and (attributes.count('"') % 2 == 1 or attributes.count("'") % 2 == 1)


_NEVER: Final = "\0"
"""The value of `_until` after which nothing more is read."""


def unescaped(text: str) -> str:
    """Replaces XML's five named references and numeric ones; other references stay as they are."""
    return _REFERENCE.sub(_referred, text) if "&" in text else text


def _referred(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return _NAMED[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def attributes_of(tag: MarkupTag) -> dict[str, str]:
    """Returns the attributes by lower-case name; the first of a name counts."""
    values: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag.attributes):
        values.setdefault(name.lower(), unescaped(double or single or bare))
    return values
