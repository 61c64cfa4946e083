"""goodbot: the Web robot that both sides can trust.

The public names, chosen by hand. They are loaded on first use, so that `import goodbot.exclusion` needs nothing but the
standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodbot.api import Robot
    from goodbot.api import crawl as crawl
    from goodbot.exclusion import Access, Directives, Preferences, RobotRules, RobotsTxt, TdmRules, Verdict
    from goodbot.exclusion import format_robotstxt as format_robotstxt
    from goodbot.page.select import Element
    from goodbot.page.webpage import WebPage
    from goodbot.robot.client.answer import Answer
    from goodbot.robot.client.blocking import BlockingClient
    from goodbot.robot.client.reading import Reading

__all__ = [
    "Access",
    "Answer",
    "BlockingClient",
    "Directives",
    "Element",
    "Preferences",
    "Reading",
    "Robot",
    "RobotRules",
    "RobotsTxt",
    "TdmRules",
    "Verdict",
    "WebPage",
    "crawl",
    "format_robotstxt",
]

_HOME = dict.fromkeys(__all__, "goodbot.exclusion") | {
    "Answer": "goodbot.robot.client.answer",
    "BlockingClient": "goodbot.robot.client.blocking",
    "Element": "goodbot.page.select",
    "Reading": "goodbot.robot.client.reading",
    "Robot": "goodbot.api",
    "WebPage": "goodbot.page.webpage",
    "crawl": "goodbot.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'goodbot' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
