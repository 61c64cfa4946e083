"""The checker page and /api/check: reports, limits and escaping; in a browser with and without JavaScript."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from goodbot.check import HttpAnswer
from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, Access
from goodbot.url import Url
from goodbot.web import Rate, Site, create_app, running
from goodbot.web.checker.checker_report import FINDINGS_SENT, FINDINGS_SHOWN, judge, same_text, text_of
from goodbot.web.checker.site_robots import SiteRobots, TooManyRequestsError
from goodbot.web.server.security_headers import POLICY
from web.browser import audit, chromium, shared_tab
from web.crawls import Crawls
from web.library import SPECIMENS, Library, Visitor
from web.library import Answer as Reply

BAD = "User-agent: *\nDissallow: /private/\nDisallow: /tmp\nAllow: /tmp/*.html\n"
GOOD = "User-agent: *\nDisallow: /private/\n\nSitemap: https://a.example/sitemap.xml\n"
HOSTILE = "User-agent: <script>alert(1)</script>\nDissallow: /<b>&'\"</textarea><img src=x onerror=alert(1)>\n"
TEXT = ("Content-Type", "text/plain")


def site(body: bytes = BAD.encode(), status: int = 200, at: float = 1_795_000_000.0) -> SiteRobots:
    """Makes the response of a site."""
    answer = HttpAnswer(status, (TEXT,), ())
    return SiteRobots(
        Url("https://a.example/robots.txt"), body, answer, Access.from_response(status, [TEXT], body, at), at
    )


class FakeSource:
    """A `RobotsSource` with the same answer for every site."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begins a test: nothing was fetched yet."""
        self.answer: SiteRobots | InputError = site()
        self.fetched: list[str] = []
        self.why_not = ""

    async def fetch(self, text: str) -> SiteRobots:
        self.fetched.append(text)
        if isinstance(self.answer, InputError):
            raise self.answer
        return self.answer

    def cached(self, origin: str) -> SiteRobots | None:
        return self.answer if isinstance(self.answer, SiteRobots) and origin == "https://a.example" else None


@pytest.fixture(scope="module")
def shared() -> FakeSource:
    return FakeSource()


@pytest.fixture
def source(shared: FakeSource) -> FakeSource:
    """The source of the server, as it is at first."""
    shared.begin()
    return shared


@pytest.fixture(scope="module")
def served(shared: FakeSource) -> Iterator[Visitor]:
    site = Site("Sample library", page_rate=Rate(0, 1))
    with running(create_app(Library(SPECIMENS), site, Crawls(), None, shared)) as url:
        yield Visitor(url)


@pytest.fixture
def visitor(served: Visitor, source: FakeSource) -> Visitor:
    return served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def post(visitor: Visitor, path: str = "/check", headers: dict[str, str] | None = None, **form: str) -> Reply:
    return visitor.ask(path, "POST", urlencode(form).encode(), **headers or {})


def api(visitor: Visitor, value: object, **headers: str) -> Reply:
    fields = {"Content_Type": "application/json", **headers}
    return visitor.ask("/api/check", "POST", json.dumps(value).encode(), **fields)


# ---- for programs ---------------------------------------------------------------------------------------------------


def test_the_findings_of_a_text(visitor: Visitor) -> None:
    answer = api(visitor, {"robots": BAD})
    report = json.loads(answer.text)
    assert (answer.status, report["file"], report["fetched_at"], report["verdicts"]) == (200, "robots.txt", None, [])
    first = next(each for each in report["findings"] if each["severity"] == "error")
    assert (first["file"], first["line"], first["column"], first["code"]) == ("robots.txt", 2, 1, "R203")
    assert first["severity"] == "error"
    assert "Dissallow" in first["message"]
    assert "Disallow" in first["fix"]
    assert report["counts"]["error"] == sum(each["severity"] == "error" for each in report["findings"])


