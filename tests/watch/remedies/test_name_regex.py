"""Expressions for servers find a robot where `registry.agent_words` does, and nothing gets out of them."""

import re
import shlex
from collections.abc import Callable
from functools import cache
from typing import Final
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry import KnownRobot, robots
from goodbot.registry.agent_words import NamePatterns, words_of
from goodbot.registry.own_records import BROWSERS
from goodbot.watch.remedies.comments import comment, curl_test, label
from goodbot.watch.remedies.name_regex import logged_name_regex, name_regex, re2_name_regex
from goodbot.watch.remedies.targets import TargetRobot, Targets
from watch.remedies.remedy_targets import NASTY, made_robot


def _by_lookbehind(pattern: str, text: str) -> bool:
    return _compiled(f"(?i){name_regex(pattern)}").search(text) is not None


def _without_lookbehind(pattern: str, text: str) -> bool:
    """As Caddy does it; for these expressions, Python and RE2 agree."""
    return _compiled(re2_name_regex(pattern)).search(text) is not None


def _in_a_log_of_nginx(pattern: str, text: str) -> bool:
    return _in_a_log(pattern, text, {})


def _in_a_log_of_apache(pattern: str, text: str) -> bool:
    return _in_a_log(pattern, text, {'"': '\\"', "\\": "\\\\", "\t": "\\t"})


def _in_a_log(pattern: str, text: str, escapes: dict[str, str]) -> bool:
    plain = {chr(code) for code in range(32, 127)} - {'"', "\\"}
    hexadecimal = {one: "".join(f"\\x{byte:02X}" for byte in one.encode()) for one in {*text} - plain}
    logged = "".join({**hexadecimal, **escapes}.get(one, one) for one in text)
    return _compiled(f"(?i){logged_name_regex(pattern)}").match(logged) is not None


_compiled: Final = cache(re.compile)

WAYS: Final = {
    "lookbehind": _by_lookbehind,
    "without": _without_lookbehind,
    "nginx-log": _in_a_log_of_nginx,
    "apache-log": _in_a_log_of_apache,
}


@pytest.mark.parametrize("matches", WAYS.values(), ids=WAYS)
def test_examples_on_record_are_found_and_browsers_are_not(matches: Callable[[str, str], bool]) -> None:
    sent = [robot for robot in robots() if robot.example and robot.patterns]
    assert not {robot.name for robot in sent if not _finds(robot, robot.example or "", matches)}
    assert not {robot.name for robot in robots() for browser in BROWSERS if _finds(robot, browser, matches)}


@pytest.mark.parametrize("matches", WAYS.values(), ids=WAYS)
def test_the_test_in_a_comment_sends_a_name_that_is_found(matches: Callable[[str, str], bool]) -> None:
    """For all robots but those whose names have characters that are unusual in a shell."""
    sent = {robot.name: _sent(robot) for robot in robots()}
    assert [
        robot.name for robot in robots() if sent[robot.name] != "NAME" and not _finds(robot, sent[robot.name], matches)
    ] == []
    assert len([name for name in sent.values() if name == "NAME"]) < len(sent) // 50


def _sent(robot: KnownRobot) -> str:
    command = curl_test(Targets((TargetRobot(robot),)), "403").partition(" https://")[0]
    return shlex.split(command)[-1]


def _finds(robot: KnownRobot, agent: str, matches: Callable[[str, str], bool]) -> bool:
    return any(matches(pattern, agent) for pattern in robot.patterns or (robot.name,))


AGENTS: Final = [
    "GPTBot",
    "gptbot/1.3",
    "x GPTBot.",
    "x;GPTBot-",
    "(GPTBot)",
    "GPTBotty",
    "GPTBot-Image",
    "my-GPTBot",
    "a.GPTBot",
    "GPTBot.example.org",
    "gptbot@example.org",
    "x like GPTBot",
    "x following GPTBot/1",
    "x (+https://example.org/GPTBot)",
    "x (+https://example.org/?GPTBot)",
    "x (+https://gptbot.example.org/)",
    "GPT Bot",
    "_GPTBot_",
    "",
    "OICrawler/GPTBot https://example.org",
    "bot/GPTBot/2.1",
    "/GPTBot",
    "=GPTBot",
    "-GPTBot/1.0",
    ".GPTBot/1.0",
    "--GPTBot",
    "a--GPTBot",
    "x -.GPTBot",
    "x a_-GPTBot",
    "GPTBot.@x",
    "x@GPTBot",
    "x:GPTBot",
    "x:/GPTBot",
    "x::GPTBot/1",
    "HTTPS://example.org/a,GPTBot",
    "https://example.org/a;GPTBot",
    "https://example.org/'GPTBot'",
    'x "GPTBot"',
    'x like "GPTBot"',
    "x\\GPTBot",
    "x\tGPTBot",
    "like\tGPTBot",
    "GPTBot/2.1 like gptbot",
    "like gptbot, GPTBot/2.1",
    "like  GPTBot",
    "like; (GPTBot)",
    "like. GPTBot",
    "unlike GPTBot",
    "e GPTBot",
    "ke GPTBot",
    "ng GPTBot",
    "dislike GPTBot",
    "a following (GPTBot)",
    "hollowing GPTBot",
    "like Gecko; GPTBot",
]


