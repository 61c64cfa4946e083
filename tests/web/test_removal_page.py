"""Removals by owners of sites."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from goodbot import RobotsTxt
from goodbot.errors import RunError
from goodbot.search_values import Hidden
from goodbot.url import Url
from goodbot.web import Rate, Site
from goodbot.web.visitors.removal_page import MAX_FORM_BYTES, disallow_lines, is_hidden
from web.library import Answer, Visitor
from web.visitor_desks import HOST, SITE, TOKEN, Desk, story, url, visited

FORM = {"Content_Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with visited() as visitor:
        yield visitor


def post(visitor: Visitor, text: str, scope: str = "", path: str = "/removal", **headers: str) -> Answer:
    return visitor.ask(path, "POST", urlencode({"url": text, "scope": scope}).encode(), **{**FORM, **headers})


PAGES = [
    ("form", "/removal", 200, ["Give the URL of the page.", 'name="scope" value="site"', 'href="/about"']),
    (
        "page",
        f"/removal?url=https://{HOST}/a%3Fb%3D1",
        200,
        [
            "User-agent: goodbot\nDisallow: /a?b=1$",
            "here.example/robots.txt",
            '&lt;meta name="robots" content="noindex"&gt;',
            "X-Robots-Tag: noindex",
            f"https://{HOST}/goodbot-removal.txt",
            f"goodbot-removal: {TOKEN}",
            "404 or 410",
            "Search does not find this page now.",
            "Check and remove the page",
        ],
    ),
    ("in the index", f"/removal?url={HOST}", 200, ["Search can find this page now."]),
    (
        "site",
        f"/removal?url={HOST}/a&scope=site",
        200,
        ["every page of", "Check and remove the site", f"https://{HOST}/goodbot-removal.txt"],
    ),
    (
        "of a private network",
        "/removal?url=http://10.1.2.3/a",
        200,
        [
            "10.1.2.3 may be on a private network",
            "Write to the operator of this service",
            "contact</a>",
            "Another page",
        ],
    ),
    ("not a URL", "/removal?url=ftp://x", 400, ["is not an http or https URL", 'aria-invalid="true"']),
    ("markup", "/removal?url=%22%3E%3Cscript%3Ealert(1)", 400, ["&lt;script&gt;"]),
]


@pytest.mark.parametrize(("path", "status", "texts"), [case[1:] for case in PAGES], ids=[case[0] for case in PAGES])
def test_pages(visitor: Visitor, path: str, status: int, texts: list[str]) -> None:
    answer = visitor.ask(path)
    assert answer.status == status
    assert [text for text in texts if text not in answer.text] == []
    assert "<script>alert" not in answer.text
    assert (answer.headers["X-Robots-Tag"] == "noindex") == ("?" in path)


def test_the_url_that_the_crawl_requests() -> None:
    asked = story("/a?session=1", requested_as=url("/a"), state="visited", in_index=True)
    desk = Desk(pages={asked.url.text: asked}, removed=Hidden(urls=frozenset({url("/b").text})))
    with visited(desk) as visitor:
        assert "Disallow: /a$" in visitor.ask(f"/removal?url={HOST}/a%3Fsession%3D1").text
        desk.pages[asked.url.text] = replace(asked, requested_as=url("/b"))
        assert "Removed from the search" in visitor.ask(f"/removal?url={HOST}/a%3Fsession%3D1").text


def test_no_proofs_are_asked_for_if_none_can_be_checked(visitor: Visitor) -> None:
    for scope in ("", "&scope=site"):
        html = visitor.ask(f"/removal?url=http://10.1.2.3/a{scope}").text
        for text in ("Disallow", "Its only content", "Check and remove", 'aria-invalid="true"', "three ways"):
            assert text not in html


def test_without_a_contact_no_link_leads_to_one() -> None:
    with visited(site=replace(SITE, contact=None)) as visitor:
        for query in ("", f"?url={HOST}", "?url=http://10.1.2.3/a"):
            assert "contact</a>" not in visitor.ask(f"/removal{query}").text


def test_a_site_is_proved_by_the_file_alone(visitor: Visitor) -> None:
    html = visitor.ask(f"/removal?url={HOST}/a&scope=site").text
    assert "Disallow" not in html
    assert "noindex" not in html


ANSWERS = [
    ("not proved", 422, "no proof was found", "press the button again"),
    ("unknown", 404, "There is nothing to remove.", "copy its URL from the results"),
    ("not checked", 422, "cannot check who owns this page", "Write to the operator of this service"),
]


@pytest.mark.parametrize(("proof", "status", "lead", "advice"), ANSWERS)
def test_answers(proof: str, status: int, lead: str, advice: str) -> None:
    with visited(Desk(proof=proof)) as visitor:  # type: ignore[arg-type]
        answer = post(visitor, f"https://{HOST}/")
    assert answer.status == status
    assert lead in answer.text
    assert advice in answer.text
    assert f"robots.txt &lt;b&gt;allows&lt;/b&gt; https://{HOST}/" in answer.text
    assert (f"goodbot-removal: {TOKEN}" in answer.text) == (proof != "not checked")
    assert 'href="/removal?hl=ru"' in answer.text  # a page that was posted has no URL, so the switch leads to the form


@pytest.mark.parametrize(
    ("typed", "scope", "location"),
    [
        (f"{HOST}/a", "", "/removal?url=https%3A%2F%2Fhere.example%2Fa"),
        (f"https://{HOST}/a", "site", "/removal?url=https%3A%2F%2Fhere.example%2Fa&scope=site"),
    ],
)
def test_a_removal(typed: str, scope: str, location: str) -> None:
    desk = Desk(proof="removed")
    with visited(desk) as visitor:
        answer = post(visitor, typed, scope)
        page, again = visitor.ask(location), visitor.ask(location)
        other = visitor.ask(f"/removal?url={HOST}/other").text
    assert (answer.status, answer.headers["Location"]) == (303, location)
    assert "Removed from the search" in page.text
    assert page.text == again.text
    assert ("Removed from the search" in other) == bool(scope)


TROUBLES = [
    ("ftp://x", 400, "is not an http or https URL"),
    ("", 400, "give the URL of a page"),
    ("https://busy.example/", 429, "too many sites were fetched"),
]


@pytest.mark.parametrize(("typed", "status", "text"), TROUBLES)
def test_requests_that_cannot_be_carried_out(visitor: Visitor, typed: str, status: int, text: str) -> None:
    answer = post(visitor, typed)
    assert answer.status == status
    assert text in answer.text
    assert (answer.headers["Retry-After"] is not None) == (status == 429)
    assert ("goodbot-removal:" in answer.text) == (status == 429)  # the instructions stay if the URL is one


@pytest.mark.parametrize(("scope", "advice"), [("", "one of the three ways below"), ("site", "Put the file below")])
def test_the_advice_names_the_ways_that_there_are(scope: str, advice: str) -> None:
    with visited(Desk(proof="not proved")) as visitor:
        assert advice in post(visitor, f"https://{HOST}/a", scope).text


def test_a_page_of_another_site_cannot_ask() -> None:
    desk = Desk(proof="removed")
    with visited(desk) as visitor:
        assert post(visitor, HOST, Sec_Fetch_Site="cross-site").status == 403
    assert desk.removed == Hidden()


def test_a_damaged_crawl(caplog: pytest.LogCaptureFixture) -> None:
    with visited(Desk(trouble=RunError("/srv/crawl is damaged"))) as visitor:
        answers = [post(visitor, HOST), visitor.ask(f"/removal?url={HOST}")]
    assert [answer.status for answer in answers] == [503, 503]
    assert all("/srv" not in answer.text for answer in answers)
    assert "/srv/crawl" in caplog.text


def test_switched_off() -> None:
    with visited(site=Site(removals=False, post_rate=SITE.post_rate)) as visitor:
        assert (visitor.ask("/removal").status, post(visitor, HOST).status) == (404, 404)
        assert "/removal" not in visitor.ask("/sitemap.xml").text
        assert "/removal" not in visitor.ask(f"/cached?url={HOST}").text


def test_limits() -> None:
    with visited() as visitor:
        assert visitor.ask("/removal", "POST", b"url=" + b"x" * MAX_FORM_BYTES, **FORM).status == 413
    with visited(site=Site(post_rate=Rate(1, 1))) as visitor:
        assert [post(visitor, HOST).status for _ in range(2)] == [422, 429]


def test_under_a_prefix_in_russian() -> None:
    site = Site(public_url="https://example.org/find/", token="samplebot", post_rate=SITE.post_rate)
    with visited(Desk(proof="removed"), site) as visitor:
        form = visitor.ask("/find/removal?hl=ru").text
        page = visitor.ask(f"/find/removal?hl=ru&url={HOST}/a").text
        posted = post(visitor, f"{HOST}/a", path="/find/removal?hl=ru")
        removed = visitor.ask(posted.headers["Location"]).text
    assert 'action="/find/removal"' in form
    assert '<input type="hidden" name="hl" value="ru">' in form
    assert "User-agent: samplebot" in page
    assert 'action="/find/removal?hl=ru"' in page
    assert "Подтвердите, что страница ваша" in page
    assert posted.headers["Location"] == "/find/removal?url=https%3A%2F%2Fhere.example%2Fa&hl=ru"
    assert "Удалено из поиска" in removed


def test_a_refusal_in_russian() -> None:
    with visited() as visitor:
        unclear = visitor.ask("/removal?hl=ru&url=ftp://x").text
        refused = post(visitor, f"{HOST}/a", path="/removal?hl=ru").text
    assert "<span><bdi>ftp://x</bdi> — это не URL с http или https</span>" in unclear
    assert '<span lang="en">robots.txt &lt;b&gt;allows&lt;/b&gt; https://here.example/a</span>' in refused


PATHS = ["/", "/a", "/a?b=1&c", "/a*b", "/a$", "/a$b?c=*", "/%D1%8F", "/a%2Ab", "/;x", "/a%24"]


@pytest.mark.parametrize("path", PATHS)
def test_the_lines_disallow_the_page_alone(path: str) -> None:
    rules = RobotsTxt.parse("\n".join(disallow_lines("goodbot", url(path))).encode())
    assert not rules.verdict(url(path).text, "goodbot").allowed
    assert rules.verdict(url(path).text + "x", "goodbot").allowed
    assert rules.verdict(url(path).text, "otherbot").allowed


HIDDEN = [
    ("https://a.example/x", Hidden(urls=frozenset({"https://a.example/x"})), True, False),
    ("https://a.example/y", Hidden(urls=frozenset({"https://a.example/x"})), False, False),
    ("https://a.example/x", Hidden(sites=frozenset({"a.example"})), True, True),
    ("https://www.a.example/x", Hidden(sites=frozenset({"a.example"})), True, True),
    ("https://ba.example/x", Hidden(sites=frozenset({"a.example"})), False, False),
    ("https://a.example:8443/x", Hidden(sites=frozenset({"a.example:8443"})), True, True),
    ("https://a.example/x", Hidden(sites=frozenset({"a.example:8443"})), False, False),
]


@pytest.mark.parametrize(("text", "hidden", "page", "site"), HIDDEN)
def test_what_is_hidden(text: str, hidden: Hidden, page: bool, site: bool) -> None:
    assert is_hidden(Url(text), hidden) == page
    assert is_hidden(Url(text), hidden, as_site=True) == site