def test_every_dialect_has_a_verdict(visitor: Visitor) -> None:
    report = json.loads(api(visitor, {"robots": BAD, "agent": "Googlebot", "url": "/tmp/x.html"}).text)
    assert [each["dialect"] for each in report["verdicts"]] == list(DIALECTS)
    by_name = {each["dialect"]: each for each in report["verdicts"]}
    assert (by_name["rfc9309"]["allowed"], by_name["rfc9309"]["line"]) == (True, 4)
    assert (by_name["1994"]["allowed"], by_name["1994"]["rule"]) == (False, "Disallow: /tmp")


@pytest.mark.parametrize("url", ["/x/../private/", "https://a.example\\private\\", "/pri\tvate/#x"])
def test_a_url_is_judged_as_robots_request_it(visitor: Visitor, url: str) -> None:
    for text in ({"robots": BAD.replace("Diss", "Dis")}, {"site": "a.example"}):
        verdicts = json.loads(api(visitor, {**text, "agent": "any", "url": url}).text)["verdicts"]
        assert {each["url"] for each in verdicts} == {url}
        assert {each["requested_as"].removeprefix("https://a.example") for each in verdicts} == {"/private/"}
        assert "robots" not in text or not any(each["allowed"] for each in verdicts)
    page = post(visitor, robots=GOOD, agent="any", url=url).text
    assert "Robots request it as" in page
    assert "Robots request it as" not in post(visitor, robots=GOOD, agent="any", url="/private/").text


def test_the_findings_of_a_site(visitor: Visitor, source: FakeSource) -> None:
    source.answer = site(b"", 403)
    report = json.loads(api(visitor, {"site": "a.example", "agent": "any", "url": "/x"}).text)
    assert source.fetched == ["a.example"]
    assert (report["file"], report["fetched_at"]) == ("https://a.example/robots.txt", 1_795_000_000.0)
    assert [each["code"] for each in report["findings"]] == ["R002"]
    by_name = {each["dialect"]: each["allowed"] for each in report["verdicts"]}
    assert by_name["rfc9309"]
    assert not by_name["1994"]  # a refusal closed the site


TROUBLES: list[tuple[str, object, int, str]] = [
    ("nothing", {}, 400, "give either robots"),
    ("both", {"robots": "", "site": "a.example"}, 400, "give either robots"),
    ("no object", [1], 400, "send a JSON object"),
    ("unknown", {"robots": "", "ignore": "R1"}, 400, "unknown key: ignore"),
    ("no text", {"robots": 5}, 400, "must be strings"),
    ("half a question", {"robots": "", "agent": "x"}, 400, "also give the URL"),
    ("the other half", {"robots": "", "url": "/x"}, 400, "also give the robot's name"),
    ("a long agent", {"robots": "", "agent": "x" * 501, "url": "/"}, 400, "500 characters at most"),
    ("a long URL", {"robots": "", "agent": "x", "url": "/" * 2001}, 400, "2,000"),
    ("no URL", {"robots": "", "agent": "x", "url": "http://[::1"}, 400, "is not a URL that robots fetch"),
    ("no Web", {"robots": "", "agent": "x", "url": "ftp://a.example/"}, 400, "is not a URL that robots fetch"),
    ("no path", {"robots": "", "agent": "x", "url": "private/x"}, 400, "or a path that begins with `/`"),
    (
        "another site",
        {"site": "a.example", "agent": "x", "url": "https://b.example/"},
        400,
        "is not a URL of https://a.exa",
    ),
    ("too long", {"robots": "#" * 600_000}, 413, "more than 528 KiB is not checked"),
    ("far too long", {"robots": "#" * 5_000_000}, 413, "more than 528 KiB is not checked"),
]


@pytest.mark.parametrize(("value", "status", "message"), [t[1:] for t in TROUBLES], ids=[t[0] for t in TROUBLES])
def test_what_cannot_be_checked(visitor: Visitor, value: object, status: int, message: str) -> None:
    answer = api(visitor, value)
    assert answer.status == status
    assert message in json.loads(answer.text)["error"]


@pytest.mark.parametrize(
    ("body", "type_", "status"),
    [
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"\xff", "application/json; charset=utf-8", 400),
        (b'{"robots": ""}', "text/plain", 415),
        (b'{"robots": ""}', "", 415),
    ],
)
def test_data_that_is_not_json(visitor: Visitor, body: bytes, type_: str, status: int) -> None:
    answer = visitor.ask("/api/check", "POST", body, Content_Type=type_)
    assert (answer.status, set(json.loads(answer.text))) == (status, {"error"})


