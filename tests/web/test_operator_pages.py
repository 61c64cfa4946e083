"""The operator's pages about hosts, refused URLs, courtesy and removals: what they show, bounds, escaping, paging, the
prefix and Russian; in a browser checked by axe-core."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

from goodbot.exclusion import Access
from goodbot.report_values import Place
from goodbot.store.reports import refused_urls, store_reports
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.visitor_values import Removal
from goodbot.web import Site, create_app, running
from goodbot.web.operator.granted_removals_page import PER_PAGE
from goodbot.web.operator.hosts_page import LINES_SHOWN
from goodbot.web.operator.refused_page import read_place, written
from web.browser import audit, chromium, shared_tab
from web.crawls import TOKEN, Crawls, cookie_of
from web.library import SPECIMENS, Answer, Library, Visitor
from web.sample_frontier import NOW, make_frontier
from web.visitor_desks import Desk

REMOVALS = [
    Removal("one", NOW, "token file", "the file <b>/x.txt</b> has the token", None, "gone.example"),
    Removal(
        "two", NOW + 9, "robots.txt", "Disallow: /secret (line 3)", Url("https://here.example/secret/" + "x" * 300)
    ),
]
PAGES = [
    "/crawl",
    "/crawl/hosts",
    "/crawl/hosts?q=zeppelin",
    "/crawl/host?name=here.example",
    "/crawl/host?name=unknown.example",
    "/crawl/refused",
    "/crawl/refused?reason=disallowed&host=here.example",
    "/crawl/courtesy",
    "/crawl/courtesy?host=here.example",
    "/crawl/removals",
]


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    return Crawls(reports=make_frontier(Path(tmp_path_factory.mktemp("sample")) / "frontier.sqlite", hosts=55))


@pytest.fixture(scope="module")
def shared() -> Desk:
    return Desk()


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The desk of the server, with all removals in force."""
    shared.grants = list(REMOVALS)
    return shared


@pytest.fixture(scope="module")
def served(crawls: Crawls, shared: Desk) -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), Site("Sample"), crawls, visitors=shared)) as url:
        yield Visitor(url)


@pytest.fixture
def visitor(served: Visitor, desk: Desk) -> Visitor:
    return served


def page(visitor: Visitor, path: str, status: int = 200) -> str:
    answer = visitor.ask(path, Cookie=cookie_of(visitor))
    assert answer.status == status
    return answer.text


