"""The help and the page about the robot."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from goodbot.exclusion import Directives, RobotsTxt
from goodbot.index import TantivyIndex, TantivySearch, parse_query
from goodbot.index.languages import STEMMERS
from goodbot.index.query import FIELDS
from goodbot.index.query_values import AllOf, AnyOf, Filter, ParsedQuery, Words
from goodbot.robot.crawl.revisit import WHOLE_AGAIN_S
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link
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
    examples = " ".join(operator.example for operator in OPERATORS)
    assert [mark for mark in ('"', " -", " NOT ", " OR ", " | ", "*", "(") if mark not in examples] == []
    assert [
        meant for meant in set(FIELDS.values()) if not any(f"{name}:" in examples for name in names_of(meant))
    ] == []
    html = page("/help")
    assert [name for name in FIELDS if f"{name}:" not in html] == []


def names_of(meant: str) -> list[str]:
    return [name for name, meaning in FIELDS.items() if meaning == meant]


ROBOT, SPIDER, DELAY = Words("robot"), Words("spider"), Words("delay")
READ_AS = {
    "robot exclusion": AllOf((ROBOT, Words("exclusion"))),
    '"crawl delay"': AllOf((Words("crawl delay", quoted=True),)),
    "robot -spider": AllOf((ROBOT,), (SPIDER,)),
    "robot NOT spider": AllOf((ROBOT,), (SPIDER,)),
    "robot OR spider": AllOf((AnyOf((ROBOT, SPIDER)),)),
    "robot | spider": AllOf((AnyOf((ROBOT, SPIDER)),)),
    "(robot OR spider) delay": AllOf((AnyOf((ROBOT, SPIDER)), DELAY)),
    "crawl*": AllOf((Words("crawl", prefix=True),)),
    "os.path.join": AllOf((Words("os.path.join"),)),
    "robot site:example.org": AllOf((ROBOT, Filter("site", "example.org"))),
    "intitle:robots": AllOf((Words("robots", "title"),)),
    "inurl:robots": AllOf((Words("robots", "url"),)),
    "robot filetype:pdf": AllOf((ROBOT, Filter("filetype", "pdf"))),
    "robot lang:en": AllOf((ROBOT, Filter("lang", "en"))),
    "robot after:2024-05-01": AllOf((ROBOT, Filter("after", "2024-05-01"))),
    "robot before:2024-05": AllOf((ROBOT, Filter("before", "2024-05-01"))),
    "link:https://example.org/": AllOf((Filter("link", "https://example.org/"),)),
}


def test_every_example_of_the_help_is_read_as_it_says() -> None:
    assert {operator.example: parse_query(operator.example).root for operator in OPERATORS} == READ_AS


OTHER_WAYS = [
    ("title:robots", "intitle:robots"),
    ("robot ext:pdf", "robot filetype:pdf"),
    ("robot language:en", "robot lang:en"),
    ("robot since:2024-05-01", "robot after:2024-05-01"),
    ("robot after:2024-05", "robot after:2024-05-01"),
    ("robot before:2024-05-01", "robot before:2024-05"),
    ("+robot AND exclusion", "robot exclusion"),
    ('robot -"crawl delay"', AllOf((ROBOT,), (Words("crawl delay", quoted=True),))),
    ("robot -(spider OR delay)", AllOf((ROBOT,), (AllOf((AnyOf((SPIDER, DELAY)),)),))),
    ("robot -intitle:spider", AllOf((ROBOT,), (Words("spider", "title"),))),
    ("robot -site:example.org", AllOf((ROBOT,), (Filter("site", "example.org"),))),
    ('intitle:"crawl delay"', AllOf((Words("crawl delay", "title", quoted=True),))),
    ("inurl:(robot OR spider)", AllOf((AnyOf((Words("robot", "url"), Words("spider", "url"))),))),
    ("robot filetype:text/plain", AllOf((ROBOT, Filter("filetype", "text/plain")))),
    ("robot or not spider", AllOf((ROBOT, Words("or"), Words("not"), SPIDER))),
    ("ROBOT OR SPIDER", AllOf((Words("ROBOT"), Words("OR"), Words("SPIDER")))),
]


@pytest.mark.parametrize(("query", "same"), OTHER_WAYS)
def test_the_other_ways_that_the_help_names(query: str, same: str | AllOf) -> None:
    assert parse_query(query) == (parse_query(same) if isinstance(same, str) else ParsedQuery(same))


def found_page(number: int, title: str, text: str, **more: Any) -> Document:
    host = more.pop("host", "a.example")
    return Document(str(number), f"https://{host}/{more.pop('name', number)}", title, text, **more)


LINK = (Link(Url("https://example.org/"), "there"),)
FOUND = [
    found_page(0, "Rules", "The robot obeys the exclusion."),
    found_page(1, "Wait", "A crawl delay is kept."),
    found_page(2, "Both", "A robot is a spider."),
    found_page(3, "Late", "The spider has a delay.", modified_at=1.6e9),
    found_page(4, "Ahead", "Crawlers are ahead.", host="sub.example.org"),
    found_page(5, "Robots", "The robot of this host is here.", host="sub.example.org", language="en"),
    found_page(6, "Named", "Other text is here.", name="robots"),
    found_page(7, "Paper", "A robot on paper.", media_type="application/pdf", modified_at=1.6e9),
    found_page(8, "Python", "The function os.path.join is here.", terms="os.path.join"),
    found_page(9, "Deutsch", "Der robot ist da und er ist nicht schön.", language="de", fetched_at=1.75e9),
    found_page(10, "Links", "The text of links.", links=LINK),
]
FINDS = {
    "robot exclusion": "0 2 5 6 7 9",
    '"crawl delay"': "1",
    "robot -spider": "0 5 6 7 9",
    "robot NOT spider": "0 5 6 7 9",
    "robot OR spider": "0 2 3 5 6 7 9",
    "robot | spider": "0 2 3 5 6 7 9",
    "(robot OR spider) delay": "3 0 2 5 6 7 9",
    "crawl*": "1 4",
    "os.path.join": "8",
    "robot site:example.org": "5",
    "intitle:robots": "5",
    "inurl:robots": "6",
    "robot filetype:pdf": "7",
    "robot lang:en": "2 5",
    "robot after:2024-05-01": "9",
    "robot before:2024-05": "7",
    "link:https://example.org/": "10",
}


def test_every_example_of_the_help_finds_what_it_says(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    for document in FOUND:
        index.add(document)
    index.commit()
    index.close()
    search = TantivySearch(tmp_path)
    hits = {operator.example: [hit.id for hit in search.search(operator.example, 50).hits] for operator in OPERATORS}
    assert {example: sorted(found, key=int) for example, found in hits.items()} == {
        example: sorted(found.split(), key=int) for example, found in FINDS.items()
    }
    first = {"robot exclusion": "0", "(robot OR spider) delay": "3"}
    assert {example: hits[example][0] for example in first} == first


def test_the_help_says_which_dates_filters_compare() -> None:
    for hl, changed, fetched in (("en", "Changed", "Fetched"), ("ru", "Изменена", "Загружена")):
        dates = page(f"/help?hl={hl}").partition('<h2 id="dates">')[2].partition("<h2")[0]
        assert [word for word in (changed, fetched, "after:", "before:", "1990", "UTC") if word not in dates] == []


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
    names = {
        "robots",
        "txt",
        "RFC",
        "META",
        "OR",
        "AND",
        "NOT",
        "URL",
        "PDF",
        "JSON",
        "OpenAPI",
        "FindBot",
        "Find",
        "UTC",
        "MIME",
    }
    assert words - names - {"ALT", "API", "product", "token", "noindex", "nofollow", "noarchive", "kbd"} == set()
    assert 'lang="en"' not in main


def test_without_an_index_there_is_no_help_but_the_robot_is_explained() -> None:
    with running(create_app(None, SITE)) as url:
        assert Visitor(url).ask("/help").status == 404
        about = Visitor(url).ask("/about")
    assert about.status == 200
    assert "/help" not in about.text
