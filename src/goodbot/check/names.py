"""The values of User-agent lines: which robots they address, and which they seem to address."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from goodbot import registry
from goodbot.exclusion.text.product_token import first_name

EVERYONE: Final = "*"

_NAME: Final = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?!v[\d.]+$)[A-Za-z0-9](?:[\w.\-]{0,38}[\w\-])?\*?", re.ASCII)
"""Letters, digits, `_`, `-`, and dots between two of these, as product tokens are; at most 40 characters. A bare
version (`v1.2`) is not a name."""
_BETWEEN: Final = re.compile(r"(?<!\S)user-agent:|[\s|&+:=]+", re.IGNORECASE)
"""What separates robots' names, apart from commas and semicolons; and the field itself, written twice."""
_LINKS: Final = frozenset({"and", "or"})
_COMMAS: Final = re.compile("[,;，、；]")
_QUOTES: Final = str.maketrans(dict.fromkeys("\"'`()[]{}<>“”‘’«»", " "))
"""Quotes and brackets around names: a product token has none."""
_FLAGS: Final = re.compile(r"\s\[[A-Z0-9,=]+\]$")
"""Flags of a server's rewrite rule, copied with the name (`HTTrack [NC,OR]`)."""
_AROUND: Final = " \t-*$._\\#!"
"""Characters around a name that do not belong to it."""
ALL_ROBOTS: Final = frozenset({"all", "any", "everyone", "everybody", "all robots", "all bots", "any robot", "any bot"})
"""Written where `*` is meant."""
_VERSION: Final = re.compile(r"/[\w.]*$", re.ASCII)
_NUMBER: Final = re.compile(r"v?\d[\w.]*", re.ASCII | re.IGNORECASE)
"""A version after a space (`GPTBot 1.1`)."""
_ROBOT: Final = re.compile(r"\w[\w.\-]{0,32}(?:bot|spider|crawler)", re.ASCII | re.IGNORECASE)

NAMES_SHOWN: Final = 8


def counted(names: Sequence[str]) -> str:
    """`A, B and C`, at most `NAMES_SHOWN` of them by name."""
    few, more = list(names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    if more > 0:
        few.append(f"{more} more")
    return " and ".join(filter(None, (", ".join(few[:-1]), few[-1])))


@lru_cache(maxsize=4096)
def token_of(value: str) -> str:
    """The part of a User-agent value that RFC 9309 compares with a robot's token: lower case, `*` for all robots, empty
    if it addresses no robot."""
    return first_name(value).lower()


def is_like_a_robot(name: str) -> bool:
    """Whether a robot is known by that name, or the name ends as those of robots do."""
    return _ROBOT.fullmatch(name) is not None or _is_known(name)


@lru_cache(maxsize=4096)
def listed(value: str) -> tuple[str, ...]:
    """The names of robots, without versions and quotes, where a line holds several: separated by commas or semicolons;
    or by spaces, `|`, `&`, `+`, `:`, `=`, `and`, `or`, a second `User-agent:`, or `/` before a known robot, if each
    word looks like a robot's name or two are known. Nothing for one name, also if it has spaces (`Sogou web spider`).
    Linear."""
    if _is_known(value):
        return ()
    parts = [text for part in _COMMAS.split(_FLAGS.sub("", value).translate(_QUOTES)) if (text := _bare(part))]
    names = [name for part in parts for name in _names(part, alone=len(parts) == 1)]
    if "(" in value and sum(map(_is_known, names)) < 2:  # what a robot sends, with a comment in it
        return ()
    is_one_of_several = len(names) == 1 < len(parts) and "//" not in value and token_of(names[0]) != token_of(value)
    return tuple(names) if len(names) > 1 or is_one_of_several else ()


def _bare(text: str) -> str:
    """Without the characters around it that a name cannot have; `*` alone is all robots."""
    return EVERYONE if text.strip() == EVERYONE else text.strip(_AROUND)


def _names(text: str, *, alone: bool) -> list[str]:
    """The names of robots in one part, or in a value that is `alone`."""
    words = text.split()
    if len(words) > 1 and _NUMBER.fullmatch(words[-1]):
        words = words[:-1]
        text = " ".join(words)
    bare = _VERSION.sub("", text)
    if _is_known(text) or _is_known(bare):
        around = _around_slash(text)
        return around if len(around) > 1 else [bare]
    if bare == EVERYONE or _NAME.fullmatch(bare):
        return [bare.rstrip("*") or EVERYONE]
    if not alone and text.lower() in ALL_ROBOTS:
        return [EVERYONE]
    if not alone and (joined := spelt("".join(words))):
        return [joined]
    parts = [_bare(part) for word in _BETWEEN.split(text) if word.lower() not in _LINKS for part in _around_slash(word)]
    words = [part for part in parts if part and not _NUMBER.fullmatch(part)]
    robots = list(filter(is_like_a_robot, words))
    is_list = not alone or len(robots) == len(words) or sum(map(_is_known, robots)) > 1
    return robots if is_list else []


def _around_slash(word: str) -> list[str]:
    """Two names if a known robot follows the slash; else one, without its version."""
    first, _, second = word.partition("/")
    return [first, second] if _is_known(second) else [_VERSION.sub("", word)]


def spelt(name: str) -> str | None:
    """The name as the registry writes it; None if no robot has it."""
    robot = registry.find_token(name)
    if robot is None:
        return None
    names = (each for each in (robot.token, *robot.aliases, robot.name) if each)
    return next((each for each in names if each.lower() == name.strip().lower()), name)


def _is_known(name: str) -> bool:
    robot = registry.find_token(name)
    return robot is not None and robot.recorded
