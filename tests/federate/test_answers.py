"""Answers of other services: JSON, Atom and RSS become hits, anything else a fault."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.federate.answers import (
    ENDS_EARLY,
    MAX_HITS,
    MAX_SNIPPET_CHARS,
    MAX_TITLE_CHARS,
    UNREADABLE,
    Answer,
    read_answer,
)
from goodbot.index import results_json
from goodbot.search_values import Hit, Results
from goodbot.url import Url, parse_url
from goodbot.web.search.atom import Feed, feed_xml

BASE = Url("https://x.example/search?q=a")
OS = 'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'


def read(body: str | bytes, kind: str = "", *, is_public: bool = True) -> Answer:
    return read_answer(body.encode() if isinstance(body, str) else body, kind, BASE, is_public=is_public)


def atom(*entries: str) -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {OS}><title>t</title><link href="/"/>{"".join(entries)}</feed>'


def rss(*items: str) -> str:
    return f'<rss version="2.0" {OS}><channel><title>t</title><link>https://x.example/</link>{"".join(items)}</channel></rss>'


def rdf(*items: str) -> str:
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        f'<channel rdf:about="x"><title>t</title></channel>{"".join(items)}</rdf:RDF>'
    )


def entry(title: str = "T", href: str = "https://a.example/", summary: str = "S", kind: str = "text") -> str:
    texts = f'<title type="{kind}">{title}</title><link href="{href}"/><summary type="{kind}">{summary}</summary>'
    return f"<entry>{texts}</entry>"


def item(title: str = "T", link: str = "https://a.example/", text: str = "S") -> str:
    return f"<item><title>{title}</title><link>{link}</link><description>{text}</description></item>"


def objects(*hits: object) -> str:
    return json.dumps({"total": len(hits), "hits": hits})


def of(url: str = "https://a.example/", **more: object) -> dict[str, object]:
    return {"url": url, "title": "T", "snippet": "S", **more}


A = ("https://a.example/", "T", "S")

# answer, its hits as URL, title and snippet
ANSWERS: list[tuple[str, str, list[tuple[str, str, str]]]] = [
    ("Atom", atom(entry()), [A]),
    ("RSS 2.0", rss(item()), [A]),
    ("RSS 1.0", rdf(item()), [A]),
    ("JSON", objects(of()), [A]),
    ("no hit", atom(), []),
    ("no hit as JSON", objects(), []),
    ("the same page twice", atom(entry(), entry("U")), [A]),
    ("a relative link", atom(entry(href="/b")), [("https://x.example/b", "T", "S")]),
    ("a fragment", atom(entry(href="https://a.example/#b")), [A]),
    (
        "tags in text",
        atom(entry("&lt;title> of C&lt;T>", summary="a &lt;b and c> d")),
        [(A[0], "<title> of C<T>", "a <b and c> d")],
    ),
    ("no type is text", atom(entry("&lt;b>T").replace(' type="text"', "")), [(A[0], "<b>T", "S")]),
    ("tags in HTML", atom(entry("&lt;b>T&lt;/b>x", kind="html")), [(A[0], "Tx", "S")]),
    ("XHTML", atom(entry("<div><b>r</b>.txt<script>x</script></div>", kind="xhtml")), [(A[0], "r.txt", "S")]),
    ("XHTML with a prefix", atom(entry("<h:div>a<h:br/>b&lt;i></h:div>", kind="xhtml")), [(A[0], "a b<i>", "S")]),
    (
        "the relation as URI",
        atom(entry().replace("<link ", '<link rel="http://www.iana.org/assignments/relation/alternate" ')),
        [A],
    ),
    ("markup", rss(item("&lt;b&gt;T&lt;/b&gt;", text="<![CDATA[<p>S<script>x</script>]]>")), [A]),
    ("markup in JSON stays text", objects(of(title="<b>T</b>")), [("https://a.example/", "<b>T</b>", "S")]),
    ("references twice", atom(entry("A &amp;amp; B", kind="html")), [("https://a.example/", "A & B", "S")]),
    ("controls and overrides", objects(of(title="\x1b[1mT\u202e\u0000\n x")), [("https://a.example/", "[1mT x", "S")]),
    ("an entity", '<!DOCTYPE feed [<!ENTITY x "boom">]>' + atom(entry("&x;T")), [("https://a.example/", "&x;T", "S")]),
    ("javascript", atom(entry(href="javascript:alert(1)"), entry()), [A]),
    ("javascript in JSON", objects(of("javascript:alert(1)"), of("data:text/html,x"), of()), [A]),
    ("a password", objects(of("https://u:p@a.example/")), [A]),
    ("a private address", objects(of("http://192.168.0.1/reboot"), of("http://localhost/"), of()), [A]),
    ("no URL", objects({"title": "T"}, {"url": 5}, "x", None, of()), [A]),
    ("odd texts", objects(of(title=5, snippet=None)), [("https://a.example/", "", "")]),
    ("half a feed", atom(entry(), entry(href="https://b.example/"))[:-40], [A, ("https://b.example/", "T", "")]),
]


@pytest.mark.parametrize(("body", "hits"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_answers(body: str, hits: list[tuple[str, str, str]]) -> None:
    found = read(body)
    assert [(hit.url, hit.title, hit.snippet) for hit in found.hits] == hits
    assert found.fault == ""


RUBBISH = ["", "robots", "[]", "{", '{"hits": 5}', '{"total": 1}', "<html><title>x</title>", "<urlset></urlset>", "<"]


@pytest.mark.parametrize("body", [*RUBBISH, "[" * 100_000, '{"hits":' + "[" * 100_000, "\0" * 1000])
def test_rubbish(body: str) -> None:
    assert read(body) == Answer(fault=UNREADABLE)


TORN = [
    ("RSS", "<rss><channel><item>", ENDS_EARLY),
    ("RSS without an item", rss()[:-6], ENDS_EARLY),
    ("RSS 1.0", rdf()[:-10], ENDS_EARLY),
    ("Atom", atom()[:-7], ENDS_EARLY),
    ("Atom with the beginning of an entry", atom("<entry><title>x")[:-7], ENDS_EARLY),
    ("a bare beginning", "<feed>", ENDS_EARLY),
    ("the end of another element", "<rss><channel></channel>", ENDS_EARLY),
    ("whole", rss(), ""),
    ("whole with a prefix", "<a:feed xmlns:a='http://www.w3.org/2005/Atom'></a:feed >", ""),
    ("an empty element", "<feed/>", ""),
    ("hits that cannot be used", atom(entry(href="javascript:x")), ""),
]


@pytest.mark.parametrize(("body", "fault"), [row[1:] for row in TORN], ids=[row[0] for row in TORN])
def test_half_a_feed_is_not_an_empty_one(body: str, fault: str) -> None:
    found = read(body)
    assert (found.hits, found.fault) == ((), fault)


LINKS = ["https://a.example/", "javascript:x", "https://b.example/", "https://a.example/", "http://10.0.0.1/", "/c"]
NUMBERED = [
    ("Atom", atom(*(entry(href=link) for link in LINKS)), (1, 3, 6), 6),
    ("RSS", rss(*(item(link=link) for link in LINKS)), (1, 3, 6), 6),
    ("JSON", objects(*map(of, LINKS), 5, of("https://d.example/")), (1, 3, 8), 8),
    ("nothing that can be used", objects(None, of("x:y")), (), 2),
    ("nothing", objects(), (), 0),
]


@pytest.mark.parametrize(("body", "ranks", "listed"), [row[1:] for row in NUMBERED], ids=[row[0] for row in NUMBERED])
def test_ranks_are_places_in_the_list_of_the_service(body: str, ranks: tuple[int, ...], listed: int) -> None:
    found = read(body)
    assert (found.ranks, found.listed) == (ranks, listed)


def test_a_private_service_may_list_private_pages() -> None:
    found = read(objects(of("http://192.168.0.1/")), is_public=False)
    assert [hit.url for hit in found.hits] == ["http://192.168.0.1/"]


TOTALS = [
    (atom("<opensearch:totalResults>12</opensearch:totalResults>", entry()), 12),
    (rss('<opensearch:totalResults xmlns:a="b"> 7 </opensearch:totalResults>', item()), 7),
    (atom(entry()), None),
    (json.dumps({"total": 5, "hits": []}), 5),
    (json.dumps({"total": True, "hits": []}), None),
    (json.dumps({"total": -1, "hits": []}), None),
    ('{"total": 1e400, "hits": []}', None),
]


@pytest.mark.parametrize(("body", "total"), TOTALS)
def test_how_many_there_are(body: str, total: int | None) -> None:
    assert read(body).total == total


def test_long_answers_are_cut() -> None:
    found = read(objects(*(of(f"https://a.example/{n}", title="t" * 9000, snippet="s " * 9000) for n in range(1000))))
    assert len(found.hits) == MAX_HITS
    assert {(len(hit.title), len(hit.snippet) <= MAX_SNIPPET_CHARS) for hit in found.hits} == {(MAX_TITLE_CHARS, True)}
    assert len(read(atom(*(entry(href=f"/{n}") for n in range(1000)))).hits) == MAX_HITS


def test_what_our_own_service_answers() -> None:
    hit = Hit("https://a.example/", "https://a.example/", "T", "a word", 2.5, ((2, 6),), (), (), "de", 5.0, 4.0, 9)
    body = json.dumps(results_json(Results("word", 1, 0.1, (hit,))))
    assert read(body).hits == (replace(hit, score=0.0),)
    feed = Feed("x", "t", "a", "word", {"self": "https://a.example/f"}, 31, 0, 10, (hit,), 1.0)
    found = read(feed_xml(feed))
    assert found.total == 31
    assert [(each.url, each.title, each.snippet, each.modified_at) for each in found.hits] == [
        ("https://a.example/", "T", "a word", 4.0)
    ]


def test_highlights_that_do_not_fit_are_left_out() -> None:
    spans = [[0, 1], [-1, 1], [0, 99], [1, 0], "ab", [True, 2], [0.5, 1], [0]]
    assert read(objects(of(highlights=spans))).hits[0].highlights == ((0, 1),)


PIECES = ["<feed>", "<entry>", "<title>", "<link href='https://a.example/", "'/>", "</entry>", "<rss><channel>"]
PIECES += [
    "<item>",
    "<link>",
    "</link>",
    "<![CDATA[",
    "]]>",
    '{"hits":[',
    '{"url":"https://a.example/"',
    "},",
    "]",
    "&#0;",
]


@given(
    st.binary()
    | st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map(lambda x: "".join(x).encode())
)
def test_any_bytes_give_a_value(body: bytes) -> None:
    found = read(body)
    assert not (found.fault and found.hits)
    assert len(found.hits) == len(found.ranks) <= MAX_HITS
    assert all(0 < one < other <= found.listed for one, other in zip((0.5, *found.ranks), found.ranks, strict=False))
    for hit in found.hits:
        assert parse_url(hit.url) == Url(hit.url)
        assert len(hit.title) <= MAX_TITLE_CHARS
        assert "\n" not in hit.title + hit.snippet


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8) | st.just("https://a.example/b"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["url", "title", "snippet", "highlights", "size_bytes", "fetched_at", "type"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.lists(_JSON, max_size=5), _JSON)
def test_any_json_gives_a_value(hits: list[object], total: object) -> None:
    found = read(json.dumps({"hits": hits, "total": total}))
    assert found.fault == ""
    json.dumps(results_json(Results("x", 1, 0.0, found.hits)), allow_nan=False)
