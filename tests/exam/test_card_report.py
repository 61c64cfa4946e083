"""The score card as people see it: in a terminal, and as a page."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from threading import Event, Thread

import pytest
from playwright.sync_api import Browser, expect

from goodbot.clock import SystemClock
from goodbot.exam.card import ScoreCard, SiteCard, judge_site, skipped_site
from goodbot.exam.card_report import COLOURS, html_card, printable, summary, text_card, totals
from goodbot.exam.conduct import MEMORY_LIMIT_BYTES, ExamVisit, identity_fault, judge_drive
from goodbot.exam.exam_values import MAIN, ExamRequest, ExamSite, Observed, SiteJudgement, page
from goodbot.exam.expectations import CustomExpectation, DoesNotFetch, Fetches
from goodbot.exam.live_page import AT_THE_END, NOT_VISITED, REFRESH_S, live_card, so_far
from web.browser import audit, chromium, shared_tab

AGENT = "SomeBot/1.0 (+https://bot.example/)"
HOSTILE = "/<script>alert(1)</script>\x1b[31m" + "x" * 5000


def site(name: str) -> ExamSite:
    return ExamSite(
        name,
        "A crawler obeys <b>& fetches</b>.",
        "RFC 9309 2.2.2",
        {"/": page()},
        (
            Fetches(("/", "/a")),
            DoesNotFetch(("/<*",)),
            CustomExpectation("duplicates", "not both copies", lambda _: SiteJudgement(False, "both")),
        ),
    )


def asked(target: str, at: float = 101.5, agent: str = AGENT, visit: int = 1) -> ExamRequest:
    return ExamRequest(MAIN, "GET", target, (("User-Agent", agent),), 1, at, visit, ended_at=at, status=200)


def seen(*requests: ExamRequest) -> dict[str, Observed]:
    """One site that was asked for robots.txt before these."""
    return {"some-site": Observed((asked("/robots.txt", 101.0), *requests))}


def card(*, with_drive: bool = True) -> ScoreCard:
    good, bad = (asked("/"), asked("/a")), (asked("/"), asked(HOSTILE, 103.25, visit=2))
    sites: list[SiteCard] = [
        judge_site(site("obeyed"), Observed(good)),
        judge_site(site("broken"), Observed(bad)),
        judge_site(site("lonely"), Observed(())),
        skipped_site(site("far"), "needs IPv6, which this machine does not have"),
    ]
    if with_drive:
        sites.append(judge_drive(seen(*good, *bad), [ExamVisit(0, 3.0, 4)], 84_100_000))
    return ScoreCard("some bot {seeds}", tuple(sites), 84_100_000, 1.25, 3.5, began_at=100.0)


# ---- in a terminal --------------------------------------------------------------------------------------------------


def test_text() -> None:
    lines = list(text_card(card()))
    assert lines[0] == "Score card of some bot {seeds}"
    assert "passed      5/6   obeyed" in lines
    at = lines.index("failed      0/6   broken")
    assert [line.split(maxsplit=1) for line in lines[at + 1 : at + 6]] == [
        ["expected", "fetches /, /a"],
        ["seen", "did not fetch /a"],
        ["expected", "does not fetch /<*"],
        ["seen", printable(f"fetched {HOSTILE}")],
        ["request", f"GET {printable('GET ' + HOSTILE)[4:]}, 3.25 s after the start, visit 2"],
    ]
    at = lines.index("failed      0/6   lonely")
    assert lines[at + 2].split(maxsplit=1) == ["seen", "sent no request"]
    assert lines[at + 3] == "skipped           far  (needs IPv6, which this machine does not have)"
    assert "passed    11/11   the-drive" in lines
    assert "not passed: 1 of 3 sites passed, 1 skipped" in lines
    assert dict(line.split(maxsplit=1) for line in lines[-6:]) == {
        "manners": "8 of 14 points",
        "skill": "8 of 15 points",
        "requests": "4",
        "memory": "84.1 MB at its peak",
        "CPU": "1.25 s",
        "elapsed": "3.5 s",
    }


def test_text_of_a_crawler_cannot_control_the_terminal() -> None:
    assert all(line.isprintable() and len(line) < 400 for line in text_card(card()))
    assert printable("a\nb\x9b\udc80") == r"a\nb\x9b\udc80"


def test_refused_connections_are_reported_once() -> None:
    crowded = replace(card(), refused_connections=1716)
    assert [line.strip() for line in text_card(crowded) if "connections" in line] == [
        "refused     1,716 connections: too many were open"
    ]
    assert crowded.as_json()["refused_connections"] == 1716


def test_colours() -> None:
    coloured = {COLOURS.get(line.partition(" ")[0]) for line in text_card(card())}
    assert coloured == {None, "green", "red", "yellow"}


def test_totals_leave_out_what_was_not_measured() -> None:
    served = ScoreCard("visiting crawlers", (judge_drive({}, [], None),))
    assert [name for name, _ in totals(served)] == ["manners", "skill", "requests"]
    assert summary(served) == "0 of 0 sites passed, the overall rules (the-drive) failed"
    assert [mark.rule.code for mark in served.sites[0].marks] == ["identity", "robots-first"]


# ---- the drive as a whole -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent",
    [
        AGENT,
        "MyBot (me@example.org)",
        "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; X-Bot/2; +http://x.example/) Chrome/1",
        "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/128.0 PageBot/3 (+https://bot.example)",
        "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
        "Mozilla/5.0 (X11; Linux) Firefox/128.0 (PageBot/3; me@example.org)",
    ],
)
def test_who_says_who_it_is(agent: str) -> None:
    assert identity_fault(agent) is None


@pytest.mark.parametrize(
    ("agent", "lack"),
    [
        ("", "no User-Agent"),
        ("  ", "no User-Agent"),
        ("Wget/1.21.3", "'Wget/1.21.3', which has no URL and no mail address"),
        ("python-requests/2.34.2", "has no URL and no mail address"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
            "browser's",
        ),
        ("Mozilla/5.0 (Macintosh) Firefox/128.0 (+https://bot.example/)", "browser's"),
        ("Mozilla/5.0 (X11; Gecko/2010; +https://bot.example/v/1) Firefox/128.0", "browser's"),
        ("Mozilla/5.0 (PageBot/3) Firefox/128.0 (+https://bot.example/)", "browser's"),
        ("https://bot.example/", "names no product"),
        ("((((" * 20_000, "names no product"),
        ("a@" * 40_000, "names no product"),
    ],
)
def test_who_does_not(agent: str, lack: str) -> None:
    assert lack in (identity_fault(agent) or "")
    assert len(identity_fault(agent) or "") < 300


def test_a_mailbox_may_stand_in_from() -> None:
    assert identity_fault("MyBot/1.0", "me@example.org") is None
    assert identity_fault("", "me@example.org") == "sent no User-Agent"


def test_one_request_without_a_name_is_enough() -> None:
    nameless = asked("/b", agent="")
    mark = judge_drive(seen(asked("/"), nameless, asked("/c")), [], None).marks[0]
    assert (mark.points, mark.judgement.offending, mark.judgement.observed) == (0, nameless, "sent no User-Agent")


@pytest.mark.parametrize(
    ("visit", "passed", "observed"),
    [
        (ExamVisit(0, 2.0, 5), True, "ended by itself after 2.0 s with status 0"),
        (ExamVisit(8, 2.0, 5), True, "ended by itself after 2.0 s with status 8"),
        (ExamVisit(1, 2.0, 0), False, "ended with status 1 after 2.0 s without any request"),
        (ExamVisit(-11, 2.0, 5), False, "ended by signal 11 after 2.0 s"),
        (ExamVisit(-15, 60.0, 5, stopped=True), False, "still running after 60 s, and was stopped"),
    ],
)
def test_the_end(visit: ExamVisit, passed: bool, observed: str) -> None:
    assert (visit.judgement.passed, visit.judgement.observed) == (passed, observed)
    marks = judge_drive(seen(asked("/")), [ExamVisit(0, 1.0, 1), visit, ExamVisit(0, 1.0, 1)], 1)
    assert next(mark for mark in marks.marks if mark.rule.code == "finished").judgement.passed is passed


def test_memory() -> None:
    def points(peak: int | None) -> int:
        marks = judge_drive(seen(asked("/")), [ExamVisit(0, 1.0, 1)], peak).marks
        return next(mark.points for mark in marks if mark.rule.code == "memory")

    assert [points(peak) for peak in (None, 1, MEMORY_LIMIT_BYTES - 1, MEMORY_LIMIT_BYTES)] == [3, 3, 3, 0]


# ---- as a page ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def test_the_page(browser: Browser) -> None:
    with shared_tab(browser, java_script_enabled=False) as tab:
        tab.set_content(html_card(card()))
        expect(tab.get_by_role("heading", level=1)).to_have_text("Score card of some bot {seeds}")
        expect(tab.get_by_text("Not passed: 1 of 3 sites passed, 1 skipped")).to_be_visible()
        assert tab.get_by_role("rowheader").count() == 5
        broken = tab.get_by_role("row").filter(has_text="broken")
        expect(broken.get_by_role("cell").first).to_have_text("failed")
        expect(broken).to_contain_text("did not fetch /a")
        expect(broken).to_contain_text("3.25 s after the start, visit 2")
        expect(broken).to_contain_text("not both copies (extra)")
        assert tab.locator("ul.jump a").all_text_contents() == ["broken", "lonely"]
        assert tab.locator("script").count() == 0


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (320, "dark"),
        (1280, "light"),
        pytest.param(320, "light", marks=pytest.mark.long),
        pytest.param(1280, "dark", marks=pytest.mark.long),
    ],
)
def test_the_page_fits_and_can_be_read(browser: Browser, width: int, scheme: str) -> None:
    with browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    ) as context:
        tab = context.new_page()
        tab.on("request", lambda request: pytest.fail(f"the page requests {request.url}"))
        tab.set_content(html_card(card()))
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        report = audit(tab)
        assert report.violations == []
        assert "color-contrast" in report.passed
        expect(tab.get_by_role("rowheader")).to_have_count(5)  # a table still, when its rows are stacked


def test_a_finished_card_has_no_script() -> None:
    page = html_card(card())
    assert "http-equiv" not in page
    assert "<script" not in page
    assert "Refresh" not in page


def test_sites_without_a_request_are_not_judged_while_the_exam_runs(browser: Browser) -> None:
    early = so_far(card())
    assert [(site.name, site.state) for site in early.sites] == [
        ("obeyed", "passed"),
        ("broken", "failed"),
        ("lonely", "pending"),
        ("far", "skipped"),
        ("the-drive", "pending"),
    ]
    assert [site["state"] for site in early.as_json()["sites"]] == [site.state for site in early.sites]
    assert [site["passed"] for site in early.as_json()["sites"]] == [True, False, False, None, True]
    with shared_tab(browser) as tab:
        tab.set_content(html_card(early, REFRESH_S))
        expect(tab.get_by_text("So far: 2 of 3 sites visited, 1 passed, 1 failed, 1 skipped")).to_be_visible()
        for name, word in (("lonely", NOT_VISITED), ("the-drive", AT_THE_END)):
            row = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader", name=name))
            expect(row.get_by_role("cell").first).to_have_text(word)
        assert tab.locator("ul.jump a").all_text_contents() == ["broken"]
        assert audit(tab).violations == []


@pytest.fixture(scope="module")
def live() -> Iterator[str]:
    """A running exam's page; its card begins with one request, and has more each time."""
    ready, done = Event(), Event()
    urls: list[str] = []

    async def serve() -> None:
        requests = [asked("/")]

        def growing() -> ScoreCard:
            requests.append(asked("/a"))
            return ScoreCard("any crawler", (judge_site(site("obeyed"), Observed(tuple(requests))),), began_at=100.0)

        async with live_card(growing, SystemClock()) as url:
            urls.append(url)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    yield urls[0]
    done.set()
    thread.join()


