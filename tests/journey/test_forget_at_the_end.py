"""A crawl that forgot a host while it ran: what it says at its end is true afterwards."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from journey.goodbot_process import ended, goodbot, start
from journey.test_forget import came, endless, key
from webserver import WebServer, answer


@pytest.fixture
async def sites() -> AsyncIterator[list[WebServer]]:
    """One that never ends, one of a single page."""
    async with AsyncExitStack() as stack:
        gone = await stack.enter_async_context(WebServer(fallback=endless))
        page = answer(b"<title>zebra</title><p>a page")
        yield [gone, await stack.enter_async_context(WebServer({"/": page}))]


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_it_is_finished_if_only_the_forgotten_host_was_left(
    tmp_path: Path, sites: list[WebServer], workers: str
) -> None:
    gone, other = sites
    folder = tmp_path / "crawl"
    options = ("--into", folder, "--allow-private", "--workers", workers)
    process = await start("crawl", gone.url("/"), other.url("/"), *options)
    await came(gone, 20)
    assert (await goodbot("forget", key(gone), "--in", folder)).status == 0
    told = await ended(process)
    assert told.status == 0, told.err
    first, *rest = told.out.splitlines()
    assert first.startswith("finished: ")
    assert rest[0] == "  1 visited"
    assert "resume with" not in told.out
    assert re.search(rf"{re.escape(key(gone))} is forgotten: [0-9,]+ URLs, [0-9,]+ records removed", told.err), told.err
    states = (await goodbot("status", "--in", folder, "--json")).json["states"]
    assert {name: count for name, count in states.items() if count} == {"visited": 1}
