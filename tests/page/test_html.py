"""What a page says. Links are written `target|anchor|rel`, relative to http://example.org/dir/."""

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.page import read_page
from goodbot.page.extract import MAX_ANCHOR_CHARS, MAX_LINKS, MAX_TITLE_CHARS
from goodbot.page.tokens import (
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
)
from goodbot.url import Url
from goodbot.values import Page, Response

HERE = Url("http://example.org/dir/page.html")
LIMIT = 16 << 20


def read(html: str | bytes, *headers: tuple[str, str], kind: str = "text/html; charset=utf-8") -> Page:
    body = html.encode() if isinstance(html, str) else html
    return read_page(HERE, Response(200, (("Content-Type", kind), *headers), body), "goodbot", LIMIT)


def links(page: Page) -> list[str]:
    return [
        f"{link.url.text.removeprefix('http://example.org/dir/')}|{link.anchor}|{' '.join(link.rel)}"
        for link in page.links
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=x>one</a>", ["x|one|"]),
        ("<A HREF='x' REL='NoFollow External'> two\n words </A>", ["x|two words|nofollow external"]),
        ("<a href=x><b>bo</b>ld</a>", ["x|bold|"]),
        ("<a href=x><div>a</div><div>b</div></a>", ["x|a b|"]),
        ("<a href=x><img alt='a cat'></a>", ["x|a cat|"]),
        ("<a href=x><img alt=cat>text</a>", ["x|text|"]),
        ("<a name=x>no link</a>", []),
        ("<a href=one>one<a href=two>two", ["one|one|", "two|two|"]),
        ("<a href=x>never closed", ["x|never closed|"]),
        ("<a href=x>before<template>", ["x|before|"]),
        ("<a href=x>one<noscript> two</noscript> three</a>", ["x|one two three|"]),
        ("<area href=x alt=map><area nohref>", ["x|map|"]),
        ("<iframe src=x title=t><a href=y></iframe>", ["x|t|"]),
        ("<frameset><frame src=x><frame src=y></frameset>", ["x||", "y||"]),
        ("<frameset><noframes><a href=x>n</a></noframes>", ["x|n|"]),
        ("<noscript><a href=x>n</a></noscript>", ["x|n|"]),
        ("<noscript><noscript><a href=x>n</a>", []),
        ("<svg><a href=x>s</a><a xlink:href=y>t</a></svg>", ["x|s|", "y|t|"]),
        ("<template><a href=x></template><a href=y>y</a>", ["y|y|"]),
        ("<template><template></template><a href=x></template><a href=y>y</a>", ["y|y|"]),
        ("<template><script></template></script><a href=x></template><a href=y>y</a>", ["y|y|"]),
        ("<template><noscript><a href=x></noscript></template><a href=y>y</a>", ["y|y|"]),
        ("<div><template shadowrootmode=open><a href=x>s</a></template></div>", ["x|s|"]),
        ("<!-- <a href=x> --><!--><a href=y>y</a>", ["y|y|"]),
        ("<script>'<a href=x>'</script><style><a href=x></style><textarea><a href=x></textarea>", []),
        ("<title><a href=x></title><xmp><a href=x></xmp><plaintext><a href=x>", []),
        ("<link rel=next href=x><link rel='PREV' href=y>", ["x||next", "y||prev"]),
        ("<link rel=canonical href=x>", ["x||canonical"]),
        ("<link rel=alternate hreflang=ru href=x>", ["x||alternate"]),
        ("<link rel=alternate type=text/html href=x>", ["x||alternate"]),
        ("<link rel=alternate type='application/rss+xml' href=x>", []),
        ("<link rel='alternate stylesheet' href=x><link rel='shortcut icon' href=y><link href=z>", []),
        ("<link rel=next href=x><a href=x>Next</a>", ["x|Next|next"]),
        ("<img src=x><form action=y></form><script src=z></script><object data=o></object>", []),
        ("<meta http-equiv=Refresh content='5; URL=x'>", ["x||refresh"]),
        ("<META content='0;url=\"x y\" z' HTTP-EQUIV=REFRESH>", ["x%20y||refresh"]),
        ("<meta http-equiv=refresh content='0, x'>", ["x||refresh"]),
        ("<meta http-equiv=refresh content='.5 url = x '>", ["x||refresh"]),
        ("<meta http-equiv=refresh content='5'><meta http-equiv=refresh content='x; url=y'>", []),
        ("<meta http-equiv=refresh content='5;'><meta http-equiv=refresh content='5; url='>", []),
        ("<noscript><meta http-equiv=refresh content='0; x'></noscript>", ["x||refresh"]),
    ],
)
def test_links(html: str, expected: list[str]) -> None:
    assert links(read(html)) == expected


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("x", "http://example.org/dir/x"),
        (" \n x \t", "http://example.org/dir/x"),
        ("a\nb\tc", "http://example.org/dir/abc"),
        ("..\\x", "http://example.org/x"),
        ("\\\\other.example\\x", "http://other.example/x"),
        ("//other.example", "http://other.example/"),
        ("http:x", "http://example.org/dir/x"),
        ("HTTPS://EXAMPLE.org:443/%7Ex", "https://example.org/%7Ex"),
        ("?q=1&amp;r=2", "http://example.org/dir/page.html?q=1&r=2"),
        ("x#part", "http://example.org/dir/x"),
        ("#part", "http://example.org/dir/page.html"),
        ("", "http://example.org/dir/page.html"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://пример.рф/путь", "http://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"),
        ("&#xD800;", "http://example.org/dir/%EF%BF%BD"),
        ("a\0b", "http://example.org/dir/ab"),
        ("javascript:void(0)", None),
        (" jAvAsCrIpT:x", None),
        ("mailto:a@example.org", None),
        ("data:text/html,x", None),
        ("tel:1", None),
        ("ftp://example.org/", None),
        ("http://", None),
        ("http://[", None),
        ("http://a b/", None),
        ("x" * 9000, None),
    ],
)
def test_references(href: str, expected: str | None) -> None:
    assert [link.url.text for link in read(f'<a href="{href}">x</a>').links] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<base href=/b/><a href=x>", "http://example.org/b/x"),
        ("<a href=x></a><base href=/b/>", "http://example.org/b/x"),
        ("<base target=t><base href=b/><base href=c/><a href=x>", "http://example.org/dir/b/x"),
        ("<base href='https://other.example/'><a href=x>", "https://other.example/x"),
        ("<base href='data:,'><a href=x>", "http://example.org/dir/x"),
        ("<base href='javascript:1'><a href=x>", "http://example.org/dir/x"),
        ("<template><base href=/b/></template><a href=x>", "http://example.org/dir/x"),
        ("<base href=/b/c><a href='#f'>", "http://example.org/b/c"),
    ],
)
def test_base(html: str, expected: str) -> None:
    assert [link.url.text for link in read(html).links] == [expected]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=x>1</a><a href=x>2</a><a href=./x#f>3</a>", ["x|1|"]),
        ("<a href=x rel=nofollow>1</a><a href=x>2</a>", ["x|1|nofollow", "x|2|"]),
        ("<a href=x>1</a><a href=x rel='nofollow ugc'>2</a>", ["x|1|", "x|2|nofollow ugc"]),
        ("<a href=x rel=me>1</a><a href=x>2</a>", ["x|1|me"]),
        ("<a href=x></a><a href=x>2</a><a href=x>3</a>", ["x|2|"]),
        ("<a href=x rel='nofollow,noopener'>1</a><a href=x rel=UGC>2</a>", ["x|1|nofollow,noopener", "x|2|ugc"]),
    ],
)
def test_a_link_is_kept_once_and_stays_followable(html: str, expected: list[str]) -> None:
    assert links(read(html)) == expected


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n <b> &amp; B </title><title>C</title>", "A <b> & B"),
        ("<svg><title>icon</title></svg><title>Page</title>", "Page"),
        ("<svg/><title>Page</title>", "Page"),
        ("<title></title><title>second</title>", ""),
        ("<title>never closed", "never closed"),
        ("<h1>only a heading</h1>", ""),
        ("<TITLE>Robo\0t&#xD800;</TITLE>", "Robot\ufffd"),
        ("<template><title>t</title></template><title>Page</title>", "Page"),
    ],
)
def test_title(html: str, title: str) -> None:
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("<div>a</div>b<div>c<br>d</div>", "a\nb\nc\nd"),
        ("in<b>li</b>ne <i>text</i>", "inline text"),
        ("<ul><li>a<li>b</ul><ol><li>c</ol>", "a\nb\nc"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("a<script>x</script>b<style>y</style>c<template>z</template>d<!-- e -->", "abcd"),
        ("a<iframe>x</iframe><noscript>b</noscript>", "ab"),
        ("<title>t</title><p hidden>revealed later</p>", "revealed later"),
        ("a&nbsp;&lt;b&gt;\r\n  c", "a <b> c"),
        ("a<img src=x alt=y>b", "a b"),
        ("<svg><title>t</title><text>label</text></svg>", "label"),
        ("<p>a</p></p></div></b>b", "a\nb"),
        ("<a href=x>link</a><template>x</template></template><p>y", "link\ny"),
        ("<script>unclosed <p>x", ""),
        ("Привет, <em>мир</em>!", "Привет, мир!"),
        ("x\x1ey", "x y"),
        ("", ""),
    ],
)
def test_text(html: str, text: str) -> None:
    assert read(html).text == text


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>one<p>two", None),
        ("<p>costs <span data-nosnippet>5</span> euros", "costs euros"),
        ("<p>a<SPAN class=x DATA-NoSnippet=false>b</SPAN>c", "a c"),
        ("a<div data-nosnippet>b<div>c</div>d</div>e", "a\ne"),
        ("a<section data-nosnippet=''>b<div>c</section>d", "a\nd"),
        ("a<span data-nosnippet>b<span>c</span>d</span>e<span>f</span>", "a ef"),
        ("a<div data-nosnippet>b<span data-nosnippet>c</span>d</div>e", "a\ne"),
        ("a<div data-nosnippet>b<p>c", "a"),
        ("a<div data-nosnippet/>b", "a"),
        ("a</span><span data-nosnippet>b</span></span>c", "a c"),
        ("<p data-nosnippet>a</p><b data-nosnippet>b</b>", None),
        ("<p title=data-nosnippet>a</p>data-nosnippet", None),
        ("a<span data-nosnippet-not>b</span>", None),
        ("<div data-nosnippet>all of it</div>", ""),
        ("a<span data-nosnippet>b<template></span>c</template>d</span>e", "a e"),
        ("a<template><span data-nosnippet></template>b", None),
        ("a<!-- <span data-nosnippet> -->b", None),
        ("a<noscript><span data-nosnippet>b</noscript>c", "a c"),
        ("<div data-nosnippet>a<noscript></div>b</noscript>c</div>d", "d"),
        ("<div data-nosnippet>a<noscript><div data-nosnippet>b</noscript>c</div>d", "d"),
        ("x<div data-nosnippet>menu<main>a</div>b</main>y", "b\nx\ny"),
    ],
)
def test_text_kept_out_of_extracts(html: str, shown: str | None) -> None:
    page = read(html)
    assert page.shown == shown
    assert page.text == read(html.replace("data-nosnippet", "data-other")).text.replace("data-other", "data-nosnippet")


