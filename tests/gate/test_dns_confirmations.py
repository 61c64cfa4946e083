"""Verification by reverse DNS in the background: against a real name server, and with answers of every kind."""

import asyncio
from dataclasses import dataclass, field

import dns.message
import dns.reversename
import dns.rrset
import pytest

from gate.gate_sockets import until
from gate.running_gate import CLOSED, policy_file, running_gate
from goodbot.gate import dns_confirmations
from goodbot.gate.dns_confirmations import AT_ONCE, KEPT_S, MOST_WAITING, UNANSWERED_S, DnsConfirmations
from goodbot.one_shot import reverse_lookup
from goodbot.registry import KnownRobot, Tier, bundled_registry
from nameserver import NameServer, Records

YANDEX = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"


def yandex() -> KnownRobot:
    robot = bundled_registry().find(YANDEX)
    assert robot is not None
    assert robot.reverse_dns
    return robot


@dataclass(slots=True)
class Dns:
    """Names and addresses that a test gives; None: no answer. Waits while it is `held`."""

    pointers: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    hosts: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    open_ones: int = 0
    most_open: int = 0
    failure: Exception | None = None

    async def names(self, address: str) -> tuple[str, ...] | None:
        self.asked.append(address)
        self.open_ones += 1
        self.most_open = max(self.most_open, self.open_ones)
        try:
            await self.free.wait()
        finally:
            self.open_ones -= 1
        if self.failure is not None:
            raise self.failure
        return self.pointers.get(address, ())

    async def addresses(self, name: str) -> tuple[str, ...] | None:
        return self.hosts.get(name, ())


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def genuine(*addresses: str) -> Dns:
    """DNS in which these addresses are Yandex's."""
    names = {address: f"spider{number}.yandex.ru" for number, address in enumerate(addresses)}
    found = Dns({address: (name,) for address, name in names.items()}, {name: (a,) for a, name in names.items()})
    found.free.set()
    return found


async def test_the_tier_before_counts_until_the_answer_is_there() -> None:
    dns = genuine("9.9.9.9")
    dns.free.clear()
    found = DnsConfirmations(dns)
    assert [found.tier(yandex(), "9.9.9.9", "declared") for _ in range(3)] == ["declared"] * 3
    assert found.tier(yandex(), "8.8.8.8", "unknown") == "unknown"
    dns.free.set()
    await found.settled()
    assert found.tier(yandex(), "9.9.9.9", "declared") == "verified"
    assert found.tier(yandex(), "8.8.8.8", "unknown") == "impostor"
    assert sorted(dns.asked) == ["8.8.8.8", "9.9.9.9"]
    assert (found.lookups, found.unanswered) == (2, 0)


@pytest.mark.parametrize(("tier", "address"), [("verified", "9.9.9.9"), ("impostor", "8.8.8.8")])
async def test_a_result_counts_for_its_time_and_then_until_the_next_one(tier: Tier, address: str) -> None:
    dns, clock = genuine("9.9.9.9"), Clock()
    found = DnsConfirmations(dns, clock)
    found.tier(yandex(), address, "declared")
    await found.settled()
    clock.now += KEPT_S[tier] - 1
    assert found.tier(yandex(), address, "declared") == tier
    await found.settled()
    assert len(dns.asked) == 1
    clock.now += 2
    dns.free.clear()
    assert [found.tier(yandex(), address, "declared") for _ in range(2)] == [tier] * 2
    dns.pointers = {"8.8.8.8": ("a.yandex.ru",)}
    dns.hosts = {"a.yandex.ru": ("8.8.8.8",)}
    dns.free.set()
    await found.settled()
    assert found.tier(yandex(), address, "declared") == ("impostor" if tier == "verified" else "verified")
    assert len(dns.asked) == 2


async def test_without_an_answer_the_tier_before_counts_and_the_lookup_is_tried_again() -> None:
    dns, clock = Dns({"9.9.9.9": None}), Clock()
    dns.free.set()
    found = DnsConfirmations(dns, clock)
    found.tier(yandex(), "9.9.9.9", "declared")
    await found.settled()
    assert found.tier(yandex(), "9.9.9.9", "declared") == "declared"
    assert found.tier(yandex(), "9.9.9.9", "unknown") == "unknown", "the tier of today, not that of the lookup"
    assert (found.lookups, found.unanswered, len(dns.asked)) == (1, 1, 1)
    clock.now += UNANSWERED_S + 1
    dns.pointers, dns.hosts = genuine("9.9.9.9").pointers, genuine("9.9.9.9").hosts
    found.tier(yandex(), "9.9.9.9", "declared")
    await found.settled()
    assert found.tier(yandex(), "9.9.9.9", "declared") == "verified"


async def test_a_robot_stays_verified_while_no_name_server_answers() -> None:
    dns, clock = genuine("9.9.9.9"), Clock()
    found = DnsConfirmations(dns, clock)
    found.tier(yandex(), "9.9.9.9", "declared")
    await found.settled()
    dns.pointers = {"9.9.9.9": None}
    for unanswered in range(1, 4):
        clock.now += KEPT_S["verified"] + 1
        found.tier(yandex(), "9.9.9.9", "declared")
        await found.settled()
        assert found.tier(yandex(), "9.9.9.9", "declared") == "verified"
        assert found.unanswered == unanswered
        await found.settled()


