"""Replaces the formulas of a page by their text: TeX, if the page has it.

A formula is MathML, or an image as MediaWiki adds it for browsers without MathML. Programs that write MathML keep its
source in an annotation, and the text of MathML without its layout is wrong: a² would be a2.
"""

import re
from typing import Final

import turbohtml

INLINE: Final = "tex-formula"
BLOCK: Final = "tex-formula-block"
"""The names of elements that hold TeX, within a line and on lines of its own."""

_SOURCE: Final = "annotation[encoding='application/x-tex']"
_OF_IMAGES: Final = frozenset({"mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"})
_TEX_MARKS: Final = "\\^_{"
_MARKUP: Final = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(\[])")
"""Matches what would begin a tag or a link in Markdown, where TeX is not escaped. It gets a space after it, which TeX
ignores."""
_STYLE: Final = "{\\displaystyle "


def replace_formulas(root: turbohtml.Element) -> None:
    """Replaces all formulas below `root`."""
    for element in _formulas(root):
        text, is_tex, is_block = _read(element)
        text = " ".join(text.split())
        if is_tex and text:
            formula = turbohtml.Element(BLOCK if is_block else INLINE)
            formula.append(turbohtml.Text(_MARKUP.sub(r"\g<0> ", text)))
            element.replace_with(formula)
        else:
            element.replace_with(turbohtml.Text(text))
    for drawn in root.select(".katex-mathml + .katex-html"):  # the same formula once more
        drawn.decompose()


def _formulas(root: turbohtml.Element) -> list[turbohtml.Element]:
    """Finds the formulas that are in no other."""
    if root.select_one("math, img[class]") is None:
        return []
    found, todo = list[turbohtml.Element](), [root]
    while todo:
        for child in todo.pop().children:
            if not isinstance(child, turbohtml.Element):
                continue
            if child.tag == "math" or (
                child.tag == "img" and not _OF_IMAGES.isdisjoint(child.attrs.get("class") or ())
            ):
                found.append(child)
            else:
                todo.append(child)
    return found


def _read(element: turbohtml.Element) -> tuple[str, bool, bool]:
    """Returns the text of a formula, whether it is TeX, and whether it has lines of its own."""
    if element.tag == "img":
        is_block = "mwe-math-fallback-image-display" in (element.attrs.get("class") or ())
        return _without_style(str(element.attrs.get("alt") or "")), True, is_block
    is_block = str(element.attrs.get("display") or "").strip().lower() == "block"
    source = element.select_one(_SOURCE)
    if source is not None and source.text.strip():
        return _without_style(source.text), True, is_block
    if alternative := str(element.attrs.get("alttext") or "").strip():
        return _without_style(alternative), any(mark in alternative for mark in _TEX_MARKS), is_block
    element.remove("annotation, annotation-xml")
    return element.text, False, is_block


def _without_style(tex: str) -> str:
    """Removes the braces and the command that MediaWiki puts around each formula."""
    tex = tex.strip()
    return tex.removeprefix(_STYLE)[:-1] if tex.startswith(_STYLE) and tex.endswith("}") else tex
