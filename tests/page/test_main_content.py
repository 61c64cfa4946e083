"""The main content of documents: what is kept, what is left out, and that hostile documents cost little."""

import gzip
import random
import re
import zlib
from collections.abc import Callable
from html import escape, unescape

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.main_content import MainContent, read_main_content
from goodbot.page.main_html import convert_markdown
from goodbot.page.rendered import Rendered
from goodbot.url import Url
from goodbot.values import Response
from page.documents import made_pdf

URL = Url("https://example.org/a/page")
ARTICLE = (
    "<p>The first clocks had no hands, and a bell told everybody in the town what time it was, day and night.</p>" * 4
)
MENU = '<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>'


def read(body: bytes | str, media_type: str = "text/html", *, whole: bool = False) -> MainContent:
    content = body.encode() if isinstance(body, str) else body
    return read_main_content(URL, Response(200, (("Content-Type", media_type),), content), "MyBot", whole=whole)


def markdown(html: str) -> str:
    return read(html, whole=True).markdown


# ---- what is the main content ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        f"{MENU}<main>{ARTICLE}</main><footer>Imprint</footer>",
        f"{MENU}<div role=main>{ARTICLE}</div><div id=sidebar><p>Imprint</div>",
        f"<div class=nav-menu><a href=/shop>Shop</a></div><div>{ARTICLE}</div><div class='site footer'>Imprint</div>",
        f"<table><tr><td><a href=/shop>Shop</a><td><h1>Clocks</h1>{ARTICLE}<tr><td>Imprint</table>",
        f"{MENU}<article>{ARTICLE}<div class=comments><p>Imprint</div></article>",
        f"{MENU}<div>{ARTICLE}<ul>" + '<li><a href="/shop">Shop for clocks and more</a>' * 4 + "</ul></div>",
    ],
    ids=["main", "role", "names", "layout table", "comments", "link list"],
)
def test_menus_and_what_stands_beside_the_article_are_left_out(page: str) -> None:
    found = read(page)
    assert "had no hands" in found.text
    assert "had no hands" in found.markdown
    assert "had no hands" in found.html
    assert not re.search("Shop|Imprint", found.text + found.markdown + found.html)
    whole = read(page, whole=True)
    assert "Shop" in whole.text


@pytest.mark.parametrize("name", ["sidebar", "comments", "share", "nav"])
def test_an_article_in_an_element_with_a_misleading_name_is_kept(name: str) -> None:
    assert "had no hands" in read(f"<body>{MENU}<div class={name}>{ARTICLE}</div>").text


def test_a_page_of_links_is_kept() -> None:
    links = "".join(f"<li><a href=/{number}>Chapter {number} of the book about clocks</a>" for number in range(30))
    found = read(f"{MENU}<h1>Contents</h1><ol>{links}</ol>")
    assert "Chapter 17" in found.text
    assert f"[Chapter 29 of the book about clocks]({URL.text[:20]}29)" in found.markdown.replace("/a/", "/")
    assert "Shop" not in found.text


def test_an_empty_page_has_no_content() -> None:
    for page in ("", "<p>", "<frameset><frame src=a></frameset>", "<body hidden>x", "<script>var x = 1</script>"):
        found = read(page)
        assert (found.text, found.markdown.strip()) == ("", "")
        assert found.unread == "it has no text; its scripts may write it (render it: --render, or render=True)"
    assert read("", "text/plain").unread == "it has no text"


