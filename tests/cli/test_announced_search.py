"""Hosts are named on standard error before they get the query."""

import pytest

from goodbot.cli.search_services import AnnouncedTransport
from goodbot.one_shot import service_request
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url


async def test_each_host_is_named_before_it_gets_the_query(capsys: pytest.CaptureFixture[str]) -> None:
    web = FakeWeb({}, FakeClock())
    transport = AnnouncedTransport(web)
    said = list[tuple[str, int]]()

    async def send(url: str) -> None:
        await transport.send(service_request(Url(url)))
        said.append((capsys.readouterr().err, len(web.requests)))

    await send("https://a.example/os.xml")
    transport.begin(["api.a.example", "b.example"])
    assert capsys.readouterr().err == ""
    for url in ("https://b.example/?q=x", "https://api.a.example/?q=x", "https://www.b.example/?q=x"):
        await send(url)
    assert said == [
        ("", 1),
        ("sending the query to api.a.example, b.example\n", 2),
        ("", 3),
        ("sending the query to www.b.example\n", 4),
    ]
