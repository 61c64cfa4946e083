"""The page of a crawl and /metrics: looked at by anyone, told by who has the token, in HTTP and in a browser."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote, urlencode

import pytest
from axe_core_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, expect
from prometheus_client.parser import text_string_to_metric_families

from goodbot.errors import DamagedError
from goodbot.live import ControlRequest
from goodbot.url import Url
from goodbot.web import create_app, running
from web.browser import chromium
from web.crawls import RUNNING, TOKEN, Crawls
from web.library import SPECIMENS, Answer, Library, Visitor


@pytest.fixture
def crawls() -> Crawls:
    return Crawls()


@pytest.fixture
def visitor(crawls: Crawls) -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), "Sample library", crawls)) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def post(visitor: Visitor, order: str, **form: str) -> Answer:
    return visitor.ask(f"/crawl/{order}", "POST", urlencode(form).encode())


# ---- looking --------------------------------------------------------------------------------------------------------


def test_anyone_may_look_and_gets_no_control(visitor: Visitor) -> None:
    answer = visitor.ask("/crawl")
    assert answer.status == 200
    for shown in ("is running", "4,100", "71.5", "120,464", "28 min", "big.example", "10,000+", "timeout", "8,120"):
        assert shown in answer.text
    assert "<form action=" not in answer.text.replace('<form role="search" action=', "")
    assert TOKEN not in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def test_strangers_words_are_escaped(visitor: Visitor) -> None:
    text = visitor.ask("/crawl").text
    assert "&lt;i&gt;odd&lt;/i&gt;.example" in text
    assert "&lt;b&gt;" in text


def test_a_crawl_at_rest(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = None
    text = visitor.ask("/crawl").text
    assert "The crawl rests" in text
    assert "Pages a second" not in text


def test_the_other_pages_lead_to_it(visitor: Visitor) -> None:
    assert 'href="/crawl"' in visitor.ask("/").text
    assert 'href="/crawl"' in visitor.ask("/search?q=robot").text
    assert "Disallow: /crawl\n" in visitor.ask("/robots.txt").text


def test_without_a_crawl_there_is_no_page() -> None:
    with running(create_app(Library(SPECIMENS), "Sample library")) as url:
        visitor = Visitor(url)
        assert visitor.ask("/crawl").status == 404
        assert "/crawl" not in visitor.ask("/").text
        assert "goodbot_index_documents" in visitor.ask("/metrics").text


def test_metrics(visitor: Visitor, crawls: Crawls) -> None:
    answer = visitor.ask("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert found["goodbot_urls", "ready"] == 120_400
    assert found["goodbot_fetched_bytes_total",] == 234_000_000
    assert found["goodbot_running",] == 1
    assert found["goodbot_run_pages_total",] == 4_100
    assert found["goodbot_run_errors_total", "timeout"] == 3
    crawls.live_now = None
    assert "goodbot_running 0.0" in visitor.ask("/metrics").text
    assert "goodbot_run_" not in visitor.ask("/metrics").text


def test_a_damaged_frontier_is_no_traceback(visitor: Visitor, crawls: Crawls) -> None:
    crawls.trouble = DamagedError("/secret/frontier.sqlite is damaged")
    for path in ("/crawl", "/metrics"):
        answer = visitor.ask(path)
        assert answer.status == 503
        assert "The crawl is out of order" in answer.text
        assert "secret" not in answer.text


# ---- control --------------------------------------------------------------------------------------------------------


def test_the_link_with_the_token_leaves_a_cookie_and_shows_the_forms(visitor: Visitor) -> None:
    answer = visitor.ask(f"/crawl?token={TOKEN}")
    assert (answer.status, answer.headers["Location"]) == (303, "/crawl")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/crawl" in cookie
    page = visitor.ask("/crawl", Cookie=cookie.partition(";")[0]).text
    assert 'action="/crawl/pause"' in page
    assert 'action="/crawl/resume"' not in page


WRONG = ["", "wrong", TOKEN[:-1], TOKEN + "x", "ü", "\x00"]


@pytest.mark.parametrize("token", WRONG)
def test_a_wrong_token_is_refused(visitor: Visitor, crawls: Crawls, token: str) -> None:
    assert visitor.ask(f"/crawl?token={quote(token)}").status == 403
    assert post(visitor, "stop", token=token).status == 403
    assert crawls.wishes == []


def test_a_cookie_alone_does_nothing(visitor: Visitor, crawls: Crawls) -> None:
    """What another site makes a visitor's browser post has no token in its form."""
    cookie = visitor.ask(f"/crawl?token={TOKEN}").headers["Set-Cookie"].partition(";")[0]
    assert visitor.ask("/crawl/stop", "POST", b"", Cookie=cookie).status == 403
    assert crawls.wishes == []


def test_without_a_token_nobody_may(visitor: Visitor, crawls: Crawls) -> None:
    crawls.token = None
    assert post(visitor, "stop", token="").status == 403
    assert visitor.ask("/crawl?token=").status == 403