def words_of(html: str) -> str:
    """Returns the text of a page, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", "<main" + html.partition("<main")[2])).split())


def entries(html: str) -> list[str]:
    """Returns the text of each entry of a list."""
    listed = html.partition('<ul class="records">')[2].partition("</ul>")[0]
    return [words_of(f"<main>{part}") for part in listed.split("<li>")[1:]]


def next_of(html: str) -> str | None:
    found = re.search(r'rel="next" href="([^"]+)"', html)
    return unescape(found[1]) if found else None


# ---- hosts ----------------------------------------------------------------------------------------------------------


def test_hosts_are_listed_by_name(visitor: Visitor) -> None:
    first = page(visitor, "/crawl/hosts")
    names = re.findall(r'href="/crawl/host\?name=([^"]+)"', first)
    follows = next_of(first)
    assert follows is not None
    second = page(visitor, follows)
    names += re.findall(r'href="/crawl/host\?name=([^"]+)"', second)
    assert names == sorted(names)
    assert names == ["barred.example", *(f"h{number:02}.example" for number in range(55)), "here.example"]
    assert next_of(second) is None
    assert "There are no more hosts." in page(visitor, "/crawl/hosts?after=zzz")


HOSTS = [
    ("q=here", 1, "here.example visited 3 disallowed 2 failed 1 gone 1 Next request: none: nothing to fetch"),
    ("q=HERE", 1, "robots.txt: unreachable ( timeout ); next try at 2026-11-18 11:07:45 UTC"),
    ("q=h00", 1, "ready 1 Next request: when its turn comes"),
    ("q=h02", 1, "ready 1 Next request: 2096-10-02 07:06:40 UTC"),
    ("q=h00", 1, "robots.txt: there is none (status 404), so everything is allowed"),
    ("q=h01", 1, "robots.txt: unreachable (status 503); next try at "),
    ("q=h02", 1, "robots.txt: not fetched yet"),
    ("q=barred", 1, "No URL is known. Next request: never: it was forgotten"),
    ("q=elsewhere", 0, "No host has this in its name."),
    ("q=elsewhere&all=1", 1, "out-of-scope 1"),
    ("q=%3Cscript%3E%22%27", 0, "No host has this in its name."),
    ("q=%25", 0, "No host has this in its name."),
]


@pytest.mark.parametrize(("query", "count", "words"), HOSTS)
def test_a_host_in_the_list(visitor: Visitor, query: str, count: int, words: str) -> None:
    html = page(visitor, f"/crawl/hosts?{query}")
    assert len(entries(html)) == count
    assert words in words_of(html)


def test_an_empty_list_says_what_will_appear() -> None:
    with running(create_app(None, Site("Sample"), Crawls())) as url:
        visitor = Visitor(url)
        assert "No host is known yet." in page(visitor, "/crawl/hosts")
        assert "There is no such URL. Each URL that the crawl" in page(visitor, "/crawl/refused")
        assert "The crawl has sent no request yet." in page(visitor, "/crawl/courtesy")
        assert "/crawl/removals" not in page(visitor, "/crawl")
        assert visitor.ask("/crawl/removals", Cookie=cookie_of(visitor)).status == 404


HOST = [
    "visited 3 disallowed 2 failed 1 gone 1",
    "robots.txt was read. Crawl-delay: 5.000 s Request-rate: 1 in 10 s, 06:00 to 08:45 UTC",
    "Fetched at 2026-11-18 11:06:40 UTC, valid until 2026-11-19 11:06:40 UTC",
    "The file: 5 lines # <b>Rules</b> User-agent: * Disallow: /private/",
    "robots.txt is unreachable (no answer arrived in time), so everything is disallowed.",
    "/cal/ <repeats> (2026-11-18 11:06:40 UTC)",
    "https://here.example/broken failed connection <reset> yyy",
    "https://here.example/gone gone · 404 status 404 Not Found",
    "120 requests from 2026-11-18 11:06:40 UTC to 2026-11-18 11:18:20 UTC",
    "Requests sooner than asked 2",
    "goodbot forget here.example --in 'my crawl'",
]


@pytest.mark.parametrize("words", HOST)
def test_one_host(visitor: Visitor, words: str) -> None:
    assert words in words_of(page(visitor, "/crawl/host?name=Here.Example"))


def test_the_page_of_a_host_offers_no_button_to_forget_it(visitor: Visitor) -> None:
    html = page(visitor, "/crawl/host?name=here.example")
    assert re.findall(r'action="([^"]*)" method="post"', html) == ["/crawl/logout"]
    assert 'href="/why?url=https%3A%2F%2Fhere.example%2Fgone"' in html
    assert 'href="/crawl/refused?host=here.example"' in html
    assert 'href="/crawl/courtesy?host=here.example"' in html


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("h02.example", 200, "The robot has not requested the robots.txt of this host yet."),
        ("h02.example", 200, "There are no errors."),
        ("barred.example", 200, "This host was forgotten on "),
        ("elsewhere.example", 200, "The robot has sent no request to this host."),
        ("unknown.example", 404, "The crawl does not know this host."),
        ("<i>", 404, "The crawl does not know this host."),
        ("", 404, "The crawl does not know this host."),
        ("x" * 5000, 404, "The crawl does not know this host."),
    ],
)
def test_other_hosts(visitor: Visitor, name: str, status: int, words: str) -> None:
    html = page(visitor, f"/crawl/host?{urlencode({'name': name})}", status)
    assert words in html
    assert "<i>" not in html


@pytest.mark.parametrize(("read", "is_partial"), [(7, False), (6, True)])
def test_errors_found_among_some_urls_only(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, read: int, is_partial: bool
) -> None:
    """All URLs are counted, but not all are read."""
    for module in (refused_urls, store_reports):
        monkeypatch.setattr(module, "URLS_READ", read)
    html = page(visitor, "/crawl/host?name=here.example")
    assert ("URLs of this host were searched for errors" in html) is is_partial
    assert "so each number is a minimum" not in html


def test_without_services_for_visitors_nothing_leads_to_them(crawls: Crawls) -> None:
    with running(create_app(None, Site("Sample"), crawls)) as url:
        for path in ("/crawl/host?name=here.example", "/crawl/refused"):
            html = page(Visitor(url), path)
            assert "https://here.example/gone" in html
            assert "/why" not in html


def test_a_long_robots_txt_is_cut(tmp_path: Path) -> None:
    reports = make_frontier(tmp_path / "frontier.sqlite")
    body = b"Disallow: /\x1b[31m" + b"x" * 5000 + b"\n" + b"\r".join([b"Disallow: /y"] * 2000)
    with SqliteFrontier.open(tmp_path / "frontier.sqlite") as frontier:
        frontier.save_robots("https://here.example", Access.from_response(200, [], body, NOW))
    with running(create_app(None, Site("Sample"), Crawls(reports=reports))) as url:
        html = page(Visitor(url), "/crawl/host?name=here.example")
    assert html.count('<li id="robots-https-') == LINES_SHOWN
    assert "<details>" in html
    assert "The file: 2,001 lines" in html
    assert "Only the first 1,000 lines are shown." in html
    assert "\\x1b[31mxxx" in html
    assert "x" * 300 not in html


# ---- refused URLs ---------------------------------------------------------------------------------------------------

REFUSED = [
    ("", 5, "https://here.example/private/x disallowed Disallow: /private/ (line 3) is the longest rule that matches"),
    ("reason=disallowed", 2, "2026-11-18 11:06:43 UTC Line 3 of robots.txt Host Everything about this URL"),
    ("reason=gone", 1, "https://here.example/gone gone · 404 status 404 Not Found"),
    ("reason=failed", 1, "https://here.example/broken failed connection <reset> yyy"),
    ("reason=out-of-scope", 1, "elsewhere.example is not the host of a seed <script>"),
    ("reason=failed&host=here.example", 1, "failed – given up after errors"),
    ("reason=failed&host=h00.example", 0, "The crawl knows no such URL of this host."),
    ("host=unknown.example", 0, "The crawl knows no such URL of this host."),
    ("reason=nonsense", 5, "all states"),
    ("after=999.9", 0, "There are no more such URLs."),
    ("after=nonsense", 5, "URLs not fetched"),
    ("after=99999999999999999999.0", 5, "URLs not fetched"),
    ("after=-9223372036854775808.9999999999999999999", 5, "URLs not fetched"),
]


@pytest.mark.parametrize(("query", "count", "words"), REFUSED)
def test_refused_urls(visitor: Visitor, query: str, count: int, words: str) -> None:
    html = page(visitor, f"/crawl/refused?{query}")
    assert len(entries(html)) == count
    assert words in words_of(html)
    assert "<script>" not in html.replace("<script src=", "")
    assert "y" * 500 not in html


def test_the_line_that_decided_is_on_the_page_of_the_host(visitor: Visitor) -> None:
    html = page(visitor, "/crawl/refused?reason=disallowed")
    found = re.search(r'href="([^"]+)#(robots-https-3)"', html)
    assert found is not None
    host = page(visitor, unescape(found[1]))
    assert f'<li id="{found[2]}"><code>Disallow: /private/</code></li>' in host


@given(st.integers(-(1 << 63) + 1, (1 << 63) - 1), st.integers(-(1 << 63) + 1, (1 << 63) - 1))
def test_places_survive_a_url(host: int, hash_: int) -> None:
    assert read_place(written(Place(host, hash_))) == Place(host, hash_)


@given(st.text(alphabet="-0123456789.x", max_size=50))
def test_any_text_is_a_place_or_not(text: str) -> None:
    place = read_place(text)
    assert place is None or max(abs(place.host), abs(place.hash)) < 1 << 63


# ---- courtesy -------------------------------------------------------------------------------------------------------


def test_courtesy_of_all_hosts(visitor: Visitor) -> None:
    words = words_of(page(visitor, "/crawl/courtesy"))
    assert "goodbot sent requests to 2 hosts (1 of them: robots.txt only), but sent 2 requests sooner than" in words
    assert "asks and 1 request before a Retry-After had passed." in words
    for host in ("barred.example", "h00.example", "here.example"):
        assert host in words
    assert "2 URLs not fetched because of robots.txt" in words
    assert "goodbot courtesy --in 'my crawl' --host HOST --format html" in words


def test_courtesy_of_one_host(visitor: Visitor) -> None:
    words = words_of(page(visitor, "/crawl/courtesy?host=h00.example"))
    assert "Courtesy report for h00.example goodbot fetched only robots.txt from h00.example, kept every delay" in words
    assert "here.example" not in words.replace("there.example", "")
    assert "The crawl does not know this host." in page(visitor, "/crawl/courtesy?host=%3Cb%3E", 404)


# ---- removals -------------------------------------------------------------------------------------------------------


def lift(visitor: Visitor, **form: str) -> Answer:
    return visitor.ask("/crawl/removals", "POST", urlencode(form).encode(), Cookie=cookie_of(visitor))


def test_removals_are_listed_and_lifted(visitor: Visitor, desk: Desk) -> None:
    html = page(visitor, "/crawl/removals")
    assert [entry.partition(" ")[0][:28] for entry in entries(html)] == ["https://here.example/secret/", "gone.example"]
    assert "the whole site · 2026-11-18 11:06:40 UTC proved by a file the file <b>/x.txt</b>" in words_of(html)
    assert lift(visitor, token=TOKEN + "x", id="one").status == 403
    assert lift(visitor, id="one").status == 403
    assert desk.grants == REMOVALS
    answer = lift(visitor, token=TOKEN, id="one")
    assert (answer.status, answer.headers["Location"]) == (303, "/crawl/removals?done=lifted")
    assert [removal.id for removal in desk.grants] == ["two"]
    assert "The removal was lifted." in page(visitor, "/crawl/removals?done=lifted")
    assert lift(visitor, token=TOKEN, id="one").headers["Location"] == "/crawl/removals?done=missing"
    assert "There is no such removal any more." in page(visitor, "/crawl/removals?done=missing")
    lift(visitor, token=TOKEN, id="two")
    assert "Nothing is removed." in page(visitor, "/crawl/removals")


@pytest.mark.parametrize(
    ("query", "first", "count"),
    [("", 119, 50), ("?page=3", 19, 20), ("?page=-1", 119, 50), ("?page=99", 19, 20), ("?page=1e9", 119, 50)],
)
def test_many_removals_are_paged(visitor: Visitor, desk: Desk, query: str, first: int, count: int) -> None:
    assert PER_PAGE == 50
    desk.grants = [
        replace(REMOVALS[0], id=f"r{number}", at=NOW + number, site=f"s{number}.example") for number in range(120)
    ]
    listed = entries(page(visitor, f"/crawl/removals{query}"))
    assert len(listed) == count
    assert listed[0].startswith(f"s{first}.example")


# ---- all of them ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_link_stays_under_the_prefix(crawls: Crawls, desk: Desk, path: str) -> None:
    site = Site("Sample", public_url="https://example.org/find/")
    with running(create_app(Library(SPECIMENS), site, crawls, visitors=desk)) as url:
        visitor = Visitor(url)
        answer = visitor.ask(f"/find{path}", Cookie=cookie_of(visitor))
    links = [unescape(link) for link in re.findall(r'(?:href|src|action)="([^"]*)"', answer.text)]
    here = [link for link in links if link.startswith("/")]
    assert len(here) > 8
    assert [link for link in here if not link.startswith("/find/") or "/find/find" in link] == []


@pytest.mark.parametrize("path", PAGES)
def test_in_russian(visitor: Visitor, path: str) -> None:
    joint = "&" if "?" in path else "?"
    html = visitor.ask(f"{path}{joint}hl=ru", Cookie=cookie_of(visitor)).text
    for words in ('<html lang="ru">', ">Сводка</a>", ">Незагруженные URL</a>", "Выйти"):
        assert words in html
    assert set(re.findall(r'href="(/crawl[^"]*)"', html)) >= {"/crawl/hosts?hl=ru", "/crawl/courtesy?hl=ru"}
    assert [
        link
        for link in re.findall(r'(?:href|action)="(/[^"#]*)', html)
        if "hl=" not in link and "/static/" not in link and not is_get_form(html, link)
    ] == []


def is_get_form(html: str, link: str) -> bool:
    """Forms by GET have the language in a field."""
    return f'action="{link}" method="get"' in html and 'name="hl" value="ru"' in html


def test_a_damaged_frontier_is_no_traceback(visitor: Visitor, crawls: Crawls, tmp_path: Path) -> None:
    reports = make_frontier(tmp_path / "frontier.sqlite")
    (tmp_path / "frontier.sqlite").write_bytes(b"damaged" * 1000)
    with running(create_app(None, Site("Sample"), Crawls(reports=reports))) as url:
        broken = Visitor(url)
        for path in ("/crawl/hosts", "/crawl/host?name=a", "/crawl/refused", "/crawl/courtesy"):
            html = page(broken, path, 503)
            assert "The files or the database of the crawl cannot be read at the moment." in html
            assert str(tmp_path) not in html


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


SMALL = """[...document.querySelectorAll("main :is(button, input:not([type=hidden]), nav a, .links a, summary)")]
  .filter((each) => each.getClientRects().length)
  .filter((each) => {
    const box = (each.closest("label") ?? each).getBoundingClientRect();
    return Math.min(box.width, box.height) < 24;
  }).map((each) => each.outerHTML)"""
"""Lists targets of less than 24 CSS pixels (WCAG 2.2 SC 2.5.8)."""


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [
        (320, "dark", "ru"),
        pytest.param(320, "light", "en", marks=pytest.mark.long),
        pytest.param(1280, "light", "en", marks=pytest.mark.long),
        pytest.param(1280, "dark", "ru", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(browser: Browser, visitor: Visitor, width: int, scheme: str, language: str) -> None:
    with shared_tab(
        browser,
        base_url=visitor.base,
        locale=language,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    ) as tab:
        for path in ("/crawl/login", f"/crawl?token={TOKEN}", *PAGES, "/crawl?token=wrong"):
            tab.goto(path)
            assert audit(tab).violations == [], path
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, path
            assert tab.evaluate(SMALL) == [], path


def test_by_hand_without_scripts(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab:
        tab.goto("/crawl/refused?reason=disallowed")
        tab.get_by_label("Token").fill("wrong")
        tab.get_by_role("button", name="Log in").click()
        expect(tab.get_by_role("alert")).to_have_text("This is not the token of the crawl.")
        tab.get_by_label("Token").fill(TOKEN)
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("heading", level=1)).to_have_text("URLs not fetched")
        assert tab.url.endswith("/crawl/refused?reason=disallowed")
        tab.get_by_role("link", name="Line 3 of robots.txt").first.click()
        expect(tab.locator(":target")).to_have_text("Disallow: /private/")
        tab.get_by_role("link", name="Hosts").click()
        tab.get_by_label("Part of the host name").fill("elsewhere")
        tab.get_by_label("also hosts with no URL in scope").check()
        tab.get_by_role("button", name="Show").click()
        expect(tab.get_by_role("heading", level=2)).to_have_text("elsewhere.example")
        tab.get_by_role("link", name="Removals").click()
        tab.get_by_role("button", name="Lift this removal").first.click()
        expect(tab.locator("main").get_by_role("status")).to_contain_text("The removal was lifted.")
        tab.get_by_role("button", name="Log out").click()
        expect(tab.get_by_label("Token")).to_be_visible()
        tab.go_back()
        tab.reload()
        expect(tab.get_by_label("Token")).to_be_visible()
