"""Requests are verified by published ranges, and by reverse DNS if the caller asks for it."""

from datetime import date, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from goodbot.registry import (
    AddressBook,
    AddressList,
    Registry,
    Tier,
    VerifiedIdentity,
    confirm,
    find,
    find_token,
    identify,
    parse_ranges,
    parse_records,
    verify,
)
from goodbot.registry.robot_records import load_records


class Dns:
    """Reverse DNS from memory; None means that no server answers."""

    def __init__(self, names: dict[str, list[str] | None], addresses: dict[str, list[str] | None]) -> None:
        self._names = names
        self._addresses = addresses
        self.lookups: list[str] = []

    async def names(self, address: str) -> tuple[str, ...] | None:
        self.lookups.append(address)
        found = self._names.get(address, [])
        return None if found is None else tuple(found)

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        self.lookups.append(name)
        found = self._addresses.get(name, [])
        return None if found is None else tuple(found)


def an_address(list_name: str) -> str:
    """Returns an address in a bundled list."""
    found = AddressBook().get(list_name)
    assert found is not None
    return str(found.networks[0].network_address)


@pytest.mark.parametrize(
    ("user_agent", "address", "tier", "said"),
    [
        ("Googlebot/2.1", None, "declared", "it can be verified by the list https://developers.google.com/"),
        ("Googlebot/2.1", an_address("google-common"), "verified", "as of 2026-"),
        ("Googlebot/2.1", "8.8.8.8", "impostor", "outside the ranges published at"),
        ("Googlebot/2.1", f"::ffff:{an_address('google-common')}", "verified", " is in "),
        ("Googlebot/2.1", "2001:db8::1", "impostor", "outside"),
        ("Googlebot/2.1", "192.168.1.1", "impostor", "not a public address"),
        ("GPTBot/1.3", an_address("openai-gptbot"), "verified", "gptbot.json"),
        ("GPTBot/1.3", an_address("google-common"), "impostor", "gptbot.json"),
        ("FeedFetcher-Google", an_address("google-user-own"), "verified", "user-triggered-fetchers-google"),
        ("YandexBot/3.0", "8.8.8.8", "declared", "reverse DNS name under yandex.ru"),
        ("ClaudeBot/1.0", "8.8.8.8", "declared", "not bundled; goodbot who update anthropic fetches it"),
        ("Google-Extended", None, "declared", "a robots.txt control token; no robot sends it"),
        ("Google-Extended", "8.8.8.8", "impostor", "no robot sends it"),
        ("MJ12bot/1.4", "8.8.8.8", "declared", "no known way to verify it"),
        ("ia_archiver", None, "declared", "the robot is retired"),
        ("FeedBurner/1.0", "8.8.8.8", "declared", "listed by crawler-user-agents"),
        ("Googlebot/2.1", None, "declared", "the User-Agent contains Googlebot, a robot of Google"),
        ("PingdomTMS/0.9", None, "declared", "the User-Agent contains a name of Pingdom.com_bot, a robot of Pingdom"),
        ("Mozilla/5.0 (X11) Firefox/1", "8.8.8.8", "unknown", "contains no name that a robot"),
    ],
)
def test_the_tier_of_a_request(user_agent: str, address: str | None, tier: Tier, said: str) -> None:
    identity = identify(user_agent, address)
    assert identity.tier == tier
    assert any(said in sentence for sentence in identity.evidence), identity.evidence


# ---- lists of another time ------------------------------------------------------------------------------------------

MADE = date(2026, 9, 2)


def book_of(folder: Path, **dates: str) -> AddressBook:
    """Returns a book with Google's lists, each with 9.9.9.0/24 and this date."""
    book = AddressBook(folder)
    for name, as_of in dates.items():
        known = book.names[name.replace("_", "-")]
        book.keep(AddressList(known.name, known.url, as_of, parse_ranges(b"9.9.9.0/24", "x")))
    return AddressBook(folder)


