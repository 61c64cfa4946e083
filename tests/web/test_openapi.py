"""The description of the API: it is valid, describes each endpoint, and the running service answers as it says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.applications import Starlette

from goodbot.errors import DamagedError
from goodbot.search_values import Hit, OtherPage, Results, SectionLink
from goodbot.visitor_values import IndexNowOutcome
from goodbot.web import Site, create_app, running
from goodbot.web.machines.api_operations import OPERATIONS
from goodbot.web.machines.openapi import openapi_document
from programs import ROOT, load
from web.library import SPECIMENS, Library, Visitor
from web.visitor_desks import HOST, TOKEN, Desk
from web.whole import routes_of, whole_app

ALL = {(operation.method.upper(), operation.path) for operation in OPERATIONS}
FULL_HIT = Hit(
    id="a",
    url="https://full.example/",
    title="Every field",
    snippet="all that a hit may have",
    score=1.5,
    highlights=((0, 3),),
    sections=(SectionLink("https://full.example/#a", "A"),),
    others=(OtherPage("https://full.example/ru", "ru"),),
    language="en",
    fetched_at=1_795_000_000.0,
    modified_at=1_790_000_000.0,
    size_bytes=1024,
    media_type="text/html",
    has_copy=True,
)


class Corrector(Library):
    """A search that has notes, a correction and a suggestion for every query."""

    def search(self, query: str, *arguments: Any, **options: Any) -> Results:
        found = super().search(query, *arguments, **options)
        return Results(query, found.total, 1.0, found.hits, 1, None, "in plain words", ("a note",), "robot", "robots")


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


@pytest.fixture(scope="module")
def library() -> Library:
    return Corrector([*SPECIMENS, FULL_HIT])


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, desk: Desk, library: Library) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")), search=library, visitors=desk)


@pytest.fixture(scope="module")
def here(app: Starlette) -> Iterator[Visitor]:
    with running(app) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def document(here: Visitor) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(here.ask("/openapi.json").text)
    return read


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(document).validate()


@pytest.mark.parametrize("served", [set(), {("GET", "/healthz")}, {("GET", "/api/search")}, ALL])
def test_it_is_valid_whatever_is_served(served: set[tuple[str, str]]) -> None:
    OpenAPIV31SpecValidator(openapi_document(Site("Sample"), served)).validate()


def test_every_endpoint_has_an_operation_and_the_reverse(app: Starlette, document: dict[str, Any]) -> None:
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    routed = {(method, path) for method, path in routes_of(app) if method != "HEAD"}
    machines = {(method, path) for method, path in routed if path.startswith("/api/")}
    assert described == ALL
    assert machines | described <= routed
    assert machines <= described


def test_it_describes_only_what_is_served() -> None:
    with running(create_app(None, Site("Sample"))) as url:
        paths = json.loads(Visitor(url).ask("/openapi.json").text)["paths"]
    assert {"/api/check", "/healthz", "/metrics"} <= paths.keys()
    assert {"/api/why", "/api/submit", "/indexnow", "/search.atom"} & paths.keys() == set()


@pytest.mark.parametrize(
    ("public_url", "servers"),
    [
        (None, [{"url": "/"}]),
        ("https://search.example/", [{"url": "https://search.example"}]),
        ("https://example.org/find/", [{"url": "https://example.org/find"}]),
    ],
)
def test_the_servers(public_url: str | None, servers: list[dict[str, str]]) -> None:
    assert openapi_document(Site("Sample", public_url=public_url), ALL)["servers"] == servers


def strict(schema: Any) -> Any:
    """Returns a schema that permits only the keys that it lists."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**{name: strict(value) for name, value in schema.items()}, **closed}


def assert_described(document: dict[str, Any], method: str, path: str, status: int, media_type: str, text: str) -> None:
    """Checks an answer against the description of its operation."""
    answers = document["paths"][path][method.lower()]["responses"]
    assert str(status) in answers, f"{method} {path}: {status} is not described: {text}"
    content = answers[str(status)]["content"]
    assert media_type.partition(";")[0] in content
    schema = content[media_type.partition(";")[0]].get("schema")
    if schema and "json" in media_type:
        whole = {**strict(schema), "components": strict(document["components"])}
        jsonschema.Draft202012Validator(whole).validate(json.loads(text))