@pytest.mark.parametrize(
    ("html", "headings"),
    [
        ("<h1>One <b>more</b></h1><H2>two\n</H2><h3>3</h3><h4>four</h4><h2> </h2>", ("One more", "two", "3")),
        ("<h1>never closed<h2>two", ("never closed", "two")),
        ("<h1><a href=x>linked</a></h1>", ("linked",)),
        ("<h1>a<br>b</h1>", ("a b",)),
        ("<template><h1>t</h1></template>", ()),
        ("</h1><h1>x</h2>y", ("x",)),
    ],
)
def test_headings(html: str, headings: tuple[str, ...]) -> None:
    assert read(html).headings == headings


@pytest.mark.parametrize(
    ("html", "terms"),
    [
        ("<dl><dt>one<dd>two<dt>three</dl>", ("one", "three")),
        ("<dt id=os.path.join>os.path.<b>join</b><a href='#os.path.join'>¶</a>", ("os.path.join",)),
        ("<dt><a id=x></a><a href='#x'>the link to the term itself</a>", ("the link to the term itself",)),
        ("<dl class=toc><dt>2. <a href=ch02.html>Chapter</a><dt><a href='#s'>Section</a></dl>", ("2.",)),
        ("<dt>before <a href=a>one</a> between <a href=b>two</a> after", ("before between after",)),
        ("<dt>a <a href=x>never closed<dt>b", ("a", "b")),
        ("<dt>a <a href=x>one<a href=y>two</a> b", ("a b",)),
        ("<dt><a href=https://peps.example/pep-0564>PEP 564</a>, new functions", ("PEP 564, new functions",)),
        ("<a href=x>a link around <dt>terms</a> <dt>b", ("terms", "b")),
    ],
)
def test_terms(html: str, terms: tuple[str, ...]) -> None:
    assert read(html).terms == terms


