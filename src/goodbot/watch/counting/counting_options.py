"""What is counted."""

from collections.abc import Callable
from dataclasses import dataclass

from goodbot.watch.formats.line_format import LineFormat


@dataclass(frozen=True, slots=True)
class CountingOptions:
    """Which requests count, and how their lines are read."""

    since: int | None = None
    """Unix seconds: requests before it are left out."""
    until: int | None = None
    """Unix seconds: requests at or after it are left out."""
    pattern: LineFormat | None = None
    """The format of every line, if the user gives one."""
    client_of: Callable[[str, str], str] | None = None
    """With `--real-ip`: returns the client's address from the address and the text of X-Forwarded-For."""
