"""Robots are found by their User-Agent, and browsers are not taken for robots."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry import KnownRobot, find, find_token, robots, similar_tokens, tokens_for
from goodbot.registry.agent_words import NamePatterns, words_of
from goodbot.registry.crawler_user_agents import ALSO_BROWSERS, load_crawler_user_agents
from goodbot.registry.lookup import MAX_READ

BROWSER_LINES = Path(__file__).with_name("browsers.txt").read_text(encoding="utf-8").splitlines()
PEOPLE = [line for line in BROWSER_LINES if line and not line.startswith("#")]


def name_of(user_agent: str) -> str | None:
    robot = find(user_agent)
    return robot.name if robot else None


def test_there_are_enough_browsers() -> None:
    assert len(set(PEOPLE)) == len(PEOPLE) >= 200
    assert sum("cubot" in line.lower() for line in PEOPLE) >= 10


@pytest.mark.parametrize("user_agent", PEOPLE)
def test_a_browser_is_not_a_robot(user_agent: str) -> None:
    assert name_of(user_agent) is None


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        # whole words, whatever the case
        ("mozilla/5.0 (compatible; googlebot/2.1)", "Googlebot"),
        ("Googlebot", "Googlebot"),
        ("NotGooglebot/1.0", None),
        ("Googlebots/1.0", None),
        ("Googlebot-Image/1.0", "Googlebot-Image"),
        ("Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)", "MJ12bot"),
        ("Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", "Sogou web spider"),
        ("Sogou browser", None),
        ("Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)", "Pingdom.com_bot"),
        # a name in a URL or a mail address is nobody's name
        ("SomeClient/1.0 (+https://openai.com/gptbot)", None),
        ("SomeClient/1.0 (gptbot@example.org)", None),
        ("Mozilla/5.0 (compatible; Amzn-User; +https://developer.amazon.com/amazonbot)", "Amzn-User"),
        # the robot before what it is made with, and before whom it imitates
        ("LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)", "LinkedInBot"),
        ("Mozilla/5.0 (compatible; archive.org_bot; heritrix/3.4)", "archive.org_bot"),
        ("facebookexternalhit/1.1 Facebot Twitterbot/1.0", "facebookexternalhit"),
        ("TelegramBot (like TwitterBot)", "TelegramBot"),
        ("SomeReader/1.0 (like FeedFetcher-Google)", None),
        # anchored: only at the beginning
        ("curl/8.7.1", "curl"),
        ("Spoken of curl/8.7.1", None),
        ("  curl/8.7.1", "curl"),
        ("WhatsApp/2.23.20.0 A", "WhatsApp"),
        # of those only crawler-user-agents knows
        ("FeedBurner/1.0 (http://www.FeedBurner.com)", "FeedBurner"),
        ("", None),
        ("-", None),
        ("bot", None),
    ],
)
def test_robots_are_found(user_agent: str, name: str | None) -> None:
    assert name_of(user_agent) == name


def test_nearly_every_example_of_crawler_user_agents_is_found() -> None:
    from crawleruseragents import CRAWLER_USER_AGENTS_DATA

    examples = [
        (entry["pattern"], text)
        for entry in CRAWLER_USER_AGENTS_DATA
        if entry["pattern"] not in ALSO_BROWSERS
        for text in entry["instances"]
    ]
    missed = [pattern for pattern, text in examples if find(text) is None]
    assert len(examples) > 1900
    assert len(missed) <= len(examples) // 100, missed


BROWSER_PRODUCTS = {"mozilla", "applewebkit", "webkit", "khtml", "gecko", "chrome", "chromium", "safari", "version"} | {
    *("mobile", "firefox", "opera", "opr", "msie", "trident", "edge", "edg", "dalvik", "compatible", "http", "https")
}


def test_the_user_agent_contains_the_name_of_the_robot_found() -> None:
    from crawleruseragents import CRAWLER_USER_AGENTS_DATA

    texts = [text for entry in CRAWLER_USER_AGENTS_DATA for text in entry["instances"]]
    found = [(robot, text) for text in texts if (robot := find(text)) is not None]
    absent = [
        (robot.name, text) for robot, text in found if not robot.recorded and robot.name.lower() not in text.lower()
    ]
    assert absent == []
    names = {robot.name.lower() for robot in (*robots(), *load_crawler_user_agents().by_name.values())}
    assert names & BROWSER_PRODUCTS == set()
    assert [name for name in names if len(name) < 2] == []


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Pingdom", "Pingdom.com_bot"),
        ("Mozilla/5.0 (compatible; SISTRIX Crawler; http://crawler.sistrix.net/)", "SISTRIX Crawler"),
        ("Mozilla/5.0 (X11) Safari/537.36 PTST/230512", "PTST"),
        ("Mozilla/5.0 (compatible; Let's Encrypt validation server; +https://www.letsencrypt.org)", "Let's Encrypt"),
        ("Mozilla/5.0 (compatible; Cludo; +https://www.cludo.com/)", "Cludo"),
        ("gotosocial/0.19.2 (+https://chirp.zadzmo.org)", "gotosocial"),
    ],
)
def test_names_from_patterns_with_open_letters(user_agent: str, name: str) -> None:
    assert name_of(user_agent) == name


@pytest.mark.parametrize(
    ("token", "similar"),
    [
        ("Gogolebot", ["Googlebot"]),
        ("GPT-Bot", ["GPTBot"]),
        ("Claudbot", ["ClaudeBot"]),
        ("bing", ["bingbot", "BingPreview"]),
        ("GOOGLEBOT", []),
        ("msnbots", []),
        ("something-else-entirely", []),
        ("", []),
        ("x" * 100_000, []),
    ],
)
def test_similar_tokens(token: str, similar: list[str]) -> None:
    assert similar_tokens(token) == similar


def test_tokens_for_a_purpose() -> None:
    training = tokens_for("ai-training")
    assert {"GPTBot", "ClaudeBot", "CCBot", "Google-Extended", "Applebot-Extended"} <= set(training)
    assert "anthropic-ai" not in training  # retired
    assert "Googlebot" not in training
    assert set(tokens_for("ai-training", "search")) == {*training, *tokens_for("search")}


def test_tokens_in_any_case_and_names_from_crawler_user_agents() -> None:
    known = find_token(" gPtBoT ")
    assert known is not None
    assert known.operator == "OpenAI"
    base = find_token("FeedBurner")
    assert base is not None
    assert not base.recorded
    assert find_token("no such robot") is None


# ---- strangers' bytes -----------------------------------------------------------------------------------------------

OURS = NamePatterns(robots())
ROBOT_NAMES = st.sampled_from([robot.name for robot in robots()] + list(load_crawler_user_agents().by_name))


@given(st.one_of(st.text(), st.lists(st.one_of(ROBOT_NAMES, st.text(max_size=5))).map("".join)))
def test_find_takes_any_text(text: str) -> None:
    found = find(text)
    assert found is None or isinstance(found, KnownRobot)
    similar_tokens(text)
    find_token(text)


@given(ROBOT_NAMES, st.text(alphabet="abcXYZ0189é", min_size=1, max_size=4))
def test_a_name_with_more_letters_is_another_word(name: str, letters: str) -> None:
    """This holds for our own patterns; those of crawler-user-agents may match the beginning of a word."""
    assert OURS.find(letters + name + letters) is None or " " in name or "_" in name


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "a-", ".", "(", "http://", "Googlebot-", "Googlebot ", "curl/", "a@", "_", "\0", "é", "https://x "],
)
def test_a_hundred_kilobytes_are_one_pass_and_little_memory(unit: str) -> None:
    """The work is linear in the length of the text, and only `MAX_READ` characters are read."""
    long = unit * (100_000 // len(unit))
    assert len(words_of(long)) <= 2 * len(words_of(long[: len(long) // 2])) + 2
    assert find(long) is find(long[:MAX_READ])
