"""Queries against a small collection, English and Russian."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import Ranking, TantivyIndex, TantivySearch
from goodbot.search_values import Document

PAGES = [
    Document(
        id="delay",
        url="https://robots.example.org/guide/crawl-delay.html",
        title="Crawl delay",
        headings="How long a robot waits",
        text="A polite robot waits between two requests. The crawl delay tells it how many seconds.",
    ),
    Document(
        id="sitemaps",
        url="https://robots.example.org/guide/sitemaps.html",
        title="Sitemaps",
        text="A list of pages for robots. It says nothing of any delay, and a crawl may begin with it.",
    ),
    Document(
        id="kettle",
        url="https://kitchen.example.net:8443/kettles",
        title="The whistling kettle",
        text="Water boils in the kettle. No robots here. Written in C++ by a café owner, don't ask.",
        description="About kettles and samovars",
        keywords="teapot",
    ),
    Document(
        id="init",
        url="http://127.0.0.1:8020/policy/ch-opersys.html",
        title="Operating system",
        text="Packages use update-rc.d to register a script. Debian/rules is another file.",
    ),
    Document(id="six", url="http://[::1]:8021/x", title="Six", text="A page about nothing but sixes."),
    Document(
        id="кот",
        url="https://дом.example.org/кошки",
        title="Кошки в доме",
        headings="Чем кормить кошку",
        text="Кошка спит на тёплой печке. Вечером кошки играют с клубком, а ёж шуршит в саду.",
        language="ru",
    ),
    Document(
        id="поезд",
        url="https://rails.example.net/поезда",
        title="Расписание поездов",
        text="Поезд отходит вечером. В доме у вокзала живут машинисты.",
        language="ru",
    ),
    Document(
        id="東京", url="https://example.jp/", title="東京の駅", text="東京都の駅前で会いましょう。", language="ja"
    ),
]

QUERIES = [
    ("one word, in title first", "delay", ["delay", "sitemaps"]),
    ("another form", "robot", {"delay", "sitemaps", "kettle"}),
    ("both words come first", "crawl delays", ["delay", "sitemaps"]),
    ("phrase", '"crawl delay"', ["delay"]),
    ("phrase in another form", '"polite robots"', ["delay"]),
    ("phrase in wrong order", '"delay crawl"', []),
    ("exclusion", "robots -kettle", {"delay", "sitemaps"}),
    ("excluded phrase", 'robots -"polite robot"', {"sitemaps", "kettle"}),
    ("site", "robots site:example.org", {"delay", "sitemaps"}),
    ("site, one host", "robots site:kitchen.example.net", ["kettle"]),
    ("site with port", "robots site:kitchen.example.net:8443", ["kettle"]),
    ("site with another port", "robots site:kitchen.example.net:9999", []),
    ("site, address", "script site:127.0.0.1", ["init"]),
    ("site, IPv6 address", "sixes site:[::1]", ["six"]),
    ("site, IPv6 address and port", "sixes site:[::1]:8021", ["six"]),
    ("site, not a part of a name", "robots site:ample.org", []),
    ("excluded site", "robots -site:robots.example.org", ["kettle"]),
    ("title", "title:kettles", ["kettle"]),
    ("not in title", "title:robots", []),
    ("or", "kettle OR sitemap", {"kettle", "sitemaps"}),
    ("a word beside or", "list crawl OR kettle", ["sitemaps", "delay", "kettle"]),
    ("group", "robots (kettle OR sitemaps) -boils", ["sitemaps"]),
    ("word of the address", "guide", {"delay", "sitemaps"}),
    ("heading", "how long", ["delay"]),
    ("description", "samovars", ["kettle"]),
    ("keywords", "teapot", ["kettle"]),
    ("C++", "c++", ["kettle"]),
    ("apostrophe", "don't", ["kettle"]),
    ("accent left out", "cafe", ["kettle"]),
    ("word of parts", "update-rc.d", ["init"]),
    ("path", "debian/rules", ["init"]),
    ("a stop word beside a phrase", 'is "polite robot"', ["delay"]),
    ("some words are nowhere", "whistling zeppelin", ["kettle"]),
    ("nothing", "zeppelin", []),
    ("a stop word alone", "the", {"delay", "kettle"}),
    ("Russian form", "кошкой", ["кот"]),
    ("Russian, two words", "поезда вечером", ["поезд", "кот"]),
    ("Russian, case", "ДОМ", {"кот", "поезд"}),
    ("ё as е", "еж", ["кот"]),
    ("Russian phrase", '"кошки спит"', ["кот"]),
    ("Russian exclusion", "вечер -поезд", ["кот"]),
    ("site with Russian name", "ёж site:дом.example.org", ["кот"]),
    ("Japanese run", "東京", ["東京"]),
    ("Japanese, inside a run", "駅前", ["東京"]),
    ("Japanese, one character", "駅", ["東京"]),
    ("Japanese, last character of a run", "う", ["東京"]),
    ("Japanese, not there", "京東", []),
]


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    folder = tmp_path_factory.mktemp("search")
    index = TantivyIndex(folder)
    for page in PAGES:
        index.add(page)
    index.commit()
    index.close()
    return TantivySearch(folder)


@pytest.mark.parametrize(("name", "query", "expected"), QUERIES)
def test_query(search: TantivySearch, name: str, query: str, expected: list[str] | set[str]) -> None:
    results = search.search(query)
    found = [hit.id for hit in results.hits]
    assert (set(found) if isinstance(expected, set) else found) == expected
    assert results.total == len(expected)


def test_the_same_query_gives_the_same_answer(search: TantivySearch) -> None:
    assert search.search("robot").hits == search.search("robot").hits


def test_marks_another_form(search: TantivySearch) -> None:
    (hit,) = search.search("кошками").hits
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["Кошка", "кошки"]


def test_description_when_the_text_does_not_tell(search: TantivySearch) -> None:
    (hit,) = search.search("samovar").hits
    assert hit.snippet == "About kettles and samovars"


@pytest.mark.parametrize(
    "query",
    [
        "(" * 3000 + "robot",
        "(robot " * 3000,
        '"' * 3000 + "robot",
        "robot " * 170_000,
        "robot OR " + "-(" * 3000 + "x" + ")" * 3000,
        "a OR " * 500 + "b",
    ],
    ids=["parentheses", "nested words", "quotes", "1 MB", "exclusions", "alternatives"],
)
def test_hard_queries(search: TantivySearch, query: str) -> None:
    assert search.search(query).total > 0


@pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (10, -1)])
def test_negative_bounds(search: TantivySearch, limit: int, offset: int) -> None:
    with pytest.raises(InputError, match="negative"):
        search.search("robot", limit, offset)


PIECES = st.sampled_from(
    ['"', "(", ")", "-", "OR", "site:a.b", "title:", "robot", "東京", "駅", "the", " ", "ёж", "a.b", "кот"]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join)))
def test_any_query(search: TantivySearch, query: str) -> None:
    try:
        results = search.search(query, 3)
    except InputError:
        return
    assert len(results.hits) == min(3, results.total)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TantivyIndex]:
    index = TantivyIndex(tmp_path_factory.mktemp("any"))
    yield index
    index.commit()
    index.close()


@settings(deadline=None)
@given(st.builds(Document))
def test_any_document(index: TantivyIndex, document: Document) -> None:
    index.add(document)


def test_documents_of_any_size(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    long = Document(id="x" * 200_000, url="x" * 100_000, title="t " * 100_000, text="w" * 3_000_000 + " 東" * 500_000)
    odd = Document(id="", url="", title="\x00\ud800", text="\x00 robot \ud800", fetched_at=float("nan"))
    index.add(long)
    index.add(odd)
    index.commit()
    index.close()
    search = TantivySearch(tmp_path)
    assert search.count() == 2
    assert [hit.id for hit in search.search("robot").hits] == [""]
    assert [hit.id for hit in search.search("t").hits] == [long.id]


ASKED = [
    ("nothing asked", {}, "A secret robot in the open."),
    ("nosnippet", {"snippet_chars": 0}, ""),
    ("max-snippet", {"snippet_chars": 20}, "A secret robot …"),
    ("data-nosnippet", {"shown": "in the open."}, "Of robots."),
    ("all of it is data-nosnippet", {"shown": "", "description": ""}, ""),
    ("both", {"shown": "A robot in the open.", "snippet_chars": 12}, "… robot …"),
]


@pytest.mark.parametrize(("name", "asked", "snippet"), ASKED)
def test_what_a_page_does_not_want_shown_is_found_and_not_stored(
    tmp_path: Path, name: str, asked: dict[str, Any], snippet: str
) -> None:
    index = TantivyIndex(tmp_path)
    page = Document("one", "", "One", "A secret robot in the open.", description="Of robots.")
    index.add(replace(page, **asked))
    index.commit()
    index.close()
    search = TantivySearch(tmp_path)
    (hit,) = search.search("robot").hits
    assert hit.snippet == snippet
    assert [found.id for found in search.search("secret").hits] == ["one"]
    if asked and "snippet_chars" not in asked:
        assert b"secret" not in b"".join(file.read_bytes() for file in tmp_path.glob("*.store"))


DATED = [
    ("after a day, which counts", "after:2024-05-01", {"may", "now"}),
    ("after a month", "after:2024-05", {"may", "now"}),
    ("before a day, which does not count", "before:2024-05-01", {"old"}),
    ("between two days", "after:2000 before:2024-05-02", {"may"}),
    ("with a word", "page after:2024-05-02", {"now"}),
    ("not after", "page -after:2024", {"old", "undated"}),
    ("before all time", "before:1970", set[str]()),
    ("before and after every time", "page before:9999 after:0001", {"old", "may", "now"}),
]


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    """Pages of 1999, of the first second of May 2024 and of 2026, and one without a date."""
    times = {"old": 930_000_000.0, "may": 1_714_521_600.0, "now": 1_780_000_000.0, "undated": 0.0}
    return _search_in(
        tmp_path_factory.mktemp("dated"),
        [Document(id=name, url=f"https://example.org/{name}", title=name, text="a page", fetched_at=at)
         for name, at in times.items()],
    )  # fmt: skip


@pytest.mark.parametrize(("name", "query", "expected"), DATED)
def test_dates(dated: TantivySearch, name: str, query: str, expected: set[str]) -> None:
    assert {hit.id for hit in dated.search(query).hits} == expected


def _search_in(folder: Path, documents: list[Document]) -> TantivySearch:
    index = TantivyIndex(folder)
    for document in documents:
        index.add(document)
    index.commit()
    index.close()
    return TantivySearch(folder)


NAMING = Document("right", "https://example.org/right", "", "krb5_cc_default resolves the default cache.")
NAMED = [
    ("title", replace(NAMING, title="krb5_cc_default - resolve")),
    ("heading", replace(NAMING, title="Caches", headings="The krb5_cc_default function")),
    ("term", replace(NAMING, title="Caches", terms="int krb5_cc_default (context)")),
    ("end of a term", replace(NAMING, title="Caches", terms="c.krb5_cc_default")),
]


@pytest.mark.parametrize(("where", "right"), NAMED)
def test_a_page_named_like_a_joined_word_comes_before_one_with_its_parts(
    tmp_path: Path, where: str, right: Document
) -> None:
    parts = "krb5_cc_default_name"
    other = Document(id="other", url="https://example.org/", title=parts, headings=parts, terms=parts, text=parts)
    fillers = [replace(PAGES[1], id=str(number)) for number in range(200)]
    search = _search_in(tmp_path, [other, right, *fillers])
    assert [hit.id for hit in search.search("krb5_cc_default").hits] == ["right", "other"]
    without = TantivySearch(tmp_path, Ranking(frozenset({"names"})))
    assert [hit.id for hit in without.search("krb5_cc_default").hits] == ["other", "right"]


LIBRARY = "A könyvtárak nyitva vannak, és a könyvek nem drágák, mert ez egy város, ahol az emberek sokat olvasnak."


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    """Thirty English pages, one of them about init, and one in Hungarian, in which the stem of `init` is `in`."""
    fillers = [
        Document(str(number), "", "Robots", "A robot waits in the yard, all data in hand.") for number in range(29)
    ]
    init = Document("init", "", "The first process", "The init process adds no data, and it is the first that you see.")
    return _search_in(
        tmp_path_factory.mktemp("mixed"), [*fillers, init, Document("hu", "", "", LIBRARY, language="hu")]
    )


RARE = [
    ("one word", "init", ["init"]),
    ("quoted", '"init"', ["init"]),
    ("phrase", '"init the"', []),
    ("beginning", "init*", ["init"]),
    ("alternative", "init OR könyvtárban", ["hu", "init"]),
    ("another form in the rare language", "könyvtárban", ["hu"]),
    ("phrase in the rare language", '"a könyvtár nyitva"', ["hu"]),
]


@pytest.mark.parametrize(("name", "query", "expected"), RARE)
def test_stems_of_a_rare_language_find_its_documents_only(
    mixed: TantivySearch, name: str, query: str, expected: list[str]
) -> None:
    results = mixed.search(query)
    assert sorted(hit.id for hit in results.hits) == expected
    assert (results.corrected, results.suggestion) == (None, None)


def test_stop_words_of_a_rare_language_count_in_queries_without_others_of_it(mixed: TantivySearch) -> None:
    """`ad` is none, `add` neither, though it has its stem; `az` and `ahol` are."""
    assert mixed.search("init adds data").complete == 1
    assert mixed.search("robots a könyvtár").complete == 0
    assert mixed.search("ahol az emberek olvasnak a könyvtárban").complete == 1


def test_all_pages_of_hits_have_one_order_without_copies(tmp_path: Path) -> None:
    """450 documents: 150 texts, each on three pages, so a third of the documents of each 200 are hits."""
    texts = [
        f"The kettle number{number} whistles, and then the tea is ready for all who wait. " * 4 for number in range(150)
    ]
    urls = [f"https://a.example/{number}" for number in range(450)]
    search = _search_in(tmp_path, [Document(url, url, "", texts[at % 150]) for at, url in enumerate(urls)])
    every = search.search("kettle", 1000)
    assert (every.total, every.listed, len(every.hits)) == (450, 150, 150)
    paged = [search.search("kettle", 10, offset) for offset in range(0, 160, 10)]
    assert [hit.id for page in paged for hit in page.hits] == [hit.id for hit in every.hits]
    assert len({hit.id for hit in every.hits}) == 150
    assert (paged[0].listed, paged[-1].listed, paged[-1].hits) == (150, 150, ())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("robots (-delay)", {"kettle"}),
        ("(-robots)", {"init", "six", "кот", "поезд", "東京"}),
        ("-(-(kettle))", {"kettle"}),
        ("kettle OR -robots", {"kettle", "init", "six", "кот", "поезд", "東京"}),
        ("inurl:crawl-delay.html", {"delay"}),
        ("inurl:guide/crawl-delay", {"delay"}),
    ],
)
def test_exclusions_in_groups_and_alternatives(search: TantivySearch, query: str, expected: set[str]) -> None:
    assert {hit.id for hit in search.search(query).hits} == expected


def test_the_corrected_query_is_searched_for_if_nothing_is_found(tmp_path: Path) -> None:
    """`kettel` is on a page of another site, so it is not unknown."""
    kettles = [Document(str(number), f"https://a.example/{number}", "", "kettle") for number in range(60)]
    search = _search_in(tmp_path, [*kettles, Document("x", "https://b.example/", "", "kettel")])
    results = search.search("kettel site:a.example")
    assert (results.total, results.corrected, results.suggestion) == (60, "kettle site:a.example", None)
    assert search.search("kettel").suggestion == "kettle"


def test_the_language_of_a_query_tells_which_translation_is_shown(tmp_path: Path) -> None:
    alternates = (("en", "https://example.org/en"), ("ru", "https://example.org/ru"), ("ru", "https://example.org/2"))
    english = Document(
        "en", "https://example.org/en", "Kettles", "a kettle samovar for the tea", language="en", alternates=alternates
    )
    russian = Document(
        "ru", "https://example.org/ru", "Чайники", "самовар samovar и чайник", language="ru", alternates=alternates
    )
    search = _search_in(tmp_path, [english, russian, replace(russian, id="2", url="https://example.org/3")])
    (_, *_) = search.search("samovar").hits
    assert search.search("samovar").hits[0].id == "en"
    assert search.search("самовар").hits[0].id == "ru"
    assert search.search("samovar", languages=["ru"]).hits[0].id == "ru"


@pytest.mark.parametrize(
    ("languages", "first"), [((), "en-US"), (("en",), "en-US"), (("tr",), "tr-TR"), (("nb", "en"), "nb-NO")]
)
def test_copies_that_nobody_has_translated_are_shown_in_the_folder_of_the_reader_s_language(
    tmp_path: Path, languages: tuple[str, ...], first: str
) -> None:
    text = "The kettle is on the stove, and it is for the tea that we have at five. " * 4
    urls = [f"https://example.org/book/{folder}/kettle.html" for folder in ("tr-TR", "nb-NO", "en-US", "cs-CZ")]
    fillers = [replace(PAGES[1], id=str(number)) for number in range(9)]
    search = _search_in(tmp_path, [*(Document(url, url, "Kettle", text, language="en-US") for url in urls), *fillers])
    (hit,) = search.search("kettle", languages=languages).hits
    assert f"/{first}/" in hit.url
    assert len(hit.others) == 3


def test_an_english_page_in_the_folder_of_another_language_joins_its_translations(tmp_path: Path) -> None:
    """As a server answers for a page that has not been translated; the pages name those that have been."""
    site = "https://a.example/manual"
    alternates = (("en", f"{site}/en/ssl.html"), ("fr", f"{site}/fr/ssl.html"))
    text = "The kettle module encrypts what it says to the stove, and that is all there is to it. " * 4
    pages = [
        Document("ko", f"{site}/ko/ssl.html", "Kettles", text, language="en", alternates=alternates),
        Document("fr", f"{site}/fr/ssl.html", "Kettles", "kettle " + FRENCH, language="fr", alternates=alternates),
        Document("other", f"{site}/en/faq.html", "Kettles", text + "More.", language="en"),
    ]
    search = _search_in(tmp_path, pages)
    assert {hit.id for hit in search.search("kettle", languages=["en"]).hits} == {"ko", "other"}
    assert {hit.id for hit in search.search("kettle", languages=["fr"]).hits} == {"fr", "other"}


FRENCH = "Le module chiffre ce qu'il dit au poêle, et il ne fait pas plus que cela pour vous et pour les autres."


def test_all_translations_of_a_hit_are_listed_and_the_reader_s_that_is_found_comes_first(tmp_path: Path) -> None:
    """300 pages in four languages. The Turkish ones have no word of the query, none of the French ones is among the
    best 200."""
    site = "https://a.example/book"
    words = {"en-US": "kettle kettle kettle", "de-DE": "kettle kettle", "fr-FR": f"kettle {FRENCH * 3}", "tr-TR": "su"}
    pages = [
        Document(f"{folder}/{number}", f"{site}/{folder}/{number}.html", "", f"{text} {number}")
        for folder, text in words.items()
        for number in range(300)
    ]
    search = _search_in(tmp_path, pages)
    for languages, first in ((["en"], "en-US"), (["fr"], "fr-FR"), (["tr", "en"], "en-US"), (["tr", "de"], "de-DE")):
        results = search.search("kettle", 10, 0, languages)
        assert {hit.id.partition("/")[0] for hit in results.hits} == {first}
        assert {len(hit.others) for hit in results.hits} == {3}
    every = search.search("kettle", 1000, 0, ["en"])
    assert (every.total, every.listed, len(every.hits)) == (900, 300, 300)
    assert len({url for hit in every.hits for url in (hit.url, *(other.url for other in hit.others))}) == 1200


def test_a_region_that_no_page_states_is_left_out_of_a_language(tmp_path: Path) -> None:
    pages = [
        Document("de", "https://a.example/1", "", "Der Kessel ist auf dem Herd, und er ist warm.", language="de-AT"),
        Document(
            "nb", "https://a.example/2", "", "Kjelen er der, og det er varmt for oss som er her.", language="nb-NO"
        ),
    ]
    search = _search_in(tmp_path, pages)
    for query, expected in (("lang:de-AT", "de"), ("lang:de-DE", "de"), ("lang:nb", "nb"), ("lang:nb-NO", "nb")):
        assert [hit.id for hit in search.search(query).hits] == [expected], query
