"""What every `Resolver` keeps to."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.ports import Resolver
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.testing import FakeClock, FakeResolver
from goodbot.values import Failure
from nameserver import NameServer

NAMES = {"one.test": ["192.0.2.1"], "both.test": ["192.0.2.2", "2001:db8::2"], "six.test": ["2001:db8::3"]}


@asynccontextmanager
async def dns_world() -> AsyncIterator[Resolver]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("goodbot.robot.fetch.nameservers.OTHER_FAMILY_WAIT_S", 60.0)
        async with NameServer(NAMES) as server:
            settings = Settings(nameservers=(server.address,), connect_timeout=60)
            yield NameResolver(settings, FakeClock(), Path("/nonexistent"))


@asynccontextmanager
async def fake_world() -> AsyncIterator[Resolver]:
    yield FakeResolver(NAMES)


WORLDS: list[Callable[[], AbstractAsyncContextManager[Resolver]]] = [dns_world, fake_world]


@pytest.fixture(params=WORLDS)
async def resolver(request: pytest.FixtureRequest) -> AsyncIterator[Resolver]:
    async with request.param() as made:
        yield made
        await made.close()


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_has_its_addresses_however_often_it_is_asked(resolver: Resolver, name: str) -> None:
    for _ in range(2):
        found = await resolver.resolve(name)
        assert not isinstance(found, Failure)
        assert sorted(found) == sorted(NAMES[name])
        assert all(str(ip_address(text)) == text for text in found)


async def test_a_name_without_address_is_a_failure(resolver: Resolver) -> None:
    answer = await resolver.resolve("none.test")
    assert isinstance(answer, Failure)
    assert answer.kind == "dns"
    assert "none.test" in answer.detail
    assert answer.detail.isprintable()


async def test_close_may_be_called_again(resolver: Resolver) -> None:
    await resolver.close()
    await resolver.close()