def test_sites_that_are_refused(visitor: Visitor, source: FakeSource) -> None:
    source.answer = InputError("127.0.0.1 is on a private address")
    assert api(visitor, {"site": "http://127.0.0.1/"}).status == 400
    source.answer = TooManyRequestsError("too many sites")
    assert api(visitor, {"site": "http://127.0.0.1/"}).status == 429


def test_500_kib_are_checked(visitor: Visitor) -> None:
    long = "User-agent: *\nDisallow: /x\n# " + "ä" * 255_990 + "\nDisallow: /lost\n"
    codes = [each["code"] for each in json.loads(api(visitor, {"robots": long}).text)["findings"]]
    assert "R006" in codes
    page = post(visitor, robots=long)
    assert page.status == 200
    assert "R006" in page.text


def test_get_and_lone_surrogates(visitor: Visitor) -> None:
    assert visitor.ask("/api/check").status == 405
    raw = b'{"robots": "\\ud800: x", "agent": "\\udfff", "url": "/\\ud800"}'
    assert visitor.ask("/api/check", "POST", raw, Content_Type="application/json").status == 200


@pytest.mark.parametrize("path", ["/check", "/check/report", "/api/check"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "same-origin", "Origin": "https://behind.a.proxy.example"}, 200),
        ({}, 200),
    ],
)
def test_requests_from_pages_of_other_sites_are_refused(
    visitor: Visitor, source: FakeSource, path: str, headers: dict[str, str], status: int
) -> None:
    if path == "/api/check":
        answer = api(visitor, {"site": "a.example"}, **headers)
    else:
        answer = post(visitor, path, headers, site="a.example")
    assert answer.status == status
    assert source.fetched == (["a.example"] if status == 200 and path != "/check/report" else [])


# ---- for people -----------------------------------------------------------------------------------------------------


def test_the_empty_page(visitor: Visitor) -> None:
    page = visitor.ask("/check")
    assert page.status == 200
    assert 'name="site"' in page.text
    assert '<option value="Googlebot">' in page.text
    assert "findings" not in page.text


def test_the_other_pages_lead_to_it(visitor: Visitor) -> None:
    for path in ("/", "/search?q=robot", "/crawl"):
        assert 'href="/check"' in visitor.ask(path).text


def test_the_answer_comes_first_and_the_1990s_are_folded() -> None:
    robots = b"User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow:\n"
    report = judge(robots, "Googlebot-News", "/news")
    assert [(name, verdict.allowed) for name, verdict in report.modern] == [("RFC 9309", False), ("Google", False)]
    assert [name for name, _ in report.historic] == [name for name in DIALECTS if name not in ("rfc9309", "google")]
    assert report.historic_answers == (2, 3)
    robots = b"User-agent: *\nDisallow: /private/\n"
    assert judge(robots, "any", "/x").historic_answers == (5, 0)
    assert judge(b"User-agent: *\nDisallow: /\n", "any", "/x").historic_answers == (0, 5)


@pytest.mark.parametrize(
    ("robots", "path", "summary"),
    [
        ("User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow:\n", "/news", "2 say yes, 3 say no"),
        ("User-agent: *\nDisallow: /private/\n", "/x", "all say yes"),
        ("User-agent: *\nDisallow: /\n", "/x", "all say no"),
    ],
)
def test_the_answers_of_the_1990s_are_summed_up(visitor: Visitor, robots: str, path: str, summary: str) -> None:
    page = post(visitor, robots=robots, agent="Googlebot-News", url=path).text
    assert f"<summary>Dialects of the 1990s: {summary}</summary>" in page


def test_without_a_source_no_site_is_fetched() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample library"))) as url:
        visitor = Visitor(url)
        assert 'name="site"' not in visitor.ask("/check").text
        assert "Not fetched: <span>this server does not fetch from sites" in post(visitor, site="a.example").text
        assert "R203" in post(visitor, robots=BAD).text


