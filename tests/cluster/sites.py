"""Sites that note every request, in a process of their own, and machines that crawl them together."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import counting_sites
from counting_sites import Request, read_log


class CountingSites:
    """The sites of `counting_sites`. `requests` are those that have come so far."""

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self._log = log

    def start_page(self, site: int = 0) -> str:
        return counting_sites.start_page(site, self.port)

    @property
    def requests(self) -> list[Request]:
        return read_log(self._log)

    async def has_had(self, requests: int) -> None:
        """Returns when so many requests have come."""
        while len(self.requests) < requests:  # noqa: ASYNC110 - another process writes them
            await asyncio.sleep(0.2)


@asynccontextmanager
async def sites_with_pages(sites: int, pages: int, folder: Path) -> AsyncIterator[CountingSites]:
    """Starts them, and ends them."""
    log = folder / "requests.log"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, counting_sites.__file__, str(sites), str(pages), str(log)), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    try:
        yield CountingSites(port, log)
    finally:
        process.terminate()
        await process.wait()


@contextmanager
def sites_meanwhile(sites: int, pages: int, folder: Path) -> Iterator[CountingSites]:
    """Starts them for a block that runs no event loop, and ends them."""
    loop = asyncio.new_event_loop()
    context = sites_with_pages(sites, pages, folder)
    try:
        yield loop.run_until_complete(context.__aenter__())
    finally:
        loop.run_until_complete(context.__aexit__(None, None, None))
        loop.close()
