"""Makes the results of calls that give no content: closed, withheld, private, to be made again later."""

from typing import Final

from goodbot.agents.call_limits import Busy
from goodbot.agents.rule_words import verdict_json, verdict_text
from goodbot.agents.tool import ToolResult
from goodbot.exclusion import Access, Preferences, Verdict
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url

AI_INPUT: Final = "ai-input"
DISALLOWED: Final = "disallowed"
PRIVATE: Final = "private-address"
TROUBLE_CHARS: Final = 500


def busy(url: Url, found: Busy) -> ToolResult:
    """The host, or this server, has too much to do now."""
    text = f"Not fetched: {url}: {found.reason}. Call again in {found.retry_after_s} s."
    return ToolResult(text, {"outcome": "wait", "url": url.text, **busy_json(found)})


def busy_json(found: Busy) -> dict[str, object]:
    """Returns why a call has to be made again."""
    return {"reason": found.reason, "retry_after_s": found.retry_after_s}


def closed(asked: Url, verdict: Verdict) -> ToolResult:
    """robots.txt closes the page. The verdict is about the URL that was to be requested last."""
    led = "" if verdict.url == asked.text else f" It was reached from {asked}."
    return ToolResult(
        f"Closed by robots.txt, so it was not fetched: {verdict_text(verdict)}{led}",
        {"outcome": "closed", "url": asked.text, "final_url": verdict.url, "verdict": verdict_json(verdict)},
    )


def withheld(asked: Url, final_url: str, preferences: Preferences, verdict: Verdict) -> ToolResult:
    """The site, or the page, does not allow its content to be given to AI systems."""
    reason = preferences.reasons[AI_INPUT]
    return ToolResult(
        f"Withheld: {final_url} may not be used as input for AI, so its content is not given here. {reason}",
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
    """The host has a private address, which this server does not request."""
    led = "" if final_url == asked.text else f", to which {asked} leads"
    reason = f"{final_url}{led} has a private address, and this server requests only public ones"
    return ToolResult(
        f"Refused: {reason}.", {"outcome": "refused", "url": asked.text, "final_url": final_url, "reason": reason}
    )


def failed(asked: Url, final_url: str, status: int | None, trouble: str) -> ToolResult:
    """There is no page: no answer, an error, a bot wall."""
    reason = shown(trouble, TROUBLE_CHARS)
    return ToolResult(
        f"Failed: {final_url}: {reason}",
        {"outcome": "failed", "url": asked.text, "final_url": final_url, "status": status, "reason": reason},
    )


def refusal_of(url: Url, access: Access, token: str) -> ToolResult | None:
    """Returns the result if robots.txt alone says that the robot `token` gets no content of `url`."""
    verdict = access.verdict(url.text, token)
    if not verdict.allowed:
        return private(url, url.text) if access.failure == PRIVATE else closed(url, verdict)
    preferences = access.rules.preferences(url.text, token)
    return withheld(url, url.text, preferences, verdict) if preferences[AI_INPUT] == DISALLOWED else None


def held_until(access: Access, verdict: Verdict) -> float | None:
    """Returns when robots.txt can be fetched, if it was put off because the host wants a long delay."""
    is_held = access.failure == "held-off" and not verdict.allowed and verdict.rule is None
    return access.valid_until if is_held else None
