"""The search box in a real browser: suggestions by keyboard, mouse, touch and input method, and the / key."""

import re
from collections.abc import Iterator
from threading import Event

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from goodbot.errors import RunError
from goodbot.web import Rate, Site, create_app, running
from web.browser import audit, chromium, shared_tab
from web.library import SPECIMENS, Library, Visitor

EVIL = "robot <img src=x onerror=alert(1)>"
PHRASES = ("robot exclusion", "robots.txt", EVIL, "роботы", "robot " + "politeness " * 12)


class Suggesting(Library):
    """Suggests phrases that begin with the text. What is typed as `slow` waits until `go` is set. Remembers what it was
    asked."""

    def __init__(self) -> None:
        super().__init__(SPECIMENS)
        self.begin()

    def begin(self) -> None:
        """Begins a test: nothing was typed yet."""
        self.trouble = None
        self.go = Event()
        self.typed: list[str] = []

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        self._check()
        self.typed.append(typed)
        if typed == "slow":
            self.go.wait(60)
            return ("slow suggestion",)
        if typed == "many":
            return tuple(f"many {number}" for number in range(30))
        return tuple(text for text in PHRASES if text.startswith(typed.casefold()))[:limit]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def shared() -> Suggesting:
    return Suggesting()


@pytest.fixture
def library(shared: Suggesting) -> Suggesting:
    """The library of the server, as it is at first."""
    shared.begin()
    return shared


@pytest.fixture(scope="module")
def served(shared: Suggesting) -> Iterator[str]:
    with running(create_app(shared, Site("Sample", page_rate=Rate(0, 1)))) as url:
        yield url


@pytest.fixture
def base(served: str, library: Suggesting) -> str:
    return served


@pytest.fixture
def tab(browser: Browser, base: str) -> Iterator[Page]:
    with shared_tab(browser, base_url=base) as tab:
        tab.goto("/")
        yield tab


def box(tab: Page) -> Locator:
    return tab.get_by_role("combobox", name="Search for")


def options(tab: Page) -> Locator:
    return tab.get_by_role("listbox", name="Suggestions").get_by_role("option")


def chosen(tab: Page) -> str:
    """Returns the text of the option that a screen reader reads."""
    return str(
        tab.evaluate(
            "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? ''"
        )
    )


def type_until_suggested(tab: Page, text: str) -> None:
    """Enters a text at once: with single letters, the suggestions for the first ones might come in between."""
    box(tab).fill(text)
    expect(box(tab)).to_have_attribute("aria-expanded", "true")


def test_it_is_a_combobox(tab: Page) -> None:
    for name, value in {"autocomplete": "list", "expanded": "false", "controls": "suggestions"}.items():
        expect(box(tab)).to_have_attribute(f"aria-{name}", value)
    expect(tab.locator("#suggestions")).to_be_hidden()
    type_until_suggested(tab, "robot")
    expect(options(tab)).to_have_count(4)
    expect(tab.get_by_role("status")).to_have_text("4 suggestions")
    expect(box(tab)).not_to_have_attribute("aria-activedescendant", re.compile("."))
    assert audit(tab).violations == []


def test_letter_by_letter(tab: Page) -> None:
    box(tab).press_sequentially("robots.t")
    expect(options(tab)).to_have_text(["robots.txt"])


