"""Sites that note every request, in a process of their own, and machines that crawl them together."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
