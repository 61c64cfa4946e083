"""Says what robots.txt and a page state about a URL, as text for models and as JSON values. Pure."""

from collections.abc import Mapping

from goodbot.exclusion import Verdict
from goodbot.exclusion.text.shown_text import shown

AGENTS_SHOWN = 20
"""How many names of a group are given."""


def verdict_json(verdict: Verdict) -> dict[str, object]:
    """Returns a verdict as JSON, with the names that `goodbot allowed --json` uses."""
    group = {"line": verdict.group_line, "agents": [shown(name) for name in verdict.group_agents[:AGENTS_SHOWN]]}
    return {
        "url": verdict.url,
        "agent": verdict.agent,
        "allowed": verdict.allowed,
        "line": verdict.line,
        "rule": verdict.rule and shown(verdict.rule),
        "group": None if verdict.group_line is None else group,
        "section": verdict.section,
        "reason": verdict.reason,
        "access": verdict.access,
        "delay_s": verdict.delay_s,
    }


def verdict_text(verdict: Verdict) -> str:
    """Returns a verdict in one line."""
    word = "allowed" if verdict.allowed else "disallowed"
    delay = f" The site asks for {verdict.delay_s:g} s between requests." if verdict.delay_s else ""
    return f"{word} for {verdict.agent}: {verdict.url}: {reason_text(verdict)}{delay}"


def reason_text(verdict: Verdict) -> str:
    """Returns what decides, and the section of the standard."""
    return f"{verdict.reason} ({verdict.section})"


def lost_rules(verdict: Verdict) -> list[dict[str, object]]:
    """Returns the rules that also match the URL, but are overridden."""
    return [{"line": rule.line, "rule": shown(str(rule))} for rule in verdict.lost]


def preferences_text(preferences: Mapping[str, str]) -> str:
    """Returns what the content may be used for, in one line."""
    return "Uses of the content: " + ", ".join(f"{use}: {value}" for use, value in preferences.items())
