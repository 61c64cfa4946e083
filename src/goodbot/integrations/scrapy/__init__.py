"""Scrapy with goodbot: a parser of robots.txt, a scheduler that keeps its requests when the process is killed, and
good manners.

`Addon` turns on everything; the other classes are for Scrapy's settings. They are loaded on first use, because a
project may need only one of them. Loading one needs Scrapy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodbot.integrations.scrapy.addon import Addon
    from goodbot.integrations.scrapy.manners import Manners
    from goodbot.integrations.scrapy.private_addresses import Resolver
    from goodbot.integrations.scrapy.robots import GoodbotParser, RobotsTxtMiddleware
    from goodbot.integrations.scrapy.scheduler import Scheduler

__all__ = ["Addon", "GoodbotParser", "Manners", "Resolver", "RobotsTxtMiddleware", "Scheduler"]

_HOME = {
    "Addon": "addon",
    "GoodbotParser": "robots",
    "Manners": "manners",
    "Resolver": "private_addresses",
    "RobotsTxtMiddleware": "robots",
    "Scheduler": "scheduler",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
