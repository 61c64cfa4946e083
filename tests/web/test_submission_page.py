"""Submissions by visitors, on the page and as JSON."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from goodbot.errors import RunError
from goodbot.visitor_urls import MAX_TYPED_CHARS
from goodbot.web import Rate, Site
from goodbot.web.visitors.submission_page import MAX_BODY_BYTES
from web.library import Answer, Visitor
from web.visitor_desks import HOST, Desk, visited

FORM = {"Content_Type": "application/x-www-form-urlencoded"}
JSON = {"Content_Type": "application/json"}


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with visited() as visitor:
        yield visitor


def post(visitor: Visitor, url: str, path: str = "/submit", **headers: str) -> Answer:
    return visitor.ask(path, "POST", b"url=" + quote(url, safe="").encode(), **{**FORM, **headers})


def api(visitor: Visitor, body: object, **headers: str) -> Answer:
    return visitor.ask("/api/submit", "POST", json.dumps(body).encode(), **{**JSON, **headers})


RESULTS = [
    # the URL, status and result of the API, status and text of the page
    (f"https://{HOST}/fresh", 200, "submitted", 303, ""),
    (f"{HOST}/fresh", 200, "submitted", 303, ""),
    (f"https://{HOST}/", 200, "known", 303, ""),
    ("https://other.example/", 403, "out of scope", 403, "this URL is outside the scope of the crawl."),
    ("http://127.0.0.1/", 403, "private", 403, "this URL may lead into a private network."),
    (f"https://{HOST}/private/x", 403, "disallowed", 403, "forbids the page to this robot."),
    ("https://barred.example/", 403, "forgotten", 403, "this robot does not visit the site."),
    ("file:///etc/passwd", 400, None, 400, "is not an http or https URL"),
    ("https://user:secret@x.example/", 400, None, 400, "leave it out"),
    (f"https://{HOST}/{'x' * MAX_TYPED_CHARS}", 400, None, 400, "longer than"),
    ("", 400, None, 400, "give the URL of a page"),
    ("<script>alert(1)</script>", 400, None, 400, "&lt;script&gt;"),
]


@pytest.mark.parametrize(("url", "status", "result", "page_status", "text"), RESULTS)
def test_results(url: str, status: int, result: str | None, page_status: int, text: str) -> None:
    with visited() as visitor:
        answer = api(visitor, {"url": url})
    with visited() as visitor:
        page = post(visitor, url)
    found = json.loads(answer.text)
    assert (answer.status, page.status) == (status, page_status)
    assert found.get("result") == result
    assert found["done"] is (status == 200) if result else set(found) == {"error"}
    assert text in page.text
    assert "<script>alert" not in page.text


def test_the_json_of_a_submission() -> None:
    with visited() as visitor:
        assert json.loads(api(visitor, {"url": f"https://{HOST}/fresh"}).text) == {
            "done": True,
            "url": f"https://{HOST}/fresh",
            "result": "submitted",
            "reason": None,
            "state_before": None,
            "state": "ready",
            "visited_at": None,
            "due_at": None,
        }
        known = json.loads(api(visitor, {"url": f"https://{HOST}/"}).text)
    assert (known["state_before"], known["visited_at"]) == ("visited", 1_795_000_000.0)


BODIES = [
    (b"", 400, "not valid JSON"),
    (b"{", 400, "not valid JSON"),
    (b"[" * 20_000, 400, "not valid JSON"),
    (b"[]", 400, "send a JSON object"),
    (b"{}", 400, "url must be a string"),
    (b'{"url": 1}', 400, "url must be a string"),
    (b'{"url": "https://a.example/", "urls": []}', 400, "unknown key: urls"),
    (b'{"url": "\\ud800"}', 400, "is not an http or https URL"),
    (b'{"url": "' + b"x" * MAX_BODY_BYTES + b'"}', 413, "Send less at a time."),
]


@pytest.mark.parametrize(("body", "status", "text"), BODIES)
def test_bad_json(visitor: Visitor, body: bytes, status: int, text: str) -> None:
    answer = visitor.ask("/api/submit", "POST", body, **JSON)
    assert answer.status == status
    assert text in json.loads(answer.text)["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json(kind: str) -> None:
    desk = Desk()
    with visited(desk) as visitor:
        assert visitor.ask("/api/submit", "POST", b'{"url": "x.example"}', Content_Type=kind).status == 415
    assert desk.submitted == []


def test_a_refusal_in_russian() -> None:
    with visited() as visitor:
        answer = post(visitor, HOST, "/submit?hl=ru", Sec_Fetch_Site="cross-site")
    assert answer.status == 403
    assert "<p><span>Этот запрос отправила страница другого сайта.</span></p>" in answer.text


FOREIGN = [{"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "https://evil.example"}]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_another_site_cannot_submit(headers: dict[str, str]) -> None:
    desk = Desk()
    with visited(desk) as visitor:
        page, answer = post(visitor, HOST, **headers), api(visitor, {"url": HOST}, **headers)
    assert (page.status, answer.status) == (403, 403)
    assert desk.submitted == []


def test_after_a_submission_the_page_says_what_the_crawl_does() -> None:
    with visited() as visitor:
        posted = post(visitor, f"https://{HOST}/fresh?a=1&b=2")
        location = posted.headers["Location"]
        page, again = visitor.ask(location), visitor.ask(location)
    assert location == "/submit?url=https%3A%2F%2Fhere.example%2Ffresh%3Fa%3D1%26b%3D2"
    assert "This page waits for its first visit" in page.text
    assert 'href="/why?url=https%3A%2F%2Fhere.example%2Ffresh%3Fa%3D1%26b%3D2"' in page.text
    assert page.text == again.text
    assert page.headers["X-Robots-Tag"] == "noindex"


PAGES = [
    ("/submit", 200, ['action="/submit"', "robots.txt", 'href="/why"', 'value=""']),
    (f"/submit?url={HOST}/nowhere", 200, [f'value="https://{HOST}/nowhere"']),
    (f"/submit?url={HOST}/", 200, ["The crawl has this page already"]),
    (f"/submit?url={HOST}/gone", 200, ["The crawl knows this URL", "status 404"]),
    ("/submit?url=ftp://x", 400, ["this URL cannot be used", 'aria-invalid="true"']),
]


@pytest.mark.parametrize(("path", "status", "texts"), PAGES)
def test_pages(visitor: Visitor, path: str, status: int, texts: list[str]) -> None:
    answer = visitor.ask(path)
    assert answer.status == status
    assert [text for text in texts if text not in answer.text] == []


def test_the_form_alone_may_be_indexed(visitor: Visitor) -> None:
    assert visitor.ask("/submit").headers["X-Robots-Tag"] is None
    assert "/submit</loc>" in visitor.ask("/sitemap.xml").text


def test_what_was_typed_stays_in_the_form(visitor: Visitor) -> None:
    assert 'value="https://other.example/"' in post(visitor, "https://other.example/").text


def test_a_crawl_that_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    with visited(Desk(trouble=RunError("the crawl (process 4711) has not answered"))) as visitor:
        page, answer = post(visitor, HOST), api(visitor, {"url": HOST})
        shown = visitor.ask(f"/submit?url={HOST}")
    assert (page.status, answer.status, shown.status) == (503, 503, 503)
    assert page.headers["Retry-After"] == answer.headers["Retry-After"] == "60"
    assert "The crawl does not answer" in page.text
    assert "4711" not in page.text + answer.text
    assert "4711" in caplog.text


def test_submissions_switched_off() -> None:
    desk = Desk()
    with visited(desk, Site(submissions=False)) as visitor:
        answer = api(visitor, {"url": HOST})
        assert (answer.status, set(json.loads(answer.text))) == (403, {"error"})
        assert (visitor.ask("/submit").status, post(visitor, HOST).status) == (404, 404)
        assert "/submit" not in visitor.ask("/sitemap.xml").text
    assert desk.submitted == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods(visitor: Visitor, method: str) -> None:
    answer = visitor.ask("/api/submit", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def test_too_many_submissions() -> None:
    with visited(site=Site(post_rate=Rate(1, 2))) as visitor:
        answers = [api(visitor, {"url": HOST}), post(visitor, HOST), api(visitor, {"url": HOST}), post(visitor, HOST)]
    assert [answer.status for answer in answers] == [200, 303, 429, 429]
    assert int(answers[2].headers["Retry-After"]) > 0
    assert set(json.loads(answers[2].text)) == {"error"}


def test_a_form_that_is_too_long(visitor: Visitor) -> None:
    assert visitor.ask("/submit", "POST", b"url=" + b"x" * MAX_BODY_BYTES, **FORM).status == 413


def test_under_a_prefix_in_russian() -> None:
    with visited(site=Site(public_url="https://example.org/find/", post_rate=Rate(0, 1))) as visitor:
        assert 'action="/find/submit?hl=ru"' in visitor.ask("/find/submit?hl=ru").text
        posted = post(visitor, f"https://{HOST}/fresh", "/find/submit?hl=ru")
        refused = post(visitor, "https://other.example/", "/find/submit?hl=ru").text
    assert posted.headers["Location"] == "/find/submit?url=https%3A%2F%2Fhere.example%2Ffresh&hl=ru"
    assert "этот URL не входит в область обхода" in refused
    assert '<span lang="en">other.example is not the host of a seed</span>' in refused
