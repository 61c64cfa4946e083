"""The sample web says what it is meant to say: every link, every robots.txt line, every page of the table is walked."""

import re
from collections import Counter
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from demo.asking import Answer, PageFacts, ask
from demo.expected import EXPECTED, HIDDEN, OUT_OF_SCOPE, Found
from goodbot.demo import EXAMPLE_QUERIES
from goodbot.exclusion import RobotsTxt


def _target(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _facts(url: str, answer: Answer) -> PageFacts | None:
    if not answer.headers["content-type"].startswith("text/html"):
        return None
    return PageFacts(url, answer.text)


@pytest.fixture(scope="module")
def robots(bases: dict[str, str]) -> dict[str, RobotsTxt]:
    return {base: RobotsTxt.parse(ask(f"{base}/robots.txt").body) for base in bases.values()}


@pytest.fixture(scope="module")
def everything(bases: dict[str, str]) -> dict[str, Answer]:
    """Every URL any page links to, fetched without asking robots.txt or META tags."""
    answers: dict[str, Answer] = {}
    waiting = [f"{base}/" for base in bases.values()]
    while waiting:
        url = waiting.pop()
        if url in answers or not url.startswith(tuple(bases.values())):
            continue
        answers[url] = ask(url)
        facts = _facts(url, answers[url])
        if facts:
            waiting += facts.links + facts.nofollow_links
        if "location" in answers[url].headers:
            waiting.append(urljoin(url, answers[url].headers["location"]))
    return answers


def _obedient_crawl(bases: dict[str, str], robots: dict[str, RobotsTxt]) -> tuple[set[Found], set[str]]:
    """What an obedient robot comes to know, told in the words of the table; and the links that leave the sample web."""
    names = {base: name for name, base in bases.items()}
    waiting, known = [f"{base}/" for base in bases.values()], set[str]()
    found, outside = set[Found](), set[str]()
    while waiting:
        url = waiting.pop()
        if url in known:
            continue
        known.add(url)
        base = url.removesuffix(_target(url))
        if base not in names:
            outside.add(url)
            continue
        verdict = robots[base].verdict(url, "goodbot")
        site, target = names[base], _target(url)
        if not verdict.allowed:
            found.add(Found(site, target, "disallowed", None, verdict.line))  # type: ignore[arg-type]
            continue
        answer = ask(url)
        facts = _facts(url, answer)
        wish = facts.meta.get("robots", "") if facts else ""
        wish = answer.headers.get("x-robots-tag", wish)
        if "location" in answer.headers:
            wish = "redirect"
            waiting.append(urljoin(url, answer.headers["location"]))
        elif facts and wish != "nofollow" and answer.status == 200:
            waiting += facts.links
        state = "gone" if answer.status == 404 else "visited"
        found.add(Found(site, target, state, answer.status, verdict.line, wish))  # type: ignore[arg-type]
    return found, outside


def test_an_obedient_robot_finds_what_the_table_says(bases: dict[str, str], robots: dict[str, RobotsTxt]) -> None:
    found, outside = _obedient_crawl(bases, robots)
    assert found == set(EXPECTED)
    assert outside == set(OUT_OF_SCOPE)
    assert len(EXPECTED) == len(set(EXPECTED))


def test_every_internal_link_leads_somewhere_meant(bases: dict[str, str], everything: dict[str, Answer]) -> None:
    missing = {_target(url) for url, answer in everything.items() if answer.status == 404}
    assert missing == {"/tools/bench-vice"}
    assert {answer.status for answer in everything.values()} == {200, 301, 404}
    for found in EXPECTED:
        assert bases[found.site] + found.target in everything


def test_hidden_pages_exist(bases: dict[str, str]) -> None:
    for site, target in HIDDEN:
        assert ask(bases[site] + target).status == 200
        assert (site, target) not in {(found.site, found.target) for found in EXPECTED}


RULES = [
    ("goodbot", "/furniture/", True, None),
    ("goodbot", "/dynamic/check-inventory", False, 20),
    ("goodbot", "/private/suzy-stuff", False, 21),
    ("Suzy-Spider", "/dynamic/check-inventory", False, 6),
    ("Suzy-Spider", "/private/suzy-stuff", True, 7),
    ("Suzy-Spider", "/private", False, 8),
    ("Furniture-Finder", "/dynamic/check-inventory", True, 13),
    ("Furniture-Finder", "/dynamic/search", False, 14),
    ("Furniture-Finder", "/private/suzy-stuff", False, 15),
]


@pytest.mark.parametrize(("agent", "target", "allowed", "line"), RULES)
def test_the_antiques_store_knows_three_kinds_of_robots(
    bases: dict[str, str], robots: dict[str, RobotsTxt], agent: str, target: str, allowed: bool, line: int | None
) -> None:
    verdict = robots[bases["antiques"]].verdict(bases["antiques"] + target, agent)
    assert (verdict.allowed, verdict.line) == (allowed, line)


def test_robots_txt_as_served(bases: dict[str, str], robots: dict[str, RobotsTxt]) -> None:
    for base in bases.values():
        answer = ask(f"{base}/robots.txt")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert f"Sitemap: {base}/sitemap.xml" in answer.text.splitlines()
    handbook = bases["handbook"]
    assert robots[handbook].crawl_delay("goodbot") == 0.05


def test_sitemaps_list_what_a_search_may_lead_to(bases: dict[str, str]) -> None:
    wanted = {
        bases[found.site] + found.target
        for found in EXPECTED
        if found.state == "visited" and found.why_not in ("", "noarchive") and "?" not in found.target
    } - {f"{base}/robots.txt" for base in bases.values()}
    listed = []
    for base in bases.values():
        answer = ask(f"{base}/sitemap.xml")
        assert answer.headers["content-type"] == "application/xml; charset=utf-8"
        space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
        listed += [element.text or "" for element in ElementTree.fromstring(answer.body).iter(f"{space}loc")]
    assert sorted(listed) == sorted(wanted)


def test_every_page_has_what_a_page_needs(everything: dict[str, Answer]) -> None:
    titles = Counter[str]()
    for url, answer in everything.items():
        facts = _facts(url, answer)
        if facts is None or answer.status != 200:
            continue
        assert facts.language == answer.headers["content-language"] == ("ru" if "/ru/" in url else "en")
        assert facts.meta["charset"] == answer.headers["content-type"].partition("charset=")[2]
        assert facts.meta["description"]
        assert facts.meta["keywords"]
        assert "prefers-color-scheme: dark" in answer.text
        assert "{{" not in answer.text
        titles[facts.title] += "?" not in url
    assert max(titles.values()) == 1


CHARSETS = [
    ("/ru/server-log", "windows-1251", "Что видно в журнале сервера"),
    ("/ru/archives", "koi8-r", "Роботы архивов"),
    ("/ru/politeness", "utf-8", "Вежливый робот"),
]


@pytest.mark.parametrize(("target", "charset", "words"), CHARSETS)
def test_russian_in_three_charsets(bases: dict[str, str], target: str, charset: str, words: str) -> None:
    answer = ask(bases["handbook"] + target)
    assert answer.headers["content-type"] == f"text/html; charset={charset}"
    assert words.encode(charset) in answer.body


def test_translations_name_each_other(bases: dict[str, str], everything: dict[str, Answer]) -> None:
    base = bases["handbook"]
    english = [found.target for found in EXPECTED if found.site == "handbook" and f"/ru{found.target}" in _targets()]
    assert len(english) == 27
    for target in english:
        alternates = [("alternate", "en", base + target), ("alternate", "ru", f"{base}/ru{target}")]
        for url in (base + target, f"{base}/ru{target}"):
            facts = PageFacts(url, everything[url].text)
            assert sorted(item for item in facts.relations if item[0] == "alternate") == alternates


def _targets() -> set[str]:
    return {found.target for found in EXPECTED if found.site == "handbook"}


def test_canonical_and_redirect(bases: dict[str, str]) -> None:
    base = bases["hardware"]
    offer = f"{base}/tools/claw-hammer?from=offers"
    assert ("canonical", "", f"{base}/tools/claw-hammer") in PageFacts(offer, ask(offer).text).relations
    moved = ask(f"{base}/specials/acetylene-torches")
    assert (moved.status, moved.headers["location"]) == (301, "/torches/acetylene")


def test_the_handbook_quotes_its_own_robots_txt(bases: dict[str, str]) -> None:
    rules = [line for line in ask(bases["handbook"] + "/robots.txt").text.splitlines() if re.match("[UCDA]", line)]
    assert "\n".join(rules) in ask(bases["handbook"] + "/longest-match").text


def test_example_queries_are_of_two_languages() -> None:
    assert [query.isascii() for query in EXAMPLE_QUERIES] == [True, True, False]
