"""The dashboard of a crawl and /metrics: read and controlled with the token, over HTTP and in a browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from prometheus_client.parser import text_string_to_metric_families

from goodbot.errors import DamagedError
from goodbot.live import ControlRequest, LiveStatus
from goodbot.report_values import MachineView
from goodbot.robot.crawl.remote_control import CrawlFigures
from goodbot.url import Url
from goodbot.values import STATES, Status
from goodbot.web import Rate, Site, create_app, running
from goodbot.web.machines.metrics import metrics_text
from goodbot.web.operator.crawl_view import MEANINGS, error_groups, progress
from goodbot.web.server.security_headers import POLICY
from web.browser import audit, chromium, shared_tab
from web.crawls import RUNNING, TOKEN, Crawls, cookie_of
from web.library import SPECIMENS, Answer, Library, Visitor


@pytest.fixture(scope="module")
def shared() -> Crawls:
    return Crawls()


@pytest.fixture
def crawls(shared: Crawls) -> Crawls:
    """The crawl of the server, as it is at first."""
    vars(shared).update(vars(Crawls()))
    return shared


@pytest.fixture(scope="module")
def served(shared: Crawls) -> Iterator[Visitor]:
    site = Site("Sample library", page_rate=Rate(0, 1))
    with running(create_app(Library(SPECIMENS), site, shared)) as url:
        yield Visitor(url)


@pytest.fixture
def visitor(served: Visitor, crawls: Crawls) -> Visitor:
    return served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def post(visitor: Visitor, order: str, **form: str) -> Answer:
    return visitor.ask(f"/crawl/{order}", "POST", urlencode(form).encode())


def signed_in(visitor: Visitor, path: str = "/crawl", **headers: str) -> Answer:
    return visitor.ask(path, "GET", None, Cookie=cookie_of(visitor), **headers)


# ---- reading --------------------------------------------------------------------------------------------------------


def test_the_figures(visitor: Visitor) -> None:
    answer = signed_in(visitor)
    assert answer.status == 200
    for shown in ("is running", "4,100", "71.5", "120,464", "28 min", "big.example", "10,000+", "timeout", "8,120"):
        assert shown in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def test_text_of_other_servers_is_escaped(visitor: Visitor) -> None:
    text = signed_in(visitor).text
    assert "&lt;i&gt;odd&lt;/i&gt;.example" in text
    assert "&lt;b&gt;" in text


def test_a_crawl_that_is_not_running(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = None
    text = signed_in(visitor).text
    assert "The crawl is not running" in text
    assert "Pages per second" not in text


def test_progress(visitor: Visitor, crawls: Crawls) -> None:
    assert "8,170 of 128,634 URLs in scope are done (6%); about 28 min left" in signed_in(visitor).text
    assert progress(Status(dict.fromkeys(STATES, 0), 0, 0, 0, None)).percent == 0
    assert progress(Status({**dict.fromkeys(STATES, 0), "visited": 999, "ready": 1}, 0, 0, 0, None)).percent == 99


def test_equal_errors_are_grouped_with_the_latest_example(visitor: Visitor) -> None:
    groups = error_groups(RUNNING)
    assert [(group.name, group.count) for group in groups] == [("404 Not Found", 12), ("timeout", 3), ("<b>", 1)]
    named = replace(RUNNING, errors=(("reset", 2), ("robots.txt", 1)))
    assert [group.name for group in error_groups(named)] == ["connection reset", "robots.txt unreachable"]
    assert [group.latest.url[:28] if group.latest else None for group in groups] == [
        "http://big.example/gone",
        "http://slow.example/xxxxxxxx",
        None,
    ]
    assert signed_in(visitor).text.count(">status 404<") == 1


def test_every_state_is_explained(visitor: Visitor) -> None:
    assert tuple(MEANINGS) == STATES
    text = signed_in(visitor).text
    assert all(meaning in text for meaning in MEANINGS.values())


def test_its_script_is_a_file_of_this_server(visitor: Visitor) -> None:
    answer = signed_in(visitor)
    assert answer.headers["Content-Security-Policy"] == POLICY
    scripts = re.findall(r"<script[^>]*>", answer.text)
    assert [tag for tag in scripts if not re.search(r'src="/static/\w+\.js\?', tag)] == []
    assert any("crawl.js" in tag for tag in scripts)
    assert "http-equiv" not in answer.text


def test_the_other_pages_lead_to_it(visitor: Visitor) -> None:
    assert 'href="/crawl"' in visitor.ask("/").text
    assert 'href="/crawl"' in visitor.ask("/search?q=robot").text
    assert "Disallow: /crawl\n" in visitor.ask("/robots.txt").text


def test_without_a_crawl_there_is_no_page() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample library"))) as url:
        visitor = Visitor(url)
        assert visitor.ask("/crawl").status == 404
        assert "No crawl is served here" in visitor.ask("/crawl").text
        assert "<code>goodbot serve --in DIR</code>." in visitor.ask("/crawl").text
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


MACHINES: Final = (
    MachineView(1, "crawler-1", "a", 4711, "alive", 0.0, 0.0, None, 1.6, 512, 12, 340, 4_100, 1, 71.5),
    MachineView(2, "<i>crawler-2</i>", "b", 81, "late", 9.0, 0.0, None, 31.2, 512, 1, 64, 3_000, 1, None),
    MachineView(3, "crawler-3", "c", 82, "gone", 9.0, 0.0, 9.0, 4_000.0, 0, 0, 0, 20, 1, None),
    MachineView(4, "crawler-4", "d", 83, "left", 9.0, 0.0, 9.0, 7.0, 0, 0, 0, 20, 1, None),
)


def test_machines_that_share_the_crawl(visitor: Visitor, crawls: Crawls) -> None:
    assert "Machines" not in signed_in(visitor).text
    crawls.shared_by = MACHINES
    text = " ".join(re.sub(r"<[^>]+>", " ", signed_in(visitor).text).split())
    assert "This run, on this machine" in text
    assert "crawler-1 process 4711 alive 2 s ago 12 340 4,100 71.5" in text
    assert "&lt;i&gt;crawler-2&lt;/i&gt; process 81 late 31 s ago 1 64 3,000 –" in text
    assert "crawler-3 process 82 taken over" in text
    russian = " ".join(re.sub(r"<[^>]+>", " ", signed_in(visitor, Accept_Language="ru").text).split())
    assert "crawler-4 процесс 83 завершила работу" in russian


def test_metrics_of_machines() -> None:
    status = Crawls().status
    up = metrics_text(5, CrawlFigures(status, running=True, live=RUNNING, is_up=True, machines=MACHINES[:2])).decode()
    for line in (
        "goodbot_database_up 1.0",
        'goodbot_crawl_machines{state="alive"} 1.0',
        'goodbot_crawl_machines{state="late"} 1.0',
        'goodbot_crawl_machine_heartbeat_age_seconds{machine="2",name="<i>crawler-2</i>"} 31.2',
        'goodbot_crawl_machine_partitions{machine="1",name="crawler-1"} 512.0',
        'goodbot_crawl_machine_leased_hosts{machine="1",name="crawler-1"} 12.0',
        'goodbot_crawl_machine_leased_urls{machine="1",name="crawler-1"} 340.0',
        'goodbot_crawl_machine_pages_total{machine="1",name="crawler-1"} 4100.0',
        'goodbot_crawl_machine_pages_per_second{machine="1",name="crawler-1"} 71.5',
    ):
        assert line in up.splitlines()
    away = metrics_text(5, CrawlFigures(None, running=True, live=RUNNING, is_up=False)).decode()
    assert {"goodbot_database_up 0.0", "goodbot_running 1.0", "goodbot_run_pages_total 4100.0"} <= {*away.splitlines()}
    assert "goodbot_urls" not in away
    assert "goodbot_crawl_machine" not in away
    alone = metrics_text(5, CrawlFigures(status, running=True, live=RUNNING)).decode()
    assert "goodbot_database_up" not in alone
    assert "goodbot_crawl_machine" not in alone


def test_a_damaged_frontier_is_no_traceback(visitor: Visitor, crawls: Crawls) -> None:
    crawls.trouble = DamagedError("/secret/frontier.sqlite is damaged")
    for answer in (signed_in(visitor), visitor.ask("/metrics")):
        assert answer.status == 503
        assert "The files or the database of the crawl cannot be read at the moment." in answer.text
        assert "secret" not in answer.text


# ---- control --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["pause", "resume", "stop"])
def test_orders(visitor: Visitor, crawls: Crawls, order: str) -> None:
    answer = post(visitor, order, token=TOKEN)
    assert (answer.status, answer.headers["Location"]) == (303, f"/crawl?done={order}")
    assert [request.kind for request in crawls.requests] == [order]
    assert "The crawl" in signed_in(visitor, f"/crawl?done={order}").text
    crawls.live_now = None
    assert post(visitor, order, token=TOKEN).headers["Location"] == "/crawl?done=not-running"


def test_control_needs_post(visitor: Visitor, crawls: Crawls) -> None:
    assert visitor.ask(f"/crawl/stop?token={TOKEN}").status == 405
    assert post(visitor, "explode", token=TOKEN).status == 404
    assert crawls.requests == []


def submitted(visitor: Visitor, urls: str) -> Answer:
    """Submits URLs and follows the redirect, after which a reload submits nothing."""
    answer = post(visitor, "submit", token=TOKEN, urls=urls)
    assert answer.status == 303
    return signed_in(visitor, answer.headers["Location"])


NOTICES = [
    ("pause", replace(RUNNING, pace="paused"), "is pausing"),
    ("pause", replace(RUNNING, pace="paused", in_flight=0), ""),
    ("pause", RUNNING, ""),
    ("pause", None, ""),
    ("resume", RUNNING, "running again"),
    ("resume", replace(RUNNING, pace="paused"), ""),
    ("stop", replace(RUNNING, pace="stopping"), "is stopping"),
    ("stop", None, ""),
    ("not-running", None, "Nothing has changed"),
    ("not-running", RUNNING, ""),
    ("nonsense", RUNNING, ""),
]


@pytest.mark.parametrize(("done", "live", "words"), NOTICES)
def test_a_notice_agrees_with_the_state(
    visitor: Visitor, crawls: Crawls, done: str, live: LiveStatus | None, words: str
) -> None:
    crawls.live_now = live
    path = f"/crawl?done={done}"
    notice = signed_in(visitor, path).text.partition('<div id="notice"')[2].partition("</div>")[0]
    assert words in notice
    assert ("<p" in notice) == bool(words)


def test_all_bad_lines_are_named_and_none_is_accepted(visitor: Visitor, crawls: Crawls) -> None:
    text = "http://here.example/a\nnot a url\nexample.org/x\nP\n" + "ftp://x/\n" * 4
    answer = post(visitor, "submit", token=TOKEN, urls=text)
    assert answer.status == 400
    for words in ("not a url</code></bdi></li>", "https://example.org/x</code></bdi>?", ">P</code>", "And 2 more."):
        assert words in answer.text
    assert crawls.requests == []


def test_a_crawl_that_has_ended_says_where_its_errors_are(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = None
    page = signed_in(visitor).text
    assert "goodbot export --what urls --in &#39;my crawl&#39;</code>" in page
    assert "goodbot crawl --into &#39;my crawl&#39;</code>" in page
    assert "Next request" not in page


def test_an_empty_crawl_that_has_ended_promises_nothing(crawls: Crawls) -> None:
    crawls.live_now = None
    crawls.status = Status(dict.fromkeys(STATES, 0), 0, 0, 0, None)
    with running(create_app(Library([]), Site("x"), crawls)) as url:
        for path in ("/", "/search?q=a"):
            assert "No page is indexed, and the crawl is finished." in Visitor(url).ask(path).text
        assert "No URL is in scope." in signed_in(Visitor(url)).text


def test_a_crawl_that_keeps_fresh_says_when_it_goes_on(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = replace(RUNNING, waiting=7, next_at=1_795_000_100.0)
    assert "7 pages will be visited again, the next at 2026-11-18 11:08:20 UTC" in signed_in(visitor).text


def test_submit_to_a_running_crawl(visitor: Visitor, crawls: Crawls) -> None:
    urls = "http://here.example/a\n\nhttp://elsewhere.example/\r\nhttp://here.example/b\n"
    answer = submitted(visitor, urls)
    assert "not running" not in answer.text
    assert crawls.requests == [ControlRequest("submit", (Url("http://here.example/a"), Url("http://here.example/b")))]
    crawls.live_now = None
    assert "URLs wait" not in submitted(visitor, "http://elsewhere.example/").text
    assert "elsewhere.example is not the host of a seed" in answer.text


def test_submit_to_a_crawl_that_is_not_running(visitor: Visitor, crawls: Crawls) -> None:
    crawls.live_now = None
    answer = submitted(visitor, "http://here.example/a")
    assert "The crawl is not running: submitted URLs wait until it runs." in answer.text
    assert crawls.requests == []
    record = crawls.frontier.record(Url("http://here.example/a"))
    assert record is not None
    assert record.state == "ready"


BAD = [
    ("nothing", "", 400, "1 to 100 URLs"),
    ("no URL", "nonsense", 400, "not a URL"),
    ("a script", "javascript:alert(1)", 400, "not a URL"),
    ("too many", "http://here.example/\n" * 101, 400, "1 to 100 URLs"),
    ("too long", "http://here.example/" + "x" * 300_000, 413, "Too much"),
]


@pytest.mark.parametrize(("urls", "status", "word"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_submissions(visitor: Visitor, crawls: Crawls, urls: str, status: int, word: str) -> None:
    answer = post(visitor, "submit", token=TOKEN, urls=urls)
    assert answer.status == status
    assert word in answer.text
    assert crawls.requests == []


@pytest.mark.parametrize("body", [b"\xff\xfe", b"&" * 1000 + b"a=b", b"token"])
def test_data_that_is_not_a_form(visitor: Visitor, body: bytes) -> None:
    assert visitor.ask("/crawl/stop", "POST", body).status in (400, 403)


def test_a_crawl_that_does_not_answer(visitor: Visitor, crawls: Crawls) -> None:
    class Unresponsive(Crawls):
        def is_waiting(self, name: str) -> bool:
            return True

        def withdraw(self, name: str) -> bool:
            return True

    with running(create_app(Library(SPECIMENS), Site("x"), Unresponsive())) as url:
        answer = post(Visitor(url), "stop", token=TOKEN)
    assert answer.status == 503
    assert "has not answered" in answer.text


# ---- in a browser ---------------------------------------------------------------------------------------------------


def test_by_hand(browser: Browser, visitor: Visitor, crawls: Crawls) -> None:
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab:
        tab.goto(f"/crawl?token={TOKEN}")
        assert TOKEN not in tab.url
        crawls.live_now = replace(RUNNING, pace="paused")
        tab.get_by_role("button", name="Pause").click()
        expect(tab.get_by_role("status")).to_contain_text("The crawl is pausing")
        expect(tab.get_by_role("heading", level=1)).to_have_text("The crawl is paused")
        crawls.live_now = RUNNING
        tab.get_by_role("button", name="Resume").click()
        expect(tab.get_by_role("status")).to_contain_text("The crawl is running again")
        tab.get_by_label("URLs to fetch").fill("http://here.example/new")
        tab.get_by_role("button", name="Submit").click()
        expect(tab.get_by_role("status")).to_contain_text("http://here.example/new")
        tab.get_by_label("URLs to fetch").fill("nonsense")
        tab.get_by_role("button", name="Submit").click()
        expect(tab.get_by_role("alert")).to_contain_text("not a URL")
        expect(tab.get_by_label("URLs to fetch")).to_have_value("nonsense")
        expect(tab.get_by_role("button", name="Stop refreshing")).to_have_count(0)
        tab.get_by_role("link", name="Refresh").click()
        expect(tab.get_by_role("button", name="Stop the crawl")).not_to_be_visible()
        tab.get_by_text("Stop …").click()
        crawls.live_now = replace(RUNNING, pace="stopping")
        tab.get_by_role("button", name="Stop the crawl").click()
        expect(tab.get_by_role("status")).to_contain_text("The crawl is stopping")
    assert [request.kind for request in crawls.requests] == ["pause", "resume", "submit", "stop"]


@pytest.mark.parametrize("width", [1280, 800, 320])
def test_the_table_of_machines_fits(browser: Browser, visitor: Visitor, crawls: Crawls, width: int) -> None:
    crawls.shared_by = (*MACHINES, replace(MACHINES[0], name="crawler-17.rack-4.crawl.example.internal"))
    viewport: ViewportSize = {"width": width, "height": 800}
    with shared_tab(browser, viewport, base_url=visitor.base, locale="ru") as tab:
        tab.goto(f"/crawl?token={TOKEN}")
        table = tab.get_by_role("table").first
        expect(table).to_contain_text("crawler-17")
        assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def refreshes(tab: Page) -> None:
    """Lets the page's clock run until it has fetched itself once."""
    with tab.expect_response("**/crawl") as answered:
        tab.clock.run_for(5000)
    answered.value.finished()