@pytest.mark.parametrize(
    ("html", "headers", "canonical"),
    [
        ("<link rel=canonical href=/c#x>", (), "http://example.org/c"),
        ("<base href=/b/><link href=c rel='Canonical'>", (), "http://example.org/b/c"),
        ("<link rel=canonical href=/1><link rel=canonical href=/2>", (), "http://example.org/1"),
        ("<link rel=canonical href='mailto:x'>", (), None),
        ("", (("Link", '<c>; rel="canonical"'),), "http://example.org/dir/c"),
        ("<base href=/b/>", (("link", "</a>; rel=next, <c>;title=x ; rel=CANONICAL"),), "http://example.org/dir/c"),
        ("", (("Link", "</a>; rel=next"), ("Link", '</b>; rel="up canonical"')), "http://example.org/b"),
        ("<link rel=canonical href=/page>", (("Link", "</header>; rel=canonical"),), "http://example.org/page"),
        ("", (("Link", "<<<>>;;rel=;=canonical"),), None),
        ("<meta name=URL content='/mirrored'>", (), "http://example.org/mirrored"),
        ("<base href=/b/><meta name=url content=' m '>", (), "http://example.org/b/m"),
        ("<meta name=url content=/m><link rel=canonical href=/c>", (), "http://example.org/c"),
        ("<meta name=url content=/m>", (("Link", "</header>; rel=canonical"),), "http://example.org/header"),
        ("<meta name=url content='mailto:x'>", (), None),
    ],
)
def test_canonical(html: str, headers: tuple[tuple[str, str], ...], canonical: str | None) -> None:
    found = read(html, *headers).canonical
    assert (found.text if found else None) == canonical


