"""Tags of XML as strangers write it: whatever comes, in whatever pieces, in linear time and bounded memory."""

import itertools
import re
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page import markup
from goodbot.page.markup import TAG_CHARS, TEXT_CHARS, Markup, MarkupTag, attributes_of, unescaped


def read(*blocks: str) -> list[str]:
    """Each tag as `text|name`, end tags with a slash."""
    return [f"{tag.text}|{'/' * tag.closing}{tag.name}" for tag in Markup().tags(blocks)]


@pytest.mark.parametrize(
    ("document", "tags"),
    [
        ("<a>x</a>", ["|a", "x|/a"]),
        ("<a ><b c='1'/></a >", ["|a", "|b", "|/a"]),
        ("<a>1 &lt; 2 &amp;&#65;&#x42;&nbsp;&copy=1</a>", ["|a", "1 < 2 &AB&nbsp;&copy=1|/a"]),
        ("<a>&#0;&#xD800;&#1114112;</a>", ["|a", "\ufffd\ufffd\ufffd|/a"]),
        ("<a><![CDATA[<b>&amp;]]>&amp;</a>", ["|a", "<b>&amp;&|/a"]),
        ("<a>1<!-- <b> -- > -->2<?p <b?>3</a>", ["|a", "123|/a"]),
        ("<!-- x --><?xml version='1.0'?><a>", ["|a"]),
        ("<a>1 < 2 <b></a>", ["|a", "1 < 2 |b", "|/a"]),
        ("<a t=\"1>2\" u='>'>x</a>", ["|a", "x|/a"]),
        ('<a t="1>x</a>', ["|a", "x|/a"]),
        ("<a><<b>></c", ["|a", "<|b"]),
        ("<a>end", ["|a"]),
        ("<!DOCTYPE rss SYSTEM 'x>y' [ <!-- ] > --> <!ENTITY a ']><b>'> ]><a>", ["|a"]),
        ("<a><!DOCTYPE x [ <b> ]>", ["|a", "DOCTYPE x [ |b"]),
        ("<1><-><a b='>", ["|1", "|-"]),
        ("", []),
    ],
)
def test_tags_and_the_text_before_them(document: str, tags: list[str]) -> None:
    assert read(document) == tags
    assert read(*document) == tags, "in pieces of one character"


def test_a_document_cut_anywhere_reads_the_same() -> None:
    document = "<?xml v?><!DOCTYPE a [<!ENTITY b 'c'>]><a b='c'><!-- d --><e>f<![CDATA[g]]>h</e><i/>j</a>"
    whole = read(document)
    for cut in range(len(document)):
        assert read(document[:cut], document[cut:]) == whole


def test_attributes() -> None:
    tag = MarkupTag("", False, "a", """ B = "1 &lt; 2" c='"' d=e/f b=2 g h="" """)
    assert attributes_of(tag) == {"b": "1 < 2", "c": '"', "d": "e/f", "h": ""}


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "it declares entities, which are not expanded"),
        ("<!DOCTYPE a [" + " " * TAG_CHARS + "]><c></c>", f"its DOCTYPE does not end within {TAG_CHARS} characters"),
        ("<!DOCTYPE a [<!-- ]><c></c>" + " " * TAG_CHARS, f"its DOCTYPE does not end within {TAG_CHARS} characters"),
        ("<!DOCTYPE a><a></a>", ""),
    ],
)
def test_what_a_doctype_hides(document: str, error: str) -> None:
    reader = Markup()
    for tag in reader.tags(itertools.chain([document], itertools.repeat("<more>", 3))):
        assert "c" not in tag.text + tag.name
    assert reader.error == error


def test_a_whole_element_is_given_in_one_piece_where_it_lies_in_one_block() -> None:
    reader = Markup()
    reader.whole = re.compile("<b>[^<]*</b>")
    tags = list(reader.tags(["<a><b>1</b><b>2<", "/b></a>"]))
    assert [(tag.name, tag.whole) for tag in tags] == [("a", ""), ("b", "<b>1</b>"), ("b", ""), ("b", ""), ("a", "")]


@given(st.lists(st.text(alphabet="<>/!?-[]'\"&;# abDOCTYPE=\n\0", max_size=60), max_size=6))
def test_anything_is_read_and_bounded(blocks: list[str]) -> None:
    for tag in Markup().tags(blocks):
        assert tag.name
        assert len(tag.text) <= TEXT_CHARS
        attributes_of(tag)


HOSTILE = {
    "tags never closed": "<a ",
    "quotes never closed": '<a b="',
    "quotes and tags": "<a b='>",
    "comments never closed": "<!--",
    "sections never closed": "<![CDATA[",
    "less-than signs": "<",
    "ampersands": "&#",
    "half doctypes": "<!DOCTYPE [",
    "doctype comments": "<!DOCTYPE [<!--",
    "doctype quotes": "<!DOCTYPE [<!ENTITY '\"",
    "nested": "<a><b>",
    "text": "x",
    "blanks in a tag": " = ",
}


@pytest.mark.long
@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE.keys())
def test_memory_does_not_grow_with_the_document(part: str) -> None:
    def blocks() -> Iterator[str]:
        yield "<root>" if "DOCTYPE" not in part else ""
        yield from itertools.repeat(part * (65_536 // len(part)), 16)

    tracemalloc.start()
    try:
        for _ in Markup().tags(blocks()):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 600_000


@pytest.mark.long
@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_work_grows_as_the_document_does(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the searches and the characters that lie before what they find."""

    def steps(size: int) -> int:
        looked = _Looking(markup._MARK)
        monkeypatch.setattr(markup, "_MARK", looked)
        block = part * (65_536 // len(part))
        for _ in Markup().tags(itertools.repeat(block, size)):
            pass
        monkeypatch.undo()
        return looked.steps

    assert steps(16) <= 2.5 * steps(8) + 200_000


class _Looking:
    """Stands for a pattern, and counts what it looks at."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.steps = 0

    def search(self, data: str, at: int) -> re.Match[str] | None:
        found = self._pattern.search(data, at)
        self.steps += (found.end() if found else len(data)) - at + 1
        return found


def test_unescaped_leaves_what_is_no_reference_of_xml() -> None:
    assert unescaped("a&b;&amp &amp;amp; &#38;") == "a&b;&amp &amp; &"
