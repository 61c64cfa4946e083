"""The tool `allowed`: says what the robots.txt of a site lets a robot do with URLs."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from goodbot.agents import refusals
from goodbot.agents.arguments import Arguments
from goodbot.agents.call_limits import Busy, CallLimits, TimedOut
from goodbot.agents.pages import Pages
from goodbot.agents.rule_words import preferences_text, verdict_json, verdict_text
from goodbot.agents.tool import ToolResult, schema_of
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.url import MAX_URL_CHARS, Url

MAX_URLS: Final = 20
MAX_AGENT_CHARS: Final = 200

DESCRIPTION: Final = """\
Say whether a robot may fetch URLs: the verdict of the site's robots.txt, with the rule and its line, the delay that \
the site asks for, and what the content may be used for (search, ai-input, ai-train).
Requests robots.txt at most, never the URLs themselves."""


class AllowedTool:
    """Judges URLs with the robots.txt files that `pages` fetches, for the robot `token` unless a call names another."""

    name = "allowed"
    title = "May a robot fetch these URLs?"
    description = DESCRIPTION
    is_open_world = True
    schema = schema_of(
        {
            "url": {"type": "string", "maxLength": MAX_URL_CHARS, "description": "One http or https URL."},
            "urls": {
                "type": "array",
                "items": {"type": "string", "maxLength": MAX_URL_CHARS},
                "minItems": 1,
                "maxItems": MAX_URLS,
                "description": "Several URLs instead of url.",
            },
            "agent": {
                "type": "string",
                "maxLength": MAX_AGENT_CHARS,
                "description": "Product token of the robot, or its User-Agent; without it, the robot of this server.",
            },
        }
    )

    def __init__(self, pages: Pages, token: str, limits: CallLimits) -> None:
        self._pages = pages
        self._token = token
        self._limits = limits

    async def call(self, given: Mapping[str, object]) -> ToolResult:
        """See `Tool.call`."""
        arguments = Arguments(given, ("url", "urls", "agent"))
        if ("url" in arguments) == ("urls" in arguments):
            is_missing = "url" not in arguments
            raise InputError("url or urls is missing: give one of them" if is_missing else "give url or urls, not both")
        urls = [arguments.url("url")] if "url" in arguments else arguments.urls("urls", MAX_URLS)
        agent = arguments.text("agent", MAX_AGENT_CHARS) if "agent" in arguments else self._token
        files = await self._files(urls)
        judged = [judgement(url, agent, files[url.origin]) for url in urls]
        return ToolResult("\n".join(text for text, _ in judged), {"verdicts": [data for _, data in judged]})

    async def _files(self, urls: Sequence[Url]) -> Mapping[str, Access | Busy | TimedOut]:
        """Returns the robots.txt of each origin."""
        first = {url.origin: url for url in reversed(urls)}
        found = await asyncio.gather(*(rules_of(self._pages, self._limits, url) for url in first.values()))
        return dict(zip(first, found, strict=True))


async def rules_of(pages: Pages, limits: CallLimits, url: Url) -> Access | Busy | TimedOut:
    """Returns the robots.txt in force for a URL, or why it could not be fetched."""
    access = await limits.run(url, partial(pages.rules, url))
    if isinstance(access, Busy | TimedOut):
        return access
    until = refusals.held_until(access, access.verdict(url.text, "*"))
    return access if until is None else limits.until(url, until)


def judgement(url: Url, agent: str, access: Access | Busy | TimedOut) -> tuple[str, dict[str, object]]:
    """Returns what robots.txt says about a URL: as text, and as JSON."""
    if isinstance(access, Busy):
        text = f"unknown: {url}: {access.reason}. Call again in {access.retry_after_s} s."
        return text, {"outcome": "wait", "url": url.text, **refusals.busy_json(access)}
    if isinstance(access, TimedOut):
        failed = refusals.timed_out(url, access)
        return failed.text, dict(failed.data)
    if access.failure == refusals.PRIVATE:
        refused = refusals.private(url, url.text)
        return refused.text, dict(refused.data)
    verdict = access.verdict(url.text, agent)
    preferences = access.rules.preferences(url.text, agent)
    return (
        f"{verdict_text(verdict)} {preferences_text(preferences)}",
        {"outcome": "verdict", **verdict_json(verdict), "preferences": dict(preferences)},
    )