def test_enter_without_a_choice_searches_for_what_was_typed(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search?q=robot")


def test_the_arrows_choose_and_leave_the_text_alone(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    seen = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"):
        tab.keyboard.press(key)
        seen.append(chosen(tab))
    assert seen == [PHRASES[0], PHRASES[1], PHRASES[0], PHRASES[4], PHRASES[0]]
    expect(box(tab)).to_have_value("robot")
    expect(box(tab)).to_be_focused()
    expect(options(tab).first).to_have_attribute("aria-selected", "true")
    expect(tab.locator("[aria-selected=true]")).to_have_count(1)
    assert audit(tab).violations == []
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search?q=robot+exclusion")


def test_up_chooses_the_last_one_first(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("ArrowUp")
    assert chosen(tab) == PHRASES[4]


@pytest.mark.parametrize(
    ("key", "cursor"), [("Home", 0), ("End", 5), ("ArrowLeft", 4), ("ArrowRight", 5), ("Shift+Home", 0)]
)
def test_other_keys_return_to_the_text(tab: Page, key: str, cursor: int) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press(key)
    assert chosen(tab) == ""
    expect(options(tab)).to_have_count(4)
    assert tab.evaluate("document.activeElement.selectionStart") == cursor
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search?q=robot")


def test_typing_on_forgets_the_choice(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.type("s")
    expect(options(tab)).to_have_text(["robots.txt"])
    assert chosen(tab) == ""
    expect(tab.get_by_role("status")).to_have_text("1 suggestion")


def test_escape_closes_first_and_clears_then(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Escape")
    expect(box(tab)).to_have_attribute("aria-expanded", "false")
    expect(box(tab)).to_have_value("robot")
    expect(tab.locator("#suggestions")).to_be_hidden()
    expect(tab.get_by_role("status")).to_have_text("")
    assert chosen(tab) == ""
    tab.keyboard.press("Escape")
    expect(box(tab)).to_have_value("")


@pytest.mark.parametrize("key", ["ArrowDown", "Alt+ArrowDown"])
def test_down_opens_the_list_again(tab: Page, key: str) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("Alt+ArrowUp" if key.startswith("Alt") else "Escape")
    expect(box(tab)).to_have_attribute("aria-expanded", "false")
    tab.keyboard.press(key)
    expect(options(tab)).to_have_count(4)
    assert chosen(tab) == ""


def test_the_list_closes_when_the_field_loses_the_focus(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("button", name="Search")).to_be_focused()
    expect(tab.locator("#suggestions")).to_be_hidden()


def test_by_mouse(tab: Page) -> None:
    type_until_suggested(tab, "robot")
    options(tab).nth(1).hover()
    assert chosen(tab) == ""
    options(tab).nth(1).click()
    tab.wait_for_url("**/search?q=robots.txt")
    expect(box(tab)).to_have_value("robots.txt")


def test_by_touch(browser: Browser, base: str) -> None:
    with shared_tab(browser, base_url=base, has_touch=True, viewport={"width": 320, "height": 640}) as tab:
        tab.goto("/")
        box(tab).tap()
        type_until_suggested(tab, "robot")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320
        assert all((each.bounding_box() or {"height": 0})["height"] >= 24 for each in options(tab).all())
        options(tab).nth(1).tap()
        tab.wait_for_url("**/search?q=robots.txt")


def test_a_hostile_suggestion_is_text(tab: Page) -> None:
    type_until_suggested(tab, "robot <")
    expect(options(tab)).to_have_text([EVIL])
    expect(tab.locator("#suggestions img")).to_have_count(0)
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect(box(tab)).to_have_value(EVIL)
    expect(tab.locator("img[src=x]")).to_have_count(0)


def test_at_most_eight(tab: Page) -> None:
    type_until_suggested(tab, "many")
    expect(options(tab)).to_have_count(8)
    expect(tab.get_by_role("status")).to_have_text("8 suggestions")


def test_an_error_shows_no_list(tab: Page, library: Suggesting) -> None:
    library.trouble = RunError("disk gone")
    with tab.expect_response("**/api/suggest?*") as response:
        box(tab).fill("robot")
    assert response.value.status == 503
    library.trouble = None
    tab.keyboard.type("s")
    expect(options(tab)).to_have_count(1)


def test_an_answer_that_comes_too_late_is_not_shown(tab: Page, library: Suggesting) -> None:
    with tab.expect_request("**/api/suggest?q=slow"):
        box(tab).fill("slow")
    box(tab).fill("robot")
    expect(options(tab)).to_have_count(4)
    library.go.set()
    tab.keyboard.type("s")
    expect(options(tab)).to_have_text(["robots.txt"])


def test_an_input_method_composes_in_peace(tab: Page, library: Suggesting) -> None:
    devtools = tab.context.new_cdp_session(tab)
    for text in ("р", "ро", "роб"):
        devtools.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    for kind in ("rawKeyDown", "keyUp"):
        devtools.send("Input.dispatchKeyEvent", {"type": kind, "key": "Enter", "windowsVirtualKeyCode": 229})
    devtools.send("Input.insertText", {"text": "робот"})
    expect(options(tab)).to_have_text(["роботы"])
    assert library.typed == ["робот"]
    assert tab.url.endswith("/")


def test_under_a_prefix_and_in_russian(browser: Browser, library: Suggesting) -> None:
    site = Site("Sample", public_url="http://localhost/find/")
    with running(create_app(library, site)) as url, shared_tab(browser, locale="ru") as tab:
        tab.goto(f"{url}find/?hl=ru")
        field = tab.get_by_role("combobox", name="Поисковый запрос")
        with tab.expect_request("**/find/api/suggest?hl=ru&q=robots.t"):
            field.fill("robots.t")
        expect(tab.get_by_role("listbox", name="Подсказки").get_by_role("option")).to_have_count(1)
        expect(tab.get_by_role("status")).to_have_text("1 подсказка")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/find/search?q=robots.txt&hl=ru")


# ---- the / key ----


def test_the_slash_key_goes_to_the_field_and_selects_its_text(tab: Page) -> None:
    tab.goto("/search?q=robot")
    tab.keyboard.press("/")
    expect(box(tab)).to_be_focused()
    assert tab.evaluate("getSelection().toString()") == "robot"
    tab.keyboard.press("End")
    tab.keyboard.press("/")
    expect(box(tab)).to_have_value("robot/")


def test_the_slash_key_is_a_letter_in_other_fields(tab: Page) -> None:
    tab.goto("/search?q=robot")
    tab.locator("summary").click()
    tab.get_by_label("Site").fill("a")
    tab.keyboard.press("/")
    expect(tab.get_by_label("Site")).to_have_value("a/")
    tab.get_by_label("Language", exact=True).focus()
    tab.keyboard.press("/")
    expect(tab.get_by_label("Language", exact=True)).to_be_focused()


def test_the_slash_key_can_be_switched_off(tab: Page) -> None:
    tab.goto("/help")
    tab.get_by_role("checkbox").uncheck()
    tab.goto("/search?q=robot")
    tab.locator("summary").focus()
    tab.keyboard.press("/")
    expect(tab.locator("summary")).to_be_focused()
    tab.goto("/help")
    expect(tab.get_by_role("checkbox")).not_to_be_checked()
    tab.get_by_role("checkbox").check()
    tab.keyboard.press("Tab")
    tab.keyboard.press("/")
    expect(box(tab)).to_be_focused()


def test_without_scripts_it_is_a_plain_field(browser: Browser, base: str) -> None:
    with shared_tab(browser, base_url=base, java_script_enabled=False) as tab:
        tab.goto("/help")
        expect(tab.get_by_role("searchbox", name="Search for")).to_be_visible()
        expect(tab.get_by_role("checkbox")).to_have_count(0)
    assert Visitor(base).ask("/api/suggest?q=robots").status == 200
