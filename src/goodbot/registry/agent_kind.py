"""Says by the words of a User-Agent what kind of program sends it, if no record is known for it."""

import re
from typing import Final

_READ: Final = 512
"""Characters of a User-Agent that are read."""

_ROBOT: Final = re.compile(
    r"\+https?://|\w@\w|\b(?!cubot\b)[a-z0-9]*bot\b|(?:crawler|spider)\b", re.IGNORECASE | re.ASCII
)
"""The name of a robot, or a URL or mail address to reach who runs it. Cubot makes telephones."""

_TELEPHONE: Final = re.compile(r"\bAndroid [0-9.]+;(?:(?!compatible|https?:)[^()+@])*\)", re.IGNORECASE | re.ASCII)
"""The model of a telephone, where browsers put it; robots that imitate browsers put their names elsewhere."""

_APP: Final = re.compile(r"CFNetwork/|^Dalvik/|^Dart/|Cronet/", re.ASCII)
"""What the systems of telephones call apps that do not choose a name."""

_BROWSER: Final = re.compile(
    r"Firefox|Chrome|Safari|MSIE|Opera|Midori|Lynx|Links|w3m|Konqueror|Browser|UP\.Link", re.IGNORECASE | re.ASCII
)
"""Browsers that do not begin their User-Agent with `Mozilla/`."""


def names_a_robot(user_agent: str) -> bool:
    """Whether it looks like a robot's: a name with `bot`, `crawler` or `spider`, or a way to reach the operator. The
    name of a telephone (`Spider X1`) does not count."""
    return _ROBOT.search(_TELEPHONE.sub(" ", user_agent[:_READ])) is not None


def names_an_app(user_agent: str) -> bool:
    """Whether an app of a telephone sends it, with a name that the system chose."""
    return _APP.search(user_agent[:_READ]) is not None


def names_a_browser(user_agent: str) -> bool:
    """Whether the name of a browser is somewhere in it."""
    return _BROWSER.search(user_agent[:_READ]) is not None


def begins_as_browser(user_agent: str) -> bool:
    """Whether it begins as those of browsers do; some robots and programs begin theirs the same way."""
    return user_agent.startswith(("Mozilla/", "Opera/"))
