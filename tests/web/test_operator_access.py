"""Who may open the operator's pages: the token in a link, in the form and in posted forms, and what others see."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlencode

import pytest

from goodbot.web import Site, create_app, running
from goodbot.web.operator.operator_access import WRONG_TOKENS
from web.crawls import TOKEN, Crawls, cookie_of
from web.library import SPECIMENS, Answer, Library, Visitor
from web.visitor_desks import Desk

PAGES = ["/crawl", "/crawl/hosts", "/crawl/host?name=a.example", "/crawl/refused", "/crawl/courtesy", "/crawl/removals"]
FORMS = ["/crawl/pause", "/crawl/resume", "/crawl/stop", "/crawl/submit", "/crawl/removals", "/crawl/logout"]
SAMPLE = Site("Sample")
SECURE = Site("Sample", public_url="https://example.org/find/")


@pytest.fixture
def crawls() -> Crawls:
    return Crawls()


@contextmanager
def served(crawls: Crawls, site: Site = SAMPLE) -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), site, crawls, visitors=Desk())) as url:
        yield Visitor(url)


@pytest.fixture
def visitor(crawls: Crawls) -> Iterator[Visitor]:
    with served(crawls) as visitor:
        yield visitor


def post(visitor: Visitor, path: str, form: dict[str, str], **headers: str) -> Answer:
    return visitor.ask(path, "POST", urlencode(form).encode(), **headers)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_the_token(visitor: Visitor, path: str) -> None:
    for headers in (
        {},
        {"Cookie": cookie_of(visitor)[:-1]},
        {"Cookie": f"{cookie_of(visitor)}ü".encode().decode("latin-1")},
    ):
        answer = visitor.ask(path, **headers)
        assert answer.status == 403
        assert "Only its operator can open them." in answer.text
        assert 'type="password"' in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        for secret in (TOKEN, "big.example", "4,100", "my crawl"):
            assert secret not in answer.text
    answer = visitor.ask(path, Cookie=cookie_of(visitor))
    assert answer.status in (200, 404)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Log out" in answer.text


@pytest.mark.parametrize("path", FORMS)
def test_a_form_needs_the_token_whatever_the_cookie(visitor: Visitor, crawls: Crawls, path: str) -> None:
    """A form that another site makes the operator's browser post has no token, even if it had the cookie."""
    for form in ({}, {"token": "wrong"}, {"token": TOKEN + "x"}):
        for headers in ({}, {"Cookie": cookie_of(visitor)}):
            assert post(visitor, path, form, **headers).status == 403
    assert crawls.requests == []


def test_the_link_sets_a_cookie_and_leaves_the_address(visitor: Visitor) -> None:
    answer = visitor.ask(f"/crawl/refused?reason=gone&token={TOKEN}&hl=ru")
    assert (answer.status, answer.headers["Location"]) == (303, "/crawl/refused?reason=gone&hl=ru")
    assert answer.headers["Cache-Control"] == "no-store"
    cookie = answer.headers["Set-Cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/crawl"))
    assert "Secure" not in cookie
    page = visitor.ask("/crawl", Cookie=cookie.partition(";")[0]).text
    assert 'action="/crawl/pause"' in page
    assert 'action="/crawl/resume"' not in page


def test_behind_a_proxy_the_cookie_is_secure_and_under_the_prefix(crawls: Crawls) -> None:
    with served(crawls, SECURE) as visitor:
        for path in ("/crawl", "/find/crawl"):
            answer = visitor.ask(f"{path}?token={TOKEN}")
            assert answer.headers["Location"] == "/find/crawl"
            assert "Secure" in answer.headers["Set-Cookie"]
            assert "Path=/find/crawl;" in answer.headers["Set-Cookie"]
        answer = post(visitor, "/find/crawl/login", {"token": TOKEN, "to": "/crawl/hosts?q=a"})
        assert answer.headers["Location"] == "/find/crawl/hosts?q=a"
        assert 'action="/find/crawl/login"' in visitor.ask("/find/crawl").text


DESTINATIONS = [
    ("/crawl", "/crawl"),
    ("/crawl/hosts?q=a&hl=ru", "/crawl/hosts?q=a&hl=ru"),
    ("", "/crawl"),
    ("/search", "/crawl"),
    ("//evil.example/crawl", "/crawl"),
    ("https://evil.example/crawl", "/crawl"),
    ("/crawl/stop", "/crawl"),
    ("/crawl\\@evil.example", "/crawl"),
    ("/crawl?a\r\nX-Evil: 1", "/crawl"),
    ("/crawl?" + "x" * 5000, "/crawl"),
]


@pytest.mark.parametrize(("wanted", "target"), DESTINATIONS)
def test_logging_in_leads_to_a_page_of_the_operator(visitor: Visitor, wanted: str, target: str) -> None:
    answer = post(visitor, "/crawl/login", {"token": f" {TOKEN}\n", "to": wanted})
    assert (answer.status, answer.headers["Location"]) == (303, target)
    assert "X-Evil" not in answer.headers
    assert visitor.ask("/crawl", Cookie=answer.headers["Set-Cookie"].partition(";")[0]).status == 200


