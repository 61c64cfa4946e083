"""Tests reverse DNS against a real name server."""

import dns.message
import dns.rcode
import dns.reversename
import dns.rrset
import pytest

from goodbot.one_shot import reverse_lookup
from nameserver import SILENCE, NameServer, Records


def pointers(*names: str) -> Records:
    """The answer to a question for the names of an address."""

    def answer(asked: bytes) -> bytes:
        question = dns.message.from_wire(asked)
        response = dns.message.make_response(question)
        for name in names:
            response.answer.append(dns.rrset.from_text(question.question[0].name, 300, "IN", "PTR", name))
        return response.to_wire()

    return answer


def refused(asked: bytes) -> bytes:
    response = dns.message.make_response(dns.message.from_wire(asked))
    response.set_rcode(dns.rcode.SERVFAIL)
    return response.to_wire()


def question(address: str) -> str:
    return dns.reversename.from_address(address).to_text(omit_final_dot=True)


@pytest.mark.parametrize(
    ("address", "records", "names"),
    [
        ("192.0.2.1", pointers("Crawl-1.Bot.Test."), ("crawl-1.bot.test",)),
        ("2001:db8::1", pointers("six.bot.test."), ("six.bot.test",)),
        ("192.0.2.1", pointers("one.test.", "two.test."), ("one.test", "two.test")),
        ("192.0.2.1", pointers(), ()),
        ("192.0.2.1", None, ()),
        ("192.0.2.1", refused, None),
        ("192.0.2.1", SILENCE, None),
    ],
)
async def test_the_names_of_an_address(address: str, records: Records | None, names: tuple[str, ...] | None) -> None:
    async with NameServer({question(address): records} if records else {}) as server:
        lookup = reverse_lookup([server.address])
        lookup._lifetime_s = 1.0  # what never answers is not waited for long
        assert await lookup.names(address) == names


async def test_the_addresses_of_a_name() -> None:
    async with NameServer({"both.test": ["192.0.2.2", "2001:db8::2"], "broken.test": refused}) as server:
        lookup = reverse_lookup([server.address])
        assert sorted(await lookup.addresses("both.test") or ()) == ["192.0.2.2", "2001:db8::2"]
        assert await lookup.addresses("none.test") == ()
        assert await lookup.addresses("broken.test") is None


async def test_a_name_may_have_many_addresses() -> None:
    many = [f"192.0.2.{number}" for number in range(1, 60)]
    async with NameServer({"many.test": many}) as server:
        assert sorted(await reverse_lookup([server.address]).addresses("many.test") or ()) == sorted(many)


async def test_all_names_of_a_flood_are_returned() -> None:
    flood = pointers(*(f"n{number}.test." for number in range(60)))
    async with NameServer({question("192.0.2.1"): flood}) as server:
        names = await reverse_lookup([server.address]).names("192.0.2.1")
    assert names is not None
    assert len(names) == 60
