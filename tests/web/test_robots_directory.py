"""The directory of robots: which robots it shows, and what the page about each of them says."""

import json
import re
import shlex
from collections.abc import Iterator
from datetime import date
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette

from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt
from goodbot.registry import OBEYS, PURPOSES, AddressBook, KnownRobot, Records, Registry, bundled_registry, robots
from goodbot.web import Site, create_app, running
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import load_translations
from goodbot.web.robots.directory_page import DirectoryPage
from goodbot.web.robots.robot_selection import (
    MAX_CHARS,
    ROBOTS_PER_PAGE,
    Selection,
    choices_of,
    page_of,
    read_selection,
    selected,
)
from goodbot.web.robots.robot_view import robot_path, view_robot
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS, WAY_WORDS, ways_of
from web.browser import chromium, shared_tab
from web.library import Visitor

TODAY = date(2026, 9, 10)
GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with running(create_app(None, Site("Sample"))) as url:
        yield Visitor(url)


def names(**wanted: str) -> list[str]:
    return [robot.name for robot in selected(bundled_registry(), Selection(**wanted))]


def main_of(html: str) -> str:
    return html[html.index("<main") : html.index("</main>")]


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", main_of(html))).split())


# ---- words ----------------------------------------------------------------------------------------------------------


def test_each_value_of_a_record_has_words() -> None:
    assert {purpose: words.meaning for purpose, words in PURPOSE_WORDS.items()} == dict(PURPOSES)
    assert list(PURPOSE_WORDS) == list(PURPOSES)
    assert set(OBEYS_WORDS) == set(OBEYS)
    short = [words.name for words in PURPOSE_WORDS.values()]
    assert len(set(short)) == len(short)


# ---- selecting ------------------------------------------------------------------------------------------------------

SELECTED: list[tuple[str, dict[str, str], str]] = [
    ("a name", {"q": "gptbot"}, "GPTBot"),
    ("a part of a name", {"q": "ptbo"}, "GPTBot"),
    ("an operator", {"q": "openai"}, "GPTBot"),
    ("two words", {"q": "OpenAI gpt"}, "GPTBot"),
    ("an alias", {"q": "yandex"}, "YandexBot"),
    ("a User-Agent", {"q": GPTBOT}, "GPTBot"),
    ("a purpose", {"purpose": "ai-training"}, "GPTBot"),
    ("an operator in another case", {"operator": "OPENAI"}, "GPTBot"),
    ("addresses", {"verify": "addresses"}, "GPTBot"),
    ("DNS", {"verify": "dns"}, "Googlebot"),
    ("signatures", {"verify": "signatures"}, "Google-Agent"),
    ("no way", {"verify": "none"}, "curl"),
    ("obedience", {"obeys": "named"}, "AdsBot-Google"),
    ("all at once", {"q": "gpt", "purpose": "ai-training", "operator": "OpenAI", "verify": "addresses"}, "GPTBot"),
]


@pytest.mark.parametrize(("wanted", "robot"), [case[1:] for case in SELECTED], ids=[case[0] for case in SELECTED])
def test_what_is_selected(wanted: dict[str, str], robot: str) -> None:
    found = names(**wanted)
    assert robot in found
    assert 0 < len(found) < len(robots())


NOT_SELECTED: list[tuple[str, dict[str, str], str]] = [
    ("a word that is missing", {"q": "openai google"}, "GPTBot"),
    ("another purpose", {"q": "gptbot", "purpose": "search"}, "GPTBot"),
    ("a User-Agent and another purpose", {"q": GPTBOT, "purpose": "search"}, "GPTBot"),
    ("a part of an operator", {"operator": "Open"}, "GPTBot"),
    ("a control token sends nothing", {"verify": "none"}, "Google-Extended"),
]


@pytest.mark.parametrize(("wanted", "robot"), [c[1:] for c in NOT_SELECTED], ids=[c[0] for c in NOT_SELECTED])
def test_what_is_not_selected(wanted: dict[str, str], robot: str) -> None:
    assert robot not in names(**wanted)


def test_the_order() -> None:
    everything = names()
    assert everything == sorted(everything, key=str.lower)
    assert len(everything) == len(robots())
    assert names(q="googlebot")[:2] == ["Googlebot", "Googlebot-Image"]
    assert names(q="google")[0].startswith("Google")
    assert names(q=GPTBOT)[0] == "GPTBot"


@pytest.mark.parametrize("name", ["purpose", "verify", "obeys"])
def test_values_that_do_not_exist(name: str) -> None:
    with pytest.raises(InputError, match=f"^{name} must be one of "):
        read_selection({name: "x"})
    assert read_selection({name: ""}) == Selection()