def test_the_form_remembers_the_page(visitor: Visitor) -> None:
    assert 'name="to" value="/crawl/hosts?q=a"' in visitor.ask("/crawl/hosts?q=a&token=wrong").text
    assert visitor.ask("/crawl/login").status == 403
    answer = visitor.ask("/crawl/login?hl=ru", Cookie=cookie_of(visitor))
    assert (answer.status, answer.headers["Location"]) == (303, "/crawl?hl=ru")


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"}])
def test_another_site_cannot_log_a_visitor_in(visitor: Visitor, headers: dict[str, str]) -> None:
    answer = post(visitor, "/crawl/login", {"token": TOKEN}, **headers)
    assert answer.status == 403
    assert "Set-Cookie" not in answer.headers


def test_logging_out(visitor: Visitor) -> None:
    answer = post(visitor, "/crawl/logout", {"token": TOKEN}, Cookie=cookie_of(visitor))
    assert (answer.status, answer.headers["Location"]) == (303, "/crawl")
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert "Path=/crawl" in answer.headers["Set-Cookie"]


WRONG = ["wrong", TOKEN[:-1], TOKEN + "x", "ü", "\x00"]


@pytest.mark.parametrize("token", ["", *WRONG])
def test_a_wrong_token_is_refused_and_logged_without_it(
    visitor: Visitor, crawls: Crawls, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = visitor.ask(f"/crawl?token={quote(token)}")
    assert answer.status == 403
    assert ("This is not the token of the crawl." if token else "This request has no token.") in answer.text
    assert post(visitor, "/crawl/stop", {"token": token}).status == 403
    assert post(visitor, "/crawl/login", {"token": token}).status == 403
    assert crawls.requests == []
    refused = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [(record.name, record.getMessage()) for record in refused] == [
        ("goodbot.web", f"refused a control request from 127.0.0.1: {path} without the token")
        for path in ("/crawl", "/crawl/stop", "/crawl/login")
    ]


def test_the_token_is_never_logged(visitor: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    cookie = cookie_of(visitor)
    post(visitor, "/crawl/login", {"token": TOKEN})
    post(visitor, "/crawl/login", {"token": TOKEN + "x"}, Cookie=cookie)
    assert any("/crawl/login" in record.getMessage() for record in caplog.records)
    assert [record.getMessage() for record in caplog.records if TOKEN in record.getMessage()] == []


def test_wrong_tokens_are_limited_together(visitor: Visitor, crawls: Crawls) -> None:
    cookie = cookie_of(visitor)
    for number in range(WRONG_TOKENS.burst):
        ways = (
            lambda: visitor.ask("/crawl?token=wrong"),
            lambda: post(visitor, "/crawl/login", {"token": "wrong"}),
            lambda: post(visitor, "/crawl/stop", {"token": "wrong"}),
        )
        assert ways[number % 3]().status == 403
    for answer in (
        visitor.ask("/crawl?token=wrong"),
        post(visitor, "/crawl/login", {"token": TOKEN[:-1]}),
        post(visitor, "/crawl/stop", {"token": "wrong"}),
    ):
        assert answer.status == 429
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        wait = int(answer.headers["Retry-After"])
        said = f"Your address has sent too many wrong tokens. Try again in {wait} second"
        assert said + ("." if wait == 1 else "s.") in answer.text
    assert crawls.requests == []
    assert visitor.ask("/crawl").status == 403
    assert visitor.ask("/crawl", Cookie=cookie).status == 200
    assert post(visitor, "/crawl/stop", {"token": TOKEN}, Cookie=cookie).status == 303
    for answer in (
        visitor.ask(f"/crawl?token={TOKEN}"),
        post(visitor, "/crawl/login", {"token": TOKEN}),
        post(visitor, "/crawl/stop", {"token": TOKEN}),
    ):
        assert answer.status == 303


def test_right_tokens_are_not_limited(visitor: Visitor) -> None:
    for _ in range(WRONG_TOKENS.burst + 5):
        assert visitor.ask(f"/crawl?token={TOKEN}").status == 303


def test_a_token_that_cannot_be_read(visitor: Visitor, crawls: Crawls) -> None:
    crawls.token = None
    for answer in (
        visitor.ask("/crawl"),
        visitor.ask("/crawl?token="),
        visitor.ask("/crawl/hosts?token=None"),
        post(visitor, "/crawl/login", {"token": ""}),
        post(visitor, "/crawl/stop", {"token": ""}),
    ):
        assert answer.status == 403
        assert "this server cannot read the token of the crawl" in answer.text
        assert 'type="password"' not in answer.text
    assert crawls.requests == []


def test_each_crawl_has_its_own_cookie(visitor: Visitor) -> None:
    """Crawls on ports of one host share cookies."""
    with served(Crawls(token="another-token-of-another-crawl")) as other:
        names = {
            cookie_of(visitor).partition("=")[0],
            cookie_of(other, "another-token-of-another-crawl").partition("=")[0],
        }
    assert len(names) == 2


def test_in_russian(visitor: Visitor) -> None:
    page = visitor.ask("/crawl?hl=ru&token=wrong").text
    for words in (
        '<html lang="ru">',
        "Страницы оператора",
        "Это не токен этого обхода.",
        'action="/crawl/login?hl=ru"',
    ):
        assert words in page
    assert 'name="to" value="/crawl?hl=ru"' in page
