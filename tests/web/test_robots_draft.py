"""The form that drafts a record of a robot: every record that it shows can be read by goodbot."""

import re
import tomllib
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from goodbot.registry import OBEYS, PURPOSES, Registry, parse_records
from goodbot.registry.robot_records import ROBOT_FIELDS, parse_robots
from goodbot.web import Site, create_app, running
from goodbot.web.robots.record_draft import FIELDS, NAMES, draft_record
from web.browser import chromium, shared_tab
from web.library import Answer, Visitor

NEEDED = {
    "name": "ExampleBot",
    "operator": "Example Ltd",
    "purpose": "search",
    "source": "https://www.example.org/bot",
}
FULL = {
    **NEEDED,
    "token": "ExampleBot",
    "aliases": "Example, ExampleCrawler",
    "patterns": "^ExampleBot, Example crawler",
    "example": "Mozilla/5.0 (compatible; Example crawler/1.0; +https://www.example.org/bot)",
    "obeys": "named",
    "obeys_source": "https://www.example.org/obeys",
    "documentation": "https://www.example.org/doc",
    "contact": "bot@example.org",
    "list_url": "https://www.example.org/addresses.json",
    "reverse_dns": "bot.example.org, crawl.example.org",
    "signatures": "https://keys.example.org/",
}
YEAR = 2026


def test_the_form_has_the_fields_of_a_record() -> None:
    assert set(NAMES) - ROBOT_FIELDS == {"list_url"}
    assert len(FULL) == len(FIELDS)
    choices = {field.name: set(field.choices) for field in FIELDS if field.choices}
    assert choices == {"purpose": set(PURPOSES), "obeys": {*OBEYS, ""} - {"unknown"}}
    assert sum(field.most for field in FIELDS) < 8_000  # so the URL fits into the head of a request


def test_a_full_record() -> None:
    draft = draft_record(FULL, YEAR)
    assert draft.errors == {}
    assert draft.file == "examplebot.toml"
    (robot,) = parse_robots(tomllib.loads(draft.record))
    assert {name: getattr(robot, name) for name in ("name", "operator", "purpose", "token", "contact", "obeys")} == {
        name: FULL[name] for name in ("name", "operator", "purpose", "token", "contact", "obeys")
    }
    assert robot.aliases == ("Example", "ExampleCrawler")
    assert robot.patterns == ("^ExampleBot", "Example crawler")
    assert robot.reverse_dns == ("bot.example.org", "crawl.example.org")
    assert robot.address_lists == ("examplebot",)
    assert robot.looked_up == YEAR
    read = parse_records(draft.record.encode(), "mine.toml", YEAR)
    assert read.lists["examplebot"].url == FULL["list_url"]
    found = Registry(read).find(FULL["example"])
    assert found is not None
    assert found.name == "ExampleBot"


def test_the_least_record() -> None:
    draft = draft_record(NEEDED, YEAR)
    assert draft.record == (
        'operator = "Example Ltd"\nlooked_up = 2026\nsource = "https://www.example.org/bot"\n\n'
        '[[robot]]\nname = "ExampleBot"\npurpose = "search"\npatterns = ["ExampleBot"]\n'
    )


WRONG: list[tuple[str, dict[str, str], set[str]]] = [
    ("nothing", dict.fromkeys(NEEDED, ""), set(NEEDED)),
    ("spaces", dict.fromkeys(NEEDED, "  "), set(NEEDED)),
    ("a name of signs", {"name": "***"}, {"name"}),
    ("a token of signs", {"token": "***"}, {"token"}),
    ("a token that is not there", {"token": "Other", "example": "ExampleBot/1.0"}, {"patterns"}),
    ("a pattern of browsers", {"patterns": "ExampleBot, Mozilla"}, {"patterns"}),
    ("a token of browsers", {"token": "Chrome"}, {"token"}),
    ("a control character", {"name": "a\x1b[0m"}, {"name"}),
    ("two lines", {"operator": "a\nb"}, {"operator"}),
    ("a hidden character", {"token": "a\u202eb"}, {"token"}),
    ("an unknown purpose", {"purpose": "world peace"}, {"purpose"}),
    ("an unknown obedience", {"obeys": "often"}, {"obeys"}),
    ("no URL", {"source": "example.org"}, {"source"}),
    ("another scheme", {"documentation": "javascript:alert(1)"}, {"documentation"}),
    ("no list", {"list_url": "ftp://example.org/a"}, {"list_url"}),
    ("no keys", {"signatures": "keys"}, {"signatures"}),
    ("no contact", {"contact": "the operator"}, {"contact"}),
    ("no domain", {"reverse_dns": "Example.ORG"}, {"reverse_dns"}),
    ("a pattern of signs", {"patterns": "Example, *"}, {"patterns"}),
    ("too long", {"name": "x" * 101}, {"name"}),
    ("much too long", {"example": "x" * 9_000}, {"example"}),
    ("words that are not there", {"patterns": "Other", "example": "ExampleBot/1.0"}, {"patterns"}),
    ("a name that is not there", {"example": "Mozilla/5.0"}, {"patterns"}),
    ("too many", {"aliases": ",".join("a" * 101)}, {"aliases"}),
    ("several", {"contact": "x", "source": "x"}, {"contact", "source"}),
]