# ---- Markdown -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Old <em>clocks</em></h2>", "## Old *clocks*"),
        ("<p>a <a href='../b?x=1&amp;y=2'>b</a>", "a [b](https://example.org/b?x=1&y=2)"),
        ("<base href=/c/><p>a <a href=b>b</a>", "a [b](https://example.org/c/b)"),
        ("<pre><code class=language-python>def f():\n    pass</code></pre>", "```python\ndef f():\n    pass\n```"),
        ("<p><code>a*b</code>", "`a*b`"),
        ("<ul><li>a<ol><li>b</ol></ul>", "- a\n  1. b"),
        ("<img src=i.png alt='A clock'>", "![A clock](https://example.org/a/i.png)"),
        ("<img src='data:image/png;base64,AA' data-src=/i.png alt=A>", "![A](https://example.org/i.png)"),
        ("<p>a<img src='data:image/png;base64,AA' alt=' clock'>", "a clock"),
        ("<blockquote><p>q</blockquote>", "> q"),
        ("<p><a href='javascript:x'>run</a> <a href=mailto:a@b.example>mail</a>", "run [mail](mailto:a@b.example)"),
        ("<p># no heading<p>*no* emphasis<p>1. no list", "\\# no heading\n\n\\*no\\* emphasis\n\n1\\. no list"),
        ("<p>a<script>b</script><style>c</style><p hidden>d</p><template>e</template>", "a"),
        ("<table><tr><th>A<th>B<tr><td>1|2<td>3</table>", "| A | B |\n| --- | --- |\n| 1\\|2 | 3 |"),
        (
            "<table><tr><th colspan=2>A<tr><td>1<td><p>2</p></table>",
            "| A |  |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><caption>C</caption><tr><td>1<br>2</table>", "C\n\n| 1 2 |\n| --- |"),
        ("<table role=presentation><tr><td>1<td>2</table>", "1\n\n2"),
        (
            "<table><tr><th>A<th>B<tr><td>1<td>x <table><tr><th>2<td>3</table> y<tr><td>4<td>5</table>",
            "| A | B |\n| --- | --- |\n| 1 | x 2 3 y |\n| 4 | 5 |",
        ),
        (
            "<table><tr><td><table><tr><th>A<tr><td>1</table></table>",
            "| A |\n| --- |\n| 1 |",
        ),
        ("<p>a\x1b[31mb\x9b\u0007", "a\\[31mb"),
        ("<p>10<sup>6</sup> m<sub>x</sub>", "10<sup>6</sup> m<sub>x</sub>"),
        ("<p>word<sup><a href='#n1'>1</a></sup>", "word[1](https://example.org/a/page#n1)"),
        ("<p>a<sup></sup>b<sup><b>c</b></sup>", "ab**c**"),
        ("<ul><li><input type=checkbox disabled checked> a<li><input type=checkbox disabled> b", "- [x] a\n- [ ] b"),
        ("<ul><li><input type=checkbox checked> a", "- a"),
        ("<p><a href='/x y#é(z) w'>a</a>", "[a](https://example.org/x%20y#%C3%A9(z)%20w)"),
        ("<p><a href='http://[x'>a</a><img src='http://[x' alt=b>", "ab"),
        ("<p><a href=''>a</a>", "[a](https://example.org/a/page)"),
    ],
)  # fmt: skip
def test_markdown_shows_what_the_page_shows(html: str, expected: str) -> None:
    assert markdown(html).strip() == expected


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class='language-python'>x</code></pre>", "python"),
        ("<div class='highlight-c++ notranslate'><div class=highlight><pre>x</pre></div></div>", "c++"),
        ("<div class='highlight highlight-source-rust'><pre>x</pre></div>", "rust"),
        ("<div class='language-ruby rouge'><div class=highlight><pre><code>x</code></pre></div></div>", "ruby"),
        ("<pre><code class='hljs python'>x</code></pre>", "python"),
        ("<pre><code class='lang-js'>x</code></pre>", "js"),
        ("<pre data-language=go>x</pre>", "go"),
        ("<div class=highlight-default><pre>x</pre></div>", ""),
        ("<div class=lang-en><pre>x</pre></div>", ""),
        ("<pre><code class='language-a`'>x</code></pre>", ""),
        ("<pre class='language-a&#96;'><code>x</code></pre>", ""),
        ("<pre><code class='language-a&#10;b'>x</code></pre>", "a"),
    ],
)
def test_a_code_block_names_its_language_and_nothing_else(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```"


def test_a_page_cannot_end_its_code_block_early() -> None:
    forged = "&lt;script&gt;\n\n# FORGED"
    body = f"{ARTICLE}<pre><code class='language-a`'>x</code></pre>{ARTICLE}<pre><code>{forged}</code></pre>"
    found = convert_markdown(read(f"<main>{body}").markdown, URL.text)[1]
    assert "<h1>" not in found
    assert "&lt;script&gt;" in found


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>a<th>b<th>c<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5", ["a b c", "1 2 3", "- 4 5"]),
        ("<tr><th>a<th>b<th>c<tr><td>1<td rowspan=2>2<td>3<tr><td>4<td>5", ["a b c", "1 2 3", "4 - 5"]),
        ("<tr><th>a<th>b<th>c<tr><td>1<td>2<td rowspan=9>3<tr><td>4<td>5", ["a b c", "1 2 3", "4 5 -"]),
        ("<tr><th>a<th>b<th>c<tr><td colspan=2>1<td>3<tr><td>4<td>5<td>6", ["a b c", "1 - 3", "4 5 6"]),
        ("<tr><th>a<th>b<tr><td colspan=99999 rowspan=x>1<tr><td>4<td>5", ["a b", "1 -", "4 5"]),
    ],
)
def test_joined_cells_leave_others_in_their_columns(rows: str, expected: list[str]) -> None:
    lines = [line for line in markdown(f"<table>{rows}</table>").splitlines() if "--" not in line]
    assert [" ".join(cell.strip() or "-" for cell in line.strip("|").split("|")) for line in lines] == expected


