"""OpenSearch descriptions, and what a document may lead to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.federate.description import description_link, read_description
from goodbot.federate.sources import NO_SEARCH, SearchService, is_same_service, read_named, service_in
from goodbot.url import Url
from goodbot.web.machines.opensearch import description_xml
from goodbot.web.pages.translations import Reader

HEAD = '<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
END = "</OpenSearchDescription>"


def url(kind: str, template: str = "https://x.example/?q={searchTerms}", more: str = "") -> str:
    return f'<Url type="{kind}" template="{template}" {more}/>'


def described(*parts: str) -> str:
    return f"{HEAD}<ShortName>Example</ShortName>{''.join(parts)}{END}"


ATOM, RSS, JSON = "application/atom+xml", "application/rss+xml", "application/json"
TWO = "https://x.example/2?q={searchTerms}"

# description, media types of its templates in the order of preference, what is said if there is none
DESCRIPTIONS: list[tuple[str, str, list[str], str]] = [
    ("JSON first", described(url(RSS), url("text/html"), url(ATOM), url(JSON)), [JSON, ATOM, RSS], ""),
    ("parameters of a type", described(url("application/atom+xml; charset=utf-8")), [ATOM], ""),
    (
        "a prefix",
        described(url(ATOM)).replace("<", "<os:").replace("<os:/", "</os:").replace("<os:?", "<?"),
        [ATOM],
        "",
    ),
    ("single quotes", described(url(ATOM)).replace('"', "'"), [ATOM], ""),
    ("suggestions", described(url(JSON, more='rel="suggestions"')), [], "neither goodbot's JSON nor Atom nor RSS"),
    ("a collection", described(url(ATOM, more='rel="collection"')), [], "neither goodbot's JSON nor Atom nor RSS"),
    ("results named", described(url(ATOM, more='rel="results"')), [ATOM], ""),
    ("by POST", described(url(ATOM, more='method="post"')), [], "neither goodbot's JSON nor Atom nor RSS"),
    ("HTML only", described(url("text/html")), [], "neither goodbot's JSON nor Atom nor RSS"),
    ("nothing", described(), [], "neither goodbot's JSON nor Atom nor RSS"),
    ("javascript", described(url(ATOM, "javascript:alert(1)//{searchTerms}")), [], "it must begin with http://"),
    ("no terms", described(url(ATOM, "https://x.example/?q=a")), [], "it lacks {searchTerms}"),
    ("one is usable", described(url(JSON, "https://x.example/"), url(ATOM)), [ATOM], ""),
    (
        "encodings, UTF-8 among them",
        described(url(ATOM), "<InputEncoding>x</InputEncoding><InputEncoding>UTF-8</InputEncoding>"),
        [ATOM],
        "",
    ),
    ("a known encoding", described(url(ATOM), "<InputEncoding>latin2</InputEncoding>"), [ATOM], ""),
    (
        "an unknown encoding",
        described(url(ATOM), "<InputEncoding>klingon</InputEncoding>"),
        [],
        "encoding that cannot be used: klingon",
    ),
    ("no encoding stated", described(url(ATOM), "<InputEncoding> </InputEncoding>"), [ATOM], ""),
    (
        "UTF-16",
        described(url(ATOM), "<InputEncoding>utf-16</InputEncoding>"),
        [],
        "encoding that cannot be used: utf-16",
    ),
    ("no end", described(url(ATOM), url(RSS))[:-60], [ATOM], ""),
    (
        "a bomb",
        '<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
        + described(url(ATOM)).replace("Example", "&b;&c;"),
        [ATOM],
        "",
    ),
]


@pytest.mark.parametrize(
    ("text", "kinds", "fault"), [row[1:] for row in DESCRIPTIONS], ids=[row[0] for row in DESCRIPTIONS]
)
def test_descriptions(text: str, kinds: list[str], fault: str) -> None:
    found = read_description(text)
    assert found is not None
    assert [template.media_type for template in found.templates] == kinds
    assert fault in found.fault
    assert bool(found.fault) != bool(kinds)
    assert len(found.name) <= 48
    assert "root:" not in found.name


def test_names_and_offsets() -> None:
    text = described(url(ATOM, more='indexOffset="0" pageOffset="0"'), url(RSS, more='indexOffset="-1e9"'))
    found = read_description(text.replace("Example", "  A &amp; B\u202e\n<!-- x -->library "))
    assert found is not None
    assert found.name == "A & B library"
    assert [(each.index_offset, each.page_offset) for each in found.templates] == [(0, 0), (1, 1)]


def test_our_own_description_leads_to_our_json() -> None:
    text = description_xml("Library", "About", "https://x.example/find", Reader("en")).decode()
    found = read_description(text)
    assert found is not None
    assert (found.name, [each.media_type for each in found.templates]) == ("Library", [JSON, ATOM])
    assert found.templates[0].text == "https://x.example/find/api/search?q={searchTerms}&page={startPage?}"


@given(
    st.text() | st.lists(st.sampled_from([HEAD, END, url(ATOM), "<", ">", '"', "<!DOCTYPE ["]), max_size=9).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    found = read_description(text)
    assert found is None or bool(found.fault) != bool(found.templates)
    description_link(text)


# ---- what a document leads to ---------------------------------------------------------------------------------------

LINK = '<link rel="search" type="application/opensearchdescription+xml" href="{}">'
HERE = Url("https://www.x.example/start")

LED: list[tuple[str, str, object]] = [
    (
        "a page",
        f"<!doctype html><title>x</title>{LINK.format('/os.xml?a=1&amp;b')}",
        Url("https://www.x.example/os.xml?a=1&b"),
    ),
    ("a sister host", LINK.format("https://find.x.example/os.xml"), Url("https://find.x.example/os.xml")),
    ("another site", LINK.format("https://y.example/os.xml"), "it leads to another site: https://y.example/os.xml"),
    ("another kind of link", LINK.format("/x").replace("search", "next"), NO_SEARCH),
    ("a link without target", LINK.format(""), NO_SEARCH),
    ("no page", "robots", NO_SEARCH),
    ("empty", "", NO_SEARCH),
    (
        "a description of another site",
        described(url(ATOM, "https://y.example/?q={searchTerms}")),
        "its description leads to another site: https://y.example/?q={searchTerms}",
    ),
    (
        "a private address",
        described(url(ATOM, "http://10.0.0.1/?q={searchTerms}")),
        "its description leads to another site",
    ),
    ("http", described(url(ATOM, "http://www.x.example/?q={searchTerms}")), "its description leads to another site"),
]


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in LED], ids=[row[0] for row in LED])
def test_what_a_document_leads_to(body: str, expected: object) -> None:
    found = service_in(body.encode(), "text/html", HERE)
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert found.startswith(expected)
    else:
        assert found == expected


def test_only_own_templates_are_used() -> None:
    text = described(url(JSON, "https://y.example/?q={searchTerms}"), url(ATOM, "https://x.example/?q={searchTerms}"))
    found = service_in(text.encode(), "", HERE)
    assert isinstance(found, SearchService)
    assert [each.media_type for each in found.templates] == [ATOM]


SAME = [
    ("https://x.example/", "https://www.x.example/", True),
    ("http://x.example/", "https://x.example/", True),
    ("https://x.example/", "http://x.example/", False),
    ("https://a.co.uk/", "https://b.co.uk/", False),
    ("http://x.example/", "http://127.0.0.1/", False),
    ("http://127.0.0.1:1/", "http://127.0.0.1:2/", False),
    ("http://127.0.0.1:1/a", "http://127.0.0.1:1/b", True),
    ("http://[::1]:1/", "http://[::1]:2/", False),
    ("http://x.example:1/", "http://x.example:2/", True),
    ("http://127.0.0.1/", "http://127.0.0.2/", False),
    ("http://localhost/", "http://x.localhost/", False),
    ("http://192.0.2.1/", "http://192.0.2.1/", True),
]


@pytest.mark.parametrize(("start", "target", "is_same"), SAME)
def test_what_counts_as_the_same_service(start: str, target: str, is_same: bool) -> None:
    assert is_same_service(Url(start), Url(target)) is is_same


# ---- what may be named ----------------------------------------------------------------------------------------------

REFUSED = [
    ("search.example", "is not an http or https URL"),
    ("", "is not an http or https URL"),
    ("file:///etc/passwd", "is not an http or https URL"),
    ("https://x.example/?q={query}", "it lacks {searchTerms}"),
    ("javascript:alert('{searchTerms}')", "it must begin with http:// or https:// and a host"),
    ("mailto:a@x.example", "is not an http or https URL"),
    ("https://me:secret@x.example/", "remove user name and password"),
    ("HTTP://me@x.example", "remove user name and password"),
    ("https:/\\\\me:secret@x.example/?q={searchTerms}", "remove user name and password"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_cannot_be_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_named(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_what_can_be_named() -> None:
    page = read_named(" https://x.example ")
    assert (page.url, page.text) == (Url("https://x.example/"), "https://x.example/")
    named = read_named("https://x.example/?q={searchTerms}&a=@")
    assert named.template is not None
    assert (named.url.origin, named.text) == ("https://x.example", "https://x.example/?q={searchTerms}&a=@")