RUSSIAN = [
    ("the form", {}, 200, "<h1>Проверить robots.txt</h1>"),
    ("findings", {"robots": BAD}, 200, '<span class="severity">ошибка</span>'),
    ("their number", {"robots": BAD}, 200, "1 ошибка, 0 предупреждений, 2 замечания</h2>"),
    ("a finding is English", {"robots": BAD}, 200, '<span lang="en"><code>Dissallow</code>'),
    ("a verdict", {"robots": GOOD, "agent": "x", "url": "/private/"}, 200, '<strong class="verdict no">нет</strong>'),
    (
        "half a question",
        {"robots": "", "agent": "x"},
        400,
        "<span>Чтобы узнать, можно ли роботу загрузить",
    ),
    ("no URL", {"robots": "", "agent": "x", "url": "<b>"}, 400, "<code>&lt;b&gt;</code> — не URL, который загружают"),
    ("a fetch", {"button": "fetch", "site": "x"}, 400, 'Не загружено: <span lang="en">x.example is private.</span>'),
]


@pytest.mark.parametrize(("form", "status", "words"), [case[1:] for case in RUSSIAN], ids=[case[0] for case in RUSSIAN])
def test_in_russian(visitor: Visitor, source: FakeSource, form: dict[str, str], status: int, words: str) -> None:
    source.answer = InputError("x.example is private")
    for path, headers in (("/check?hl=ru", {}), ("/check", {"Accept_Language": "ru, en;q=0.5"})):
        answer = (
            visitor.ask(path, "POST", urlencode(form).encode(), **headers) if form else visitor.ask(path, **headers)
        )
        assert answer.status == status
        assert words in answer.text


def test_programs_get_english(visitor: Visitor) -> None:
    body = json.dumps({"robots": "", "agent": "x"}).encode()
    answer = visitor.ask("/api/check?hl=ru", "POST", body, Content_Type="application/json")
    assert "also give the URL" in json.loads(answer.text)["error"]


def test_text_of_visitors_is_escaped(visitor: Visitor) -> None:
    for path in ("/check", "/check/report"):
        page = post(visitor, path, robots=HOSTILE, agent="<i>x</i>", url="/<u>", of="<s>").text
        for tag in ("<script>alert", "<b>", "<img src=x", "<i>", "<u>", "<s>"):
            assert tag not in page
        assert "R203" in page
    assert "&lt;/textarea&gt;" in post(visitor, robots=HOSTILE).text


def test_its_script_is_a_file_of_this_server(visitor: Visitor) -> None:
    for answer in (visitor.ask("/check"), post(visitor, robots=BAD), post(visitor, "/check/report", robots=BAD)):
        policy = answer.headers["Content-Security-Policy"]
        assert policy == POLICY
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "no-store"
    assert visitor.ask("/").headers["Content-Security-Policy"] == POLICY
    scripts = re.findall(r"<script[^>]*>", visitor.ask("/check").text)
    assert [re.search(r'src="/static/(\w+\.js)\?', tag) is not None for tag in scripts] == [True] * len(scripts)
    assert any("check.js" in tag for tag in scripts)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"&" * 100 + b"a=b", b"robots=%FF%FE%00"])
def test_data_that_is_not_a_form(visitor: Visitor, body: bytes) -> None:
    assert visitor.ask("/check", "POST", body).status in (200, 400)


def test_a_form_that_is_too_long(visitor: Visitor) -> None:
    for size in (600_000, 2_000_000, 10_000_000):
        answer = post(visitor, robots="a" * size)
        assert answer.status == 413
        assert "robots read only the first 500 KiB" in answer.text


def test_a_refusal_keeps_what_was_typed(visitor: Visitor, source: FakeSource) -> None:
    source.answer = InputError("x.example is on a private address")
    answer = post(visitor, button="fetch", site="x.example", robots=BAD, agent="Googlebot", url="/a")
    assert answer.status == 400
    assert "Not fetched: <span>x.example is on a private address.</span>" in answer.text
    assert 'value="x.example"' in answer.text
    assert 'value="/a"' in answer.text
    assert BAD in answer.text