@pytest.mark.parametrize(("fields", "wrong"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_wrong(fields: dict[str, str], wrong: set[str]) -> None:
    draft = draft_record({**NEEDED, **fields}, YEAR)
    assert set(draft.errors) == wrong
    assert draft.record == ""


@pytest.mark.parametrize(
    ("name", "file"),
    [("Example Bot 2.0", "example-bot-2-0"), ("Ёж", "robot"), ("../../zx", "zx"), ("A" * 100, "a" * 60)],
)
def test_the_name_of_the_file(name: str, file: str) -> None:
    draft = draft_record({**NEEDED, "name": name, "list_url": "https://example.org/"}, YEAR)
    assert draft.file == f"{file}.toml"
    assert list(parse_records(draft.record.encode(), "mine.toml", YEAR).lists) == [file]


odd = st.text(max_size=12) | st.sampled_from(
    ["", '"', "\\", "'''", "#", "[[robot]]", "a,b", "^", ",", "\x7f", "é", "🤖"]
)


@given(st.fixed_dictionaries({name: odd | st.just(FULL[name]) for name in NAMES}))
def test_a_draft_can_always_be_read(typed: dict[str, str]) -> None:
    draft = draft_record(typed, YEAR)
    assert (draft.record == "") == bool(draft.errors)
    if draft.record:
        (robot,) = parse_robots(tomllib.loads(draft.record))
        assert parse_records(draft.record.encode(), "mine.toml", YEAR).robots[0].name == robot.name
        assert robot.name == typed["name"].strip()


# ---- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with running(create_app(None, Site("Sample"))) as url:
        yield Visitor(url)


def sent(visitor: Visitor, **fields: str) -> Answer:
    return visitor.ask(f"/robots/draft?{urlencode(fields)}")


def test_an_empty_form(visitor: Visitor) -> None:
    answer = visitor.ask("/robots/draft")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
    assert "aria-invalid" not in answer.text
    assert 'id="record"' not in answer.text


def test_the_record_is_shown(visitor: Visitor) -> None:
    answer = sent(visitor, **FULL)
    shown = re.search(r'<pre [^>]*id="record"[^>]*><code>(.*?)</code>', answer.text, re.DOTALL)
    assert shown is not None
    assert unescape(shown[1]).partition("looked_up")[2] == draft_record(FULL, YEAR).record.partition("looked_up")[2]
    assert "~/.config/goodbot/robots/examplebot.toml" in answer.text


def test_errors_are_beside_the_fields(visitor: Visitor) -> None:
    answer = sent(visitor, name="<b>Bot</b>", purpose="search", contact="nobody")
    assert answer.status == 400
    assert "<b>Bot" not in answer.text
    assert 'value="&lt;b&gt;Bot&lt;/b&gt;"' in answer.text
    assert re.search(
        r'id="draft-contact"[^>]*aria-describedby="wrong-contact hint-contact" aria-invalid="true"', answer.text
    )
    assert '<p id="wrong-contact" class="bad">This must be a mail address, or' in answer.text
    assert answer.text.count('aria-invalid="true"') == 3  # contact, operator, source
    assert '<option value="search" selected>' in answer.text
    assert 'id="record"' not in answer.text


def test_errors_in_russian(visitor: Visitor) -> None:
    answer = sent(visitor, hl="ru", name="x" * 101)
    assert "Допустимая длина в символах: 100." in answer.text
    assert "нужно исправить 4 поля" in answer.text


def test_a_robot_that_has_a_record_is_named(visitor: Visitor) -> None:
    answer = sent(visitor, **{**NEEDED, "name": "gptbot"})
    assert answer.status == 200
    assert '<a href="/robots/GPTBot">GPTBot</a>' in answer.text


@pytest.mark.long
def test_a_form_is_sent_in_a_browser(visitor: Visitor) -> None:
    with chromium() as browser, shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab:
        tab.goto("/robots")
        tab.get_by_role("link", name="Draft a record").click()
        tab.get_by_label("Name", exact=False).first.fill("ExampleBot")
        tab.get_by_label("Purpose").select_option("search")
        tab.get_by_label("Contact").fill("nobody")
        tab.get_by_role("button", name="Draft the record").click()
        expect(tab.get_by_role("alert")).to_contain_text("3 fields need a correction")
        tab.get_by_role("alert").get_by_role("link", name="Contact").click()
        expect(tab.get_by_label("Contact")).to_be_in_viewport()
        tab.get_by_label("Contact").fill("bot@example.org")
        tab.get_by_label("Operator").first.fill("Example Ltd")
        tab.get_by_label("Where you found these facts").fill("https://www.example.org/")
        tab.get_by_role("button", name="Draft the record").click()
        expect(tab.locator("#record")).to_contain_text('name = "ExampleBot"')
        expect(tab.get_by_label("Contact")).to_have_value("bot@example.org")
