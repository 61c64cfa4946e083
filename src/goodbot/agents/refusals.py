"""Makes the results of calls that give no content: disallowed, withheld, refused, failed, or to be tried again."""

import re
from typing import Final

from goodbot.agents.call_limits import Busy, TimedOut
from goodbot.agents.pages import NO_CONTACT
from goodbot.agents.rule_words import reason_text, verdict_json
from goodbot.agents.tool import ToolResult
from goodbot.exclusion import Access, Preferences, Verdict
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, parse_url

AI_INPUT: Final = "ai-input"
DISALLOWED: Final = "disallowed"
PRIVATE: Final = "private-address"
TROUBLE_CHARS: Final = 500
_SLASHES: Final = re.compile("(?:/|%2f)++", re.IGNORECASE)


def busy(url: Url, found: Busy) -> ToolResult:
    """Returns the result for a call that has to be repeated later."""
    text = f"Not fetched: {url}: {found.reason}. Call again in {found.retry_after_s} s."
    return ToolResult(text, {"outcome": "wait", "url": url.text, **busy_json(found)})


def busy_json(found: Busy) -> dict[str, object]:
    """Returns why a call has to be tried again, and when."""
    return {"reason": found.reason, "retry_after_s": found.retry_after_s}


def disallowed(asked: Url, verdict: Verdict, *, is_same_page: bool = False) -> ToolResult:
    """Returns the result for a URL that robots.txt disallows: `asked`, one to which it redirects, or (`is_same_page`)
    another spelling of it. If robots.txt is unreachable, returns the result for a failed call, since the
    rules are unknown."""
    if verdict.access == "unreachable":
        return failed(asked, verdict.url, None, verdict.reason)
    how = f"the same page as {asked}" if is_same_page else f"to which {asked} redirects"
    led = "" if verdict.url == asked.text else f" ({how})"
    return ToolResult(
        f"Not fetched: robots.txt disallows {verdict.url}{led} for {verdict.agent}: {reason_text(verdict)}",
        {"outcome": "disallowed", "url": asked.text, "final_url": verdict.url, "verdict": verdict_json(verdict)},
    )


def withheld(asked: Url, final_url: str, preferences: Preferences, verdict: Verdict) -> ToolResult:
    """Returns the result for a page whose content may not be used as input for AI."""
    reason = preferences.reasons[AI_INPUT]
    return ToolResult(
        f"Withheld: {final_url} may not be used as input for AI. {reason}",
        {
            "outcome": "withheld",
            "url": asked.text,
            "final_url": final_url,
            "reason": reason,
            "preferences": dict(preferences),
            "verdict": verdict_json(verdict),
        },
    )


def private(asked: Url, final_url: str) -> ToolResult:
    """Returns the result for a host with a private address that the operator has not allowed."""
    led = "" if final_url == asked.text else f" (to which {asked} redirects)"
    reason = (
        f"{final_url}{led} is at a private address. This server requests private addresses only for hosts that its "
        "operator allowed with --private-host"
    )
    return ToolResult(
        f"Refused: {reason}.", {"outcome": "refused", "url": asked.text, "final_url": final_url, "reason": reason}
    )


def no_contact(asked: Url, final_url: str) -> ToolResult:
    """Returns the result for a redirect to a public host, if no contact is set."""
    reason = f"{asked} redirects to {final_url}, which is public, and {NO_CONTACT}"
    return ToolResult(
        f"Refused: {reason}.", {"outcome": "refused", "url": asked.text, "final_url": final_url, "reason": reason}
    )


def timed_out(url: Url, found: TimedOut) -> ToolResult:
    """Returns the result for a call that got no complete response in its time."""
    return failed(url, url.text, None, found.reason)


def failed(asked: Url, final_url: str, status: int | None, trouble: str) -> ToolResult:
    """Returns the result for a call without a page: no response, an error status, a bot wall, an unreachable
    robots.txt."""
    reason = shown(trouble, TROUBLE_CHARS)
    return ToolResult(
        f"Failed: {final_url}: {reason}",
        {"outcome": "failed", "url": asked.text, "final_url": final_url, "status": status, "reason": reason},
    )


def refusal_of(url: Url, access: Access, token: str) -> ToolResult | None:
    """Returns the result if robots.txt alone says that the robot `token` gets no content of `url`, or of another
    spelling of it (`served_as`)."""
    if access.failure == PRIVATE:
        return private(url, url.text)
    for each in dict.fromkeys((url, served_as(url))):
        verdict = access.verdict(each.text, token)
        if not verdict.allowed:
            return disallowed(url, verdict, is_same_page=True)
        preferences = access.rules.preferences(each.text, token)
        if preferences[AI_INPUT] == DISALLOWED:
            return withheld(url, url.text, preferences, verdict)
    return None


def served_as(url: Url) -> Url:
    """Returns the URL whose page many servers answer with: they decode `%2F`, and read several slashes as one."""
    path, mark, query = url.target.partition("?")
    return parse_url(f"{url.origin}{_SLASHES.sub('/', path)}{mark}{query}") or url


def held_until(access: Access, verdict: Verdict) -> float | None:
    """Returns when robots.txt can be fetched, if it was put off because the host asks for a long delay."""
    is_held = access.failure == "held-off" and not verdict.allowed and verdict.rule is None
    return access.valid_until if is_held else None