@pytest.mark.parametrize(
    ("html", "headers", "language"),
    [
        ("<html lang=ru>", (("Content-Language", "en"),), "ru"),
        ("<html xml:lang=pt-BR>", (), "pt-BR"),
        ("<html lang=''><meta http-equiv=content-language content=en_US>", (), "en-US"),
        ("", (("Content-Language", "de"),), "de"),
        ("", (("Content-Language", "de, en"),), None),
        ("<html lang='<>'>", (), None),
        ("<p lang=fr>", (), None),
    ],
)
def test_language(html: str, headers: tuple[tuple[str, str], ...], language: str | None) -> None:
    assert read(html, *headers).language == language


def test_meta_names_in_any_case() -> None:
    page = read(
        "<META NAME=DESCRIPTION CONTENT=''><meta content='About\n robots' name=' Description '>"
        "<meta name=KeyWords content='robot, web'><meta name=description content=second>"
    )
    assert (page.directives.description, page.directives.keywords) == ("About robots", "robot, web")


@pytest.mark.parametrize(
    ("html", "headers", "index", "follow"),
    [
        ("", (), True, True),
        ("<META CONTENT='NoIndex, follow' NAME=ROBOTS>", (), False, True),
        ("<meta name=goodbot content=nofollow>", (), True, False),
        ("<meta name=otherbot content=none>", (), True, True),
        ("<body><meta name=robots content=noindex>", (("X-Robots-Tag", "nofollow"),), False, False),
        ("<template><meta name=robots content=none></template>", (), True, True),
        ("<!-- <meta name=robots content=none> -->", (), True, True),
    ],
)
def test_directives(html: str, headers: tuple[tuple[str, str], ...], index: bool, follow: bool) -> None:
    directives = read(html, *headers).directives
    assert (directives.index, directives.follow) == (index, follow)


