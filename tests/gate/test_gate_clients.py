"""Who sends a request: by address lists, reverse DNS, and the words of the User-Agent."""

from pathlib import Path

import pytest

from gate.gates import (
    BYTESPIDER,
    CURL,
    EXAMPLEBOT,
    FIREFOX,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    LONG_AGO,
    NOW,
    OPENAI,
    STRANGER,
    YANDEXBOT,
    Answers,
    address_in,
    asked_for,
    clients_with,
)
from goodbot.gate.clients import Client, Clients
from goodbot.registry import AddressBook, Tier

CLIENTS = clients_with()

BROWSERS = [
    line
    for line in (Path(__file__).parent.parent / "registry" / "browsers.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
"""Of what people use; two are of telephones called Spider and Robot."""


def recognized(
    agent: str, address: str | None = STRANGER, at: float = NOW, clients: Clients = CLIENTS
) -> tuple[str, str, str]:
    client = clients.recognize(asked_for("/", agent, address), at)
    return client.identity, client.name, client.proof


CASES = [
    ("in its list", GOOGLEBOT, GOOGLE, ("verified", "Googlebot", "addresses")),
    ("in its list, IPv6", GOOGLEBOT, address_in("google-common", 6), ("verified", "Googlebot", "addresses")),
    ("in its list, written as IPv6", GOOGLEBOT, f"::ffff:{GOOGLE}", ("verified", "Googlebot", "addresses")),
    ("in its list, with a port", GOOGLEBOT, f"{GOOGLE}:4711", ("verified", "Googlebot", "addresses")),
    ("another robot in its list", GPTBOT, OPENAI, ("verified", "GPTBot", "addresses")),
    ("in the list of another operator", GPTBOT, GOOGLE, ("impostor", "GPTBot", "addresses")),
    ("outside its list", GOOGLEBOT, STRANGER, ("impostor", "Googlebot", "addresses")),
    ("outside its list, IPv6", GOOGLEBOT, "2001:db8::9", ("impostor", "Googlebot", "addresses")),
    ("a local address", GOOGLEBOT, "10.0.0.1", ("unverified", "Googlebot", "")),
    ("a local address of IPv6", GOOGLEBOT, "fd00::1", ("unverified", "Googlebot", "")),
    ("a local address as IPv6", GOOGLEBOT, "::ffff:192.168.1.1", ("unverified", "Googlebot", "")),
    ("no address", GOOGLEBOT, None, ("unverified", "Googlebot", "")),
    ("no list", BYTESPIDER, STRANGER, ("unverified", "Bytespider", "")),
    ("no list, reverse DNS not used", YANDEXBOT, STRANGER, ("unverified", "YandexBot", "")),
    ("a control token", "Google-Extended", STRANGER, ("impostor", "Google-Extended", "addresses")),
    ("a control token without address", "Google-Extended", None, ("impostor", "Google-Extended", "")),
    ("a robot on no record", EXAMPLEBOT, STRANGER, ("unverified", "", "")),
    (
        "a robot in brackets",
        "Mozilla/5.0 (compatible; SomeCrawler/1; +https://a.test)",
        STRANGER,
        ("unverified", "", ""),
    ),
    ("a mail address", "Fetcher/1 (someone@a.test)", STRANGER, ("unverified", "", "")),
    ("a robot that looks like a browser", f"{FIREFOX} examplebot/2", STRANGER, ("unverified", "", "")),
    ("a feed reader", "Miniflux/2.0", STRANGER, ("unverified", "Miniflux", "")),
    ("curl", CURL, STRANGER, ("undeclared", "curl", "")),
    ("Python", "python-requests/2.32.3", STRANGER, ("undeclared", "python-requests", "")),
    ("Chrome without a window", FIREFOX.replace("Firefox/144.0", "HeadlessChrome/142.0"), STRANGER, None),
    ("a program on no record", "libfetch/2.0", STRANGER, ("undeclared", "", "")),
    ("no User-Agent", "", STRANGER, ("undeclared", "", "")),
    ("a hyphen", "-", STRANGER, ("undeclared", "", "")),
    ("Firefox", FIREFOX, STRANGER, ("browser", "", "")),
    ("Firefox at an address of Google", FIREFOX, GOOGLE, ("browser", "", "")),
    ("Opera", "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18", STRANGER, ("browser", "", "")),
    ("Lynx", "Lynx/2.9.2 libwww-FM/2.14", STRANGER, ("browser", "", "")),
    ("an app on an iPhone", "News/12 CFNetwork/1568.200.51 Darwin/24.1.0", STRANGER, ("browser", "", "")),
    ("an app on Android", "Dalvik/2.1.0 (Linux; U; Android 15; Pixel 9)", STRANGER, ("browser", "", "")),
    ("a telephone named Cubot", FIREFOX.replace("X11", "Cubot X50"), STRANGER, ("browser", "", "")),
]


@pytest.mark.parametrize(
    ("agent", "address", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_who_sends_a_request(agent: str, address: str | None, expected: tuple[str, str, str] | None) -> None:
    assert recognized(agent, address) == (expected or ("undeclared", "HeadlessChrome", ""))


@pytest.mark.parametrize("agent", BROWSERS)
def test_what_people_use_is_no_robot(agent: str) -> None:
    usual = agent.startswith(("Mozilla/", "Opera/"))
    assert recognized(agent)[0] in (("browser",) if usual else ("browser", "undeclared"))


# ---- lists of an old date -------------------------------------------------------------------------------------------


def test_a_stale_list_verifies_but_shows_no_impostor() -> None:
    assert recognized(GOOGLEBOT, GOOGLE, LONG_AGO) == ("verified", "Googlebot", "addresses")
    assert recognized(GOOGLEBOT, STRANGER, LONG_AGO) == ("unverified", "Googlebot", "")


def test_an_imported_list_of_an_old_date(tmp_path: Path) -> None:
    known = AddressBook().get("google-common")
    assert known is not None
    lines = [f"# {known.url}", "# 2026-02-01", "151.101.0.0/24"]
    (tmp_path / "google-common.txt").write_text("\n".join(lines) + "\n")
    clients = clients_with(book=AddressBook(tmp_path))
    assert recognized(GOOGLEBOT, "151.101.0.5", NOW, clients) == ("verified", "Googlebot", "addresses")
    assert recognized(GOOGLEBOT, STRANGER, NOW, clients) == ("unverified", "Googlebot", "")
    assert recognized(GOOGLEBOT, GOOGLE, NOW, clients) == ("unverified", "Googlebot", "")


def test_a_robot_whose_list_is_missing_is_no_impostor() -> None:
    clients = clients_with(book=NoLists())
    assert recognized(GOOGLEBOT, STRANGER, NOW, clients) == ("unverified", "Googlebot", "")


class NoLists(AddressBook):
    """A book in which no list is available."""

    def get(self, name: str) -> None:
        return None


# ---- reverse DNS ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("verified", ("verified", "YandexBot", "reverse DNS")),
        ("impostor", ("impostor", "YandexBot", "reverse DNS")),
        ("declared", ("unverified", "YandexBot", "")),
        ("unknown", ("unverified", "YandexBot", "")),
    ],
)
def test_reverse_dns(tier: Tier, expected: tuple[str, str, str]) -> None:
    answers = Answers({STRANGER: tier})
    assert recognized(YANDEXBOT, STRANGER, clients=clients_with(confirmations=answers)) == expected
    assert answers.asked == [("YandexBot", STRANGER)]


def test_reverse_dns_corrects_a_list() -> None:
    clients = clients_with(confirmations=Answers({STRANGER: "verified"}))
    assert recognized(GOOGLEBOT, STRANGER, clients=clients) == ("verified", "Googlebot", "reverse DNS")
    assert recognized(GOOGLEBOT, "203.0.113.10", clients=clients) == ("impostor", "Googlebot", "addresses")
    stale = clients_with(confirmations=Answers({STRANGER: "impostor"}))
    assert recognized(GOOGLEBOT, STRANGER, LONG_AGO, stale) == ("impostor", "Googlebot", "reverse DNS")


@pytest.mark.parametrize(
    ("agent", "address"),
    [
        (GOOGLEBOT, GOOGLE),  # verified already
        (GOOGLEBOT, "10.0.0.1"),
        (GOOGLEBOT, None),
        (GPTBOT, STRANGER),  # its operator names no domain
        (BYTESPIDER, STRANGER),
        (FIREFOX, STRANGER),
        (CURL, STRANGER),
        (EXAMPLEBOT, STRANGER),
        ("Google-Extended", STRANGER),
    ],
)
def test_reverse_dns_is_asked_only_where_it_can_show_something(agent: str, address: str | None) -> None:
    answers = Answers({})
    recognized(agent, address, clients=clients_with(confirmations=answers))
    assert answers.asked == []


def test_a_client_keeps_its_robot() -> None:
    client = CLIENTS.recognize(asked_for("/", GOOGLEBOT, GOOGLE), NOW)
    assert client.robot is not None
    assert client.robot.operator == "Google"
    assert Client("browser", None, "") == CLIENTS.recognize(asked_for("/", FIREFOX), NOW)
