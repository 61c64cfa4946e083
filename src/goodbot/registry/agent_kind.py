"""Says by the words of a User-Agent what kind of program sends it, if no record is known for it."""

import re
from typing import Final

_READ: Final = 512
"""Characters of a User-Agent that are read."""

_ROBOT_WORD: Final = re.compile(
    r"\b(?!cubots?[0-9]*\b)[a-z0-9]*bots?[0-9]*\b|(?:crawler|spider|scraper)s?[0-9]*\b", re.IGNORECASE | re.ASCII
)
"""A word in the names of robots. Cubot makes telephones."""

_CONTACT: Final = re.compile(r"\+https?://|\w@\w", re.IGNORECASE | re.ASCII)
"""A URL or mail address by which the operator can be reached: only robots and feed readers name one."""

_FEED_WORD: Final = re.compile(r"feed|podcast|podder|\bnews\b|\brss|rss\b", re.IGNORECASE | re.ASCII)
"""A word in the names of programs that fetch the feeds which people subscribe to."""

_TELEPHONE: Final = re.compile(r"\bAndroid [0-9.]+;(?:(?!compatible|https?:)[^()+@])*\)", re.IGNORECASE | re.ASCII)
"""The model of a telephone, where browsers put it; robots that imitate browsers put their names elsewhere."""

_APP: Final = re.compile(r"CFNetwork/|^Dalvik/|^Dart/|Cronet/", re.ASCII)
"""What the systems of telephones call apps that do not choose a name."""

_BROWSER: Final = re.compile(
    r"Firefox|Chrome|Safari|MSIE|Opera|Midori|Lynx|Links|w3m|Konqueror|Browser|UP\.Link", re.IGNORECASE | re.ASCII
)
"""Browsers that do not begin their User-Agent with `Mozilla/`."""


def names_a_robot(user_agent: str) -> bool:
    """Whether it looks like a robot's: a name with `bot`, `crawler` or the like, or a way to reach the operator. The
    name of a telephone (`Spider X1`) does not count."""
    text = _TELEPHONE.sub(" ", user_agent[:_READ])
    return _ROBOT_WORD.search(text) is not None or _CONTACT.search(text) is not None


def names_a_feed_reader(user_agent: str) -> bool:
    """Whether it looks like a feed reader's or podcast app's, and contains no word in the names of robots."""
    text = _TELEPHONE.sub(" ", user_agent[:_READ])
    return _FEED_WORD.search(text) is not None and _ROBOT_WORD.search(text) is None


def names_an_app(user_agent: str) -> bool:
    """Whether an app of a telephone sends it, with a name that the system chose."""
    return _APP.search(user_agent[:_READ]) is not None


def names_a_browser(user_agent: str) -> bool:
    """Whether the name of a browser is somewhere in it."""
    return _BROWSER.search(user_agent[:_READ]) is not None


def begins_as_browser(user_agent: str) -> bool:
    """Whether it begins as those of browsers do; some robots and programs begin theirs the same way."""
    return user_agent.startswith(("Mozilla/", "Opera/"))