@pytest.mark.parametrize(
    ("kind", "body", "title", "text"),
    [
        ("text/html", "<title>t</title>x", "t", "x"),
        ("Application/XHTML+XML; charset=utf-8", "<title>t</title>x", "t", "x"),
        ("", " \n<!-- c --> <!DOCTYPE HTML><title>t</title>x", "t", "x"),
        ("", "<html><title>t</title>x", "t", "x"),
        ("", "{}", "", ""),
        ("text/plain", "<title>t</title> x\ny ", "", "<title>t</title> x\ny"),
        ("application/pdf", "<html><title>t</title>x", "", ""),
        ("image/png", "\0", "", ""),
    ],
)
def test_kinds(kind: str, body: str, title: str, text: str) -> None:
    page = read(body, kind=kind)
    assert (page.title, page.text) == (title, text)


def test_other_types_say_what_their_headers_say() -> None:
    page = read(
        b"%PDF",
        ("X-Robots-Tag", "noindex"),
        ("Link", "</doc>; rel=canonical"),
        ("Content-Language", "ru"),
        ("Refresh", "3; url=next"),
        kind="application/pdf",
    )
    assert (page.directives.index, page.canonical, page.language) == (False, Url("http://example.org/doc"), "ru")
    assert links(page) == ["next||refresh"]


def test_coding_and_encoding_are_undone() -> None:
    body = gzip.compress("<title>Робот</title>".encode("koi8-r"))
    page = read(body, ("Content-Encoding", "gzip"), kind="text/html; charset=koi8-r")
    assert (page.title, page.encoding) == ("Робот", "koi8-r")


def test_only_the_first_bytes_are_read() -> None:
    response = Response(200, (("Content-Type", "text/html"),), b"<p>one<p>two")
    assert read_page(HERE, response, "goodbot", 6).text == "one"


# ---- strangers' pages -----------------------------------------------------------------------------------------------


def test_links_are_bounded() -> None:
    page = read("".join(f"<a href={number}>{number}</a>" for number in range(MAX_LINKS * 2)))
    assert len(page.links) == MAX_LINKS
    assert page.links[-1].url.text.endswith(f"/{MAX_LINKS - 1}")


def test_repeated_links_do_not_use_up_the_bound() -> None:
    page = read("<a href=same>x</a>" * (MAX_LINKS * 2) + "<a href=other>x</a>")
    assert len(page.links) == 2


def test_lengths_are_bounded() -> None:
    long = "word " * 10_000
    page = read(f"<title>{long}</title><a href=x>{long}</a>" + f"<h1>{long}</h1>" + "<h2>x</h2>" * 1000)
    assert len(page.title) <= MAX_TITLE_CHARS
    assert len(page.links[0].anchor) <= MAX_ANCHOR_CHARS
    assert len(page.headings) == MAX_HEADINGS
    assert len(page.headings[0]) <= MAX_HEADING_CHARS