async def test_a_lookup_that_fails_is_not_begun_for_each_request(caplog: pytest.LogCaptureFixture) -> None:
    dns, clock = Dns(failure=ValueError("a mistake")), Clock()
    dns.free.set()
    found = DnsConfirmations(dns, clock)
    for _ in range(5):
        assert found.tier(yandex(), "9.9.9.9", "declared") == "declared"
        await found.settled()
    assert len(dns.asked) == 1
    assert "a mistake" in caplog.text


async def test_few_lookups_are_made_at_once_and_not_too_many_wait() -> None:
    dns = Dns()
    found = DnsConfirmations(dns)
    addresses = [f"9.9.{number // 250}.{number % 250}" for number in range(MOST_WAITING + 500)]
    for address in addresses:
        assert found.tier(yandex(), address, "declared") == "declared"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert dns.open_ones == AT_ONCE
    dns.free.set()
    await found.settled()
    assert (found.lookups, dns.most_open) == (MOST_WAITING, AT_ONCE)
    assert found.tier(yandex(), addresses[0], "declared") == "impostor"
    assert found.tier(yandex(), addresses[-1], "declared") == "declared", "it had no place; now it has one"
    await found.settled()
    assert found.tier(yandex(), addresses[-1], "declared") == "impostor"


async def test_not_too_many_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_confirmations, "MOST_KNOWN", 100)
    dns = Dns()
    dns.free.set()
    found = DnsConfirmations(dns)
    for number in range(300):
        found.tier(yandex(), f"9.9.{number // 250}.{number % 250}", "declared")
    await found.settled()
    assert len(found._known) <= 100


async def test_at_the_end_lookups_that_wait_end() -> None:
    dns = Dns()
    found = DnsConfirmations(dns)
    for number in range(100):
        found.tier(yandex(), f"9.9.9.{number}", "declared")
    await asyncio.sleep(0)
    found.tier(yandex(), "8.8.8.8", "declared")  # which has not begun
    await found.close()
    await found.settled()
    assert dns.open_ones == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


# ---- a real name server ---------------------------------------------------------------------------------------------


def question(address: str) -> str:
    return dns.reversename.from_address(address).to_text(omit_final_dot=True)


def pointer(name: str) -> Records:
    def answer(asked: bytes) -> bytes:
        query = dns.message.from_wire(asked)
        response = dns.message.make_response(query)
        response.answer.append(dns.rrset.from_text(query.question[0].name, 300, "IN", "PTR", name))
        return response.to_wire()

    return answer


RECORDS = {
    question("9.9.9.9"): pointer("spider.yandex.ru."),
    "spider.yandex.ru": ["9.9.9.9"],
    question("8.8.8.8"): pointer("host.example.net."),
    question("8.8.4.4"): pointer("false.yandex.ru."),
    "false.yandex.ru": ["9.9.9.9"],
}


async def test_a_name_server_verifies_robots_and_finds_impostors() -> None:
    async with NameServer(RECORDS) as server:
        found = DnsConfirmations(reverse_lookup([server.address]))
        addresses = ("9.9.9.9", "8.8.8.8", "8.8.4.4", "1.1.1.1")
        assert {found.tier(yandex(), address, "declared") for address in addresses} == {"declared"}
        await found.settled()
        tiers = [found.tier(yandex(), address, "declared") for address in addresses]
    assert tiers == ["verified", "impostor", "impostor", "impostor"]


async def test_the_gate_refuses_an_impostor_as_soon_as_dns_shows_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "robots.txt").write_text(CLOSED)
    robots, policy = folder / "robots.txt", policy_file(folder, "")
    async with asyncio.timeout(60), NameServer(RECORDS) as server:  # noqa: SIM117  (longer than a line)
        async with running_gate(robots, policy, nameserver=server.address) as gate:
            for address, identity in (("9.9.9.9", "verified"), ("8.8.8.8", "impostor")):
                first = await gate.asked("/", YANDEX, f"X-Real-IP: {address}")
                assert (first.status, first.fields["x-goodbot-identity"]) == (200, "unverified")
                while True:
                    reply = await gate.asked("/", YANDEX, f"X-Real-IP: {address}")
                    if reply.fields["x-goodbot-identity"] == identity:
                        break
                assert reply.status == (200 if identity == "verified" else 403)
            assert b"goodbot_gate_dns_lookups_total 2.0" in (await gate.page("/metrics")).body


async def test_a_name_server_that_does_not_answer_holds_up_neither_requests_nor_the_end(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "robots.txt").write_text(CLOSED)
    async with NameServer({question("9.9.9.9"): lambda asked: b""}) as server:  # noqa: SIM117
        async with running_gate(folder / "robots.txt", nameserver=server.address) as gate:
            for _ in range(3):
                assert (await gate.asked("/", YANDEX, "X-Real-IP: 9.9.9.9")).status == 200
            await until(lambda: server.asked)
    assert len(asyncio.all_tasks()) == 1