@given(st.text(max_size=40), st.sampled_from(list(Selection.__slots__)))
def test_any_text(text: str, name: str) -> None:
    try:
        wanted = read_selection({name: text})
    except InputError:
        return
    assert len(selected(bundled_registry(), wanted)) <= len(robots())


def test_only_the_beginning_of_a_long_text_counts() -> None:
    assert len(read_selection({"q": "x" * 10_000}).q) == MAX_CHARS


def test_the_choices_count_robots() -> None:
    choices = choices_of(robots())
    for name in ("purpose", "verify", "obeys", "operator"):
        for choice in choices[name]:
            assert choice.count == len(names(**{name: choice.value})) > 0, choice


@pytest.mark.parametrize(
    ("text", "page"),
    [("", 1), ("1", 1), ("2", 2), ("99", 3), ("0", 1), ("-1", 1), ("x", 1), ("1" * 500, 1), ("٣", 1), ("2.0", 1)],
)
def test_pages(text: str, page: int) -> None:
    assert page_of(text, 2 * ROBOTS_PER_PAGE + 1) == page


# ---- the list -------------------------------------------------------------------------------------------------------


def listed(html: str) -> list[str]:
    return [unescape(name) for name in re.findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', html)]


def test_the_pages_together_have_every_robot(visitor: Visitor) -> None:
    found: list[str] = []
    path: str | None = "/robots"
    while path is not None:
        html = visitor.ask(path).text
        found += listed(html)
        following = re.search(r'rel="next" href="([^"]*)"', html)
        path = unescape(following[1]) if following else None
    assert found == names()
    assert f"{len(found)} robots" in text_of(visitor.ask("/robots").text)


def test_every_row_leads_to_its_page(visitor: Visitor) -> None:
    html = visitor.ask("/robots?q=google").text
    links = re.findall(r'<th scope="row"><a href="([^"]*)"', html)
    assert len(links) > 10
    for link, name in zip(links, listed(html), strict=True):
        assert f"<h1>{name}</h1>" in visitor.ask(unescape(link)).text


def test_the_form_keeps_what_was_chosen(visitor: Visitor) -> None:
    html = visitor.ask("/robots?q=%22%3E%3Cb%3E&purpose=search&operator=google&verify=dns&obeys=yes&hl=ru").text
    assert 'value="&#34;&gt;&lt;b&gt;"' in html
    chosen = re.findall(r'<option value="([^"]*)" selected', html)
    assert chosen == ["search", "Google", "yes", "dns"]
    assert '<input type="hidden" name="hl" value="ru">' in html


def test_filters_stay_when_one_turns_the_page(visitor: Visitor) -> None:
    html = visitor.ask("/robots?verify=none").text
    assert re.search(r'rel="next" href="/robots\?verify=none&amp;page=2"', html)


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("gogolebot", "Did you mean: Googlebot"),
        ("nothing has this name", "It may be a browser"),
        ("Vagabondo/4.0", "goodbot has no record of"),
    ],
)
def test_nothing_found(visitor: Visitor, q: str, said: str) -> None:
    answer = visitor.ask(f"/robots?q={quote(q)}")
    assert answer.status == 200
    assert said in text_of(answer.text)


def test_a_robot_without_a_record_is_really_without_one() -> None:
    found = bundled_registry().find("Vagabondo/4.0")
    assert found is not None
    assert not found.recorded


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/robots?purpose=world+peace", 400),
        ("/robots?page=x", 200),
        ("/robots/", 404),
        ("/robots/NoSuchBot", 404),
        ("/robots/%00", 404),
        ("/robots/%FF%FE", 404),
        ("/robots/" + "x" * 5_000, 404),
        ("/robots/googlebot", 200),
        ("/robots/Google%20Favicon", 200),
        ("/robots/GPTBot/", 404),
    ],
)
def test_statuses(visitor: Visitor, path: str, status: int) -> None:
    assert visitor.ask(path).status == status


def test_only_the_whole_list_may_be_indexed(visitor: Visitor) -> None:
    for path, value in {
        "/robots": None,
        "/robots?hl=ru": None,
        "/robots?q=a": "noindex",
        "/robots?page=2": "noindex",
        "/robots/GPTBot": "noindex",
    }.items():
        assert visitor.ask(path).headers["X-Robots-Tag"] == value, path


def test_programs_get_the_same(visitor: Visitor) -> None:
    answer = json.loads(visitor.ask(f"/api/robots?q={quote(GPTBOT)}").text)
    assert [robot["name"] for robot in answer["robots"]] == ["GPTBot"]
    assert answer["robots"][0]["address_lists"] == ["https://openai.com/gptbot.json"]
    assert answer["robots"][0]["obeys_robots_txt"] == "yes"
    assert len(json.loads(visitor.ask("/api/robots").text)["robots"]) == len(robots())
    refused = visitor.ask("/api/robots?obeys=often")
    assert (refused.status, json.loads(refused.text)) == (
        400,
        {"error": "obeys must be one of yes, named, no, unknown"},
    )