@pytest.mark.parametrize(
    ("html", "text_chars"),
    [
        pytest.param("<div>" * 100_000 + "x", 1, id="nested div"),
        pytest.param("<ul><li>x" * 50_000, 99_999, id="nested lists"),
        pytest.param("<b><i>x</b>" * 8_000, 8_000, id="misnested"),
        pytest.param("<table><tr><td>" * 30_000 + "x", 1, id="nested tables"),
        pytest.param("<a " + " ".join(f"a{n}=1" for n in range(100_000)) + " href=x>t</a>", 1, id="attributes"),
        pytest.param(
            "<p>" + "".join(f"<font x={n}>" for n in range(500)) + "<p>x" * 30_000, 59_999, id="open formatting"
        ),
        pytest.param("<h1><a href=x>" * 50_000 + "x", 1, id="nested headings and links"),
        pytest.param("<noscript>" * 100_000 + "x", None, id="noscript"),
        pytest.param("<noscript><a href=x></noscript>" * 30_000, 0, id="many noscripts"),
        pytest.param("<template>" * 100_000, 0, id="nested templates"),
        pytest.param("<!--" * 100_000, 0, id="comments"),
        pytest.param("<" * 1_000_000, 1_000_000, id="less than"),
        pytest.param("&" * 1_000_000, 1_000_000, id="ampersands"),
        pytest.param("<a href='" * 100_000, None, id="quotes"),
        pytest.param("\0" * 1_000_000 + "x", 1, id="NUL"),
        pytest.param("&#xD800;" * 10_000, 10_000, id="surrogates"),
        pytest.param("<meta charset=" * 100_000, 0, id="meta"),
        pytest.param(" \n" * 500_000 + "<p>x", 1, id="white space"),
        pytest.param("<meta http-equiv=refresh content='0" + " " * 500_000 + ";'>", 0, id="refresh"),
        pytest.param("<p>word " * 1_200_000, 4_999_999, id="10 MB"),
        pytest.param("<span>" * 16_000 + "</b>" * 16_000 + "x", 1, id="end tags of nothing"),
        pytest.param("<svg>" * 20_000 + "<title>x</title>" * 5_000, None, id="titles in SVG"),
        pytest.param("<title>x</title><noscript><a href=x>" * 9_000, None, id="titles and noscripts"),
        pytest.param("<span data-nosnippet>" * 50_000 + "x", 1, id="nested data-nosnippet"),
        pytest.param("<span data-nosnippet>x</span>" * 50_000, 50_000, id="many data-nosnippet"),
        pytest.param("<div data-nosnippet><noscript><span data-nosnippet>x</noscript>" * 9_000, None, id="both"),
    ],
)
def test_hostile_markup_is_read_in_bounds(html: str, text_chars: int | None) -> None:
    page = read(html)
    assert text_chars is None or len(page.text) == text_chars
    assert len(page.text) <= len(html)
    page.text.encode()
    same_without_text(html)


@pytest.mark.parametrize(
    "value", ["<" * 300_000, "<a>" * 100_000, "<a>" + ";rel" * 100_000, "<a>;rel=" + " " * 300_000]
)
def test_hostile_link_fields(value: str) -> None:
    assert read("", ("Link", value)).canonical is None


@pytest.mark.parametrize("start", ["<!--" * 200, "<?xml " * 300, " " * 2000, "<!-- -->" * 250])
def test_hostile_bodies_without_a_type(start: str) -> None:
    assert read(start + "x" * 2000, kind="").title == ""


MARKUP = """<a href= ' " > </a> <p> <h1> </h1> <title> </title> <base href=/x> <svg> </svg> <template>
    </template> <noscript> </noscript> <script> </script> <meta name=robots content=none>
    <meta http-equiv=refresh
    content="0;url=y"> <link rel=canonical href=z> <iframe src=q> </iframe> <!-- -->
    <span data-nosnippet> </span> <div data-nosnippet> <div> </div>
    &#xD800; &amp; # // http:// x <frameset> <plaintext>"""
FRAGMENTS = st.sampled_from(MARKUP.split())


