"""`--anonymise` leaves no whole address in any form of the report, whatever stands for the address in the log."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from goodbot.cli.watch_report import print_report
from goodbot.registry import VerifiedIdentity, confirm
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.report import WatchReport, make_report, report_csv, report_json, report_prometheus
from goodbot.watch.report.anonymous import without_addresses
from watch.labelled_log import make_log
from watch.report.made_reports import BROWSER, GOOGLEBOT, GPTBOT, REGISTRY, line, report_of

AGENTS = (GOOGLEBOT, GPTBOT, "bingbot/2.0", "MJ12bot/1.4", "YandexBot/3.0")

HOSTS = [
    ("IPv4", "9.9.9.9", "9.9.9.9"),
    ("IPv4 of the operator", "66.249.66.1", "66.249.66.1"),
    ("private", "10.1.2.3", "10.1.2.3"),
    ("IPv4 with a port", "9.9.9.9:8080", "9.9.9.9"),
    ("IPv6", "2a02:2e0:3fe:1001:302::7", "302::7"),
    ("IPv6 in upper case", "2A02:2E0:3FE:1001:302::7", "302::7"),
    ("IPv6 with a port", "[2a02:2e0:3fe:1001:302::7]:443", "302::7"),
    ("IPv4 as IPv6", "::ffff:9.9.9.9", "9.9.9.9"),
    ("IPv6 with a zone", "fe80::1234%eth0", "1234"),
    ("a name", "pc-7.dial-up.example.org", "pc-7"),
    ("a name with a final dot", "pc-7.dial-up.example.org.", "pc-7"),
    ("a name without a dot", "alices-laptop", "alices-laptop"),
    ("a name with an address", "crawl-66-249-66-1.googlebot.com", "66-249-66-1"),
]
"""Kinds of addresses: as logged, and the part that must not be shown."""


def forms_of(report: WatchReport, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yields the report in every form, without spaces: lines of the terminal may break anywhere."""
    yield json.dumps(report_json(report))
    yield report_csv(report)
    yield report_prometheus(report)
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_report(report)
        yield "".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("host", "secret"), [case[1:] for case in HOSTS], ids=[case[0] for case in HOSTS])
@pytest.mark.parametrize("robot", [None, "GPTBot"])
def test_one_host(
    host: str, secret: str, robot: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    robots = [line(second, "/", agent, host) for second, agent in enumerate(AGENTS)]
    probes = [line(10 + number, f"/.env?{number}", BROWSER, host) for number in range(60)]
    shown = list(forms_of(report_of(robots + probes, robot=robot), capsys, monkeypatch))
    assert [secret.lower() in text.lower() for text in (shown[0], *shown[3:])] == [True] * 4
    hidden = forms_of(report_of(robots + probes, robot=robot, anonymise=True), capsys, monkeypatch)
    assert [secret.lower() in text.lower() for text in hidden] == [False] * 6


def test_no_form_of_a_whole_log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    log = make_log()
    report = report_of(log.text(), anonymise=True)
    addresses = {address for address in (*log.people, *log.crawlers) if not address.endswith(".0")}
    for text in forms_of(report, capsys, monkeypatch):
        assert [address for address in addresses if f"{address}:" in text or f"{address}(" in text] == []
        assert [address for address in addresses if f'"{address}"' in text or f",{address}," in text] == []


# ---- evidence of DNS -------------------------------------------------------------------------------------------------

YANDEX = "5.255.231.9"
NAME = "5-255-231-9.spider.yandex.com"


class Answers:
    """Answers lookups from two tables; what is in none of them is not answered."""

    def __init__(self, names: dict[str, tuple[str, ...]], addresses: dict[str, tuple[str, ...]]) -> None:
        self._names = names
        self._addresses = addresses

    async def names(self, address: str) -> tuple[str, ...] | None:
        return self._names.get(address)

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        return self._addresses.get(name)


DNS = [
    ("confirmed", Answers({YANDEX: (NAME,)}, {NAME: (YANDEX,)}), "verified", "name *.yandex.com, which resolves back"),
    ("not back", Answers({YANDEX: (NAME,)}, {NAME: ()}), "impostor", "name *.yandex.com, which does not resolve back"),
    ("half an answer", Answers({YANDEX: (NAME,)}, {}), "declared", "no answer to the DNS lookup of *.yandex.com"),
    ("another name", Answers({YANDEX: ("pc-7.x.example.org",)}, {}), "impostor", "name *.example.org, not one under"),
    ("a strange name", Answers({YANDEX: ("Alice, her PC",)}, {}), "impostor", "reverse DNS name *, not one under"),
    ("no name", Answers({YANDEX: ()}, {}), "impostor", "5.255.231.0/24 has no reverse DNS name; the robot's are under"),
    ("no answer", Answers({}, {}), "declared", "no answer to the reverse DNS lookup of 5.255.231.0/24"),
]


@pytest.mark.parametrize(("dns", "tier", "words"), [case[1:] for case in DNS], ids=[case[0] for case in DNS])
def test_evidence_of_dns(
    dns: Answers,
    tier: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def confirmed(identity: VerifiedIdentity, address: str) -> VerifiedIdentity:
        return asyncio.run(confirm(identity, address, dns))

    identities = Identities(REGISTRY.find, confirmed=confirmed)
    tally = Tally()
    block = Block(line(0, "/", "YandexBot/3.0", YANDEX).encode(), "access.log")
    tally.add(LineCounter(identities, CountingOptions()).count(block))
    report = make_report(tally, identities, REGISTRY, anonymise=True)
    (robot,) = report.robots
    assert robot.tier == tier
    assert words in robot.evidence[-1]
    for text in forms_of(report, capsys, monkeypatch):
        assert [secret for secret in (YANDEX, "5-255", "pc-7", "Alice", "her PC", "herPC") if secret in text] == []


def test_domains_of_operators_stay() -> None:
    sentence = "it can be verified by the list google; a reverse DNS name under googlebot.com or google.com"
    assert without_addresses(sentence) == sentence
