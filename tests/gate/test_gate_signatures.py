"""Robots that sign their requests, and signatures that prove nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.gates import (
    CURL,
    FIREFOX,
    GOOGLE,
    GOOGLEBOT,
    GPTBOT,
    HOST,
    NOW,
    OPENAI,
    STRANGER,
    Key,
    asked_for,
    clients_with,
)
from goodbot.gate.clients import Client

OPENAIS = Key(b"o")
SHOPPERS = Key(b"s")
UNKNOWN = Key(b"u")

CLIENTS = clients_with([OPENAIS.directory("openai", "GPTBot"), SHOPPERS.directory("shop", "Amazonbot", "bingbot")])

Fields = list[tuple[bytes, bytes]]


def recognized(
    fields: Fields, agent: str = GPTBOT, address: str = STRANGER, target: str = "/page", at: float = NOW
) -> Client:
    return CLIENTS.recognize(asked_for(target, agent, address, more=fields), at)


def shown(client: Client) -> tuple[str, str, str]:
    return client.identity, client.name, client.proof


GPTBOT_SIGNED = ("verified", "GPTBot", "signature")
GPTBOT_ELSEWHERE = ("impostor", "GPTBot", "addresses")


def test_a_signature_verifies_at_any_address() -> None:
    assert shown(recognized(OPENAIS.signed("/page"))) == GPTBOT_SIGNED
    assert shown(recognized(OPENAIS.signed("/page"), address="10.0.0.1")) == GPTBOT_SIGNED
    assert shown(recognized(OPENAIS.signed("/page"), address=OPENAI)) == GPTBOT_SIGNED
    assert shown(recognized([])) == GPTBOT_ELSEWHERE


@pytest.mark.parametrize(
    "covered", [("@authority",), ("@target-uri",), ("@authority", "@query"), ("@authority", "@scheme")]
)
def test_a_signature_may_cover_other_components(covered: tuple[str, ...]) -> None:
    fields = OPENAIS.signed("/page?a=b", covered=covered)
    assert shown(recognized(fields, target="/page?a=b")) == GPTBOT_SIGNED


def test_a_signature_for_another_request_proves_nothing() -> None:
    assert shown(recognized(OPENAIS.signed("/other"))) == GPTBOT_ELSEWHERE
    assert shown(recognized(OPENAIS.signed("/page", host="b.test"))) == GPTBOT_ELSEWHERE
    posted = [*OPENAIS.signed("/page"), (b"x-original-method", b"POST")]
    assert shown(recognized(posted)) == GPTBOT_ELSEWHERE


def test_a_signature_holds_for_its_time_only() -> None:
    fields = OPENAIS.signed("/page", at=NOW)
    assert shown(recognized(fields, at=NOW + 100)) == GPTBOT_SIGNED
    assert shown(recognized(fields, at=NOW + 1000)) == GPTBOT_ELSEWHERE
    assert shown(recognized(fields, at=NOW - 1000)) == GPTBOT_ELSEWHERE


def test_the_key_of_another_robot_proves_nothing() -> None:
    assert shown(recognized(SHOPPERS.signed("/page"))) == GPTBOT_ELSEWHERE
    assert shown(recognized(OPENAIS.signed("/page"), GOOGLEBOT)) == ("impostor", "Googlebot", "addresses")
    assert shown(recognized(OPENAIS.signed("/page"), GOOGLEBOT, GOOGLE)) == ("verified", "Googlebot", "addresses")


def test_an_unknown_key_proves_nothing() -> None:
    assert shown(recognized(UNKNOWN.signed("/page"))) == GPTBOT_ELSEWHERE
    assert shown(recognized(UNKNOWN.signed("/page"), FIREFOX)) == ("browser", "", "")
    assert shown(recognized(UNKNOWN.signed("/page"), CURL)) == ("undeclared", "curl", "")


def test_an_agent_in_a_browser_is_known_by_its_key() -> None:
    client = recognized(OPENAIS.signed("/page"), FIREFOX)
    assert shown(client) == ("verified", "openai", "signature")
    assert client.robot is not None
    assert client.robot.name == "GPTBot"


def test_a_key_of_several_robots_does_not_say_which_one_it_is() -> None:
    client = recognized(SHOPPERS.signed("/page"), CURL)
    assert shown(client) == ("verified", "shop", "signature")
    assert client.robot is None


def test_a_gate_without_directories_reads_no_signature() -> None:
    request = asked_for("/page", FIREFOX, more=OPENAIS.signed("/page"))
    assert shown(clients_with().recognize(request, NOW)) == ("browser", "", "")


def test_a_signature_covers_the_host_that_the_client_named() -> None:
    fields = [*OPENAIS.signed("/page", host=f"{HOST}:8443"), (b"x-forwarded-host", f"{HOST}:8443".encode())]
    assert shown(recognized(fields)) == GPTBOT_SIGNED


HOSTILE = [
    b"",
    b"sig1",
    b"sig1=",
    b"sig1=()",
    b'sig1=("@authority")',
    b'sig1=("@authority");tag="web-bot-auth"',
    b'sig1=("@authority");created=--5;expires=1;keyid="a";tag="web-bot-auth"',
    b'sig1=("@authority");created=999999999999999;expires=999999999999999;keyid="a";tag="web-bot-auth"',
    b'sig1=("@authority");created=1;expires=2;keyid="\xff";tag="web-bot-auth"',
    b"sig1=(" + b"(" * 8000,
    b'sig1=("' + b"a" * 65_536 + b'")',
    b"sig1=:" + b"A" * 65_536 + b":",
    b"\x00\xff",
    b", ".join(b's%d=("@authority");tag="web-bot-auth"' % number for number in range(2000)),
]
SIGNATURES = [b"", b"sig1=:A:", b"sig1=:AAAA:", b"sig1=::", b"sig1=:====:", b'sig1="AAAA"', b"sig1=:\xff:", b"="]


@pytest.mark.parametrize("given_as", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_signature_changes_nothing(given_as: bytes) -> None:
    for signature in SIGNATURES:
        for agent in (b"", b'"https://a.test"', b'a="https://[', b"\xff", b"a=" * 3000):
            fields = [(b"signature-input", given_as), (b"signature", signature), (b"signature-agent", agent)]
            assert shown(recognized(fields)) == GPTBOT_ELSEWHERE


TOKENS = st.sampled_from(
    [
        *(b"sig1", b"=", b"(", b")", b'"@authority"', b'"@query-param"', b";", b'keyid="', b'"', b":", b"A", b"?1"),
        *(b';tag="web-bot-auth"', b";created=1", b";expires=9999999999", b", ", b" ", b"-", b"\xff", b"\\"),
        f';keyid="{OPENAIS.key_id}"'.encode(),
    ]
)
hostile = st.lists(TOKENS, max_size=20).map(b"".join)


@given(hostile, hostile, hostile | st.none(), st.sampled_from([GPTBOT, FIREFOX, ""]))
def test_no_signature_field_raises_or_verifies(
    given_as: bytes, signature: bytes, signature_agent: bytes | None, agent: str
) -> None:
    fields = [(b"signature-input", given_as), (b"signature", signature)]
    if signature_agent is not None:
        fields.append((b"signature-agent", signature_agent))
    assert recognized(fields, agent).identity in ("impostor", "browser", "undeclared")


def test_each_changed_octet_of_a_signature_breaks_it() -> None:
    input_field, (name, octets) = OPENAIS.signed("/page")
    start = octets.index(b":") + 1
    for place in range(start, start + 80, 7):
        changed = octets[:place] + (b"A" if octets[place : place + 1] != b"A" else b"B") + octets[place + 1 :]
        assert shown(recognized([input_field, (name, changed)])) == GPTBOT_ELSEWHERE