@pytest.mark.parametrize("status", [None, 404, 503])
def test_a_site_without_a_file_keeps_what_was_pasted(visitor: Visitor, source: FakeSource, status: int | None) -> None:
    source.answer = replace(site(b"x", 404), answer=HttpAnswer(status, (), ()))
    page = post(visitor, button="fetch", site="a.example", robots=BAD, agent="Googlebot", url="/a").text
    assert BAD in page
    assert "The text in the form is not from this site." in page
    assert "R203" not in page  # the report is about the site
    assert "R203" in post(visitor, button="check", site="a.example", robots=BAD, of="https://a.example").text


def test_the_enter_key_fetches_only_from_a_site_just_typed(visitor: Visitor, source: FakeSource) -> None:
    post(visitor, site="a.example", shown_site="a.example", robots=BAD)
    post(visitor, button="check", site="a.example", robots=BAD)
    assert source.fetched == []
    post(visitor, site="b.example", shown_site="a.example", robots=BAD)
    assert source.fetched == ["b.example"]


def test_a_server_that_fetches_from_no_site_says_so_beforehand(visitor: Visitor, source: FakeSource) -> None:
    source.why_not = "this server has no contact: set `contact`"
    page = visitor.ask("/check").text
    assert "This server has no contact: set <code>contact</code>." in page
    assert page.count(" disabled") == 2


def test_text_of_visitors_keeps_its_case(visitor: Visitor) -> None:
    page = post(visitor, robots=BAD, agent="MyBot", url="p").text
    assert "<code>p</code> is not a URL that robots fetch" in page
    assert "<code>/</code>." in page
    assert (
        "No group applies to MyBot" in post(visitor, robots="User-agent: a\nDisallow: /", agent="MyBot", url="/").text
    )


def test_a_long_or_right_to_left_url_cannot_disturb_the_heading(visitor: Visitor) -> None:
    page = post(visitor, robots=GOOD, agent="a", url="/אבג/" + "x" * 500).text
    heading = page[page.index('<h2 class="question"') :].partition("</h2>")[0]
    assert '<bdi dir="ltr">/אבג/' in heading
    assert len(heading) < 300


def test_what_was_fetched_is_judged_with_its_answer_until_it_is_edited(visitor: Visitor, source: FakeSource) -> None:
    source.answer = site(BAD.encode().replace(b"\n", b"\r\n"))
    page = post(visitor, site="a.example").text
    assert 'name="of" value="https://a.example"' in page
    assert "status 200" in page
    same = post(visitor, robots=BAD.replace("\n", "\r\n"), of="https://a.example").text
    assert "status 200" in same
    edited = post(visitor, robots=BAD + "\n# more", of="https://a.example").text
    assert "status 200" not in edited
    assert source.fetched == ["a.example"]


def test_a_long_list_is_cut() -> None:
    report = judge(b"Dissallow: /x\n" * 5000)
    assert len(report.shown) == FINDINGS_SHOWN < len(report.findings)
    assert len(report.as_json()["findings"]) <= FINDINGS_SENT  # type: ignore[arg-type]


def test_the_most_severe_finding_comes_first_with_its_words_marked() -> None:
    first = judge(("# \n" + BAD).encode()).shown[0]
    assert (first.finding.severity, first.line) == ("error", 3)
    assert first.excerpt == (("Dissallow", True), (": /private/", False))


def test_a_long_line_is_cut_around_its_mark() -> None:
    view = judge(b"User-agent: *\nDissallow: /" + b"a" * 5000).shown[0]
    assert sum(len(text) for text, _ in view.excerpt) < 200


@given(body=st.binary(max_size=400), agent=st.text(max_size=20), url=st.text(max_size=30), status=st.integers(100, 599))
def test_any_bytes_from_any_site(body: bytes, agent: str, url: str, status: int) -> None:
    fetched = site(body, status)
    for report in (judge(body, agent, url), judge(b"", agent, url, fetched)):
        assert len(report.shown) == min(len(report.findings), FINDINGS_SHOWN)
        assert json.dumps(report.as_json())
        for view in report.shown:
            assert all(each.isprintable() or each == "\t" for text, _ in view.excerpt for each in text)
    assert same_text(text_of(fetched).replace("\n", "\r\n"), text_of(fetched)) or "\r" in text_of(fetched)


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture
def tab(browser: Browser, visitor: Visitor) -> Iterator[Page]:
    with shared_tab(browser, base_url=visitor.base) as tab:
        yield tab