def test_links_and_headings_that_show_nothing_leave_no_marks() -> None:
    assert markdown("<h2> </h2><p>a<a href=/x></a><a href=/y><img src=/z alt=b></a>") == (
        "a[![b](https://example.org/z)](https://example.org/y)"
    )


def test_text_keeps_the_lines_of_code() -> None:
    assert read(f"<main>{ARTICLE}<pre>if x:\n  y\n\nz</pre>").text.split("\n")[-3:] == ["if x:", "y", "z"]


def test_text_that_no_reader_sees_is_left_out() -> None:
    hidden = ("display:none", "color:red; DISPLAY : none !important", "visibility:hidden")
    body = "".join(f'<div style="{style}">SECRET<p>SECRET</p></div>' for style in hidden)
    seen = '<p style="display:inline">seen</p><ruby>\u6f22<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>'
    found = read(f"<main>{ARTICLE}{body}{seen}<p>a\U000e0041\u202eb\u2066c</main>", whole=True)
    for text in (found.text, found.markdown, found.html):
        assert "SECRET" not in text
        assert "seen" in text
        assert "abc" in text
        assert "kan" not in text


@pytest.mark.parametrize(
    ("coding", "packed"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress)],
)
@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "application/json"])
def test_a_compressed_body_that_breaks_off_is_named(
    media_type: str, coding: str, packed: Callable[[bytes], bytes]
) -> None:
    page = f"<main>{ARTICLE}</main>{random.Random(1).randbytes(9000).hex()}".encode()
    headers = (("Content-Type", media_type), ("Content-Encoding", coding))
    whole = read_main_content(URL, Response(200, headers, packed(page)), "MyBot")
    assert (whole.unread, "had no hands" in whole.text) == ("", True)
    cut = read_main_content(URL, Response(200, headers, packed(page)[:-2000]), "MyBot")
    assert re.fullmatch(
        rf"only the first [0-9.]+ kB of it could be decoded \({coding}: the data ends early\)", cut.unread
    )
    assert cut.page.unread == ("" if media_type == "application/json" else cut.unread)
    fetched = Response(200, headers, packed(page)[:-2000], truncated="length")
    assert read_main_content(URL, fetched, "MyBot").unread == ""  # the reading says so itself
    damaged = Response(200, headers, packed(page)[:4000] + bytes(2000))
    assert "of it could be decoded" in read_main_content(URL, damaged, "MyBot").unread


TEX = "a^2+b_1*c_1*<br"
ANNOTATED = (
    '<math alttext="other"><semantics><mrow><msup><mi>a</mi><mn>2</mn></msup></mrow>'
    f'<annotation encoding="application/x-tex">{escape(TEX)}</annotation></semantics></math>'
)

MEDIAWIKI = '<img class="x mwe-math-fallback-image-inline" aria-hidden=true alt="{\\displaystyle x^{2}}" src="/x.svg">'


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("formula", "text", "markdown"),
    [
        (ANNOTATED, "a^2+b_1*c_1*< br", "$a^2+b_1*c_1*< br$"),
        (
            f'<span class="katex-mathml">{ANNOTATED}</span><span class="katex-html" aria-hidden=true><b>a</b>2</span>',
            "a^2+b_1*c_1*< br",
            "$a^2+b_1*c_1*< br$",
        ),
        (
            f'<span style="display: none;">{ANNOTATED}</span>{MEDIAWIKI}',
            "x^{2}",
            "$x^{2}$",
        ),
        ("<math alttext='x_1'><mi>x</mi><mn>1</mn></math>", "x_1", "$x_1$"),
        ("<math alttext='x, *squared*'><mi>x</mi><mn>2</mn></math>", "x, *squared*", r"x, \*squared\*"),
        ("<math><mi>y</mi><mo>&lt;</mo>\n<mn>3</mn></math>", "y< 3", "y< 3"),
        ("<math alttext='[a](b_1)'></math>", "[a] (b_1)", "$[a] (b_1)$"),
    ],
    ids=["annotation", "KaTeX", "MediaWiki", "TeX as alttext", "alttext", "text", "a link"],
)
def test_a_formula_is_its_source_once(formula: str, text: str, markdown: str, whole: bool) -> None:
    found = read(f"<main>{ARTICLE}<p>The formula {formula} is known.</p></main>", whole=whole)
    assert f"The formula {text} is known." in found.text
    assert f"The formula {markdown} is known." in found.markdown
    assert f"The formula {text} is known." in unescape(re.sub("<[a-z/][^>]*>", "", found.html))


