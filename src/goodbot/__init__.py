"""goodbot: the Web robot that both sides can trust.

The public names, chosen by hand. They are loaded on first use, so that `import goodbot.exclusion` needs nothing but the
standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodbot.exclusion import Access, Directives, RobotsTxt, Verdict, format_robotstxt

__all__ = ["Access", "Directives", "RobotsTxt", "Verdict", "format_robotstxt"]

_HOME = dict.fromkeys(__all__, "goodbot.exclusion")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'goodbot' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
