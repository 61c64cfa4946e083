"""Markdown. Links are written `href|anchor`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.extract import MAX_LINKS
from goodbot.page.markdown import read_markdown


def links(markdown: str) -> list[str]:
    return [f"{link.href}|{link.anchor}" for link in read_markdown(markdown).links]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("[one](x)", ["x|one"]),
        ("[*one* `two`](<x y> 'title')", ["x%20y|one two"]),
        ("[one][ref] [ref] [two][]\n\n[ref]: /x\n[two]: /y 'title'", ["/x|one", "/y|two"]),
        ("<http://a.example/b>", ["http://a.example/b|http://a.example/b"]),
        ("![picture](x.png) [![alt](i.png)](x)", ["x|alt"]),
        ("<a href=x rel=nofollow>one</a>", ["x|one"]),
        ("|a|b|\n|-|-|\n|[c](x)|d|", ["x|c"]),
        ("`[one](x)`\n\n    [two](y)\n\n```\n[three](z)\n```", []),
        ("http://a.example/b", []),
        ("\\[one](x)", []),
    ],
)
def test_links(markdown: str, expected: list[str]) -> None:
    assert links(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "title", "text"),
    [
        ("# A *heron*\n\nIt `stands`.", "A heron", "A heron\nIt stands."),
        ("The heron\n===\n\n## Feet\n", "The heron", "The heron\nFeet"),
        ("no heading", "", "no heading"),
        ("<div data-nosnippet>\n\n# Secret\n\n</div>\n\n# Heron", "Heron", "Secret\nHeron"),
        ("---\ntitle: 'The heron'\ntags: [a]\n---\n# Feet", "The heron", "Feet"),
        ("---\r\ntitle: The heron\r\n---\r\n# Feet", "The heron", "Feet"),
        ('+++\ntitle = "The heron"\n+++\n# Feet', "The heron", "Feet"),
        ("---\ndraft: true\n---\n# Feet", "Feet", "Feet"),
        ("---\nnever closed", "", "never closed"),
        ("---\n\n# Feet", "Feet", "Feet"),
        ("- one\n- [x] two ~~three~~\n> four", "", "one\ntwo three\nfour"),
        ("The <title> tag, <script> and <plaintext>.", "", "The <title> tag, <script> and <plaintext>."),
        ("A <base href=/x/>[b](c)", "", "A <base href=/x/>b"),
        ("<div>\n*x*\n</div>\n\n<!-- left out -->", "", "*x*"),
        ("# Wings {#wings}\n\nNote[^1]\n\n[^1]: Seven.", "Wings", "Wings\nNote1\n1\nSeven."),
        ("a\0b", "", "ab"),
        ("", "", ""),
    ],
)
def test_title_and_text(markdown: str, title: str, text: str) -> None:
    found = read_markdown(markdown)
    assert (found.title, found.text) == (title, text)


def test_language_and_headings_and_what_remains_without_text() -> None:
    markdown = "---\nlang: de\n---\n# Reiher\n\n## [Füße](x)\n"
    found, bare = read_markdown(markdown), read_markdown(markdown, text=False)
    assert (found.headings, found.language) == (["Reiher", "Füße"], "de")
    assert (bare.title, bare.text, bare.headings, bare.links) == ("Reiher", "", [], found.links)


@pytest.mark.parametrize(
    "markdown",
    [
        "[" * 100_000,
        "![" * 100_000,
        "[a](" * 100_000,
        "[a](<b" * 100_000,
        "> " * 100_000 + "a",
        "- " * 100_000 + "a",
        "\n".join("  " * depth + "- a" for depth in range(1_500)),
        "*a **b " * 100_000,
        "*_" * 100_000 + "a",
        "`a``b" * 100_000,
        " ".join("`" * length for length in range(700)),
        "<!-- a " * 100_000,
        "<![CDATA[" * 100_000,
        "[a]: /" + "b" * 100_000 + "\n\n" + "[a]" * 100_000,
        "".join(f"[^{number}]: [^{number + 1}]\n\n" for number in range(20_000)),
        "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "|b\n" * 100_000,
        "---\n" + "title: x\n" * 100_000,
        "<title>" * 100_000,
    ],
    ids=lambda markdown: markdown[:9],
)
def test_the_worst_documents_end(markdown: str) -> None:
    found = read_markdown(markdown)
    assert len(found.text) <= 30 * len(markdown)
    assert len(found.links) <= MAX_LINKS


REAL = """---
title: "The heron"
---

# The heron [![badge](b.svg)](https://ci.example/)

A *bird* of the __reeds__[^1], see [its page](heron.html "Heron") or [the list][list].

* item `code`
    1. nested
> quote <b>bold</b>

| a | b |
|---|--:|
| c | <https://d.example/> |

```python
print("[no](link)")
```

[list]: /birds
[^1]: Seldom.
"""


@given(st.lists(st.tuples(st.integers(0, len(REAL)), st.integers(0, 40), st.text(max_size=6)), max_size=8))
def test_never_raises_on_a_real_document_gone_wrong(changes: list[tuple[int, int, str]]) -> None:
    text = REAL
    for at, length, instead in changes:
        text = text[:at] + instead.encode("utf-8", "replace").decode() + text[at + length :]
    found = read_markdown(text)
    assert found == read_markdown(text)
    found.text.encode()