@pytest.mark.parametrize("matches", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_server_decides_as_the_registry(agent: str, matches: Callable[[str, str], bool]) -> None:
    robot = made_robot("GPTBot", "GPTBot")
    assert matches("GPTBot", agent) == (NamePatterns([robot]).find(agent) is robot)


_PIECES: Final = [
    *("GPTBot", "gptbot", "like", "following", "unlike", "x", "1.0", "http://", "https://example.org", "bot", "Gecko"),
    *("e", "g", "ike"),
    *(" ", "; ", "(", ")", ",", "'", '"', "\t", "/", ".", "-", "_", ":", "=", "?", "@", "+", "\\"),
]
_ELSEWHERE: Final = re.compile(
    r"\t(?:like|following)"
    r"|(?:like|following)(?:[^a-z0-9\s\"'(),;<>]*gptbot|@|[^a-z0-9]*https?://)"
    r"|[a-z0-9][.\-]*https?://|(?<!http)(?<!https)://|://\S*(?:like|following)",
    re.IGNORECASE,
)
"""What an expression may decide otherwise: see `name_regex`."""


@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=12))
def test_a_server_decides_as_the_registry_about_any_agent(pieces: list[str]) -> None:
    agent = "".join(pieces).strip()
    if not _ELSEWHERE.search(agent):
        found = NamePatterns([made_robot("GPTBot", "GPTBot")]).find(agent) is not None
        assert {name for name, matches in WAYS.items() if matches("GPTBot", agent) != found} == set()


@pytest.mark.parametrize("write", [name_regex, logged_name_regex, re2_name_regex])
@given(pattern=st.one_of(st.text(max_size=40), st.sampled_from(NASTY)))
def test_nothing_gets_out_of_an_expression(write: Callable[[str], str], pattern: str) -> None:
    regex = write(pattern)
    re.compile(regex)
    assert bool(regex) == bool(words_of(pattern.removeprefix("^")))
    assert not {*"\"'`{}%#;~ \t\r\n&"} & {*regex}
    assert all(ord(character) >= 32 for character in regex)
    assert re.fullmatch(r"(?:[^\\]|\\[.\-sb\\]|\\x(?:22|27|3b|3c|3e))*", regex)
    assert "$" not in regex.replace("(?:$|", "")


@pytest.mark.parametrize("matches", WAYS.values(), ids=WAYS)
@given(pattern=st.text(max_size=40))
def test_the_words_of_a_pattern_are_found(matches: Callable[[str, str], bool], pattern: str) -> None:
    words = " ".join(word for word, _ in words_of(pattern.removeprefix("^")))
    before = "" if pattern.startswith("^") else "("
    assert not words or matches(pattern, f"{before}{words}/1.0)")


def test_time_is_linear() -> None:
    """Each of these takes minutes if it is not."""
    for text in ("a ", "-", ". ", "two ", "a/", ":/", "a:", "x://", "like ", "_", "g;", '\\"', "\\x22", "ike"):
        for pattern in ("two words", "Sogou web spider", "GPTBot"):
            for matches in (_by_lookbehind, _without_lookbehind, _in_a_log_of_nginx):
                assert not matches(pattern, text * 5_000)


@given(text=st.text())
def test_a_comment_stays_one(text: str) -> None:
    for line in [*comment(text).removesuffix("\n").split("\n"), f"# {label(text)}"]:
        assert line.startswith("#")
        assert all(each.isprintable() or category(each) == "Zs" for each in line)
        assert not line.endswith("\\")
        assert "{$" not in line
