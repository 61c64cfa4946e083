"""What kind of program sends a User-Agent that is not on record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry.agent_kind import (
    begins_as_browser,
    names_a_browser,
    names_a_feed_reader,
    names_a_robot,
    names_an_app,
)

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36"


@pytest.mark.parametrize(
    "agent",
    [
        "ExampleBot/1.0",
        "FooBot2/1.0",
        "Foobots/1",
        "scraper/1",
        "Foo7bot/2.0",
        "my-crawler",
        "Web Spider 1.0",
        "Reader (+https://reader.example/about)",
        "Reader (me@reader.example)",
        f"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) {CHROME} (compatible; FooBot/2.1; +http://foo.example)",
        f"Mozilla/5.0 (Linux; Android 8.1; compatible; FooBot/1.0) {CHROME}",
        f"Mozilla/5.0 (Linux; Android 8.1; +http://foo.example/bot.html) {CHROME}",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; FooBot/1.0) Chrome/120.0 Safari/537.36",
    ],
)
def test_a_name_of_a_robot(agent: str) -> None:
    assert names_a_robot(agent)


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "curl/8.5.0",
        f"Mozilla/5.0 (Linux; Android 12; Spider X1) {CHROME}",
        f"Mozilla/5.0 (Linux; U; Android 4.4.2; en-us; Robot 5 Build/KOT49H) {CHROME}",
        f"Mozilla/5.0 (Linux; Android 10; CUBOT X30) {CHROME}",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        "Robotics Weekly 3",
    ],
)
def test_no_name_of_a_robot(agent: str) -> None:
    assert not names_a_robot(agent)


@pytest.mark.parametrize(
    ("agent", "is_reader"),
    [
        ("Overcast/3.0 (+http://overcast.fm/; iOS podcast app)", True),
        ("gPodder/3.11 (+http://gpodder.org/)", True),
        ("NextCloud-News/1 (+https://nextcloud.example)", True),
        ("My RSS 2.0 (me@rss.example)", True),
        ("FeedBot/1.0 (+https://feed.example)", False),
        ("feed crawler", False),
        ("Reader (+https://reader.example/)", False),
    ],
)
def test_a_feed_reader(agent: str, is_reader: bool) -> None:
    assert names_a_feed_reader(agent) == is_reader


def test_browsers_and_apps() -> None:
    assert begins_as_browser("Mozilla/5.0 (X11)")
    assert names_a_browser("NetFront/3 UP.Link/6")
    assert names_an_app("Shop/4 CFNetwork/1408 Darwin/22")
    for kind in (begins_as_browser, names_a_browser, names_an_app):
        assert not kind("curl/8")


@given(st.text(max_size=2000))
def test_any_text_has_an_answer(agent: str) -> None:
    for kind in (names_a_robot, names_a_feed_reader, names_an_app, names_a_browser, begins_as_browser):
        assert kind(agent) in (True, False)