def test_it_refreshes_itself_and_keeps_focus_scroll_and_input(
    browser: Browser, visitor: Visitor, crawls: Crawls
) -> None:
    with browser.new_context(base_url=visitor.base, viewport={"width": 390, "height": 500}) as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(f"/crawl?token={TOKEN}")
        tab.get_by_text("Stop …").click()
        tab.get_by_label("URLs to fetch").fill("http://here.example/half-typed")
        tab.get_by_role("button", name="Pause").focus()
        scrolled = tab.evaluate("scrollY")
        crawls.live_now = replace(RUNNING, pages=4_211, workers=3)
        refreshes(tab)
        expect(tab.locator(".numbers")).to_contain_text("4,211")
        expect(tab.get_by_label("URLs to fetch")).to_have_value("http://here.example/half-typed")
        expect(tab.get_by_role("button", name="Stop the crawl")).to_be_visible()
        expect(tab.get_by_role("button", name="Pause")).to_be_focused()
        assert tab.evaluate("scrollY") == scrolled
        crawls.live_now = replace(RUNNING, pace="stopping")
        refreshes(tab)
        expect(tab.get_by_role("heading", level=1)).to_have_text("The crawl is stopping")
        expect(tab.get_by_role("button", name="Pause")).to_have_count(0)
        crawls.trouble = DamagedError("frontier.sqlite is damaged")
        refreshes(tab)
        expect(tab.locator("#silence")).to_contain_text("The server has sent no figures since ")
        expect(tab.locator("#silence")).to_be_visible()
        expect(tab.get_by_role("heading", level=1)).to_have_text("The state of the crawl is unknown")
        crawls.trouble = None
        refreshes(tab)
        expect(tab.locator("#silence")).to_be_hidden()
        expect(tab.get_by_role("heading", level=1)).to_have_text("The crawl is stopping")


