"""What is counted."""

from collections.abc import Callable
from dataclasses import dataclass

from goodbot.registry.signed_request import KeyDirectory
from goodbot.watch.formats.line_format import LineFormat
from goodbot.watch.obedience.nofollow_pages import NofollowPages
from goodbot.watch.obedience.rules_in_force import RulesInForce


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
    rules: RulesInForce | None = None
    """With `--robots`: the robots.txt by which requests are judged."""
    host: str | None = None
    """The host of the site whose robots.txt that is (`host_name`): requests to others are not judged."""
    is_counted_on: bool = False
    """Whether more will be counted later, when more copies of robots.txt may be known."""
    nofollow: NofollowPages | None = None
    """With the history of pages: those whose links robots may not follow."""
    keys: tuple[KeyDirectory, ...] = ()
    """With `--keys`: the keys by which signed requests are verified."""
