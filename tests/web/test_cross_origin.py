"""What pages of other origins may do: read answers, in a real browser too, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from goodbot.web import running
from web.browser import chromium
from web.library import Visitor
from web.visitor_desks import HOST, Desk
from web.whole import routes_of, whole_app

ORIGIN = "https://other.example"
SHARED = [
    "/api/search?q=robot",
    "/api/suggest?q=ro",
    f"/api/why?url=https://{HOST}/",
    "/api/robots?q=gptbot",
    "/search.atom?q=robot",
    "/opensearch.xml",
    "/searxng.yml",
    "/openapi.json",
]
DOCSEARCH = "/1/indexes/*/queries"
SENT = {"method": "POST", "body": json.dumps({"requests": [{"indexName": "docs", "query": "robot"}]})}


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, desk: Desk) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")), visitors=desk)


@pytest.fixture(scope="module")
def here(app: Starlette) -> Iterator[Visitor]:
    with running(app) as url:
        yield Visitor(url)


def permission(here: Visitor, path: str, method: str, **headers: str) -> str | None:
    """Returns the answer to a preflight."""
    answer = here.ask(path, "OPTIONS", Origin=ORIGIN, Access_Control_Request_Method=method, **headers)
    return answer.headers["Access-Control-Allow-Origin"]


def test_only_reading_the_api_is_shared(app: Starlette, here: Visitor) -> None:
    shared = {path.partition("?")[0] for path in SHARED} | {"/api/explain"}
    for method, path in routes_of(app, lambda route: not route.path.startswith("/.well-known/")):
        is_shared = path == DOCSEARCH if method == "POST" else path in shared
        answer = here.ask(path, method, b"" if method == "POST" else None, Origin=ORIGIN)
        assert answer.headers["Access-Control-Allow-Origin"] == ("*" if is_shared else None), f"{method} {path}"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        policy = "cross-origin" if is_shared else "same-origin"
        assert answer.headers["Cross-Origin-Resource-Policy"] == policy
        assert permission(here, path, method) == ("*" if is_shared else None)


@pytest.mark.parametrize("path", [*SHARED, "/api/search", "/api/search?q=x&page=0"])
def test_errors_are_shared_too(here: Visitor, path: str) -> None:
    assert here.ask(path, Origin=ORIGIN).headers["Access-Control-Allow-Origin"] == "*"


def test_a_preflight(here: Visitor) -> None:
    answer = here.ask(
        "/api/search",
        "OPTIONS",
        Origin=ORIGIN,
        Access_Control_Request_Method="GET",
        Access_Control_Request_Headers="x-a",
    )
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert answer.headers["Access-Control-Allow-Headers"] == "*"
    assert int(answer.headers["Access-Control-Max-Age"]) > 0


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "get", "", "GET, POST"])
def test_preflights_for_anything_else_are_not_answered(here: Visitor, method: str) -> None:
    for path in ("/api/search", "/api/submit", "/api/check", "/indexnow", "/crawl/stop", "/", "/nowhere"):
        assert permission(here, path, method) is None


def test_options_without_an_origin_is_no_preflight(here: Visitor) -> None:
    assert here.ask("/api/search", "OPTIONS").status == 405
    assert here.ask("/api/search", "OPTIONS", Access_Control_Request_Method="GET").status == 405


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Page]:
    """A page of another origin in a browser."""

    def show(request: Request) -> Response:
        return HTMLResponse("<title>Another site</title>")

    with running(Starlette(routes=[Route("/", show)])) as url, chromium() as browser:
        page = browser.new_page()
        page.goto(url.replace("127.0.0.1", "localhost"))
        yield page


def fetched(page: Page, url: str, options: object = None) -> object:
    """Returns status and text of an answer that the page may read, or the name of the error."""
    return page.evaluate(
        """async ([url, options]) => {
            try { const answer = await fetch(url, options || {}); return [answer.status, await answer.text()]; }
            catch (error) { return error.name; }
        }""",
        [url, options],
    )


@pytest.mark.parametrize("path", SHARED)
@pytest.mark.parametrize("options", [None, {"headers": {"X-Requested-With": "a page"}}], ids=["simple", "preflight"])
def test_a_page_of_another_site_may_read(here: Visitor, elsewhere: Page, path: str, options: object) -> None:
    answer = fetched(elsewhere, here.base.rstrip("/") + path, options)
    assert isinstance(answer, list)
    assert answer[0] == 200
    assert answer[1]


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json", "X-A": "b"}], ids=["simple", "preflight"])
def test_a_page_of_another_site_may_search_as_docsearch_does(
    here: Visitor, elsewhere: Page, headers: dict[str, str]
) -> None:
    answer = fetched(elsewhere, here.base.rstrip("/") + DOCSEARCH, {**SENT, "headers": headers})
    assert isinstance(answer, list)
    assert answer[0] == 200
    assert json.loads(answer[1])["results"][0]["hits"]
    assert permission(here, DOCSEARCH, "GET") is None


@pytest.mark.parametrize(
    "path", ["/", "/search?q=robot", "/crawl", f"/cached/document?url=https://{HOST}/", "/metrics"]
)
def test_but_not_the_pages(here: Visitor, elsewhere: Page, path: str) -> None:
    assert fetched(elsewhere, here.base.rstrip("/") + path) == "TypeError"


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"Content-Type": "application/json"}},
        {"headers": {"Content-Type": "text/plain"}},
        {"mode": "no-cors"},
        {"credentials": "include"},
    ],
    ids=["json", "simple", "no-cors", "credentials"],
)
def test_and_it_cannot_submit(here: Visitor, elsewhere: Page, desk: Desk, options: dict[str, object]) -> None:
    """Also after a preflight that allowed the header Content-Type for another method."""
    url = f"{here.base}api/submit"
    fetched(elsewhere, url, {"headers": {"Content-Type": "application/json"}})
    sent = {"method": "POST", "body": json.dumps({"url": f"https://{HOST}/forged"}), **options}
    answer = fetched(elsewhere, url, sent)
    assert answer == "TypeError"  # Cross-Origin-Resource-Policy hides even the opaque answer to no-cors
    assert desk.submitted == []


def test_the_page_of_the_service_itself_can(here: Visitor, elsewhere: Page, desk: Desk) -> None:
    """So the tests above fail for the right reason."""
    page = elsewhere.context.browser.new_page() if elsewhere.context.browser else elsewhere
    page.goto(here.base)
    sent = {"method": "POST", "headers": {"Content-Type": "application/json"}}
    answer = fetched(page, "/api/submit", {**sent, "body": json.dumps({"url": f"https://{HOST}/mine"})})
    assert isinstance(answer, list)
    assert answer[0] == 200
    assert desk.submitted == [f"https://{HOST}/mine"]
    page.close()