@given(
    st.one_of(st.binary(max_size=500), st.lists(FRAGMENTS, max_size=60).map(lambda parts: " ".join(parts).encode())),
    st.sampled_from(
        ["", "text/html", "text/plain", "text/html; charset=koi8-r", "application/xhtml+xml", "image/png", ";;"]
    ),
    st.lists(
        st.tuples(
            st.sampled_from(
                ["Link", "Refresh", "X-Robots-Tag", "Content-Encoding", "Content-Language", "Content-Type"]
            ),
            st.one_of(st.text(max_size=60), st.sampled_from(["gzip", "br", "<x>; rel=canonical", "1; url=z"])),
        ),
        max_size=4,
    ),
    st.integers(0, 600),
)
@example(b"<a href=x>\xff", "text/html", [("Link", "<\ud800>; rel=canonical")], 600)
def test_never_raises_and_is_bounded(body: bytes, kind: str, headers: list[tuple[str, str]], limit: int) -> None:
    response = Response(200, (("Content-Type", kind), *headers), body)
    page = read_page(HERE, response, "goodbot", limit)
    assert page == read_page(HERE, response, "goodbot", limit)
    assert len(page.shown or "") <= len(page.text) <= limit
    assert len(page.links) <= limit + len(headers)
    page.text.encode()


# ---- without text ---------------------------------------------------------------------------------------------------


def same_without_text(html: str) -> None:
    """What is said of a page whose text nobody wants is what is said of it otherwise."""
    response = Response(200, (("Content-Type", "text/html; charset=utf-8"),), html.encode())
    full, bare = (read_page(HERE, response, "goodbot", LIMIT, text=text) for text in (True, False))
    assert (bare.text, bare.shown, bare.headings) == ("", None, ())
    assert (bare.title, bare.directives, bare.canonical, bare.language) == (
        full.title,
        full.directives,
        full.canonical,
        full.language,
    )
    assert {(link.url, link.follow) for link in bare.links} == {(link.url, link.follow) for link in full.links}


@pytest.mark.long
@pytest.mark.parametrize(
    "html",
    [
        "<html lang=ru><title> A &amp; <b> </title><h1>x</h1><a href=x rel=nofollow>y</a><a href=x>z",
        "<base><base href=/b/><a href=x><a href><a xlink:href=z><area href><area alt=x><link rel=canonical href>",
        "<svg><title>icon</title></svg><title>Page</title>",
        "<title>Page</title><svg><title>icon</title><a xlink:href=x></svg>",
        "<noscript><title>in</title><a href=x><noscript><a href=y></noscript><title>Page</title>",
        "<noscript><svg><title>icon</title></svg></noscript><title>Page</title>",
        "<title>Page</title><noscript><title>in</title></noscript>",
        "<noframes><meta http-equiv=refresh content='0;x'></noframes><a href=y>",
        "<template><base href=/b/><a href=x></template><a href=y>",
        "<div><template></div><a href=x></template><a href=y>",
        "<div><template shadowrootmode=open><a href=x></template><a href=y></div>",
        "<noscript><template><a href=x></template><a href=y></noscript>",
        "<script>'<a href=x>'</script><textarea><a href=x></textarea><!-- <a href=x> --><iframe src=y><a href=x>",
        "<title>never closed <a href=x>",
        "\0<ti\0tle>t\0</title><a hr\0ef=x>",
        "<meta name=robots content=noindex><meta name=url content=/m><meta http-equiv=content-language content=de>",
        pytest.param("<a href=x>y</a><h1>t</h1>" + "<p>w" * 70_000 + "<a href=z><title>t", id="many tags"),
        pytest.param("".join(f"<a href={number}>" for number in range(60_000)), id="links"),
        "",
    ],
)
def test_without_text(html: str) -> None:
    same_without_text(html)


@given(st.lists(FRAGMENTS, max_size=60))
def test_without_text_all_else_is_the_same(parts: list[str]) -> None:
    same_without_text(" ".join(parts))


def test_plain_text_without_text() -> None:
    page = read_page(HERE, Response(200, (("Content-Type", "text/plain"),), b"text"), "goodbot", LIMIT, text=False)
    assert page.text == ""


# ---- main -----------------------------------------------------------------------------------------------------------


def test_the_text_of_main_comes_first() -> None:
    body = b"<header>Shop Basket</header><main><h1>Torches</h1><p>Hot.</p></main><footer>Made up.</footer>"
    assert read(body).text == "Torches\nHot.\nShop Basket\nMade up."
    assert read(b"<p>a<template><main>t</main></template><main>b</main><main>c</main><p>d").text == "b\na\nc\nd"
    assert read(b"<p>a<main>b").text == "b\na"