@pytest.mark.parametrize("order", ["pause", "resume", "stop"])
def test_orders(visitor: Visitor, crawls: Crawls, order: str) -> None:
    answer = post(visitor, order, token=TOKEN)
    assert (answer.status, answer.headers["Location"]) == (303, f"/crawl?said={order}")
    assert [wish.kind for wish in crawls.wishes] == [order]
    assert "The crawl" in visitor.ask(f"/crawl?said={order}").text
    crawls.live_now = None
    assert post(visitor, order, token=TOKEN).headers["Location"] == "/crawl?said=rests"


def test_orders_by_get_are_none(visitor: Visitor, crawls: Crawls) -> None:
    assert visitor.ask(f"/crawl/stop?token={TOKEN}").status == 405
    assert post(visitor, "explode", token=TOKEN).status == 404
    assert crawls.wishes == []


def test_submit_to_a_running_crawl(visitor: Visitor, crawls: Crawls) -> None:
    urls = "http://here.example/a\n\nhttp://elsewhere.example/\r\nhttp://here.example/b\n"
    answer = post(visitor, "submit", token=TOKEN, urls=urls)
    assert answer.status == 200
    assert crawls.wishes == [ControlRequest("submit", (Url("http://here.example/a"), Url("http://here.example/b")))]
    assert "elsewhere.example is not the host of a seed" in answer.text


def test_submit_to_a_crawl_at_rest(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = None
    assert post(visitor, "submit", token=TOKEN, urls="http://here.example/a").status == 200
    assert crawls.wishes == []
    record = crawls.frontier.record(Url("http://here.example/a"))
    assert record is not None
    assert record.state == "ready"


BAD = [
    ("nothing", "", 400, "1 to 100 URLs"),
    ("no URL", "nonsense", 400, "not a URL"),
    ("a script", "javascript:alert(1)", 400, "not a URL"),
    ("too many", "http://here.example/\n" * 101, 400, "1 to 100 URLs"),
    ("too long", "http://here.example/" + "x" * 300_000, 413, "too much"),
]


@pytest.mark.parametrize(("urls", "status", "word"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_submissions(visitor: Visitor, crawls: Crawls, urls: str, status: int, word: str) -> None:
    answer = post(visitor, "submit", token=TOKEN, urls=urls)
    assert answer.status == status
    assert word in answer.text
    assert crawls.wishes == []


@pytest.mark.parametrize("body", [b"\xff\xfe", b"&" * 1000 + b"a=b", b"token"])
def test_what_is_no_form(visitor: Visitor, body: bytes) -> None:
    assert visitor.ask("/crawl/stop", "POST", body).status in (400, 403)


def test_a_crawl_that_does_not_answer(visitor: Visitor, crawls: Crawls) -> None:
    class Deaf(Crawls):
        def is_waiting(self, name: str) -> bool:
            return True

        def withdraw(self, name: str) -> bool:
            return True

    with running(create_app(Library(SPECIMENS), "x", Deaf())) as url:
        answer = post(Visitor(url), "stop", token=TOKEN)
    assert answer.status == 503
    assert "has not answered" in answer.text


# ---- in a browser ---------------------------------------------------------------------------------------------------


def test_by_hand(browser: Browser, visitor: Visitor, crawls: Crawls) -> None:
    with browser.new_context(base_url=visitor.base, java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"/crawl?token={TOKEN}")
        assert TOKEN not in tab.url
        crawls.live_now = replace(RUNNING, pace="paused")
        tab.get_by_role("button", name="Pause").click()
        expect(tab.get_by_role("status")).to_contain_text("The crawl is pausing")
        expect(tab.get_by_role("heading", level=1)).to_have_text("The crawl is paused")
        tab.get_by_role("button", name="Resume").click()
        expect(tab.get_by_role("status")).to_contain_text("The crawl is running again")
        tab.get_by_label("URLs to fetch").fill("http://here.example/new")
        tab.get_by_role("button", name="Submit").click()
        expect(tab.get_by_role("status")).to_contain_text("http://here.example/new")
        tab.get_by_label("URLs to fetch").fill("nonsense")
        tab.get_by_role("button", name="Submit").click()
        expect(tab.get_by_role("alert")).to_contain_text("not a URL")
        expect(tab.get_by_label("URLs to fetch")).to_have_value("nonsense")
    assert [wish.kind for wish in crawls.wishes] == ["pause", "resume", "submit"]


@pytest.mark.parametrize(
    ("width", "scheme", "paced"),
    [
        (320, "dark", True),
        (1280, "light", False),
        pytest.param(320, "dark", False, marks=pytest.mark.long),
        pytest.param(1280, "light", True, marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(
    browser: Browser, visitor: Visitor, crawls: Crawls, width: int, scheme: str, paced: bool
) -> None:
    crawls.live_now = RUNNING if paced else None
    with browser.new_context(
        base_url=visitor.base,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    ) as context:
        tab = context.new_page()
        tab.goto(f"/crawl?token={TOKEN}")
        for path in ("/crawl", "/crawl?said=pause", "/", "/search?q=robot"):
            tab.goto(path)
            assert [(path, found["id"], found["nodes"]) for found in Axe().run(tab)["violations"]] == []
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