def test_focus_and_notices_follow_the_state(browser: Browser, visitor: Visitor, crawls: Crawls) -> None:
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.clock.install()
        crawls.live_now = replace(RUNNING, pace="paused")
        tab.goto(f"/crawl?token={TOKEN}")
        tab.goto("/crawl?done=pause")
        expect(tab.get_by_text("The crawl is pausing")).to_be_visible()
        tab.get_by_role("button", name="Resume").focus()
        crawls.live_now = RUNNING
        with tab.expect_response("**/crawl?done=pause") as answered:
            tab.clock.run_for(5000)
        answered.value.finished()
        expect(tab.get_by_role("button", name="Pause")).to_be_focused()
        expect(tab.get_by_text("The crawl is pausing")).to_have_count(0)
        expect(tab.get_by_role("button", name="Stop refreshing")).to_be_visible()
        crawls.live_now, crawls.status = None, replace(crawls.status, next_ready_at=None)
        crawls.status = Status(dict.fromkeys(STATES, 0), 0, 0, 0, None)
        with tab.expect_response("**/crawl?done=pause") as answered:
            tab.clock.run_for(5000)
        answered.value.finished()
        expect(tab.get_by_role("heading", level=1)).to_have_text("The crawl is finished")
        expect(tab.get_by_role("button", name="Stop refreshing")).to_be_hidden()
        assert tab.evaluate("document.activeElement.id") == "main"