def test_a_formula_in_a_block_has_lines_of_its_own() -> None:
    block = ANNOTATED.replace("<math", "<math display=block")
    found = read(f"<main>{ARTICLE}<p>It is{block}as known.</p><table><tr><th>a<tr><td>{block}</table></main>")
    assert "It is\n\n$$a^2+b_1*c_1*< br$$\n\nas known." in found.markdown
    assert "| a |\n| --- |\n| $$a^2+b_1*c_1*< br$$ |" in found.markdown


def test_what_is_labelled_gzip_and_is_not_is_read_as_received() -> None:
    for coding in ("gzip", "utf-8", "identity", "none"):
        found = read_main_content(URL, Response(200, (("Content-Encoding", coding),), ARTICLE.encode()), "MyBot")
        assert (found.unread, "had no hands" in found.text) == ("", True)


@pytest.mark.parametrize(
    ("coding", "named"), [("foo", "foo"), ("foo, gzip", "foo"), (five := ", ".join(["gzip"] * 5), five)]
)
def test_what_has_an_unknown_coding_is_not_read(coding: str, named: str) -> None:
    headers = (("Content-Type", "text/html"), ("Content-Encoding", coding), ("X-Robots-Tag", "noindex"))
    found = read_main_content(URL, Response(200, headers, ARTICLE.encode()), "MyBot")
    assert (found.text, found.markdown, found.html, found.page.directives.index) == ("", "", "", False)
    assert found.unread == f"goodbot does not know its content coding {named!r}"


def test_a_page_that_is_cut_says_so() -> None:
    page = f"<main>{ARTICLE}" + "<p>word</p>" * 300
    response = Response(200, (("Content-Type", "text/html"),), page.encode())
    cut = read_main_content(URL, response, "MyBot", limit_bytes=2000)
    assert (cut.unread, "had no hands" in cut.text) == ("only the first 2.0 kB were read", True)
    assert read_main_content(URL, response, "MyBot").unread == ""
    rendered = read_main_content(URL, response, "MyBot", rendered=Rendered(page), limit_bytes=2000)
    assert rendered.unread == "only the first 2.0 kB were read"


@pytest.mark.parametrize(
    ("stated", "date"),
    [
        ("03/04/2026", None),
        ("3-4-2026", None),
        ("13/04/2026", "2026-04-13"),
        ("04/04/2026", "2026-04-04"),
        ("2026-04-03", "2026-04-03"),
    ],
)
def test_a_date_that_may_be_two_days_is_not_guessed(stated: str, date: str | None) -> None:
    assert read(f'<html lang=en><meta name=date content="{stated}"><p>x').date == date


def test_html_has_only_text_and_links() -> None:
    found = read(
        f"<main onclick=x>{ARTICLE}<p style=color:red class=c id=i onload=x>a<a href=b onclick=x target=_blank>b</a>"
        "<script>x</script><iframe src=x></iframe><svg><script>y</script></svg><img src=x onerror=y><form><p>f</form>"
    )
    assert '<p>a<a href="https://example.org/a/b">b</a><img src="https://example.org/a/x"></p><p>f</p>' in found.html
    assert not re.search("onclick|onerror|onload|script|style|iframe", found.html)


