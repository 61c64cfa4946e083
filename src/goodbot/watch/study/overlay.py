"""Lays a few rules over a site's own robots.txt. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from goodbot.errors import InputError
from goodbot.exclusion import Record, RobotsTxt
from goodbot.exclusion.text.decimals import seconds_text

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_OF_THE_FILE: Final = frozenset(("sitemap", "host", "clean-param", "license"))
"""Records that count for the whole file, wherever they are."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Rules in addition to those that a site has. `agents` are product tokens, or `*`: every robot that the site's own
    file does not name."""

    agents: tuple[str, ...] = ("*",)
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None


def laid_over(base: str, overlay: Overlay) -> str:
    """Returns the text of a robots.txt with the rules of both.

    Each agent gets a group before the first one of `base`, with a copy of what `base` says to it: so the result is the
    same for robots that merge groups (RFC 9309 §2.2.1) and for those that read the first one only. Raises InputError
    if `base` asks an agent for a longer Crawl-delay: the longer one would count.
    """
    if not overlay.disallow and overlay.crawl_delay is None:
        return base
    rules = RobotsTxt.parse(base)
    groups = "\n".join(_group(rules, agent, overlay) for agent in dict.fromkeys(overlay.agents))
    first = min((line for group in rules.groups for line in group.lines), default=None)
    if first is None:
        return f"{_ended(base)}\n{groups}" if base.strip() else groups
    lines = _LINE.findall(base)
    return f"{''.join(lines[: first - 1])}{groups}\n{''.join(lines[first - 1 :])}"


def _group(rules: RobotsTxt, agent: str, overlay: Overlay) -> str:
    lines = [f"User-agent: {agent}"]
    lines += [f"{field.capitalize()}: {value}" for field, value in _kept(rules.matcher(agent).records(), overlay)]
    lines += [f"Disallow: {path}" for path in overlay.disallow]
    if overlay.crawl_delay is not None:
        asked = rules.crawl_delay(agent)
        if asked is not None and asked > overlay.crawl_delay:
            raise InputError(
                f"crawl_delay must be {asked:g} or more: the base asks {agent} for a Crawl-delay of "
                f"{seconds_text(asked)}, and the longest one counts"
            )
        lines.append(f"Crawl-delay: {overlay.crawl_delay:g}")
    return "\n".join(lines) + "\n"


def _kept(records: Iterator[Record], overlay: Overlay) -> Iterator[tuple[str, str]]:
    left_out = _OF_THE_FILE | ({"crawl-delay"} if overlay.crawl_delay is not None else set())
    return ((field, value) for _, field, value in records if field not in left_out)


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def is_path(text: str) -> bool:
    """Whether a text can be the path of a rule: it begins with `/` or `*`, and has no space, `#` or invisible
    character."""
    return text.startswith(("/", "*")) and text.isprintable() and " " not in text and "#" not in text


def is_agent(text: str) -> bool:
    """Whether a text can be a product token of a group, or is `*`."""
    return text == "*" or re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", text) is not None