@pytest.mark.parametrize(
    ("as_of", "day", "address", "tier", "said"),
    [
        ("2026-09-02", None, "8.8.8.8", "impostor", "outside the ranges published at"),
        ("2026-09-02", MADE, "8.8.8.8", "impostor", "as of 2026-09-02"),
        ("2026-09-02", MADE + timedelta(90), "8.8.8.8", "impostor", "as of 2026-09-02"),
        ("2026-09-02", MADE - timedelta(90), "8.8.8.8", "impostor", "as of 2026-09-02"),
        ("2026-09-02", MADE + timedelta(91), "8.8.8.8", "unknown", "google-common was 91 days old on 2026-12-02"),
        ("2026-09-02", MADE + timedelta(91), "8.8.8.8", "unknown", "goodbot who update google-common fetches"),
        ("2026-09-02", MADE + timedelta(91), "8.8.8.8", "unknown", "as of 2026-09-02"),
        ("2026-09-02", MADE - timedelta(91), "8.8.8.8", "unknown", "dated 91 days after 2026-06-03"),
        ("2026-09-02", date(2015, 1, 1), "8.8.8.8", "unknown", "so the address may have been the robot's then"),
        ("2026-09-02", date(2015, 1, 1), "9.9.9.9", "verified", "as of 2026-09-02"),
        ("2026-09-02", date(2099, 1, 1), "9.9.9.9", "verified", "as of 2026-09-02"),
        ("2026-09-02", date(2099, 1, 1), None, "declared", "it can be verified by the list"),
        ("", MADE, "8.8.8.8", "unknown", "google-common has no valid date"),
        ("yesterday", MADE, "8.8.8.8", "unknown", "goodbot who update google-common fetches"),
        ("2026-02-31", MADE, "9.9.9.9", "verified", "is in 9.9.9.0/24"),
    ],
)
def test_a_list_of_another_time_makes_no_impostor(
    as_of: str, day: date | None, address: str | None, tier: Tier, said: str, tmp_path: Path
) -> None:
    identity = identify("Googlebot/2.1", address, book_of(tmp_path, google_common=as_of), day)
    assert identity.tier == tier
    assert identity.robot is find_token("Googlebot")
    assert any(said in sentence for sentence in identity.evidence), identity.evidence
    assert ("too old or too new" in identity.meaning) == (tier == "unknown")


@pytest.mark.parametrize(
    ("common", "special", "tier"),
    [
        ("2026-09-02", "2026-09-02", "impostor"),
        ("2026-09-02", "2020-01-01", "unknown"),
        ("2020-01-01", "2026-09-02", "unknown"),
    ],
)
def test_one_old_list_of_several_is_enough(common: str, special: str, tier: Tier, tmp_path: Path) -> None:
    records = parse_records(
        b'[[robot]]\nname = "Both"\npurpose = "search"\naddress_lists = ["google-common", "google-special"]',
        "x.toml",
        2026,
    )
    book = book_of(tmp_path, google_common=common, google_special=special)
    identity = identify("Both/1.0", "8.8.8.8", book, MADE, Registry(records))
    assert identity.tier == tier
    assert sum("days old" in sentence for sentence in identity.evidence) == (tier == "unknown")


@pytest.mark.parametrize(
    ("names", "tier"),
    [(["crawl-1.googlebot.com"], "verified"), (["host.example"], "impostor"), ([], "impostor"), (None, "unknown")],
)
async def test_reverse_dns_decides_what_an_old_list_leaves_open(
    names: list[str] | None, tier: Tier, tmp_path: Path
) -> None:
    before = identify("Googlebot/2.1", "8.8.8.8", book_of(tmp_path, google_common="2020-01-01"), MADE)
    assert before.tier == "unknown"
    after = await confirm(before, "8.8.8.8", Dns({"8.8.8.8": names}, {"crawl-1.googlebot.com": ["8.8.8.8"]}))
    assert after.tier == tier


@pytest.mark.parametrize("list_name", [name for name in load_records().lists if AddressBook().get(name)])
def test_each_bundled_list_verifies_its_robots_at_every_edge(list_name: str) -> None:
    known = AddressBook().get(list_name)
    assert known is not None
    for network in known.networks:
        for place in (network.network_address, network.broadcast_address):
            held = known.find(str(place))
            assert held is not None
            assert ip_address(str(place)) in held
    for robot in load_records().robots:
        if list_name in robot.address_lists:
            assert verify(robot, str(known.networks[-1].network_address)).tier == "verified"


