"""Tests hosts that share an address: one request at a time, a pause between two of them."""

from dataclasses import replace

import pytest

from goodbot.exclusion import Verdict
from goodbot.partitions import partition_of
from goodbot.robot.manners import shared_addresses as neighbours
from goodbot.robot.manners.shared_addresses import STAY_S, SharedAddresses
from goodbot.url import Url
from goodbot.values import Capture, Request, Response

AT = 1_000_000.0


def answer(host: str, peer: str | None) -> Capture:
    """Of `host`, from `peer`."""
    url = Url(f"http://{host}/")
    verdict = Verdict(allowed=True, line=None, rule=None, reason="test", section="", url=url.text)
    return Capture(Request(url, verdict), Response(200, (), b""), AT, 0.1, peer)


def shared(*hosts: str, peer: str | None = "192.88.99.1") -> SharedAddresses:
    """All at one address."""
    known = SharedAddresses(0.25)
    for host in hosts:
        known.learn(host, answer(host, peer))
    return known


@pytest.mark.parametrize("peer", [None, "127.0.0.1", "10.0.0.1", "fd00::1"])
def test_where_nothing_is_known_and_on_private_addresses_nobody_waits(peer: str | None) -> None:
    known = shared("a", "b", peer=peer)
    assert [known.claim(host, AT) for host in "ab"] == [("", AT)] * 2
    known.release("", AT)


PEER = "8.8.8.8"


def test_one_at_a_time_and_a_pause() -> None:
    known = shared("a", "b", peer=PEER)
    assert known.claim("a", AT) == (PEER, AT)
    assert known.claim("b", AT) == (None, AT + 1.0)
    known.release(PEER, AT + 0.5)
    assert known.claim("b", AT + 0.6) == (None, AT + 1.25)  # the time given out last, and a pause
    assert known.claim("b", AT + 0.75) == (PEER, AT + 0.75)
    known.release(PEER, AT + 1)


def test_those_who_wait_get_different_times() -> None:
    known = shared(*"abcde", peer=PEER)
    known.claim("a", AT)
    assert [known.claim(host, AT)[1] - AT for host in "bcde"] == [1.0, 1.25, 1.5, 1.75]


def test_a_host_is_no_neighbour_of_its_own() -> None:
    known = shared("a", "b", peer=PEER)
    assert [known.claim("a", AT)[0] for _ in range(3)] == [PEER] * 3
    for _ in range(2):
        known.release(PEER, AT)
    assert known.claim("b", AT + 9)[0] is None  # the third is under way
    known.release(PEER, AT + 9)
    assert known.claim("a", AT + 9)[0] == PEER


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_HOSTS", 10)
    known = SharedAddresses(0.25)
    known.learn("kept", answer("kept", PEER))
    known.claim("kept", AT)
    for number in range(100):
        known.learn(str(number), answer("a", f"8.8.4.{number}"))
        known.release(known.claim(str(number), AT)[0] or "", AT)
    assert len(known._address_of) <= 10
    assert len(known._addresses) <= 11
    known.release(PEER, AT)


def test_the_partition_of_a_host_is_that_of_its_address_and_of_several_the_lowest() -> None:
    low, high = sorted(("192.88.99.1", "192.88.99.2"), key=partition_of)
    known = shared("a", peer=high)
    assert (known.partition("a"), known.partition("b")) == (partition_of(high), None)
    for peer in (low, high, low):
        known.learn("a", answer("a", peer))
        assert known.partition("a") == partition_of(low)
    later = replace(answer("a", high), fetched_at=AT + STAY_S + 1)
    known.learn("a", later)
    assert known.partition("a") == partition_of(high), "the other address has not answered for a day"


def test_private_addresses_move_no_host() -> None:
    assert shared("a", peer="127.0.0.1").partition("a") is None