def test_the_live_page_runs_no_script_but_its_own(browser: Browser, live: str) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        for path in ("", "card.json", "card.js"):
            answer = context.request.get(live + path)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src")
            assert answer.headers["x-content-type-options"] == "nosniff"
        refused: list[str] = []
        tab.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
        tab.goto(live)
        expect(tab.get_by_role("button", name="Stop refreshing")).to_be_visible()
        assert tab.evaluate("getComputedStyle(document.querySelector('.totals')).display") == "grid"
        assert refused == []


def test_the_live_page_refreshes_itself(browser: Browser, live: str) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(live)
        requests = tab.locator(".totals div").filter(has_text="requests").locator("dd")
        first = int(requests.inner_text())
        with tab.expect_response(live) as answered:
            tab.clock.run_for(1000 * REFRESH_S)
        answered.value.finished()
        expect(requests).to_have_text(str(first + 1))
        tab.get_by_role("button", name="Stop refreshing").click()
        fetched: list[str] = []
        tab.on("request", lambda request: fetched.append(request.url))
        tab.clock.run_for(60_000)
        assert fetched == []
        assert audit(tab).violations == []


def test_without_scripts_the_live_page_has_a_link(browser: Browser, live: str) -> None:
    with shared_tab(browser, java_script_enabled=False) as tab:
        tab.goto(live)
        assert tab.locator("meta[http-equiv]").count() == 0
        requests = tab.locator(".totals div").filter(has_text="requests").locator("dd")
        first = int(requests.inner_text())
        expect(tab.get_by_role("button")).to_have_count(0)
        tab.get_by_role("link", name="Refresh").click()
        expect(requests).to_have_text(str(first + 1))
