"""Pages for tools without a network: robots.txt by origin, pages by URL."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from goodbot.agents.server import carried_out
from goodbot.agents.tool import Tool, ToolResult
from goodbot.exclusion import Access
from goodbot.robot.client.reading import Reading
from goodbot.url import Url

TOKEN = "goodbot"


def rules(text: str = "", at: float = 0.0) -> Access:
    return Access.from_response(200, [("Content-Type", "text/plain")], text.encode(), at)


def page_of(final_url: str = "https://example.org/", **changes: Any) -> Reading:
    """What `goodbot.Robot.read` returns for a page about clocks."""
    verdict = rules().verdict(final_url, TOKEN)
    known = Reading(final_url, final_url, verdict, 200, "Clocks", lang="en", text="tick tock")
    return replace(replace(known, markdown="**tick** tock", html="<b>tick</b> tock", type="text/html"), **changes)


@dataclass
class FakePages:
    """Notes what is requested in `asked`. While `gate` is not set, reading a page waits. `wait_s` is what hosts wait
    for."""

    files: dict[str, Access] = field(default_factory=dict)
    pages: dict[str, Reading] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    gate: asyncio.Event | None = None
    ready_at: float = 0.0

    async def read(self, url: Url, *, whole: bool = False) -> Reading:
        self.asked.append(f"{url} whole" if whole else url.text)
        if self.gate is not None:
            await self.gate.wait()
        return self.pages.get(url.text) or page_of(url.text)

    async def rules(self, url: Url) -> Access:
        self.asked.append(f"rules {url.origin}")
        return self.files.get(url.origin) or rules()

    def expected_at(self, url: Url) -> float:
        return self.ready_at


def carried_out_or_refused(tool: Tool, values: Mapping[str, object]) -> ToolResult:
    """Calls a tool as the server does; asserts that an error is one line about the arguments."""
    result = asyncio.run(carried_out(tool, values))
    assert "the log of the server" not in result.text
    assert not result.is_error or (len(result.text.splitlines()) == 1 and len(result.text) < 400)
    return result