# ---- the page about a robot -----------------------------------------------------------------------------------------


def page_of_robot(robot: KnownRobot, book: AddressBook | None = None, today: date = TODAY, hl: str = "en") -> str:
    """Renders the page about one robot."""
    site = Templates(Site("Sample"), has_search=False, has_crawl=False)
    page = DirectoryPage(site, Registry(Records((robot,), {})), book or AddressBook(), lambda: today)
    with running(Starlette(routes=list(page.routes()))) as url:
        answer = Visitor(url).ask(f"{robot_path(robot)}?hl={hl}")
    assert answer.status == 200
    return answer.text


SAMPLE = KnownRobot(
    name="SampleBot", operator="Sample & Sons", purpose="search", looked_up=2026, source="https://s.example/"
)


def sample(**facts: object) -> KnownRobot:
    return KnownRobot(**{**{name: getattr(SAMPLE, name) for name in KnownRobot.__slots__}, **facts})


GROUP = "User-agent: SampleBot Disallow: /"
SAID: list[tuple[str, KnownRobot, list[str], list[str]]] = [
    (
        "obeys",
        sample(token="SampleBot", obeys="yes", obeys_source="https://s.example/obeys"),
        [GROUP, "Disallow: /private/", "ignores the * group", "s.example/obeys"],
        ["does not obey", "not known whether"],
    ),
    (
        "named",
        sample(token="SampleBot", obeys="named"),
        [GROUP, "It obeys only groups that name it: the rules for * do not apply to SampleBot."],
        ["ignores the * group"],
    ),
    (
        "does not obey",
        sample(token="SampleBot", obeys="no"),
        [GROUP, "these lines say what you want, but do not stop it"],
        [],
    ),
    ("not known", sample(token="SampleBot"), [GROUP, "It is not known whether it obeys robots.txt."], []),
    (
        "without a token",
        sample(obeys="no"),
        ["not confirmed", "so a rule may not reach it", "It does not obey robots.txt anyway."],
        ["User-agent:"],
    ),
    (
        "control token",
        sample(token="SampleBot", control=True),
        [GROUP, "SampleBot is a control token: no robot sends it.", "what Sample & Sons may do with pages"],
        ["Did a visit", "goodbot who", "obeys robots.txt"],
    ),
    (
        "retired",
        sample(token="SampleBot", retired=True, retired_since=2020),
        ["This robot was retired in 2020.", "It no longer needs a rule."],
        ["Disallow"],
    ),
    ("retired once", sample(retired=True), ["This robot is retired."], []),
    ("aliases", sample(aliases=("OtherBot",), patterns=("^Sample",)), ["OtherBot", "^Sample"], []),
    ("no way to verify", sample(), ["No way is known to verify that a request came from this robot."], ["goodbot who"]),
    ("a tool", sample(purpose="tool"), ["anyone can run the software"], ["No way is known"]),
    (
        "reverse DNS",
        sample(reverse_dns=("bot.s.example",)),
        ["below this domain", "bot.s.example", "goodbot who SampleBot --ip 192.0.2.1 --reverse-dns"],
        ["Its IP addresses"],
    ),
    (
        "signatures",
        sample(signatures="https://keys.s.example/"),
        ["keys.s.example", "Your server can check the signatures"],
        ["goodbot who"],
    ),
    (
        "addresses",
        sample(address_lists=("openai-gptbot",)),
        ["openai.com/gptbot.json", "21 ranges, as of 2026-09-02", "goodbot who SampleBot --ip 192.0.2.1"],
        ["--reverse-dns", "more than 90 days old"],
    ),
    (
        "addresses that are not here",
        sample(address_lists=("anthropic",)),
        ["On your own computer, goodbot who update anthropic fetches it."],
        ["ranges"],
    ),
    ("a name of three words", sample(name="My sample's bot", reverse_dns=("a.example",)), ["goodbot who 'My"], []),
    ("a mail address", sample(contact="web&b?c@s.example"), ["web&b?c@s.example"], []),
]


@pytest.mark.parametrize(("robot", "there", "missing"), [c[1:] for c in SAID], ids=[c[0] for c in SAID])
def test_what_the_page_says(robot: KnownRobot, there: list[str], missing: list[str]) -> None:
    text = text_of(page_of_robot(robot))
    assert [part for part in there if part not in text] == []
    assert [part for part in missing if part in text] == []


def test_a_contact_is_a_link() -> None:
    assert 'href="mailto:web%26b%3Fc@s.example"' in page_of_robot(sample(contact="web&b?c@s.example"))
    assert 'href="https://s.example/form"' in page_of_robot(sample(contact="https://s.example/form"))


