"""The description of the search for browsers, and the search that a browser makes of it."""

import json
import re
from collections.abc import Iterator
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.web import Site, create_app, running
from goodbot.web.machines.opensearch import description_xml
from goodbot.web.pages.translations import Reader
from web.library import SPECIMENS, Library, Visitor

TYPES = {
    "results": "text/html",
    "feed": "application/atom+xml",
    "hits": "application/json",
    "suggestions": "application/x-suggestions+json",
    "self": "application/opensearchdescription+xml",
}


@pytest.fixture(scope="module")
def here() -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), Site("Sample & sons"))) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def description(here: Visitor) -> ET.Element:
    answer = here.ask("/opensearch.xml")
    assert answer.headers["Content-Type"] == "application/opensearchdescription+xml"
    return ET.fromstring(answer.text)


def languages_of(description: ET.Element) -> list[str | None]:
    return [language.text for language in description.findall("{*}Language")]


def urls_by_type(description: ET.Element) -> dict[str, ET.Element]:
    return {url.get("type", ""): url for url in description.findall("{*}Url")}


def test_what_it_must_have(description: ET.Element) -> None:
    assert description.tag == "{http://a9.com/-/spec/opensearch/1.1/}OpenSearchDescription"
    assert description.findtext("{*}ShortName") == "Sample & sons"
    assert 0 < len(description.findtext("{*}Description", "")) <= 1024
    assert description.findtext("{*}InputEncoding") == description.findtext("{*}OutputEncoding") == "UTF-8"
    assert languages_of(description) == ["en", "ru", "*"]
    urls = urls_by_type(description)
    assert set(urls) == set(TYPES.values())
    assert {url.get("rel") for url in urls.values()} == {None, "suggestions", "self"}


def test_a_browser_searches_with_its_templates(here: Visitor, description: ET.Element) -> None:
    image = description.findtext("{*}Image", "")
    for kind, url in urls_by_type(description).items():
        for page in ("1", ""):
            filled = (
                url.get("template", "").replace("{searchTerms}", quote("робот & robot")).replace("{startPage?}", page)
            )
            assert re.findall("[{}]", filled) == []
            answer = here.ask(filled.removeprefix(here.base.rstrip("/")))
            assert answer.status == 200
            assert answer.headers["Content-Type"].partition(";")[0] == kind
    assert here.ask(image.removeprefix(here.base.rstrip("/"))).headers["Content-Type"].startswith("image/svg+xml")


READERS = [
    ("", "en", "en", "Search Sample & sons", ""),
    ("", "ru-RU,ru;q=0.9,en;q=0.8", "ru", "Поиск: Sample & sons", ""),
    ("", "fr", "en", "Search Sample & sons", ""),
    ("?hl=ru", "en", "ru", "Поиск: Sample & sons", "hl=ru"),
    ("?hl=en", "ru", "en", "Search Sample & sons", "hl=en"),
    ("?hl=fr", "ru", "ru", "Поиск: Sample & sons", ""),
]


@pytest.mark.parametrize(("parameters", "accepted", "language", "about", "kept"), READERS)
def test_the_description_is_in_the_language_of_the_reader(
    here: Visitor, parameters: str, accepted: str, language: str, about: str, kept: str
) -> None:
    answer = here.ask(f"/opensearch.xml{parameters}", Accept_Language=accepted)
    assert (answer.headers["Content-Language"], answer.headers["Cache-Control"]) == (language, "max-age=3600")
    assert "Accept-Language" in answer.headers["Vary"]
    description = ET.fromstring(answer.text)
    assert (description.findtext("{*}Description"), languages_of(description)[0]) == (about, language)
    templates = {kind: url.get("template", "") for kind, url in urls_by_type(description).items()}
    assert templates[TYPES["results"]].partition("{startPage?}")[2] == (f"&{kept}" if kept else "")
    assert templates[TYPES["self"]].partition("opensearch.xml")[2] == (f"?{kept}" if kept else "")


@pytest.mark.parametrize(("parameters", "kept"), [("", ""), ("?hl=ru", "?hl=ru")])
def test_pages_lead_to_the_description_in_their_language(here: Visitor, parameters: str, kept: str) -> None:
    assert f'<link rel="search" href="/opensearch.xml{kept}"' in here.ask(f"/{parameters}").text


def test_suggestions_are_an_array_for_browsers(here: Visitor) -> None:
    typed, completions, *rest = json.loads(here.ask("/api/suggest?q=the").text)
    assert (typed, completions, rest) == ("the", ["The robots exclusion protocol, explained by examples"], [])


@pytest.mark.parametrize("name", ["", "a", "x" * 16, "x" * 17, "Поиск по сайту компании", "</ShortName>", "\x00\ud800"])
def test_names(name: str) -> None:
    description = ET.fromstring(description_xml(name, f"Search {name}", "https://example.org", Reader("en")))
    short, long = (description.findtext(f"{{*}}{tag}") or "" for tag in ("ShortName", "LongName"))
    assert len(short) <= 16
    assert len(long) <= 48
    assert long == re.sub("[\x00\ud800]", "\ufffd", name)
    assert "<" not in name or name == short


@given(st.text(max_size=60))
def test_any_name_is_xml(name: str) -> None:
    description = ET.fromstring(description_xml(name, name, "https://example.org", Reader("ru")))
    assert languages_of(description) == ["ru", "en", "*"]
