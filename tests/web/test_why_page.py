"""The story of a URL, for people and for programs."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from goodbot.errors import DamagedError, InputError
from goodbot.search_values import Hidden
from goodbot.web import Rate, Site
from web.library import Visitor
from web.visitor_desks import HOST, Desk, story, url, visited


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with visited() as visitor:
        yield visitor


PAGES = [
    ("form", "/why", 200, ["Why is my page not here?", 'name="url"']),
    ("empty", "/why?url=%20", 200, ["Why is my page not here?"]),
    ("found", f"/why?url=https://{HOST}/", 200, ["Search can find this page", "It is in the search index."]),
    ("without scheme", f"/why?url={HOST}", 200, ["Search can find this page"]),
    ("title", f"/why?url={HOST}", 200, ["A &lt;b&gt;page&lt;/b&gt; of robots"]),
    ("source", f"/why?url={HOST}", 200, ["linked from a page of other.example, depth 2"]),
    ("line", f"/why?url={HOST}", 200, ["(line 3)"]),
    ("next visit", f"/why?url={HOST}", 200, ["at 2096-10-02 07:06:40 UTC or later"]),
    ("copy link", f"/why?url={HOST}", 200, ['href="/cached?url=https%3A%2F%2Fhere.example%2F"']),
    ("removal link", f"/why?url={HOST}", 200, ['href="/removal?url=https%3A%2F%2Fhere.example%2F"']),
    ("waiting", f"/why?url={HOST}/new", 200, ["This page waits for a visit", "when its turn comes"]),
    ("noindex", f"/why?url={HOST}/hidden", 200, ["Search does not find this page", "&lt;meta name=&#34;robots&#34;"]),
    ("same as", f"/why?url={HOST}/copy", 200, ["another page in its place", 'href="/why?url=https%3A%2F%2Fhere']),
    ("disallowed", f"/why?url={HOST}/private", 200, ["robots.txt forbids this page", "Remove that rule"]),
    ("proxy", f"/why?url={HOST}/down", 200, ["The crawl could not fetch it: no connection could be made."]),
    ("unknown", f"/why?url={HOST}/nowhere", 200, ["The crawl does not know this URL", 'action="/submit"']),
    ("not a URL", "/why?url=ftp://x", 400, ["This URL cannot be used.", "is not an http or https URL"]),
    ("password", "/why?url=https://a:b@x.example/", 400, ["leave it out"]),
    ("too long", f"/why?url=https://{HOST}/{'x' * 2000}", 400, ["longer than 2,000 characters"]),
    ("markup", "/why?url=" + quote('"><script>alert(1)</script>'), 400, ["&lt;script&gt;"]),
]


@pytest.mark.parametrize(("path", "status", "texts"), [case[1:] for case in PAGES], ids=[case[0] for case in PAGES])
def test_pages(visitor: Visitor, path: str, status: int, texts: list[str]) -> None:
    answer = visitor.ask(path)
    assert answer.status == status
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert all(text in answer.text for text in texts)
    for secret in ("secret?key", "warc.gz", "10.1.2.3", "<b>page", "<i>its", "<script>alert"):
        assert secret not in answer.text


def test_what_is_offered_for_an_unknown_url() -> None:
    with visited(site=Site(submissions=False, removals=False)) as visitor:
        assert 'action="/submit"' not in visitor.ask(f"/why?url={HOST}/nowhere").text
        assert "/removal" not in visitor.ask(f"/why?url={HOST}/").text


def test_a_removed_page() -> None:
    with visited(Desk(removed=Hidden(sites=frozenset({"example"})))) as visitor:
        html = visitor.ask(f"/why?url={HOST}").text
    assert "This page was removed at its owner&#39;s request" in html
    assert "<dd>no</dd>" in html
    assert "/cached?" not in html
    assert "/removal?" not in html


def test_json(visitor: Visitor) -> None:
    answer = visitor.ask(f"/api/why?url=https://{HOST}/")
    unknown = visitor.ask(f"/api/why?url=https://{HOST}/nowhere")
    found = json.loads(answer.text)
    assert (answer.status, found["state"], found["in_index"]) == (200, "visited", True)
    assert {"url", "asked_as", "events", "lesson", "summary", "advice", "next_visit_at"} <= found.keys()
    assert found["events"][0]["reason"] == "linked from a page of other.example, depth 2"
    assert found["events"][3]["reason"] == "the archive has the answer"
    assert (unknown.status, json.loads(unknown.text)["state"]) == (200, "unknown")


@pytest.mark.parametrize("query", ["", "?url=", "?url=file:///etc/passwd", "?url=javascript:alert(1)", "?q=x"])
def test_json_of_what_is_not_a_url(visitor: Visitor, query: str) -> None:
    answer = visitor.ask("/api/why" + query)
    assert answer.status == 400
    assert set(json.loads(answer.text)) == {"error"}


def test_a_damaged_crawl(caplog: pytest.LogCaptureFixture) -> None:
    with visited(Desk(trouble=DamagedError("/srv/crawl/frontier.sqlite is damaged"))) as visitor:
        page, api = visitor.ask(f"/why?url={HOST}"), visitor.ask(f"/api/why?url={HOST}")
    assert (page.status, api.status) == (503, 503)
    assert "/srv" not in page.text + api.text
    assert "/srv/crawl" in caplog.text


def test_under_a_prefix() -> None:
    with visited(site=Site(public_url="https://example.org/find/")) as visitor:
        html = visitor.ask(f"/find/why?url={HOST}/").text
        unknown = visitor.ask(f"/find/why?url={HOST}/nowhere").text
    assert 'action="/find/why"' in html
    assert 'href="/find/cached?url=' in html
    assert 'action="/find/submit"' in unknown


def test_in_russian() -> None:
    with visited() as visitor:
        chosen = visitor.ask(f"/why?url={HOST}&hl=ru").text
        preferred = visitor.ask("/why", Accept_Language="ru").text
    assert "Эта страница есть в поиске" in chosen
    assert "<p><span>Страница есть в поисковом индексе.</span></p>" in chosen
    assert "<span>ссылка со страницы сайта <bdi>other.example</bdi>, глубина 2</span>" in chosen
    assert "<dd>загружено</dd>" in chosen
    assert 'href="/cached?url=https%3A%2F%2Fhere.example%2F&amp;hl=ru"' in chosen
    assert '<input type="hidden" name="hl" value="ru">' in chosen
    assert "Почему моей страницы нет в поиске?" in preferred
    assert 'name="hl"' not in preferred


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize(
    "summary", ["%s", "it does not belong to this crawl: %s", "it is a copy of %s, which is shown instead"]
)
def test_hostile_text_of_the_crawl(summary: str, language: str) -> None:
    hostile = "\u202ex</p><script>alert(1)</script>" + "y" * 2000
    told = story("/", state="visited", title=hostile, summary=summary % hostile, advice=hostile)
    with visited(Desk(pages={url("/").text: told})) as visitor:
        html = visitor.ask(f"/why?url={HOST}/&hl={language}").text
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "y" * 700 not in html


def test_english_in_a_russian_sentence() -> None:
    with visited() as visitor:
        html = visitor.ask(f"/why?url={HOST}/far&hl=ru").text
        hidden = visitor.ask(f"/why?url={HOST}/hidden&hl=ru").text
    far = '<span>Страница не входит в область обхода: <bdi lang="en">9 links away from a seed.</bdi></span>'
    assert far in html
    assert "<span>Уберите эту директиву, и после следующего визита страница появится в поиске.</span>" in hidden


def test_the_limit_for_requests() -> None:
    with visited(site=Site(page_rate=Rate(1, 1), proxies=("127.0.0.1",))) as visitor:
        first = visitor.ask("/api/why?url=x.example", X_Forwarded_For="192.0.2.1")
        second = visitor.ask("/api/why?url=x.example", X_Forwarded_For="192.0.2.1")
    assert (first.status, second.status) == (200, 429)


@pytest.mark.parametrize("path", ["/hidden", "/new", "/private", "/gone"])
def test_no_link_leads_to_a_copy_that_is_not_shown(path: str) -> None:
    with visited() as visitor:
        assert "/cached?" not in visitor.ask(f"/why?url={HOST}{path}").text


@pytest.mark.parametrize(
    ("path", "method", "body"),
    [
        (f"/why?url={HOST}", "GET", None),
        (f"/api/why?url={HOST}", "GET", None),
        (f"/cached?url={HOST}", "GET", None),
        (f"/cached/document?url={HOST}", "GET", None),
        (f"/submit?url={HOST}", "GET", None),
        (f"/removal?url={HOST}", "GET", None),
        ("/submit", "POST", b"url=here.example"),
        ("/removal", "POST", b"url=here.example"),
        ("/api/submit", "POST", b'{"url": "here.example"}'),
    ],
)
def test_a_folder_that_was_moved_away(path: str, method: str, body: bytes | None) -> None:
    """The message of such an error names the folder, so it is not for visitors."""
    kind = "application/json" if path == "/api/submit" else "application/x-www-form-urlencoded"
    with visited(Desk(trouble=InputError("no crawl in /srv/crawl"))) as visitor:
        answer = visitor.ask(path, method, body, Content_Type=kind)
    assert answer.status == 503
    assert "/srv" not in answer.text
    assert "The files or the database of the crawl cannot be read at the moment." in answer.text
