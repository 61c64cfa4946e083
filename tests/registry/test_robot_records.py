"""Every record is complete, has a source, and its example matches this record only."""

import re
from dataclasses import fields
from importlib.resources import files
from typing import Any

import pytest

from goodbot.registry import OBEYS, PURPOSES, AddressBook, KnownRobot, find, find_token, robots
from goodbot.registry.agent_words import NamePatterns
from goodbot.registry.robot_records import is_contact, load_records, parse_robots

ROBOTS = robots()
NAMES = [robot.name for robot in ROBOTS]
URL = re.compile(r"https?://[a-z0-9.-]+\.[a-z]{2,}(/[!-~]*)?", re.IGNORECASE)
DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
LIST_NAME = re.compile(r"[a-z0-9-]+")

THAT_MATTER = """
Googlebot Googlebot-Image Googlebot-News Googlebot-Video Google-Extended GoogleOther AdsBot-Google
Mediapartners-Google Storebot-Google Google-InspectionTool FeedFetcher-Google bingbot AdIdxBot msnbot YandexBot
YandexImages YandexMobileBot Baiduspider DuckDuckBot DuckAssistBot Applebot Applebot-Extended PetalBot SeznamBot Yeti
Qwantbot MojeekBot Bravebot Kagibot coccocbot Mail.RU_Bot Exabot Slurp GPTBot OAI-SearchBot ChatGPT-User ClaudeBot
Claude-User Claude-SearchBot anthropic-ai PerplexityBot Perplexity-User CCBot Bytespider Amazonbot meta-externalagent
meta-externalfetcher FacebookBot cohere-ai Diffbot Timpibot AI2Bot omgili MistralAI-User AhrefsBot SemrushBot MJ12bot
dotbot rogerbot BLEXBot DataForSeoBot serpstatbot archive.org_bot ia_archiver bnf.fr_bot heritrix facebookexternalhit
Twitterbot LinkedInBot Slackbot Discordbot TelegramBot Pinterestbot WhatsApp
"""


def test_the_number_of_records() -> None:
    assert len(ROBOTS) >= 250
    assert [token for token in THAT_MATTER.split() if (known := find_token(token)) is None or not known.recorded] == []


def test_each_name_and_token_belongs_to_one_robot() -> None:
    tokens = [robot.token.lower() for robot in ROBOTS if robot.token]
    assert len(set(NAMES)) == len(NAMES)
    assert len(set(tokens)) == len(tokens)


@pytest.mark.parametrize("robot", ROBOTS, ids=NAMES)
def test_a_record_follows_the_schema(robot: KnownRobot) -> None:
    for text in (robot.name, robot.operator, robot.source):
        assert text
        assert text == text.strip()
        assert text.isprintable()
    assert robot.purpose in PURPOSES
    assert robot.obeys in OBEYS
    assert (robot.obeys == "unknown") == (robot.obeys_source is None)
    for url in (robot.source, robot.documentation, robot.obeys_source, robot.signatures):
        assert url is None or URL.fullmatch(url), url
    assert 2026 <= robot.looked_up <= 2100
    assert robot.retired_since is None or (robot.retired and 1993 <= robot.retired_since <= robot.looked_up)
    assert all(DOMAIN.fullmatch(domain) for domain in robot.reverse_dns)
    assert all(name in load_records().lists for name in robot.address_lists)
    assert all(isinstance(value, tuple) for value in (robot.patterns, robot.reverse_dns, robot.address_lists))
    assert all(type(flag) is bool for flag in (robot.control, robot.retired, robot.imitated))
    assert robot.recorded
    assert robot.own_file is None
    assert robot.contact is None or is_contact(robot.contact)


@pytest.mark.parametrize("robot", ROBOTS, ids=NAMES)
def test_the_example_of_a_robot_matches_only_this_robot(robot: KnownRobot) -> None:
    if robot.control or not robot.patterns:
        assert robot.example is None
        assert robot.control or robot.signatures  # told by a signature alone
        return
    assert robot.example
    assert find(robot.example) is robot
    other = NamePatterns(other for other in ROBOTS if other is not robot).find(robot.example)
    assert other is None or other.imitated or other.purpose == "tool"


@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot.token], ids=lambda robot: robot.name)
def test_a_token_alone_finds_its_robot(robot: KnownRobot) -> None:
    assert robot.token
    assert find(robot.token) is robot
    assert find_token(robot.token.upper()) is robot


def test_files_and_lists() -> None:
    package = files("goodbot.registry")
    names = [file.name for file in package.joinpath("records").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9]+\.toml", name) for name in names)
    book = AddressBook()
    bundled = {file.name.removesuffix(".txt") for file in package.joinpath("ranges").iterdir()}
    lists = load_records().lists
    assert bundled <= set(lists)
    for name, known in lists.items():
        assert LIST_NAME.fullmatch(name)
        assert URL.fullmatch(known.url)
        if name in bundled:
            found = book.get(name)
            assert found is not None
            assert found.url == known.url
            assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.as_of)
    assert {name for robot in ROBOTS for name in robot.address_lists} == set(lists)


def test_an_unknown_field_is_refused() -> None:
    document: dict[str, Any] = {"operator": "x", "looked_up": 2026, "source": "https://x.example/", "robot": []}
    document["robot"] = [{"name": "X", "purpose": "search", "operater": "y"}]
    with pytest.raises(ValueError, match="operater"):
        parse_robots(document)
    document["robot"] = [{"name": "X", "purpose": "search"}]
    assert [robot.name for robot in parse_robots(document)] == ["X"]
    assert {field.name for field in fields(KnownRobot)} >= {"operator", "looked_up", "source"}


@pytest.mark.parametrize(
    ("contact", "valid"),
    [
        ("bots@example.org", True),
        ("Claude-User@anthropic.com", True),
        ("https://example.org/contact?to=bots", True),
        ("http://example.org", True),
        ("mailto:bots@example.org", False),
        ("bots@example", False),
        ("bots at example.org", False),
        ("bots@example.org\n", False),
        ("https://", False),
        ("ftp://example.org/", False),
        ("javascript:alert(1)", False),
        ("https://example.org/\x1b[2J", False),
        ("https://example.org/" + "x" * 500, False),
        ("", False),
        (7, False),
    ],
)
def test_a_contact_is_a_mail_address_or_a_url(contact: object, valid: bool) -> None:
    assert is_contact(contact) == valid
    document: dict[str, Any] = {"operator": "x", "looked_up": 2026, "source": "https://x.example/"}
    document["robot"] = [{"name": "X", "purpose": "search", "contact": contact}]
    if valid:
        assert parse_robots(document)[0].contact == contact
    else:
        with pytest.raises(ValueError, match="X: contact must be"):
            parse_robots(document)


def test_contacts_are_those_that_robots_send() -> None:
    """Each was found in the robot's own User-Agent."""
    assert [robot.name for robot in ROBOTS if robot.contact and robot.contact not in (robot.example or "")] == []
    assert sum(robot.contact is not None for robot in ROBOTS) >= 10
