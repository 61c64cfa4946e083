"""The help and the page about the robot."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

import goodbot.index.query
from goodbot.exclusion import Directives, RobotsTxt
from goodbot.index import parse_query
from goodbot.index.languages import STEMMERS
from goodbot.robot.crawl.revisit import WHOLE_AGAIN_S
from goodbot.web import Site, create_app, running
from goodbot.web.search.help_page import OPERATORS
from goodbot.web.visitors.about_page import WISHES, contact_url
from web.library import SPECIMENS, Library, Visitor
from web.test_templates_env import text_of
from web.visitor_desks import Desk

AGENT = "FindBot/2.1 (+https://find.example/bot)"
SITE = Site("Find", token="FindBot", user_agent=AGENT, contact="webmaster@find.example")


def page(path: str, site: Site = SITE, desk: Desk | None = None, **headers: str) -> str:
    with running(create_app(Library(SPECIMENS), site, visitors=desk)) as url:
        answer = Visitor(url).ask(path, **headers)
    assert answer.status == 200
    return answer.text


def samples(html: str) -> list[str]:
    return [unescape(sample) for sample in re.findall(r'<pre class="sample"[^>]*><code>(.*?)</code>', html, re.DOTALL)]


def test_every_example_of_the_help_is_a_query_and_a_link_that_searches_for_it() -> None:
    html = page("/help", Site("Find", public_url="https://x.example/find/"))
    links = [urlsplit(unescape(link)) for link in re.findall(r'href="([^"]*)"', html)]
    queries = [parse_qs(link.query)["q"][0] for link in links if link.path == "/find/search"]
    assert queries == [operator.example for operator in OPERATORS]
    assert all(parse_query(query).notes == () for query in queries)


def test_the_help_has_every_operator_of_the_query_language() -> None:
    described = goodbot.index.query.__doc__ or ""
    examples = " ".join(operator.example for operator in OPERATORS)
    lines = [line for line in described.splitlines() if line.startswith("    ")]
    named = set(re.findall(r"\b[a-z]+:", " ".join(lines))) - {"https:", "de:"}
    assert named == {"site:", "intitle:", "inurl:", "filetype:", "lang:", "before:", "after:", "link:"}
    assert [name for name in (*named, '"', " -", " OR ", "*", "(") if name not in examples] == []


def test_the_help_names_the_languages_whose_words_are_stemmed() -> None:
    text = text_of(page("/help"))
    named = text.partition("word forms of sixteen languages: ")[2].partition(".")[0]
    assert len(STEMMERS) == 16
    assert {name.title() for name in STEMMERS.values()} == set(re.findall(r"[A-Z]\w+", named))


def test_the_lines_to_copy_mean_what_the_page_says() -> None:
    stop, folder, slow, meta, header = samples(page("/about"))
    assert not RobotsTxt.parse(stop.encode()).verdict("https://a.example/", AGENT).allowed
    closed = RobotsTxt.parse(folder.encode())
    assert [closed.verdict(f"https://a.example{path}", AGENT).allowed for path in ("/private/x", "/x")] == [False, True]
    assert RobotsTxt.parse(slow.encode()).timing(AGENT).delay_s == 30
    content = re.findall('name="(.*?)" content="(.*?)"', meta)
    assert not Directives.parse(content, [], "FindBot").index
    assert not Directives.parse([], [tuple(header.split(": ", 1))], "FindBot").index  # type: ignore[list-item]


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.written)
def test_every_wish_is_a_directive_that_has_an_effect(wish: object) -> None:
    written = getattr(wish, "written")  # noqa: B009
    html = page("/about")
    assert f"<code>{written}</code>" in html
    for found in (
        Directives.parse([("robots", written)], [], "FindBot"),
        Directives.parse([("findbot", written)], [], "FindBot"),
        Directives.parse([], [("X-Robots-Tag", f"FindBot: {written}")], "FindBot"),
    ):
        assert [source.effects != () for source in found.sources] == [True]


OTHER_WISHES = [
    '<a rel="nofollow">',
    "<div data-nosnippet>",
    '<link rel="canonical">',
    'Link: <…>; rel="canonical"',
    '<meta name="url">',
    '<meta name="description">',
    "Content-Signal: search=no",
    "Content-Usage: search=n",
]


def test_the_other_wishes_and_when_each_counts() -> None:
    html = page("/about")
    named = [unescape(name) for name in re.findall(r"<dt><code>(.*?)</code></dt>", html)]
    assert {"nocache", *OTHER_WISHES} <= set(named)
    assert "(status 304)" in html
    assert f"for {WHOLE_AGAIN_S / 86400:.0f} days" in html
    assert "30 дней" in page("/about", Accept_Language="ru")


def test_who_runs_the_robot() -> None:
    html = page("/about")
    assert f"<code>{AGENT}</code>" in html
    assert '<a href="mailto:webmaster@find.example"><bdi>webmaster@find.example</bdi></a>' in html
    assert "The operator has given no contact." in page("/about", Site("Find"))
    evil = Site("Find", user_agent="<script>", contact='javascript:"><script>', token="a<b")
    assert "<script>" not in page("/about", evil)
    assert "a&lt;b" in page("/about", evil)


@pytest.mark.parametrize(
    ("contact", "url"),
    [
        ("https://find.example/bot", "https://find.example/bot"),
        ("HTTP://find.example/", "HTTP://find.example/"),
        ("mailto:a@find.example", "mailto:a@find.example"),
        ("a@find.example", "mailto:a@find.example"),
        ("a@find.example?subject=x", ""),
        ("A Person <a@find.example>", ""),
        ("javascript:alert(1)", ""),
        ("a@b", ""),
        ("", ""),
    ],
)
def test_contacts(contact: str, url: str) -> None:
    assert contact_url(contact) == url


@pytest.mark.parametrize(
    ("desk", "site", "there", "missing"),
    [
        (Desk(), Site("Find"), {"/removal", "/why", "/submit"}, set()),
        (Desk(), Site("Find", removals=False, submissions=False), {"/why"}, {"/removal", "/submit"}),
        (None, Site("Find"), {"/check", "/help", "/about"}, {"/removal", "/why", "/submit"}),
    ],
    ids=["all", "closed", "none"],
)
def test_only_services_that_exist_are_offered(
    desk: Desk | None, site: Site, there: set[str], missing: set[str]
) -> None:
    paths = {urlsplit(link).path for link in re.findall(r'href="([^"]*)"', page("/about", site, desk))}
    assert there <= paths
    assert not missing & paths


@pytest.mark.parametrize("path", ["/help", "/about"])
def test_in_russian_nothing_is_english(path: str) -> None:
    html = page(path, desk=Desk(), Accept_Language="ru")
    main = html[html.index("<main") : html.index("</main>")]
    main = re.sub(r"<(code|kbd|dt|pre|bdi)\b.*?</\1>", "", main, flags=re.DOTALL)
    words = set(re.findall(r"[A-Za-z]{2,}", text_of(main)))
    names = {"robots", "txt", "RFC", "META", "OR", "AND", "NOT", "URL", "PDF", "JSON", "OpenAPI", "FindBot", "Find"}
    assert words - names - {"ALT", "API", "product", "token", "noindex", "nofollow", "noarchive", "kbd"} == set()
    assert 'lang="en"' not in main


def test_without_an_index_there_is_no_help_but_the_robot_is_explained() -> None:
    with running(create_app(None, SITE)) as url:
        assert Visitor(url).ask("/help").status == 404
        about = Visitor(url).ask("/about")
    assert about.status == 200
    assert "/help" not in about.text
