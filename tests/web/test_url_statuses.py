"""One rule for every page and endpoint that takes a URL: 400 for a text that is none, 404 for a URL that no crawl can
have, and 404 for one that is not known where there is nothing to show without it."""

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest

from goodbot.config import Settings
from goodbot.errors import UnusableUrlError, UrlError
from goodbot.one_shot import robots_fetcher
from goodbot.web import Rate, Site, create_app, running
from goodbot.web.pages.url_errors import url_status
from web.library import SPECIMENS, Answer, Library, Visitor
from web.visitor_desks import Desk

READING = (
    *("/cached?url=", "/cached/document?url=", "/why?url=", "/submit?url=", "/removal?url=", "/explain?q=robot&url="),
    *("/api/why?url=", "/api/explain?q=robot&url="),
)
FORMS = {"/submit": "url", "/removal": "url", "/check": "site"}
BODIES = {"/api/submit": "url", "/api/check": "site"}
TEXTS = [
    *((text, 400) for text in ("javascript:alert(2)", "file:///etc/passwd", "/private/a", "two words", "x" * 2001)),
    *((text, 404) for text in ("http://1.2.3.4.5/", "http://example.org:99999/", "https://[::1::]/")),
]


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    site = Site("Sample", post_rate=Rate(0, 1))
    app = create_app(Library(SPECIMENS), site, None, None, robots_fetcher(Settings()), visitors=Desk())
    with running(app) as url:
        yield Visitor(url)


def asked(visitor: Visitor, text: str) -> dict[str, Answer]:
    """Sends a text to everything that takes a URL."""
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    answers = {path: visitor.ask(path + quote(text)) for path in READING}
    for path, name in FORMS.items():
        body = urlencode({name: text, "button": "fetch"}).encode()
        answers[f"POST {path}"] = visitor.ask(path, "POST", body, **form)
    for path, name in BODIES.items():
        answers[f"POST {path}"] = visitor.ask(
            path, "POST", json.dumps({name: text}).encode(), Content_Type="application/json"
        )
    return answers


@pytest.mark.parametrize(("text", "status"), TEXTS, ids=[text[:30] for text, _ in TEXTS])
def test_what_is_no_url_and_what_no_crawl_can_have(visitor: Visitor, text: str, status: int) -> None:
    answers = asked(visitor, text)
    assert {path: answer.status for path, answer in answers.items()} == dict.fromkeys(answers, status)
    for path, answer in answers.items():
        if "/api/" in path and status == 400:
            assert len(json.loads(answer.text)["error"].splitlines()) == 1


def test_a_url_that_is_not_known(visitor: Visitor) -> None:
    answers = asked(visitor, "https://nowhere.example/")
    statuses = {path.partition("?")[0]: answer.status for path, answer in answers.items()}
    missing = {"/cached", "/cached/document", "/explain", "/api/explain"}
    assert {path for path, status in statuses.items() if status == 404} == missing
    assert 400 not in statuses.values()


def test_an_address_without_a_scheme_is_explained_too(visitor: Visitor) -> None:
    found = json.loads(visitor.ask("/api/explain?q=robot&url=handbook.example/chapter/1").text)
    assert found["url"] == "https://handbook.example/chapter/1"


def test_statuses() -> None:
    assert (url_status(UrlError("x")), url_status(UnusableUrlError("x"))) == (400, 404)
