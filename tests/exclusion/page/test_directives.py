"""META robots, X-Robots-Tag and Robots-Tag: Google's and Bing's pages, draft-illyes-repext, Alikberov's account of
Kollar's standard (`kollar`)."""

from dataclasses import fields
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion import Directives, Source

Pairs = list[tuple[str, str]]
Asked = dict[str, object]

INDEX: Asked = {"index": False}
FOLLOW: Asked = {"follow": False}
BOTH: Asked = {"index": False, "follow": False}
ARCHIVE: Asked = {"archive": False}
SNIPPET: Asked = {"snippet": False}
NOTHING: Asked = {}

DATE = datetime(2024, 9, 1, 12, 34, 56, tzinfo=UTC).timestamp()
UNTIL: Asked = {"unavailable_after": DATE}
GOOGLES_DATE: Asked = {"unavailable_after": datetime(2010, 6, 25, 23, tzinfo=UTC).timestamp()}


def asked(directives: Directives) -> Asked:
    """Returns the fields that differ from their defaults."""
    return {
        field.name: getattr(directives, field.name)
        for field in fields(Directives)
        if field.name != "sources" and getattr(directives, field.name) != field.default
    }


def of_meta(*contents: str, dialect: str = "modern") -> Asked:
    return asked(Directives.parse([("robots", content) for content in contents], [], "mybot", dialect))


WORDS: list[tuple[str, Asked, str]] = [
    ("all", NOTHING, "Google"),
    ("index", NOTHING, "Bing"),
    ("follow", NOTHING, "Bing"),
    ("index, follow", NOTHING, "Bing"),
    ("noindex", INDEX, "Google, Bing"),
    ("nofollow", FOLLOW, "Google, Bing"),
    ("none", BOTH, "Google: noindex, nofollow"),
    ("noarchive", ARCHIVE, "Bing; the book; Google no longer"),
    ("nocache", ARCHIVE, "Bing: as noarchive"),
    ("nosnippet", SNIPPET, "Google, Bing"),
    ("notranslate", {"translate": False}, "Google"),
    ("noimageindex", {"index_images": False}, "Google"),
    ("noindex, indexifembedded", {"index": False, "index_embedded": True}, "Google"),
    ("none, indexifembedded", {"index": False, "follow": False, "index_embedded": True}, "Google"),
    ("indexifembedded", NOTHING, "Google: only with noindex"),
    ("noai", {"ai": False, "ai_images": False}, "our reading"),
    ("noimageai", {"ai_images": False}, "our reading"),
    ("noodp", NOTHING, "dead"),
    ("noydir", NOTHING, "dead"),
    ("nositelinkssearchbox", NOTHING, "Google: dead"),
    ("max-snippet:0", {"snippet": False, "max_snippet": 0}, "Google: as nosnippet"),
    ("max-snippet:00", {"snippet": False, "max_snippet": 0}, "a number"),
    ("max-snippet: 50", {"max_snippet": 50}, "Google, Bing"),
    ("max-snippet:-1", NOTHING, "Google: no limit"),
    ("max-image-preview:none", {"max_image_preview": "none"}, "Google, Bing"),
    ("max-image-preview: Standard", {"max_image_preview": "standard"}, "Google, Bing"),
    ("max-image-preview:large", {"max_image_preview": "large"}, "Google, Bing"),
    ("max-video-preview:0", {"max_video_preview": 0}, "Google: a still image"),
    ("max-video-preview:30", {"max_video_preview": 30}, "Google, Bing"),
    ("max-video-preview:-1", NOTHING, "Google: no limit"),
    ("unavailable_after: 25 Jun 2010 15:00:00 PST", GOOGLES_DATE, "Google"),
    ("unavailable_after: soon", NOTHING, "Google: unreadable, ignored"),
    # separators
    ("NOINDEX,NoFollow", BOTH, "Google: any case"),
    (" noindex ; nofollow ", BOTH, "our reading"),
    ("noindex nofollow", BOTH, "our reading"),
    ("max-snippet:0 noarchive", {"snippet": False, "max_snippet": 0, "archive": False}, "our reading"),
    ("noarchive max-snippet : 20", {"archive": False, "max_snippet": 20}, "our reading"),
    ("max-snippet: noindex", INDEX, "a forgotten value and comma: our reading"),
    ("max-image-preview none", {"max_image_preview": "none"}, "a forgotten colon: our reading"),
    ("noindex:1", INDEX, "our reading"),
    ("otherbot: noindex", INDEX, "no tokens in META: our reading"),
    # nothing to read
    ("", NOTHING, "-"),
    (",,;,:", NOTHING, "-"),
    ("noindexer, unknown, max-future:3", NOTHING, "Google: unknown ones are ignored"),
    # numbers
    ("max-snippet:", NOTHING, "no number"),
    ("max-snippet:-2", NOTHING, "negative"),
    ("max-snippet:NaN", NOTHING, "no number"),
    ("max-snippet:1e999", NOTHING, "no number"),
    ("max-snippet:" + "9" * 400, NOTHING, "400 digits"),
    ("max-snippet:" + "0" * 400, NOTHING, "400 digits"),
    ("max-video-preview:1.5", NOTHING, "no number"),
    ("max-video-preview:٣", NOTHING, "no ASCII digit"),
    ("max-image-preview:huge", NOTHING, "no such size"),
    ("unavailable_after: 01 Jan 99999 00:00:00 GMT", NOTHING, "year 99999"),
    ("unavailable_after: " + "9" * 400, NOTHING, "400 digits"),
    # conflicts
    ("noindex, index", INDEX, "Google: the more restrictive"),
    ("all, none", BOTH, "Google: the more restrictive"),
    ("max-snippet:50, max-snippet:20, max-snippet:-1", {"max_snippet": 20}, "Google: the more restrictive"),
    ("max-snippet:50, nosnippet", {"max_snippet": 50, "snippet": False}, "Google: nosnippet applies"),
    ("max-image-preview:large, max-image-preview:none", {"max_image_preview": "none"}, "the more restrictive"),
    ("max-image-preview:standard, max-image-preview:large", {"max_image_preview": "standard"}, "the more restrictive"),
    (
        "max-video-preview:-1, max-video-preview:5, max-video-preview:9",
        {"max_video_preview": 5},
        "the more restrictive",
    ),
    ("unavailable_after: 2030-01-01, unavailable_after: 2024-09-01T12:34:56Z", UNTIL, "the earliest: our reading"),
]