def test_the_report_follows_while_typing(browser: Browser, visitor: Visitor) -> None:
    faults: list[str] = []
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text))
        tab.goto("/check")
        tab.get_by_label("Or paste a robots.txt").fill(BAD)
        expect(tab.locator(".findings .error").first).to_contain_text("R203")
        expect(tab.locator("#announcement")).to_contain_text("1 error")
        tab.get_by_label("Robot", exact=True).fill("Googlebot")
        tab.get_by_label("URL or path").fill("/tmp/x.html")
        expect(tab.locator(".answer")).to_have_text("RFC 9309: yes. Google: yes.")
        expect(tab.locator("#announcement")).to_contain_text("RFC 9309: yes. Google: yes.")
        expect(tab.get_by_role("row", name="RFC 9309")).to_contain_text("Allow: /tmp/*.html")
        expect(tab.get_by_role("row", name="1994")).not_to_be_visible()
        tab.get_by_text("Dialects of the 1990s: all say no").click()
        expect(tab.get_by_role("table", name="The dialects of the 1990s").get_by_role("row")).to_have_count(
            1 + len(DIALECTS) - 2
        )
        expect(tab.get_by_role("row", name="1994")).to_contain_text("Line 3 Disallow: /tmp")
        tab.get_by_label("Or paste a robots.txt").fill(BAD.replace("Dissallow", "Disallow"))
        expect(tab.locator(".findings .error")).to_have_count(0)
        expect(tab.get_by_role("row", name="1994")).to_be_visible()  # still unfolded
        assert tab.url.endswith("/check")
    assert faults == []


def test_a_link_to_a_line_selects_it(tab: Page) -> None:
    tab.goto("/check")
    tab.get_by_label("Or paste a robots.txt").fill("# comment\n" * 400 + BAD)
    tab.get_by_role("link", name="Line 402").first.click()
    assert tab.evaluate("getSelection().toString()") == "Dissallow: /private/"
    assert tab.evaluate("document.activeElement.id") == "robots"
    assert tab.evaluate("robots.scrollTop > 0")


def test_hostile_text_stays_text(tab: Page) -> None:
    tab.goto("/check")
    tab.get_by_label("Or paste a robots.txt").fill(HOSTILE)
    expect(tab.locator(".findings mark").first).to_be_visible()
    assert tab.locator("#report script, #report img, #report b").count() == 0


def test_a_text_that_is_too_long_is_reported(tab: Page) -> None:
    tab.goto("/check")
    tab.evaluate("robots.value = 'a'.repeat(700000); judge.dispatchEvent(new Event('input', {bubbles: true}))")
    expect(tab.locator("#report")).to_contain_text("more than 528 KiB is not checked")


def test_a_site_by_keyboard_alone(tab: Page, source: FakeSource) -> None:
    tab.goto("/check")
    tab.get_by_label("Robot", exact=True).fill("Googlebot")
    tab.get_by_label("URL or path").fill("/tmp/x.html")
    tab.get_by_label("Fetch the robots.txt of a site").focus()
    tab.keyboard.type("a.example")
    tab.keyboard.press("Enter")
    expect(tab.locator(".answer")).to_have_text("RFC 9309: yes. Google: yes.")
    expect(tab.get_by_label("Or paste a robots.txt")).to_have_value(BAD)
    assert source.fetched == ["a.example"]
    tab.get_by_label("Or paste a robots.txt").press("Control+End")
    tab.keyboard.type("# mine")
    expect(tab.locator("#report")).not_to_contain_text("status 200")
    assert source.fetched == ["a.example"]  # typing sends no request to the site


