"""Finds robots that goodbot has no record of, by the patterns of crawler-user-agents (MIT).

These patterns are regular expressions without word boundaries. Here a pattern that begins with a letter or digit
matches only at the beginning of a word, so that `bot` does not match `Cubot`, and is tried only where its first letters
occur: this takes 15 µs for a browser's User-Agent, trying all 1,504 patterns takes 190 µs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from goodbot.registry.robot import KnownRobot, Purpose

SOURCE: Final = "https://github.com/monperrus/crawler-user-agents"

_PURPOSES: Final[dict[str, Purpose]] = {
    "search-engine": "search",
    "ai-crawler": "ai",
    "social-preview": "preview",
    "feed-reader": "feed",
    "archiver": "archive",
    "advertising": "ads",
    "monitoring": "monitoring",
    "scanner": "scanner",
    "academic": "research",
    "http-library": "tool",
    "browser-automation": "tool",
}
"""The tags of crawler-user-agents. `seo` is left out: it is used for everything that fits no other tag."""

_LITERAL: Final = re.compile(r"(?:[^\W_]|\\?[ /_.\-])*")
_ESCAPE: Final = re.compile(r"\\(.)")
_PRODUCT: Final = re.compile(r"[^\s/;()][^/;()]*")
_START: Final = re.compile(r"(?<![^\W_])[^\W_]")
_HEAD_CHARS: Final = 3
_UNIT: Final = re.compile(r"\[([A-Za-z]+)\]|\\([^A-Za-z0-9])|([^\W_]|[ /_!@:,;\-])")
"""One character of a pattern: one of several, escaped, or plain."""

ALSO_BROWSERS: Final = frozenset(
    {
        *(
            "MetaIAB Facebook",
            "Sogou",
            r"Tumblr\/",
            "Viber",
            "WhatsApp",
            "Feedly",
            r"Bluesky\/",
            r"PayPal\/",
            "Goodreads",
        ),
        *(
            r"Instapaper\/",
            r"PocketCasts\/",
            r"Notion\/",
            r"Asana\/",
            r"Grammarly\/",
            r"Code\/1\.",
            r"Trae\/",
            "NextCloud",
        ),
        *(r"Valve\/Steam", "DMBrowser", "Fluid", "AppInsights", r"AP3A\.240617\.008", "Yeti", "Sonic", "speedy"),
        *(r"RED\/", r"Make\/"),
    }
)
"""Patterns that are not used because they also match people: the browser inside an app, a desktop program, the name or
build of a phone. If a robot uses such a word too, a record of our own identifies it."""


class CrawlerUserAgents:
    """The patterns, grouped by the letters they begin with."""

    def __init__(self, entries: list[dict[str, Any]], year: int) -> None:
        self._heads: dict[str, list[tuple[str, KnownRobot]]] = defaultdict(list)
        self._without_head: list[tuple[str, KnownRobot]] = []
        self.by_name: dict[str, KnownRobot] = {}
        for entry in entries:
            pattern = entry["pattern"]
            if pattern in ALSO_BROWSERS:
                continue
            for part in _parts(pattern):
                robot = _robot(entry, part, year)
                self.by_name.setdefault(robot.name.lower(), robot)
                heads = _heads(part)
                for head in heads:
                    self._heads[head].append((part, robot))
                if not heads:
                    self._without_head.append((part, robot))

    def find(self, text: str) -> KnownRobot | None:
        """Returns the robot whose pattern matches first; if none does, one whose pattern has no fixed first letters."""
        for place in _START.finditer(text):
            for pattern, robot in self._heads.get(text[place.start() : place.start() + _HEAD_CHARS], ()):
                if _compiled(pattern).match(text, place.start()):
                    return robot
        return next((robot for pattern, robot in self._without_head if _compiled(pattern).search(text)), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern when it is first tried. Most never are; to compile them all takes 20 ms."""
    return re.compile(pattern)


@cache
def load_crawler_user_agents() -> CrawlerUserAgents:
    """Loads the patterns once; this takes about 20 ms."""
    from crawleruseragents import CRAWLER_USER_AGENTS_DATA  # noqa: PLC0415  (half a megabyte of JSON)

    return CrawlerUserAgents(CRAWLER_USER_AGENTS_DATA, year=2026)


def _parts(pattern: str) -> list[str]:
    """Splits a plain choice (`a|b`), and drops a leading space or `(^| )`, because patterns begin a word anyway."""
    pattern = pattern.removeprefix("(^| )").lstrip(" ")
    return [pattern] if "(" in pattern else pattern.split("|")


def _heads(pattern: str) -> list[str]:
    """Returns the possible first letters of a pattern; empty if they are not fixed or do not begin a word."""
    heads, place = [""], len(pattern) - len(pattern.removeprefix("^"))
    while len(heads[0]) < _HEAD_CHARS:
        unit = _UNIT.match(pattern, place)
        if unit is None or pattern[unit.end() : unit.end() + 1] in {"?", "*", "+", "{"}:
            return []
        letters = unit[1] or unit[2] or unit[3]
        heads = [head + letter for head in heads for letter in letters]
        place = unit.end()
    return heads if all(head[0].isalnum() for head in heads) else []


def _name(pattern: str, instances: Iterable[str]) -> str:
    """Returns the text a pattern matches; if it leaves letters open, its match in an example, up to the version."""
    literal = _LITERAL.match(pattern.removeprefix("^"))
    text = _ESCAPE.sub(r"\1", literal[0] if literal else "")
    if not literal or literal.end() < len(pattern.removeprefix("^")):
        found = next(filter(None, (re.search(pattern, instance) for instance in instances)), None)
        product = _PRODUCT.search(found[0].removeprefix("https://")) if found else None
        text = product[0] if product else text
    return text.strip(" /-_.") or pattern


def _robot(entry: dict[str, Any], pattern: str, year: int) -> KnownRobot:
    purpose: Purpose = next((_PURPOSES[tag] for tag in entry["tags"] if tag in _PURPOSES), "other")
    return KnownRobot(
        name=_name(pattern, entry["instances"]),
        operator=None,
        purpose=purpose,
        example=entry["instances"][0] if entry["instances"] else None,
        documentation=entry.get("url") or None,
        looked_up=year,
        source=SOURCE,
        recorded=False,
    )