# ---- facts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "title", "author", "date"),
    [
        ("<title>Clocks</title>", "Clocks", None, None),
        ("<title>Old clocks - The Site</title><meta property=og:title content='Clocks!'>", "Clocks!", None, None),
        ("<title>A - S</title><meta name=og:title content=S><meta name=og:site_name content=S>", "A - S", None, None),
        ("<meta name=author content=' Ann  Example '>", "", "Ann Example", None),
        ("<link rel=author href=/ann><body><a rel='nofollow author' href=/ann>Ann</a>", "", "Ann", None),
        ("<body><p itemprop=author>By <b itemprop=name>Ann</b></p>", "", "Ann", None),
        ("<meta name=author content='https://example.org/ann'>", "", None, None),
        ("<meta property=article:published_time content='2026-03-04T23:30:00+09:00'>", "", None, "2026-03-04"),
        ("<meta property=article:published_time content='someday'>", "", None, None),
        (
            (
                '<script type="application/ld+json">{"@graph": [{"@type": "Organization", "name": "O"}, {"@type": '
                '"NewsArticle", "author": [{"name": "Ann"}, "Bob"], "datePublished": "2026-03-04"}]}</script>'
            ),
            "", "Ann, Bob", "2026-03-04",
        ),
        ('<script type="application/ld+json">{"@type": "Article", "author": {"name": ["x"]}}</script>', "", None, None),
        ('<script type="application/ld+json">[[[{"@type": 1, "author": 1}, 2], null]</script>', "", None, None),
    ],
)  # fmt: skip
def test_what_a_page_says_about_itself(head: str, title: str, author: str | None, date: str | None) -> None:
    found = read(f"<html><head>{head}</head><body>{ARTICLE}")
    assert (found.title, found.author, found.date) == (title, author, date)


def test_a_heading_that_is_part_of_the_title_is_the_title() -> None:
    assert read(f"<title>Old clocks | The Clock Site</title><h1>Old\n clocks</h1>{ARTICLE}").title == "Old clocks"


# ---- other documents ------------------------------------------------------------------------------------------------


def test_plain_text_is_a_code_block() -> None:
    found = read("# a\n\n```\n  b\tc\n", "text/plain")
    assert (found.kind, found.text) == ("text", "# a\n\n```\n  b\tc")
    assert found.markdown == "````text\n# a\n\n```\n  b\tc\n````"


def test_markdown_gets_absolute_links() -> None:
    found = read("---\ntitle: Clocks\n---\n# Old\n\n* [b](b)\n", "text/markdown")
    assert (found.kind, found.title) == ("markdown", "Clocks")
    assert found.markdown == "# Old\n\n- [b](https://example.org/a/b)"
    assert found.html.strip() == '<h1>Old</h1>\n<ul>\n<li><a href="https://example.org/a/b">b</a></li>\n</ul>'


def test_a_pdf_has_its_lines_and_headings() -> None:
    found = read(made_pdf(["1. Clocks", "- a line"]), "application/pdf")
    assert (found.kind, found.unread) == ("pdf", "")
    assert found.text == "1. Clocks\n- a line"
    assert found.markdown == "1\\. Clocks\n\\- a line"


def test_a_feed_is_a_list_of_its_entries() -> None:
    feed = (
        "<rss><channel><title>News</title><link>/</link><item><title>One [*]</title><link>/one_(1)</link>"
        "<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate></item><item><link>/two</link></item></channel></rss>"
    )
    found = read(feed, "application/rss+xml")
    assert (found.kind, found.title) == ("feed", "News")
    assert found.markdown == (
        "# [News](https://example.org/)\n\n- [One \\[\\*\\]](https://example.org/one_%281%29), 2026-03-02\n"
        "- <https://example.org/two>"
    )


def test_a_sitemap_is_a_list_of_urls() -> None:
    sitemap = "<urlset><url><loc>https://example.org/b</loc><lastmod>2026-01-02</lastmod></url></urlset>"
    found = read(sitemap, "application/xml")
    assert (found.kind, found.text) == ("sitemap", "https://example.org/b")
    assert found.markdown == "- <https://example.org/b>, 2026-01-02"


@pytest.mark.parametrize(
    ("media_type", "language"),
    [
        ("application/json", "json"),
        ("application/ld+json; charset=utf-8", "json"),
        ("application/feed+json", "json"),
        ("text/xml", "xml"),
        ("image/svg+xml", None),
        ("text/csv", "csv"),
        ("text/javascript", "javascript"),
        ("application/x-yaml", "yaml"),
        ("application/x-ndjson", "ndjson"),
        ("application/zip", None),
    ],
)
def test_data_is_a_code_block(media_type: str, language: str | None) -> None:
    found = read('{"name": "é <b>"}\n', media_type)
    if language is None:
        assert (found.kind, found.text) == ("other", "")
        return
    assert (found.kind, found.text, found.unread) == ("text", '{"name": "é <b>"}', "")
    assert found.markdown == f'```{language}\n{{"name": "é <b>"}}\n```'
    assert "&lt;b&gt;" in found.html


