"""The courtesy report as a page: the conclusion, the table, and the page in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from goodbot.exclusion import Access
from goodbot.live import Courtesy
from goodbot.report_values import CourtesyTotals
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.web.operator.courtesy_page import LISTED_FROM, courtesy_page
from web.browser import audit, chromium, shared_tab

NOW = 1_795_000_000.0
KEPT = Courtesy(
    "a.example", 120, 2, 1, 1, 0, 1, 30.0, waited_s=151.0, least_gap_s=5.001, asked_gap_s=5.0, first_at=NOW,
    last_at=NOW + 700, agent="goodbot/0.1 (+https://bot.example/)",
)  # fmt: skip
HURRIED = Courtesy("b.example", 7, 1, sooner=2, inside=1, least_gap_s=0.1, asked_gap_s=1.0, first_at=NOW, last_at=NOW)


@pytest.fixture
def frontier(tmp_path: Path) -> Path:
    path = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True) as opened:
        opened.save_courtesies([KEPT, HURRIED, Courtesy("quiet.example")])
        body = b"User-agent: *\nCrawl-delay: 5\n"
        opened.save_robots("https://a.example", Access.from_response(200, [], body, NOW))
    return path


def page(frontier: Path, host: str | None = None) -> str:
    with SqliteFrontier.open(frontier, read_only=True) as reader:
        reports = reader.courtesy_reports("x") if host is None else filter(None, [reader.courtesy_report(host, "x")])
        totals, names = reader.courtesy_totals(host), reader.courtesy_hosts()
        return "".join(courtesy_page(totals, reports, names, "goodbot", host, 60))


@pytest.mark.parametrize(
    ("totals", "host", "sentence"),
    [
        (
            CourtesyTotals(3, 12, 3, 0, 0, 0, 0, 0.0),
            None,
            "goodbot visited 3 hosts, kept every delay that robots.txt asks for, and waited for every Retry-After.",
        ),
        (
            CourtesyTotals(71, 100, 80, 0, 0, 0, 0, 0.0, robots_txt_only=60),
            None,
            (
                "goodbot sent requests to 71 hosts (60 of them: robots.txt only), kept every delay that robots.txt "
                "asks for, and waited for every Retry-After."
            ),
        ),
        (
            CourtesyTotals(1, 1, 1, 0, 1, 0, 0, 0.0, robots_txt_only=1),
            "b.example",
            "goodbot fetched only robots.txt from b.example, but sent 1 request before a Retry-After had passed.",
        ),
        (
            CourtesyTotals(1, 7, 1, 2, 1, 0, 0, 0.0),
            "b.example",
            (
                "goodbot visited b.example, but sent 2 requests sooner than robots.txt asks and 1 request before a "
                "Retry-After had passed."
            ),
        ),
        (
            CourtesyTotals(1, 1, 0, 0, 0, 0, 0, 0.0),
            None,
            "goodbot visited 1 host, kept every delay that robots.txt asks for, and waited for every Retry-After.",
        ),
        (
            CourtesyTotals(1, 2000, 0, 2000, 0, 0, 0, 0.0),
            "&b",
            "goodbot visited &amp;b, but sent 2,000 requests sooner than robots.txt asks.",
        ),
        (CourtesyTotals(0, 0, 0, 0, 0, 0, 0, 0.0), None, "goodbot has sent no request to any host."),
        (CourtesyTotals(0, 0, 0, 0, 0, 0, 0, 0.0), "c.example", "goodbot has sent no request to c.example."),
    ],
)
def test_the_conclusion(totals: CourtesyTotals, host: str | None, sentence: str) -> None:
    html = "".join(courtesy_page(totals, (), (), "goodbot", host, 60))
    assert f'<p class="conclusion">{sentence}</p>' in html


def test_a_wait_has_the_form_of_the_text_report(frontier: Path) -> None:
    assert page(frontier).count("2 min 31 s") == 2


def test_many_hosts_have_a_list_with_links(browser: Browser, tmp_path: Path) -> None:
    with SqliteFrontier.open(path := tmp_path / "many.sqlite", create=True) as opened:
        hosts = [*(f"h{number}.example" for number in range(LISTED_FROM - 2)), "127.0.0.1:81"]
        opened.save_courtesies(Courtesy(host, 1, 1, first_at=NOW, last_at=NOW) for host in hosts)
        assert "<nav" not in page(path)
        opened.save_courtesies([Courtesy("[::1]:80", 2, 1, first_at=NOW, last_at=NOW)])
    assert "<nav" not in page(path, "127.0.0.1:81")
    with shared_tab(browser) as tab:
        tab.set_content(page(path))
        links = tab.get_by_role("navigation", name="Hosts").get_by_role("link")
        assert links.all_text_contents() == sorted([*hosts, "[::1]:80"])
        for host in ("[::1]:80", "127.0.0.1:81"):
            tab.get_by_role("link", name=host).click()
            expect(tab.locator(":target")).to_have_text(host)
        assert audit(tab).violations == []


def test_the_conclusion_comes_first(frontier: Path) -> None:
    html = page(frontier)
    assert html.index("goodbot visited 2 hosts, but sent") < html.index("<table") < html.index("https://a.example")
    assert "Courtesy report for a.example" in page(frontier, "a.example")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), pytest.param(1280, "light", marks=pytest.mark.long)])
def test_axe_finds_nothing(browser: Browser, frontier: Path, width: int, scheme: str) -> None:
    with shared_tab(
        browser, viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    ) as tab:
        tab.set_content(page(frontier))
        expect(tab.get_by_role("row", name="Hosts that received requests")).to_contain_text("2")
        assert audit(tab).violations == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
