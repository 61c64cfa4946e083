"""The entry for SearXNG's settings.yml, used as SearXNG's json_engine documents it: against a running service."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote_plus, urlsplit

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from goodbot.search_values import Hit, Results, SectionLink
from goodbot.web import Site, create_app, running
from goodbot.web.machines.searxng import engine_yaml
from programs import ROOT
from web.library import SPECIMENS, Library, Visitor, served

HIT = Hit(
    id="a",
    url="https://docs.example/a?b=1&c=2",
    title="An engine & its parts",
    snippet="what an engine is",
    score=2.0,
    sections=(SectionLink("https://docs.example/a#parts", "Parts"),),
)


class Suggesting(Library):
    """A search that suggests another query."""

    def search(self, query: str, *arguments: Any, **options: Any) -> Results:
        found = super().search(query, *arguments, **options)
        return Results(query, found.total, 1.0, found.hits, suggestion="engines")


def entry_of(text: str) -> dict[str, Any]:
    (entry,) = yaml.safe_load(text)["engines"]
    assert isinstance(entry, dict)
    return entry


def values_at(data: Any, path: str) -> list[Any]:
    """What a query such as `hits` or `hits/url` finds: keys and positions, each at any depth below the one before."""
    first, _, rest = path.partition("/")
    found: list[Any] = []
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    for key, value in items:
        is_inner = isinstance(value, Mapping | list)
        if str(key) == first:
            found += [value] if not rest else values_at(value, rest) if is_inner else []
        elif is_inner:
            found += values_at(value, path)
    return found


def searched(entry: Mapping[str, Any], query: str, page: int) -> list[dict[str, str]]:
    """What SearXNG shows for the answer of the service: results, then suggestions."""
    number = (page - 1) * entry.get("page_size", 1) + entry["first_page_num"]
    url = urlsplit(entry["search_url"].format(query=quote_plus(query), pageno=number, lang="en"))
    answer = Visitor(f"{url.scheme}://{url.netloc}/").ask(f"{url.path}?{url.query}")
    if answer.status in entry["no_result_for_http_status"]:
        return []
    assert answer.status == 200
    data = json.loads(answer.text)
    (hits,) = values_at(data, entry["results_query"])
    results = [
        {name: values_at(hit, entry[f"{name}_query"])[0] for name in ("url", "title", "content")} for hit in hits
    ]
    return results + [{"suggestion": each} for each in values_at(data, entry["suggestion_query"])]


@pytest.fixture(scope="module")
def here() -> Iterator[Visitor]:
    with served(Library([HIT, *SPECIMENS])) as visitor:
        yield visitor


def test_searxng_finds_what_the_service_finds(here: Visitor) -> None:
    answer = here.ask("/searxng.yml")
    assert answer.headers["Content-Type"] == "application/yaml"
    entry = entry_of(answer.text)
    assert (entry["name"], entry["engine"], entry["enable_http"]) == ("sample library", "json_engine", True)
    assert searched(entry, "engine & parts", 1) == [
        {"url": HIT.url, "title": "An engine & its parts", "content": "what an engine is"}
    ]
    pages = [searched(entry, "robot", number) for number in (1, 2)]
    assert [len(page) for page in pages] == [10, 10]
    assert [each["url"] for each in pages[0]] == [hit.url for hit in SPECIMENS if hit.id != "f"][:10]
    assert not {each["url"] for each in pages[0]} & {each["url"] for each in pages[1]}


def test_what_cannot_be_searched_has_no_results(here: Visitor) -> None:
    entry = entry_of(here.ask("/searxng.yml").text)
    assert searched(entry, "nowhere to be found", 1) == []
    assert searched(entry, "???", 1) == searched(entry, "robot", 101) == []


def test_suggestions_arrive() -> None:
    with served(Suggesting([HIT])) as visitor:
        found = searched(entry_of(visitor.ask("/searxng.yml").text), "engine", 1)
    assert found == [
        {"url": HIT.url, "title": "An engine & its parts", "content": "what an engine is"},
        {"suggestion": "engines"},
    ]


def test_the_entry_has_the_public_address() -> None:
    with running(create_app(Library([]), Site("Find_It – now", public_url="https://example.org/find/"))) as url:
        entry = entry_of(Visitor(url).ask("/find/searxng.yml").text)
    assert entry["search_url"] == "https://example.org/find/api/search?q={query}&page={pageno}"
    assert (entry["name"], entry["enable_http"]) == ("find it now", False)
    assert entry["about"]["website"] == "https://example.org/find/"


def test_the_how_to_shows_the_entry() -> None:
    text = (ROOT / "docs" / "how-to" / "searxng.md").read_text(encoding="utf-8")
    assert f"```yaml\n{engine_yaml('goodbot', 'https://search.example.org')}```" in text


def test_there_is_none_without_a_search() -> None:
    with running(create_app(None, Site())) as url:
        assert Visitor(url).ask("/searxng.yml").status == 404


@given(name=st.text(), path=st.text(st.characters(codec="ascii", exclude_characters="\x7f")))
def test_any_name_and_address_make_valid_yaml(name: str, path: str) -> None:
    base = f"http://example.org/{path}"
    entry = entry_of(engine_yaml(name, base))
    assert entry["search_url"].format(query="a", pageno=1, lang="en") == f"{base}/api/search?q=a&page=1"
    assert entry["name"] == entry["name"].strip() != ""
    assert "_" not in entry["name"]
