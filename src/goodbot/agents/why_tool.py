"""The tool `why`: explains what became of a URL in a crawl, or what robots.txt says about it."""

from collections.abc import Callable, Mapping
from typing import Final

from goodbot.agents import refusals
from goodbot.agents.allowed_tool import judgement, rules_of
from goodbot.agents.arguments import Arguments
from goodbot.agents.call_limits import CallLimits
from goodbot.agents.pages import Pages
from goodbot.agents.rule_words import lost_rules
from goodbot.agents.tool import ToolResult, schema_of
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import MAX_URL_CHARS, Url
from goodbot.web.search.search_threads import SearchThreads

LINE_CHARS: Final = 500
MAX_EVENTS: Final = 100
_SCHEMA: Final = schema_of(
    {"url": {"type": "string", "maxLength": MAX_URL_CHARS, "description": "http or https URL."}}, ("url",)
)
_OF_RULES: Final = """\
Explain what robots.txt says about a URL: the deciding rule and its line, the group that applies, the rules that \
also match but are overridden, and what decides for each use of the content (search, ai-input, ai-train).
Requests robots.txt at most."""
_OF_CRAWL: Final = """\
Explain what became of a URL in the crawl that is searched here: how it was found, what robots.txt said (with the \
line), the result, and whether search finds it; with advice if it does not. Sends no request."""

Story = Mapping[str, object]
"""The JSON of a URL's history: `state`, `summary`, `advice`, `events`…"""


class WhyRules:
    """Explains verdicts for the robot `token`, with the robots.txt files that `pages` fetches."""

    name = "why"
    title = "Why may a URL be fetched, or not?"
    description = _OF_RULES
    is_open_world = True
    schema = _SCHEMA

    def __init__(self, pages: Pages, token: str, limits: CallLimits) -> None:
        self._pages = pages
        self._token = token
        self._limits = limits

    async def call(self, given: Mapping[str, object]) -> ToolResult:
        """See `Tool.call`."""
        url = Arguments(given, ("url",)).url("url")
        access = await rules_of(self._pages, self._limits, url)
        text, data = judgement(url, self._token, access)
        if not isinstance(access, Access) or access.failure == refusals.PRIVATE:
            return ToolResult(text, data)
        lost = lost_rules(access.verdict(url.text, self._token))
        reasons = dict(access.rules.preferences(url.text, self._token).reasons)
        lines = [text, *(f"also matches, but is overridden: {rule['rule']} (line {rule['line']})" for rule in lost)]
        lines += [f"{use}: {reason}" for use, reason in reasons.items()]
        return ToolResult("\n".join(lines), {**data, "lost": lost, "preference_reasons": reasons})


class WhyStory:
    """Explains the history of URLs in a crawl. `story_of` reads them from its files, and may block."""

    name = "why"
    title = "What became of a URL in the crawl?"
    description = _OF_CRAWL
    is_open_world = False
    schema = _SCHEMA

    def __init__(self, story_of: Callable[[Url], Story], threads: SearchThreads) -> None:
        self._story_of = story_of
        self._threads = threads

    async def call(self, given: Mapping[str, object]) -> ToolResult:
        """See `Tool.call`."""
        url = Arguments(given, ("url",)).url("url")
        story = await self._threads.run(lambda: self._story_of(url))
        lines = [f"{url}: {story['state']}: {story['summary']}"]
        lines += [f"advice: {story['advice']}"] if story["advice"] else []
        found = story["events"]
        events = list(found)[-MAX_EVENTS:] if isinstance(found, list) else []
        lines += [shown(_event_line(event), LINE_CHARS) for event in events]
        return ToolResult("\n".join(lines), {**story, "events": events})


def _event_line(event: Mapping[str, object]) -> str:
    line = "" if event["line"] is None else f" (line {event['line']} of robots.txt)"
    return f"{event['step']}: {event['decision']}: {event['reason']}{line}"