PAGE = f"https://{HOST}"
JSON = {"Content_Type": "application/json"}
ANSWERS = [
    ("/api/search", "q=all+that", 200),
    ("/api/search", "q=robot&page=14", 200),
    ("/api/search", "q=robot&page=&site=&lang=&type=&after=&before=", 200),
    ("/api/search", "q=robot&site=handbook.example&after=2024-01-01", 200),
    ("/api/search", "q=", 400),
    ("/api/search", "q=robot&page=0", 400),
    ("/api/search", "q=robot&after=never", 400),
    ("/api/suggest", "q=the", 200),
    ("/api/suggest", "", 200),
    ("/api/explain", "q=robot&url=https://handbook.example/chapter/1", 200),
    ("/api/explain", "q=zeppelin&url=https://handbook.example/chapter/1", 200),
    ("/api/explain", "q=robot&url=https://nowhere.example/", 404),
    ("/api/explain", "q=robot", 400),
    ("/search.atom", "q=robot", 200),
    ("/search.atom", "", 400),
    ("/opensearch.xml", "", 200),
    ("/searxng.yml", "", 200),
    *(("/api/why", f"url={PAGE}{path}", 200) for path in ("/", "/new", "/private", "/copy", "/gone", "/unknown")),
    ("/api/why", "url=mailto:x@y", 400),
    ("/api/why", "url=http://1.2.3.4.5/", 404),
    ("/api/explain", "q=robot&url=javascript:1", 400),
    ("/api/explain", "q=robot&url=http://1.2.3.4.5/", 404),
    ("/api/robots", "", 200),
    ("/api/robots", "q=bot&purpose=&operator=&verify=&obeys=", 200),
    ("/api/robots", "purpose=ai-training&verify=addresses&obeys=yes", 200),
    ("/api/robots", "q=nothing+has+this+name", 200),
    ("/api/robots", "purpose=world+peace", 400),
    ("/healthz", "", 200),
    ("/metrics", "", 200),
    ("/openapi.json", "", 200),
]


@pytest.mark.parametrize(("path", "query", "status"), ANSWERS)
def test_answers_are_as_described(here: Visitor, document: dict[str, Any], path: str, query: str, status: int) -> None:
    answer = here.ask(f"{path}?{query}")
    assert answer.status == status
    assert_described(document, "GET", path, status, answer.headers["Content-Type"], answer.text)