@pytest.mark.parametrize(("content", "expected", "source"), WORDS)
def test_words(content: str, expected: Asked, source: str) -> None:
    assert of_meta(content) == expected, source
    assert asked(Directives.parse([], [("X-Robots-Tag", content)], "")) == expected or content.startswith("otherbot")


HEADERS: list[tuple[list[str], Asked, str]] = [
    ([], NOTHING, "-"),
    (["noindex", "nofollow"], BOTH, "Google: several headers"),
    (["mybot: noindex"], INDEX, "Google: tokens"),
    (["MyBot : noindex"], INDEX, "Google: any case"),
    (["mybot/2.0: noindex"], INDEX, "our reading"),
    (["otherbot: noindex"], NOTHING, "Google: tokens"),
    (["otherbot: noindex, nofollow"], NOTHING, "Google: a token holds until the next one"),
    (["otherbot: noindex, mybot: nofollow, noarchive"], {**FOLLOW, **ARCHIVE}, "Google: tokens"),
    (["otherbot: noindex", "nofollow"], FOLLOW, "Google: until the end of its header"),
    (["noarchive, otherbot: noindex"], ARCHIVE, "Google: tokens"),
    (["otherbot: noindex, *: nofollow"], FOLLOW, "our reading"),
    (["otherbot: noindex, robots: nofollow"], FOLLOW, "our reading"),
    (["otherbot:, noindex"], NOTHING, "our reading"),
    (["otherbot: max-snippet:0, noindex"], NOTHING, "tokens and values"),
    (["mybot: max-snippet:0, noindex"], {"snippet": False, "max_snippet": 0, **INDEX}, "tokens and values"),
    (["360bot: noindex"], NOTHING, "digits in a token"),
    (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], {**GOOGLES_DATE, **INDEX}, "Google: RFC 822"),
    (["unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], {**UNTIL, **INDEX}, "Google: RFC 850"),
    (["unavailable_after: Sun, 01 Sep 2024 12:34:56 GMT, noindex"], {**UNTIL, **INDEX}, "Google: RFC 822"),
    (["unavailable_after: 2024-09-01T12:34:56+00:00, noindex"], {**UNTIL, **INDEX}, "Google: ISO 8601"),
    (["unavailable_after: 2024-09-01T12:34:56Z noindex"], {**UNTIL, **INDEX}, "blanks only: our reading"),
    (["noarchive unavailable_after:2024-09-01T12:34:56Z"], {**UNTIL, **ARCHIVE}, "blanks only: our reading"),
    (["unavailable_after: Sunday, 01-Sep-24T12:34:56, noindex"], INDEX, "an unreadable date ends, too"),
    (["unavailable_after: Sunday, noindex"], INDEX, "an unreadable date ends, too"),
    (["unavailable_after: 2024-09-01T12:34:56Z, 360bot: noindex"], UNTIL, "a token with digits ends it"),
    (["otherbot: unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], NOTHING, "tokens and dates"),
    (["mybot: unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], {**UNTIL, **INDEX}, "tokens and dates"),
    (["mybot: unavailable_after: 2024-09-01T12:34:56Z", "unavailable_after: 2030-01-01"], UNTIL, "the earliest"),
    (["max-future: 3, noindex"], INDEX, "what nobody knows is no token: our reading"),
    (["otherbot: future:3, noindex"], INDEX, "what nobody knows is no token: our reading"),
    ([": noindex"], INDEX, "our reading"),
    (["a" * 1_000_000, "a:" * 300_000, "1." * 500_000 + ":", "a/" * 500_000 + " :"], NOTHING, "a megabyte"),
    (["unavailable_after:" + "1," * 500_000, "unavailable_after " * 50_000], NOTHING, "a megabyte"),
    (["max-snippet" * 90_000, ":" * 1_000_000, " " * 1_000_000 + ":", "max-snippet:" * 90_000], NOTHING, "a megabyte"),
    (["noindex," + "nofollo," * 10_000 + "nofollow"], INDEX, "64 KiB of a field are read"),
    (["x" * 65_529 + ",noindexes"], NOTHING, "cut within a word"),
]


@pytest.mark.parametrize(("values", "expected", "source"), HEADERS)
def test_x_robots_tag(values: list[str], expected: Asked, source: str) -> None:
    headers = [("X-Robots-Tag", value) for value in values]
    assert asked(Directives.parse([], headers, "MyBot/1.0 (+https://example.org)")) == expected, source


ROBOTS_TAGS: list[tuple[list[str], Asked, str]] = [
    (["*=noindex, nosnippet; ExampleBot=;"], {**INDEX, **SNIPPET}, "draft-illyes-repext-00"),
    (["noindex, nosnippet; ExampleBot=;"], {**INDEX, **SNIPPET}, "draft-illyes-repext-00: without *="),
    (["*=noindex; MyBot=;"], INDEX, "an empty group takes nothing back: our reading of -00, said in -03"),
    (["*=noindex; MyBot=nosnippet;"], {**INDEX, **SNIPPET}, "-00: the sum of negative rules"),
    (["MyBot=noindex;"], INDEX, "-00"),
    (["mybot/1.0 = NoIndex"], INDEX, "-00: any case"),
    (["MyBot=noindex; MyBot=nosnippet"], {**INDEX, **SNIPPET}, "-00: groups of one token are merged"),
    (["OtherBot=noindex, nosnippet; *=nosnippet"], SNIPPET, "-00"),
    (["OtherBot=noindex; nosnippet"], SNIPPET, "-00: a group without a token is for all"),
    (["*=nofollow, none, noarchive, max-snippet:0, unavailable_after: 2024-09-01"], NOTHING, "-00: two rules only"),
    (["*=noindex", "nosnippet"], {**INDEX, **SNIPPET}, "several fields"),
    (["*;nosnippet, MyBot;noindex"], {**INDEX, **SNIPPET}, "draft-illyes-repext-03"),
    (["*;nosnippet, OtherBot;noindex"], SNIPPET, "draft-illyes-repext-03"),
    (['"MyBot";noindex;nosnippet'], {**INDEX, **SNIPPET}, "-03: a string"),
    (["*;nosnippet, MyBot"], SNIPPET, "-03: being named takes nothing back"),
    (["OtherBot;nosnippet, noindex"], INDEX, "a rule for a token is for all: our reading"),
    (["", ";;,=", "=noindex", "*"], NOTHING, "-"),
    (["*=" * 500_000, ";" * 1_000_000, "," * 1_000_000, "a;" * 500_000, '"' * 1_000_000], NOTHING, "a megabyte"),
    (["noindex," + "x," * 4_092 + "nosnippet"], {**INDEX, **SNIPPET}, "-00: 8 KiB at least"),
]


@pytest.mark.parametrize(("values", "expected", "source"), ROBOTS_TAGS)
def test_robots_tag(values: list[str], expected: Asked, source: str) -> None:
    assert asked(Directives.parse([], [("Robots-Tag", value) for value in values], "mybot")) == expected, source


METAS: list[tuple[Pairs, Asked, str]] = [
    ([("ROBOTS", "NONE")], BOTH, "Google: any case"),
    ([(" robots ", " noindex ")], INDEX, "blanks around"),
    ([("mybot", "noindex")], INDEX, "Google: tokens"),
    ([("MYBOT", "nosnippet")], SNIPPET, "Google: tokens in any case"),
    ([("otherbot", "noindex")], NOTHING, "Google: tokens"),
    ([("", "noindex")], NOTHING, "-"),
    ([("x-robots-tag", "noindex")], NOTHING, "no META name"),
    ([("robots", "nofollow"), ("mybot", "noindex")], BOTH, "Google: general and own add up"),
    ([("robots", "noindex"), ("mybot", "index")], INDEX, "Google: general and own add up"),
    ([("robots", "max-snippet:20"), ("mybot", "max-snippet:50")], {"max_snippet": 20}, "the more restrictive"),
    ([("robots", "noindex"), ("mybot", "indexifembedded")], {"index": False, "index_embedded": True}, "they add up"),
]


@pytest.mark.parametrize(("metas", "expected", "source"), METAS)
def test_meta(metas: Pairs, expected: Asked, source: str) -> None:
    assert asked(Directives.parse(metas, [], "mybot")) == expected, source


KOLLAR: list[tuple[list[str], Asked, str]] = [
    ([], NOTHING, "002: no tag, INDEX and FOLLOW"),
    ([""], NOTHING, "002: no words, INDEX and FOLLOW"),
    (["ALL"], NOTHING, "002"),
    (["index, follow"], NOTHING, "002"),
    (["NONE"], BOTH, "002"),
    (["NOINDEX"], BOTH, "002: alone, it bars the links too"),
    (["NOFOLLOW"], FOLLOW, "002: alone, the page is indexed"),
    (["noindex,nofollow"], BOTH, "001"),
    (["noindex, follow"], INDEX, "002"),
    (["nofollow, follow"], NOTHING, "002: of opposites FOLLOW"),
    (["index, noindex"], NOTHING, "by analogy: our reading"),
    (["none, follow"], INDEX, "NONE is NOINDEX, NOFOLLOW"),
    (["none, index"], FOLLOW, "NONE is NOINDEX, NOFOLLOW"),
    (["NONE, NOINDEX, ALL"], NOTHING, "002: ALL overrides all else"),
    (["INDEX,NOINDEX,NOFOLLOW,FOLLOW,FOLLOW"], NOTHING, "004, the example of what not to write"),
    (["noindex, follow", "nofollow"], BOTH, "tags add up: our reading"),
    (["all", "noindex"], BOTH, "tags add up: our reading"),
    (["noindex nofollow", "noindex; nofollow"], NOTHING, "002: separated by commas"),
    (["noarchive, nosnippet, max-snippet:0, noai"], NOTHING, "002: six words"),
    ([" " * 1_000_000, "," * 1_000_000, "noindex" * 150_000], NOTHING, "a megabyte"),
]


@pytest.mark.parametrize(("contents", "expected", "source"), KOLLAR)
def test_kollar(contents: list[str], expected: Asked, source: str) -> None:
    assert of_meta(*contents, dialect="kollar") == expected, source


def test_kollar_knows_meta_robots_only() -> None:
    headers = [("X-Robots-Tag", "noindex"), ("Robots-Tag", "noindex")]
    assert Directives.parse([("mybot", "noindex")], headers, "mybot", "kollar") == Directives()


def test_kollar_sources_say_what_was_overridden() -> None:
    directives = Directives.parse([("robots", "noindex, follow, nofollow")], [], "mybot", "kollar")
    assert directives.sources == (
        Source("noindex", "META robots", ("index",)),
        Source("follow", "META robots"),
        Source("nofollow", "META robots"),
    )


PAGE_METAS: list[tuple[Pairs, Asked, str]] = [
    ([("DESCRIPTION", " Welcome to\n Mary's  shop ")], {"description": "Welcome to Mary's shop"}, "004"),
    (
        [("description", " "), ("description", "a"), ("description", "b")],
        {"description": "a"},
        "the first: our reading",
    ),
    ([("description", "ab " * 500_000)], {"description": "ab " * 666 + "ab"}, "2,000 characters"),
    ([("KEYWORDS", "antiques,mary"), ("keywords", "b")], {"keywords": "antiques,mary"}, "004"),
    ([("url", " "), ("URL", " http://a/B "), ("url", "http://c/")], {"canonical": "http://a/B"}, "002"),
    ([("url", "http://a/" + "b" * 8_000)], NOTHING, "8,000 characters"),
    ([("revisit-after", "10 days")], {"revisit_after_s": 864_000.0}, "004"),
    ([("Revisit-After", " 10  DAYS ")], {"revisit_after_s": 864_000.0}, "any case and blanks"),
    ([("revisit-after", "10")], {"revisit_after_s": 864_000.0}, "004: a number of days"),
    ([("revisit-after", "1 day")], {"revisit_after_s": 86_400.0}, "our reading"),
    ([("revisit-after", "12 hours")], {"revisit_after_s": 43_200.0}, "our reading"),
    ([("revisit-after", "2-weeks")], {"revisit_after_s": 1_209_600.0}, "our reading"),
    ([("revisit-after", "1 month")], {"revisit_after_s": 2_592_000.0}, "our reading: 30 days"),
    ([("revisit-after", "1 year")], {"revisit_after_s": 31_536_000.0}, "our reading: 365 days"),
    ([("revisit-after", "999999 years")], {"revisit_after_s": 315_360_000.0}, "ten years at most"),
    ([("revisit-after", "soon"), ("revisit-after", "2 days")], {"revisit_after_s": 172_800.0}, "the first readable"),
    ([("revisit-after", "9" * 400)], NOTHING, "400 digits"),
    ([("revisit-after", "-1 days")], NOTHING, "negative"),
    ([("revisit-after", "NaN"), ("revisit-after", "1e999")], NOTHING, "no number"),
    ([("revisit-after", "1" + " " * 1_000_000)], {"revisit_after_s": 86_400.0}, "a megabyte"),
    ([("DOCUMENT-STATE", "STATIC")], {"document_state": "static"}, "002"),
    ([("DOCUMENT-STATE", " Dynamic ")], {"document_state": "dynamic", "index": False}, "002, STANDARDS: not indexed"),
    (
        [("document-state", "dynamic"), ("document-state", "static"), ("robots", "all")],
        {"document_state": "dynamic", "index": False},
        "the more restrictive: our reading",
    ),
    ([("document-state", "other")], NOTHING, "-"),
]


@pytest.mark.parametrize("dialect", ["modern", "kollar"])
@pytest.mark.parametrize(("metas", "expected", "source"), PAGE_METAS)
def test_page_metas(metas: Pairs, expected: Asked, source: str, dialect: str) -> None:
    assert asked(Directives.parse(metas, [], "mybot", dialect)) == expected, source


def test_all_places_count_together_and_sources_say_where() -> None:
    directives = Directives.parse(
        [
            ("Robots", "NoFollow, follow, NOODP, unknown"),
            ("MyBot", "max-snippet:0, max-image-preview:Large"),
            ("robots", "nofollow, indexifembedded"),
            ("url", "http://Example.org/"),
            ("document-state", "Dynamic"),
            ("revisit-after", "now and then"),
            ("description", "noindex"),
        ],
        [
            ("x-robots-tag", "otherbot: none, mybot: unavailable_after: Sun, 01 Sep 2024 12:34:56 GMT"),
            ("Content-Type", "noarchive"),
            ("ROBOTS-TAG", "*=noindex; mybot=;"),
            ("X-Robots-Tag", "noindex, max-snippet:-1"),
        ],
        "mybot",
    )
    assert directives.sources == (
        Source("nofollow", "META robots", ("follow",)),
        Source("follow", "META robots"),
        Source("noodp", "META robots"),
        Source("max-snippet:0", "META mybot", ("max_snippet", "snippet")),
        Source("max-image-preview:large", "META mybot", ("max_image_preview",)),
        Source("indexifembedded", "META robots", ("index_embedded",)),
        Source("http://Example.org/", "META url", ("canonical",)),
        Source("dynamic", "META document-state", ("document_state", "index")),
        Source("now and then", "META revisit-after"),
        Source("unavailable_after:sun, 01 sep 2024 12:34:56 gmt", "X-Robots-Tag", ("unavailable_after",)),
        Source("noindex", "Robots-Tag", ("index",)),
        Source("noindex", "X-Robots-Tag", ("index",)),
        Source("max-snippet:-1", "X-Robots-Tag"),
    )
    assert [source.origin for source in directives.why("index")] == [
        "META document-state",
        "Robots-Tag",
        "X-Robots-Tag",
    ]
    assert directives.why("archive") == ()
    assert Directives.parse([("robots", "indexifembedded")], [], "").sources == (
        Source("indexifembedded", "META robots"),
    )


def test_available_until_its_date() -> None:
    directives = Directives.parse([("robots", "unavailable_after: 2024-09-01T12:34:56Z")], [], "mybot")
    assert [directives.is_available(DATE + seconds) for seconds in (-1, 0, 1)] == [True, False, False]
    assert Directives().is_available(DATE)


def test_without_directives_everything_is_permitted() -> None:
    assert Directives.parse([], [], "mybot") == Directives()
    assert (
        Directives.parse([("", "none"), ("viewport", "none")], [("", "none"), ("Robots-Tags", "none")], "")
        == Directives()
    )


def test_what_is_parsed_is_a_value_like_any_other() -> None:
    parsed = Directives.parse([("robots", "noindex")], [], "mybot")
    made = Directives(index=False, sources=(Source("noindex", "META robots", ("index",)),))
    assert (parsed, hash(parsed), repr(parsed)) == (made, hash(made), repr(made))


def test_an_unknown_dialect_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"'ancient'.*modern, kollar"):
        Directives.parse([], [], "mybot", dialect="ancient")


@pytest.mark.parametrize("dialect", ["modern", "kollar"])
def test_many_tags(dialect: str) -> None:
    metas = [("robots", "noarchive")] * 10_000 + [("robots", f"max-snippet:{n}") for n in range(10_000, 0, -1)]
    directives = Directives.parse([*metas, ("robots", "noindex")], [], "mybot", dialect)
    assert not directives.index
    assert [source.directive for source in directives.why("index")] == ["noindex"]
    assert directives.max_snippet == (1 if dialect == "modern" else None)
    assert len(directives.sources) == (101 if dialect == "modern" else 1)


def test_every_restriction_has_a_source_beyond_the_limit() -> None:
    metas = [("robots", f"max-snippet:{n}") for n in range(200, 0, -1)]
    directives = Directives.parse([*metas, ("robots", "max-snippet:0"), ("document-state", "dynamic")], [], "mybot")
    assert directives.why("snippet") == (Source("max-snippet:0", "META robots", ("max_snippet", "snippet")),)
    assert directives.why("index") == (Source("dynamic", "META document-state", ("document_state", "index")),)
    assert len(directives.sources) == 102


def test_a_source_is_cut() -> None:
    directives = Directives.parse([("robots", "max-snippet:" + "9" * 400), ("url", "h" * 400)], [], "mybot")
    assert [len(source.directive) for source in directives.sources] == [120, 120]


PIECES = st.sampled_from(
    [
        *("noindex", "index", "none", "all", "nofollow", "noai", "indexifembedded", "mybot", "otherbot", "*", "robots"),
        *("max-snippet", "max-image-preview", "large", "unavailable_after", "2024-09-01", "Sunday", "12:00", "0", "-1"),
        *(":", ",", ";", "=", " ", '"'),
    ]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=10).map("".join))
NAMES = st.sampled_from(["robots", "mybot", "otherbot", "url", "description", "revisit-after", "document-state"])
FIELDS = st.sampled_from(["X-Robots-Tag", "Robots-Tag", "Link"])
METAS_OF_ANY_KIND = st.lists(st.tuples(st.one_of(NAMES, TEXTS), TEXTS), max_size=4)
HEADERS_OF_ANY_KIND = st.lists(st.tuples(st.one_of(FIELDS, TEXTS), TEXTS), max_size=4)


@given(METAS_OF_ANY_KIND, HEADERS_OF_ANY_KIND, TEXTS, st.sampled_from(["modern", "kollar"]))
def test_never_raises(metas: Pairs, headers: Pairs, token: str, dialect: str) -> None:
    directives = Directives.parse(metas, headers, token, dialect)
    for field in ("index", "follow", "archive", "snippet", "translate", "index_images", "ai", "ai_images"):
        assert getattr(directives, field) == (not directives.why(field))


def freedom(directives: Directives) -> list[float]:
    """Returns a number for each field that can be restricted; a greater number permits more."""
    sizes = {"none": 0.0, "standard": 1.0, "large": 2.0, None: 3.0}
    limits = (directives.max_snippet, directives.max_video_preview, directives.unavailable_after)
    flags = (directives.index, directives.follow, directives.archive, directives.snippet)
    others = (directives.translate, directives.index_images, directives.ai, directives.ai_images)
    free = [float("inf") if limit is None else float(limit) for limit in limits]
    return [*map(float, flags), *map(float, others), *free, sizes[directives.max_image_preview]]


@given(METAS_OF_ANY_KIND, HEADERS_OF_ANY_KIND, METAS_OF_ANY_KIND, HEADERS_OF_ANY_KIND)
def test_one_more_directive_never_removes_a_restriction(
    metas: Pairs, headers: Pairs, more_metas: Pairs, more_headers: Pairs
) -> None:
    before = freedom(Directives.parse(metas, headers, "mybot"))
    after = freedom(Directives.parse([*metas, *more_metas], [*headers, *more_headers], "mybot"))
    assert all(now <= then for now, then in zip(after, before, strict=True))