@pytest.mark.parametrize("scripted", [True, False])
def test_a_failed_fetch_keeps_everything(
    browser: Browser, visitor: Visitor, source: FakeSource, scripted: bool
) -> None:
    source.answer = InputError("x.example is on a private address")
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=scripted) as tab:
        tab.goto("/check")
        tab.get_by_label("Or paste a robots.txt").fill(BAD)
        tab.get_by_label("Robot", exact=True).fill("Googlebot")
        tab.get_by_label("URL or path").fill("/tmp/x.html")
        tab.get_by_label("Fetch the robots.txt of a site").fill("x.example")
        tab.get_by_label("Fetch the robots.txt of a site").press("Enter")
        for _ in range(2):  # with the Enter key, then with the button
            expect(tab.locator(".notice")).to_contain_text("Not fetched: x.example is on a private address")
            expect(tab.get_by_label("Or paste a robots.txt")).to_have_value(BAD)
            expect(tab.get_by_label("Robot", exact=True)).to_have_value("Googlebot")
            expect(tab.get_by_label("URL or path")).to_have_value("/tmp/x.html")
            expect(tab.get_by_label("Fetch the robots.txt of a site")).to_have_value("x.example")
            tab.get_by_role("button", name="Fetch").click()
    assert len(source.fetched) >= 2


def test_without_javascript(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab:
        tab.goto("/")
        tab.get_by_role("link", name="robots.txt checker").click()
        tab.get_by_label("Or paste a robots.txt").fill("\n" + BAD)
        tab.get_by_label("Robot", exact=True).fill("Googlebot")
        tab.get_by_label("URL or path").fill("/tmp/x.html")
        tab.get_by_role("button", name="Check").click()
        expect(tab.locator(".findings .error").first).to_contain_text("Dissallow")
        expect(tab.locator(".answer")).to_have_text("RFC 9309: yes. Google: yes.")
        tab.get_by_text("Dialects of the 1990s").click()
        expect(tab.get_by_role("row", name="1994")).to_contain_text("Line 4")
        expect(tab.get_by_label("Or paste a robots.txt")).to_have_value("\n" + BAD)
        tab.get_by_label("URL or path").fill("")
        tab.get_by_role("button", name="Check").click()
        expect(tab.locator(".notice")).to_contain_text("give the URL")
        expect(tab.locator(".findings .error").first).to_contain_text("Dissallow")
        expect(tab.get_by_label("Or paste a robots.txt")).to_have_value("\n" + BAD)


def test_axe_finds_nothing_where_no_site_is_fetched(browser: Browser, visitor: Visitor, source: FakeSource) -> None:
    source.why_not = "this server has no contact: set `contact`"
    with shared_tab(browser, base_url=visitor.base) as tab:
        tab.goto("/check")
        assert audit(tab).violations == []


WINDOWS = [
    (320, "light", "ru"),
    pytest.param(320, "dark", "en", marks=pytest.mark.long),
    pytest.param(1280, "light", "en", marks=pytest.mark.long),
    pytest.param(1280, "dark", "ru", marks=pytest.mark.long),
    pytest.param(390, "light", "en", marks=pytest.mark.long),
    pytest.param(1280, "dark", "en", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("width", "scheme", "language"), WINDOWS)
def test_axe_finds_nothing(browser: Browser, visitor: Visitor, width: int, scheme: str, language: str) -> None:
    is_russian = language == "ru"
    with shared_tab(
        browser,
        base_url=visitor.base,
        locale=language,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    ) as tab:
        for robots, agent in ((BAD + HOSTILE + "# " + "x" * 500, "Googlebot"), (GOOD, ""), ("", "half")):
            tab.goto("/check")
            tab.locator("#robots").fill(robots)
            tab.locator("#agent").fill(agent)
            tab.locator("#url").fill("/tmp/" + "x" * 300 if agent == "Googlebot" else "")
            with tab.expect_response("**/check/report") as answered:
                tab.get_by_role("button", name="Проверить" if is_russian else "Check", exact=True).click()
            answered.value.finished()
            half, whole = ("укажите и URL", "ошиб") if is_russian else ("give the URL", "error")
            expect(tab.locator("#announcement")).to_contain_text(half if agent == "half" else whole)
            if agent == "Googlebot":
                tab.locator("#historic > summary").click()
            assert audit(tab).violations == [], robots
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