DOCSEARCH = "/1/indexes/*/queries"
FOUND = {"indexName": "docs", "query": "robot", "hitsPerPage": 7, "page": 1, "attributesToRetrieve": ["url"]}
CHECK = {"robots": "User-agent: *\nDisalow: /x", "agent": "MyBot", "url": "/x"}
SENT = [
    ("/api/submit", {"url": f"{PAGE}/another"}, JSON, 200),
    ("/api/submit", {"url": f"{PAGE}/"}, JSON, 200),
    ("/api/submit", {"url": "https://elsewhere.example/"}, JSON, 403),
    ("/api/submit", {"url": "http://127.0.0.1/"}, JSON, 403),
    ("/api/submit", {"url": f"{PAGE}/private/a"}, JSON, 403),
    ("/api/submit", {"url": "file:///etc/passwd"}, JSON, 400),
    ("/api/submit", {"url": "\ud800"}, JSON, 400),
    ("/api/submit", {"url": 5}, JSON, 400),
    ("/api/submit", {"url": "http://1.2.3.4.5/"}, JSON, 404),
    ("/api/submit", {}, {"Content_Type": "text/plain"}, 415),
    ("/api/submit", {"url": f"{PAGE}/a"}, {**JSON, "Origin": "https://other.example"}, 403),
    ("/api/submit", {"url": "x" * 40_000}, JSON, 413),
    ("/api/check", CHECK, JSON, 200),
    ("/api/check", {"robots": ""}, JSON, 200),
    ("/api/check", {"robots": "", "site": None, "agent": None}, JSON, 200),
    (
        "/api/check",
        {"robots": "Crawl-delay: 1e400\nUser-agent: \ud800", "agent": "\udfff", "url": "/\ud800"},
        JSON,
        200,
    ),
    ("/api/check", {"site": "https://example.org/"}, JSON, 403),
    ("/api/check", {"robots": "", "agent": "MyBot"}, JSON, 400),
    ("/api/check", {"robot": ""}, JSON, 400),
    ("/api/check", {}, JSON, 400),
    ("/api/check", {}, {"Content_Type": "text/plain"}, 415),
    ("/api/check", CHECK, {**JSON, "Sec_Fetch_Site": "cross-site"}, 403),
    ("/api/check", {"robots": "x" * 2_000_000}, JSON, 413),
    (DOCSEARCH, {"requests": [FOUND, {"indexName": "", "params": "query=all+that&page=x"}]}, JSON, 200),
    (DOCSEARCH, {"requests": [FOUND]}, {"Content_Type": "text/plain", "Origin": "https://other.example"}, 200),
    (DOCSEARCH, {"requests": []}, JSON, 400),
    (DOCSEARCH, {"requests": [{"query": "robot"}]}, JSON, 400),
    (DOCSEARCH, {"requests": [FOUND] * 6}, JSON, 400),
    (DOCSEARCH, {"requests": [{**FOUND, "query": "x" * 70_000}]}, JSON, 413),
]


@pytest.mark.parametrize(("path", "body", "headers", "status"), SENT, ids=[f"{case[0]} {case[3]}" for case in SENT])
def test_answers_to_posts_are_as_described(
    here: Visitor, document: dict[str, Any], path: str, body: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    answer = here.ask(path, "POST", json.dumps(body).encode(), **headers)
    assert answer.status == status, answer.text
    assert_described(document, "POST", path, status, answer.headers["Content-Type"], answer.text)


@pytest.mark.parametrize("status", [200, 202, 400, 403, 422, 429])
def test_indexnow_answers_as_described(here: Visitor, document: dict[str, Any], desk: Desk, status: Any) -> None:
    desk.outcome = IndexNowOutcome(status, "as the test says")
    body = json.dumps({"host": HOST, "key": TOKEN, "urlList": [f"{PAGE}/a"]}).encode()
    for method, query, sent in (("GET", f"?url={PAGE}/a&key={TOKEN}", None), ("POST", "", body)):
        answer = here.ask(f"/indexnow{query}", method, sent)
        assert answer.status == status
        assert (answer.headers["Retry-After"] is not None) == (status == 429)
        assert_described(document, method, "/indexnow", status, answer.headers["Content-Type"], answer.text)


def test_an_index_that_fails_is_described(here: Visitor, document: dict[str, Any], library: Library) -> None:
    library.trouble = DamagedError("the index is damaged")
    try:
        for path in ("/api/search", "/api/suggest", "/api/explain", "/search.atom", "/healthz", "/metrics"):
            answer = here.ask(f"{path}?q=robot&url=x")
            assert answer.status == 503
            assert_described(document, "GET", path, 503, answer.headers["Content-Type"], answer.text)
    finally:
        library.trouble = None


def test_examples_are_valid(document: dict[str, Any]) -> None:
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                jsonschema.Draft202012Validator(parameter["schema"]).validate(parameter["example"])
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for example in content["examples"].values():
                    jsonschema.Draft202012Validator(content["schema"]).validate(example["value"])
    assert document["paths"]["/api/search"]["get"]["parameters"]


def test_the_page_about_http_is_made_from_these_operations() -> None:
    """If this fails, run `make docs`."""
    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    assert page == load("docs/make_http_reference.py").http_page()


def test_the_page_about_http_has_every_path(app: Starlette) -> None:
    listed = load("docs/make_http_reference.py").paths()
    routed = {(method, path) for method, path in routes_of(app) if method != "HEAD"} | {("GET", "/static/FILE")}
    assert listed == routed