def test_an_old_list_says_so() -> None:
    robot = sample(address_lists=("openai-gptbot",))
    assert "more than 90 days old" in text_of(page_of_robot(robot, today=date(2027, 6, 1)))


def test_a_list_that_was_fetched_is_shown_and_one_that_is_damaged_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = bundled_registry().lists["anthropic"].url
    (tmp_path / "anthropic.txt").write_text(f"# {url}\n# 2026-09-09\n8.8.8.0/24\n2001:4860::/32\n")
    (tmp_path / "ccbot.txt").write_text("# nothing\n")
    html = page_of_robot(sample(address_lists=("anthropic", "ccbot")), AddressBook(tmp_path))
    assert "2 ranges, as of 2026-09-09" in text_of(html)
    assert "8.8.8.0/24\n2001:4860::/32" in html
    assert "This server has no copy of the list." in text_of(html)
    assert "ccbot.txt" in caplog.text
    assert "ccbot.txt" not in html


def test_facts_of_a_record_are_text() -> None:
    attack = "<img src=x onerror=alert(1)>\u202e"
    robot = sample(name=attack, token=attack, operator=attack, example=attack, aliases=(attack,), patterns=(attack,))
    html = page_of_robot(robot)
    assert "<img src=x" not in html
    assert "\u202e" not in html


def test_nothing_of_a_page_in_russian_is_english() -> None:
    facts = sample(
        token="SampleBot",
        obeys="no",
        reverse_dns=("a.example",),
        signatures="https://s.example/",
        contact="a@s.example",
    )
    for robot in (facts, sample(token="SampleBot", control=True), sample(retired=True), sample(purpose="tool")):
        main = main_of(page_of_robot(robot, hl="ru"))
        main = re.sub(r"<(code|pre|bdi)\b.*?</\1>", "", main, flags=re.DOTALL)
        words = set(re.findall(r"[A-Za-z]{2,}", unescape(re.sub(r"<[^>]*>", "", main))))
        assert words - {"SampleBot", "Sample", "Sons", "robots", "txt", "User", "Agent", "IP", "DNS"} <= {
            *("Web", "Bot", "Auth", "example")
        }
        assert 'lang="en"' not in main


def test_russian_has_every_purpose() -> None:
    gettext = load_translations("ru").gettext
    for words in (*(each for both in PURPOSE_WORDS.values() for each in both), *OBEYS_WORDS.values()):
        assert gettext(words) != words or words == "SEO"
    assert gettext(WAY_WORDS["none"]) != WAY_WORDS["none"]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_what_the_page_of_a_robot_recommends_works(robot: KnownRobot) -> None:
    """The lines for robots.txt apply to the robot, and `goodbot who` finds it by the name in the command."""
    view = view_robot(robot, AddressBook(), TODAY)
    if robot.token:
        whole, folder = map(RobotsTxt.parse, view.closing)
        assert not whole.allows("/a", robot.token)
        assert folder.allows("/a", robot.token)
        assert not folder.allows("/private/a", robot.token)
        assert whole.allows("/a", "AnotherBot")
    if view.command:
        found = bundled_registry().find(shlex.split(view.command)[2])
        assert found is not None
        assert found.address_lists == robot.address_lists
        assert found.name == robot.name
    assert (view.command == "") == (not {"addresses", "dns"} & set(ways_of(robot)))


def test_the_page_of_every_robot(visitor: Visitor) -> None:
    for robot in robots():
        answer = visitor.ask(robot_path(robot))
        assert answer.status == 200, robot.name
        assert f"<h1>{robot.name}</h1>" in answer.text
        links = {unescape(link) for link in re.findall(r'href="([^"]*)"', main_of(answer.text))}
        assert {urlsplit(link).scheme for link in links} <= {"", "http", "https", "mailto"}


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def test_from_the_home_page_to_the_addresses_of_a_robot(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=False, locale="ru") as tab:
        tab.goto("/?hl=en")
        tab.get_by_role("link", name="Robots directory").click()
        tab.get_by_label("Purpose").select_option(label="AI training (19)")
        tab.get_by_label("Name of a robot").fill("openai")
        tab.get_by_role("button", name="Show").click()
        expect(tab.get_by_role("heading", level=2).first).to_contain_text(" of 281")
        tab.get_by_role("link", name="GPTBot", exact=True).click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("GPTBot")
        ranges = tab.locator("details pre")
        expect(ranges).not_to_be_visible()
        tab.locator("summary").click()
        expect(ranges).to_contain_text("132.196.86.0/24")
        tab.get_by_role("link", name="Русский").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("GPTBot")
        expect(tab.locator(".lead")).to_have_text("Собирает данные, на которых обучают модели ИИ.")
