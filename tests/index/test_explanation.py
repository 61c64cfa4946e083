"""Why a page is where it is: the parts of its score add up to the score that the hit shows."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index import PARTS, REASONS, Ranking, TantivyIndex, TantivySearch, explanation_json, refresh_links
from goodbot.index.synonyms import Synonym
from goodbot.search_values import Document, Explanation, Filters, Hidden
from goodbot.url import Url
from goodbot.values import Link

HUNGARIAN = "A könyvtárak nyitva vannak, és a könyvek nem drágák, mert ez egy város, ahol az emberek sokat olvasnak."
SITE = "https://a.example"
JOIN = Document(
    f"{SITE}/lib/os.path.html",
    f"{SITE}/lib/os.path.html",
    "os.path — paths",
    "The function os.path.join joins paths. A robot waits, then joins the crawl: the robot is polite in the café.",
    headings="Joining paths",
    terms="os.path.join(path)",
    description="How to join paths of files",
    keywords="files robots",
    alternative_texts="A robot on a path",
    language="en",
)
LISTS = tuple(Link(Url(f"{SITE}/target/{number}"), f"robot number {number}") for number in range(40))
TEXT = "A polite robot waits between two requests, and it does so on every host that it has ever seen. " * 3
PAGES = [
    JOIN,
    Document(f"{SITE}/list", f"{SITE}/list", "Robots", "robot robot path", links=LISTS, language="en"),
    Document(f"{SITE}/de/robot", f"{SITE}/de/robot", "Roboter", "Der robot ist da und er ist nett.", language="de"),
    Document(f"{SITE}/hu", f"{SITE}/hu", "Könyvek", HUNGARIAN, language="hu"),
    Document(f"{SITE}/東京", f"{SITE}/%E6%9D%B1", "東京の駅", "東京都の駅前で会いましょう。", language="ja"),
    Document(f"{SITE}/target/1", f"{SITE}/target/1", "A target", "Nothing to see in the yard of this house."),
    Document(f"{SITE}/one", f"{SITE}/one", "Politeness", TEXT, language="en"),
    Document(f"{SITE}/two", f"{SITE}/two", "Politeness too", TEXT, language="en"),
    *(
        Document(f"{SITE}/x/{number}", f"{SITE}/x/{number}", f"Yard {number}", f"The path in the yard, row {number}.")
        for number in range(40)
    ),
]
SYNONYMS = [Synonym("wanderer", "robot"), Synonym("path", "joining paths")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    index = TantivyIndex(folder)
    for page in PAGES:
        index.add(page)
    index.commit()
    index.close()
    refresh_links(folder)
    return folder


@pytest.fixture(scope="module")
def search(folder: Path) -> TantivySearch:
    return TantivySearch(folder, synonyms=SYNONYMS)


QUERIES = [
    "robot",
    "os.path.join",
    "robots join paths",
    "the robot in the café",
    '"polite robot"',
    '"robot waits" path',
    "robot -list",
    "-zeppelin",
    "-zeppelin -list",
    "NOT robot",
    "-zeppelin OR robot",
    "(-zeppelin -list) OR -yard",
    "robot (site:a.example OR lang:de)",
    '"polite robot" "polite robot"',
    "intitle:robots intitle:robots robots",
    "link:https://a.example/target/1",
    "site:a.example -robot",
    "intitle:robots",
    "inurl:os.path.html robot",
    "rob*",
    "robot OR könyvtárban",
    "yard (robot OR (path -list))",
    "site:a.example robot",
    "site:a.example",
    "lang:de",
    "könyvtárban emberek",
    '"a könyvtár nyitva"',
    "東京駅前",
    "駅",
    "wanderer",
    "path",
    "robot number target",
    "robot robots robot path path",
    "how does a polite robot wait between two requests on a host that it has seen and seen again on a path",
    "robts",
]
SWITCHED_OFF = [*PARTS, None]


def by_hand(explanation: Explanation) -> float:
    """Returns the score that the parts of an explanation give."""
    parts = [score for word in explanation.words for _, score in word.fields]
    total = sum(parts) + sum(score for _, score in explanation.bonuses)
    return total * math.prod(factor for _, factor in explanation.factors)


def check_hits(search: TantivySearch, query: str, languages: Sequence[str] = (), most: int = 100) -> int:
    """Compares the explanations of the first hits with the hits; returns how many there are."""
    hits = search.search(query, most, 0, languages).hits
    for position, hit in enumerate(hits, 1):
        explanation = search.explain(query, hit.id, languages)
        assert explanation is not None
        assert (explanation.url, explanation.title) == (hit.url, hit.title)
        assert (explanation.is_found, explanation.position) == (True, position)
        assert explanation.score > 0
        assert by_hand(explanation) == pytest.approx(explanation.score, abs=1e-3)
        if not hit.others:
            assert explanation.score == pytest.approx(hit.score, abs=1e-3)
    return len(hits)


@pytest.mark.parametrize("languages", [(), ("de",)], ids=["no language", "German"])
@pytest.mark.parametrize("query", QUERIES)
def test_the_parts_add_up_to_the_score_of_the_hit(
    search: TantivySearch, query: str, languages: tuple[str, ...]
) -> None:
    assert check_hits(search, query, languages) > 0


WORD = st.sampled_from(
    [
        *("robot", "robots", "path", "the", "is", "café", "os.path.join", "wanderer", "könyvtárban", "駅", "東京駅前"),
        *("yard", "Roboter", "number", "zeppelin", "robts", "list", "x"),
    ]
)
QUOTED = st.lists(WORD, min_size=1, max_size=3).map(lambda words: f'"{" ".join(words)}"')
STAR = st.sampled_from(["rob*", "pat*", "könyv*", "joi*"])
FIELD = st.builds("{}:{}".format, st.sampled_from(["intitle", "inurl"]), WORD | QUOTED)
CONDITION = st.sampled_from(
    ["site:a.example", "site:x.example", "lang:de", "lang:en", "filetype:html", "before:1980", f"link:{SITE}/target/1"]
)


def combined(shapes: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(shapes, min_size=1, max_size=3)
    return st.one_of(
        shapes.map("-{}".format),
        shapes.map("NOT {}".format),
        several.map(" OR ".join),
        several.map(" ".join).map("({})".format),
        several.map(" ".join).map("intitle:({})".format),
    )


SHAPES = st.recursive(WORD | QUOTED | STAR | FIELD | CONDITION, combined, max_leaves=6)


@settings(deadline=None)
@given(st.lists(SHAPES, min_size=1, max_size=4).map(" ".join), st.sampled_from([(), ("de",), ("en", "hu")]))
def test_the_parts_add_up_whatever_the_query_is(search: TantivySearch, query: str, languages: tuple[str, ...]) -> None:
    check_hits(search, query, languages, most=5)


@pytest.mark.parametrize("query", ["-zeppelin", "site:a.example", "lang:en -list", "robot -path", "rob*"])
def test_every_part_has_a_reason(search: TantivySearch, query: str) -> None:
    value = explanation_json(query, explained(search, query, search.search(query).hits[0].id))
    named = json.loads(json.dumps(value))
    parts = [*named["bonuses"], *named["factors"]]
    assert [part["reason"] for part in parts] == [REASONS[part["name"]] for part in parts]
    assert named["words"] or named["bonuses"]


def test_pages_found_by_conditions_alone_are_in_the_order_of_the_priors(search: TantivySearch) -> None:
    scores = [hit.score for hit in search.search("site:a.example", 100).hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] > 0


@pytest.mark.parametrize("part", PARTS)
def test_without_one_part_of_the_ranking(folder: Path, part: str) -> None:
    search = TantivySearch(folder, Ranking(frozenset({part})), SYNONYMS)
    assert sum(check_hits(search, query, ("en",)) for query in ("os.path.join robot", "robot number")) > 5


def explained(search: TantivySearch, query: str, page: str, **more: object) -> Explanation:
    explanation = search.explain(query, page, **more)  # type: ignore[arg-type]
    assert explanation is not None
    return explanation


def test_the_fields_of_a_word(search: TantivySearch) -> None:
    explanation = explained(search, "Paths robots zeppelin", JOIN.url)
    words = {word: {name for name, _ in fields} for word, fields in explanation.words}
    assert words == {
        "Paths": {"title", "headings", "terms", "body", "summary", "address", "alternatives"},
        "robots": {"body", "keywords", "alternatives"},
        "zeppelin": set(),
    }
    assert all(score > 0 for _, fields in explanation.words for _, score in fields)
    scores = [score for _, score in explanation.words[0].fields]
    assert scores == sorted(scores, reverse=True)


def test_a_page_that_only_links_describe(search: TantivySearch) -> None:
    explanation = explained(search, "robot number", f"{SITE}/target/1")
    assert {word: [name for name, _ in fields] for word, fields in explanation.words} == {
        "robot": ["links"],
        "number": ["links"],
    }
    assert explanation.is_found


BONUSES = [
    ("os.path.join", {"complete", "near", "joined", "names"}),
    ("robot waits", {"complete", "near"}),
    ("robot zeppelin", set()),
    ("robot", set()),
]


@pytest.mark.parametrize(("query", "expected"), BONUSES)
def test_bonuses(search: TantivySearch, query: str, expected: set[str]) -> None:
    assert {name for name, _ in explained(search, query, JOIN.url).bonuses} == expected


def test_factors(search: TantivySearch) -> None:
    factors = {
        page: dict(explained(search, "robot", page, languages=["en"]).factors)
        for page in (JOIN.url, f"{SITE}/list", f"{SITE}/de/robot")
    }
    assert {name for each in factors.values() for name in each} == {"rank", "depth", "language", "lists"}
    assert [each["lists"] for each in factors.values()] == [1.0, 0.9, 1.0]
    assert [each["language"] for each in factors.values()] == [1.0, 1.0, 0.8]
    assert [each["depth"] for each in factors.values()] == [0.99, 1.0, 0.99]


NOT_FOUND = [
    ("zeppelin", Filters(), ["the page has none of the words"]),
    ('"robot crawl"', Filters(), ['the page does not meet a condition: "robot crawl"']),
    ("robot -crawl", Filters(), ["the query excludes pages that match: crawl"]),
    ("robot", Filters(site="b.example"), ["the page does not meet a condition: on b.example"]),
    (
        "robot lang:de -crawl",
        Filters(),
        ["the page does not meet a condition: in the language de", "the query excludes pages that match: crawl"],
    ),
    ("...", Filters(), ["the query has neither a word nor a filter"]),
]


@pytest.mark.parametrize(("query", "filters", "notes"), NOT_FOUND)
def test_why_a_page_is_not_found(search: TantivySearch, query: str, filters: Filters, notes: list[str]) -> None:
    explanation = explained(search, query, JOIN.url, filters=filters)
    assert (explanation.is_found, explanation.position, explanation.score) == (False, None, 0.0)
    assert (explanation.bonuses, explanation.factors) == ((), ())
    assert list(explanation.notes) == notes


def test_a_copy_has_the_place_of_the_hit_that_shows_the_other_one(search: TantivySearch) -> None:
    hits = search.search("polite").hits
    position = next(number for number, hit in enumerate(hits, 1) if hit.others)
    shown, (other,) = hits[position - 1], hits[position - 1].others
    assert explained(search, "polite", shown.url).notes == ()
    copy = explained(search, "polite", other.url)
    assert (copy.is_found, copy.position) == (True, position)
    assert copy.notes == (f"the page is a translation or copy of {shown.url}, which is shown as the result",)


def test_what_was_corrected_is_said(search: TantivySearch) -> None:
    explanation = explained(search, "robts", JOIN.url)
    assert explanation.notes == ("the spelling was corrected: robots",)
    assert [word.word for word in explanation.words] == ["robots"]


@pytest.mark.parametrize("url", ["https://a.example/nothing", "", "robot", "\ud800", "x" * 100_000])
def test_a_page_that_is_not_in_the_index(search: TantivySearch, url: str) -> None:
    assert search.explain("robot", url) is None


@pytest.mark.parametrize("url", ["HTTPS://A.example/lib/os.path.html", f"{JOIN.url}#join", f" {JOIN.url}"])
def test_urls_that_mean_the_same(search: TantivySearch, url: str) -> None:
    assert explained(search, "robot", url).url == JOIN.url


PARTS_OF = "https://b.example/book"
IMPORTED = [
    ("1", "https://b.example/3"),
    ("2", "https://B.example/de/a b"),
    ("https://b.example/3/", "https://c.example/"),
    *((f"part {number}", PARTS_OF) for number in range(3)),
    ("whole", f"{PARTS_OF}#all"),
]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> TantivySearch:
    index = TantivyIndex(folder := tmp_path_factory.mktemp("imported"))
    for name, url in IMPORTED:
        language = "de" if "/de/" in url else "en"
        index.add(Document(name, url, f"Title {name}", f"a robot {name}", language=language))
    index.commit()
    index.close()
    return TantivySearch(folder, hidden=lambda: Hidden(urls=frozenset({"part 0"})))


BY_URL = [
    ("https://b.example/3", "Title 1"),
    ("HTTPS://B.example/3#x", "Title 1"),
    ("https://B.example/de/a b", "Title 2"),
    ("https://b.example/3/", "Title https://b.example/3/"),
    ("https://c.example/", "Title https://b.example/3/"),
    (PARTS_OF, "Title part 1"),
    (f"{PARTS_OF}#all", "Title whole"),
]


@pytest.mark.parametrize(("url", "title"), BY_URL)
def test_an_imported_document_is_found_by_its_url_too(imported: TantivySearch, url: str, title: str) -> None:
    explanation = explained(imported, "robot", url)
    assert (explanation.title, explanation.is_found) == (title, True)
    assert by_hand(explanation) == pytest.approx(explanation.score, abs=1e-3)


def test_each_imported_document_is_explained_by_its_id(imported: TantivySearch) -> None:
    assert check_hits(imported, "robot") == 5, "the parts of a page are one hit"
    for name in ("part 0", "https://b.example/", "https://b.example/de", "https://b.example/a b"):
        assert imported.explain("robot", name) is None


def test_an_empty_query(search: TantivySearch) -> None:
    with pytest.raises(InputError):
        search.explain(" ", JOIN.url)


def test_a_page_beyond_the_first_thousand_hits(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    for number in range(1_300):
        index.add(
            replace(JOIN, id=f"{number}", url=f"{SITE}/{number}", text="robot " + f"word{number} " * (number // 5))
        )
    index.commit()
    index.close()
    search = TantivySearch(tmp_path)
    places = {number: explained(search, "robot", str(number)) for number in (0, 500, 1_299)}
    assert places[0].position in range(1, 11)
    assert places[1_299].position is None
    assert 100 < (places[500].position or 0) < 1_000
    assert places[1_299].is_found
    assert places[1_299].notes == ("the page is not among the first 1,000 results",)


def test_json(search: TantivySearch) -> None:
    explanation = explained(search, "os.path.join", JOIN.url)
    value = json.loads(json.dumps(explanation_json("os.path.join", explanation)))
    assert (value["query"], value["url"], value["found"], value["position"]) == ("os.path.join", JOIN.url, True, 1)
    assert [word["word"] for word in value["words"]] == ["os", "path", "join"]
    assert all(set(field) == {"field", "score"} for word in value["words"] for field in word["fields"])
    assert {bonus["name"]: bonus["reason"] for bonus in value["bonuses"]} == {
        name: PARTS[name] for name, _ in explanation.bonuses
    }
    assert {factor["name"]: factor["factor"] for factor in value["factors"]} == dict(explanation.factors)
    assert "notes" not in value