def test_an_image_has_no_text() -> None:
    found = read(b"\x89PNG", "image/png")
    assert (found.kind, found.text, found.unread) == ("other", "", "goodbot does not read image/png")


def test_a_rendered_page_is_read_as_the_browser_has_it() -> None:
    response = Response(200, (("Content-Type", "text/html"),), b"<meta name=robots content=noarchive><p>before")
    rendered = Rendered(f"<title>New</title><main>{ARTICLE}</main>")
    found = read_main_content(URL, response, "MyBot", rendered=rendered)
    assert (found.title, found.page.directives.archive) == ("New", False)
    assert "had no hands" in found.markdown
    assert "before" not in found.text
    early = read_main_content(URL, response, "MyBot", rendered=Rendered("<p>some", unfinished="scripts at work"))
    assert (early.text, early.unread) == ("some", "scripts at work")
    as_it_came = read_main_content(URL, response, "MyBot", rendered=Rendered(None))
    assert as_it_came.text == "before"


# ---- hostile documents ----------------------------------------------------------------------------------------------

HOSTILE = {
    "more tags than a tree may have": "<div>" * 100_000 + "word",
    "formatting tags": "<b><i>word</b>" * 8_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">word",
    "names": f'<p class="{"_advert" * 100_000}">word',
    "line breaks": "<p>word" + "<br>\n" * 32_000,
    "deep tables": "<table><tr><th>" * 10_000 + "word",
    "ragged table": "<table><tr>" + "<td>word" * 16_000 + "<tr><td>b" * 7_000,
    "joined cells": "<table>" + "<tr><td rowspan=60000 colspan=1000>word<td>" * 10_000,
    "long cell": "<table><tr><td>word" + "x" * 100_000 + "<tr><td>a" * 15_000,
    "long cell after text": ARTICLE + "<table><tr><td>word" + "x" * 100_000 + "<tr><td>a" * 15_000,
    "long base": f'<base href="/{"a" * 8_000}">' + "<a href=b>word</a>" * 15_000,
    "deep quotations": "<blockquote>" * 30_000 + "word",
    "empty headings": "<h1><div>" * 10_000 + "</div></h1>" * 10_000 + "word",
    "headings": "<title>x</title>" + "<h1>word" * 30_000,
    "linked data": '<script type="application/ld+json">' + "[" * 1_000_000 + "</script>word",
    "character references": "word&#0;&#27;" * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_within_bounds(name: str) -> None:
    """The time is not asserted: each of these took seconds or minutes in a version without its bound."""
    for whole in (False, True):
        found = read(HOSTILE[name], whole=whole)
        assert len(found.markdown) + len(found.html) < 10_000_000
    assert "word" in found.text


def test_a_page_whose_tree_is_not_built_keeps_its_text() -> None:
    found = read("<div>" * 50_000 + "a * b")
    assert (found.text, found.markdown, found.html.strip()) == ("a * b", "a \\* b", "<p>a * b</p>")
    assert found.unread.startswith("the main content was not extracted: the page has more than 32,768 tags")


_MARKUP = """
    <p> <div> </div> <main> </main> <nav> <table> <tr> <td> <th> </table> <br> <a href=b </a> <img src=c <pre> </pre>
    <h1> <ul> <li> </ul> <b> </b> <script> </script> <title> </title> <body hidden> <frameset> <template> </template>
    <svg> <math> <!-- --> &#27; word # * ` | > \x9b
"""
_PIECES = st.sampled_from(_MARKUP.split())
_TYPES = st.sampled_from(["text/html", "text/plain", "text/markdown", "application/xml", "application/rss+xml", ""])


@given(st.one_of(st.lists(_PIECES, max_size=60).map(" ".join).map(str.encode), st.binary(max_size=300)), _TYPES)
def test_any_bytes_are_read(body: bytes, media_type: str) -> None:
    for whole in (False, True):
        found = read(body, media_type, whole=whole)
        for text in (found.text, found.markdown, found.html, found.title):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
        assert "<script" not in found.html
