"""Names the programming languages of code blocks in the way that is read by converters to Markdown."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import turbohtml

_NAMED: Final = re.compile(r"(?:language|highlight-source|highlight)-([a-z0-9_+#.-]{1,30})", re.IGNORECASE)
"""Classes of a code block, or of an element around it: those of HTML's own advice, GitHub and Sphinx."""
_ON_CODE: Final = re.compile(r"lang-([a-z0-9_+#.-]{1,30})", re.IGNORECASE)
"""Around a code block, this class may name a language of people."""
_NAME: Final = re.compile(r"[a-z0-9_+#.-]{1,30}", re.IGNORECASE)
_NO_LANGUAGES: Final = frozenset({"default", "none"})
_MAX_CLASSES: Final = 20
_MAX_AROUND: Final = 3


def name_languages(root: turbohtml.Element) -> None:
    """Gives each code block below `root` the class `language-…`, if its author names a language, and no other. A name
    has letters, digits and `_+#.-` only: the page chooses it, and it must not end the line that begins the block."""
    blocks = [(block, _language(block)) for block in root.select("pre")]
    for element in root.select("pre[class], code[class]"):
        del element.attrs["class"]
    for block, language in blocks:
        for element in (block, *_codes(block)) if language else ():
            element.attrs["class"] = f"language-{language}"


def _language(block: turbohtml.Element) -> str:
    for element in (*_codes(block), block):
        classes = _classes(element)
        marked = classes[classes.index("hljs") + 1 :] if "hljs" in classes else []
        found = (element.attrs.get("data-language"), element.attrs.get("data-lang"), *marked)
        names = [str(name) for name in found if name and _NAME.fullmatch(str(name))]
        if named := [*_named(classes), *(match[1] for each in classes if (match := _ON_CODE.fullmatch(each))), *names]:
            return named[0]
    around = block.parent
    for _ in range(_MAX_AROUND):
        if not isinstance(around, turbohtml.Element):
            break
        if named := _named(_classes(around)):
            return named[0]
        around = around.parent
    return ""


def _named(classes: list[str]) -> list[str]:
    found = [match[1] for each in classes if (match := _NAMED.fullmatch(each))]
    return [name for name in found if name.lower() not in _NO_LANGUAGES]


def _classes(element: turbohtml.Element) -> list[str]:
    value = element.attrs.get("class")
    return (value if isinstance(value, list) else (value or "").split())[:_MAX_CLASSES]


def _codes(block: turbohtml.Element) -> Iterator[turbohtml.Element]:
    """Yields the first code element directly in a block."""
    codes = (child for child in block.children if isinstance(child, turbohtml.Element) and child.tag == "code")
    yield from islice(codes, 1)