def test_it_is_refreshed_after_a_submission_that_failed(browser: Browser, visitor: Visitor, crawls: Crawls) -> None:
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(f"/crawl?token={TOKEN}&hl=en")
        tab.get_by_label("URLs to fetch").fill("nonsense")
        tab.get_by_role("button", name="Submit").click()
        assert "/crawl/submit" in tab.url
        crawls.live_now = replace(RUNNING, pages=4_211)
        with tab.expect_response("**/crawl?hl=en") as answered:
            tab.clock.run_for(5000)
        answered.value.finished()
        expect(tab.locator(".numbers")).to_contain_text("4,211")
        expect(tab.locator("#silence")).to_be_hidden()


@pytest.mark.parametrize(
    ("language", "button", "off", "sentence", "heading"),
    [
        ("en", "Stop refreshing", "Refresh automatically", "You are logged out", "The state of the crawl is unknown"),
        ("ru", "Не обновлять", "Обновлять автоматически", "Вы вышли", "Состояние обхода неизвестно"),
    ],
)
def test_a_tab_that_is_logged_out_says_so(
    browser: Browser, visitor: Visitor, language: str, button: str, off: str, sentence: str, heading: str
) -> None:
    with browser.new_context(base_url=visitor.base, locale=language) as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(f"/crawl?token={TOKEN}")
        tab.get_by_role("button", name=button).click()
        tab.get_by_role("button", name=off).click()
        refreshes(tab)
        context.clear_cookies()
        with tab.expect_response(lambda got: got.url.endswith("/crawl") and got.status == 403):
            tab.clock.run_for(5000)
        expect(tab.locator("#silence")).to_contain_text(sentence)
        expect(tab.get_by_role("heading", level=1)).to_have_text(heading)