@pytest.mark.parametrize("address", ["", "example.org", "1.2.3", "1.2.3.4/24", "::zz", "9" * 100_000])
def test_text_that_is_not_an_address_is_a_value_error(address: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (the text is that of the standard library)
        identify("Googlebot", address)


BING = "157.55.39.1"
NAME = "msnbot-157-55-39-1.search.msn.com"


@pytest.mark.parametrize(
    ("names", "addresses", "tier", "said"),
    [
        ({BING: [NAME]}, {NAME: [BING]}, "verified", "resolves back to it"),
        ({BING: [NAME.upper()]}, {NAME.upper(): [BING]}, "verified", "resolves back to it"),
        ({BING: ["liar.example", NAME]}, {NAME: ["192.0.2.9", BING]}, "verified", "resolves back to it"),
        ({BING: [NAME]}, {NAME: ["192.0.2.9"]}, "impostor", "does not resolve back"),
        ({BING: [NAME]}, {}, "impostor", "does not resolve back"),
        ({BING: ["host.example"]}, {}, "impostor", "name host.example, not one under search.msn.com"),
        ({BING: ["evilsearch.msn.com"]}, {}, "impostor", "not one under"),
        ({BING: ["search.msn.com.example"]}, {}, "impostor", "not one under"),
        ({BING: []}, {}, "impostor", "has no reverse DNS name"),
        ({BING: None}, {}, "declared", "no answer to the reverse DNS lookup of"),
        ({BING: [NAME]}, {NAME: None}, "declared", "no answer to the DNS lookup of"),
        ({BING: [NAME, f"b.{NAME}"]}, {NAME: None, f"b.{NAME}": [BING]}, "verified", "resolves back to it"),
        ({BING: [NAME, f"b.{NAME}"]}, {NAME: None, f"b.{NAME}": []}, "declared", "no answer to the DNS lookup of"),
    ],
)
async def test_reverse_dns(
    names: dict[str, list[str] | None], addresses: dict[str, list[str] | None], tier: Tier, said: str
) -> None:
    robot = find("adidxbot/2.0")
    assert robot is not None
    before = verify(robot, BING)
    assert before.tier == "declared"
    identity = await confirm(before, BING, Dns(names, addresses))
    assert identity.tier == tier
    assert any(said in sentence for sentence in identity.evidence), identity.evidence


async def test_reverse_dns_can_verify_an_address_outside_an_old_list() -> None:
    robot = find("bingbot/2.0")
    assert robot is not None
    address = "4.4.4.4"
    before = verify(robot, address)
    assert before.tier == "impostor"
    after = await confirm(before, address, Dns({address: ["x.search.msn.com"]}, {"x.search.msn.com": [address]}))
    assert after.tier == "verified"


@pytest.mark.parametrize(
    ("identity", "tier"),
    [
        (identify("Googlebot", an_address("google-common")), "verified"),
        (identify("Mozilla/5.0"), "unknown"),
        (identify("MJ12bot"), "declared"),
        (identify("Google-Extended", "8.8.8.8"), "impostor"),
    ],
)
async def test_no_lookup_is_made_if_it_cannot_change_the_tier(identity: VerifiedIdentity, tier: Tier) -> None:
    dns = Dns({}, {})
    assert (await confirm(identity, "8.8.8.8", dns)).tier == tier
    assert dns.lookups == []


def test_an_imported_list_replaces_the_bundled_one(tmp_path: Path) -> None:
    book = AddressBook(tmp_path / "not" / "yet")
    robot = find_token("ClaudeBot")
    assert robot is not None
    assert verify(robot, "8.8.8.8", book).tier == "declared"
    url = load_records().lists["anthropic"].url
    book.keep(AddressList("anthropic", url, "2026-11-01", parse_ranges(b'["9.9.9.0/24"]', "x")))
    for known in (book, AddressBook(tmp_path / "not" / "yet")):
        assert verify(robot, "9.9.9.9", known).tier == "verified"
        assert verify(robot, "8.8.8.8", known).tier == "impostor"
    assert verify(robot, "9.9.9.9").tier == "declared"


def test_the_evidence_says_where_a_list_was_imported_from(tmp_path: Path) -> None:
    robot = find_token("ClaudeBot")
    assert robot is not None
    url = load_records().lists["anthropic"].url
    networks = parse_ranges(b'["9.9.9.0/24"]', "x")
    AddressBook(tmp_path).keep(AddressList("anthropic", url, "2026-11-01", networks, "bots.json"))
    identity = verify(robot, "9.9.9.9", AddressBook(tmp_path))
    assert identity.evidence[-1] == (
        "9.9.9.9 is in 9.9.9.0/24, of the list anthropic that was imported from bots.json, as of 2026-11-01"
    )