def test_it_does_not_refresh_while_hidden_or_switched_off(browser: Browser, visitor: Visitor) -> None:
    hide = "value => { Object.defineProperty(document, 'hidden', {value, configurable: true}); %s }"
    hide %= "document.dispatchEvent(new Event('visibilitychange'))"
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(f"/crawl?token={TOKEN}")
        fetched: list[str] = []
        tab.on("request", lambda request: fetched.extend([request.url] if request.url.endswith("/crawl") else []))
        tab.evaluate(hide, True)
        tab.clock.run_for(60_000)
        assert fetched == []
        tab.evaluate(hide, False)
        refreshes(tab)
        tab.get_by_role("button", name="Stop refreshing").click()
        fetched.clear()
        tab.clock.run_for(60_000)
        assert fetched == []
        tab.get_by_role("button", name="Refresh automatically").click()
        refreshes(tab)


@pytest.mark.parametrize(
    ("width", "scheme", "paced"),
    [
        (320, "dark", True),
        pytest.param(1280, "light", False, marks=pytest.mark.long),
        pytest.param(320, "dark", False, marks=pytest.mark.long),
        pytest.param(1280, "light", True, marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(
    browser: Browser, visitor: Visitor, crawls: Crawls, width: int, scheme: str, paced: bool
) -> None:
    crawls.live_now = RUNNING if paced else None
    crawls.shared_by = MACHINES
    with shared_tab(
        browser,
        base_url=visitor.base,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    ) as tab:
        tab.goto(f"/crawl?token={TOKEN}")
        for path in ("/crawl", "/crawl?done=pause", "/", "/search?q=robot"):
            tab.goto(path)
            if path == "/crawl" and paced:
                tab.get_by_text("Stop …").click()
            assert audit(tab).violations == [], path
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
