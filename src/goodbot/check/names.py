"""Reads the values of User-agent lines: which robots they match, and which their author seems to mean."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from goodbot import registry
from goodbot.exclusion.text.product_token import first_name

EVERYONE: Final = "*"

_NAME: Final = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?!v[\d.]+$)[A-Za-z0-9](?:[\w.\-]{0,38}[\w\-])?\*?", re.ASCII)
"""A product token: letters, digits, `_`, `-`, and dots between two of these; at most 40 characters. A bare version
(`v1.2`) is not a name."""
_SEPARATOR: Final = re.compile(r"(?<!\S)user-agent:|[\s|&+:=]+", re.IGNORECASE)
"""What separates names besides commas and semicolons; also the field name, if it is repeated in the value."""
_CONJUNCTIONS: Final = frozenset({"and", "or"})
_COMMAS: Final = re.compile("[,;，、；]")
_QUOTES: Final = str.maketrans(dict.fromkeys("\"'`()[]{}<>“”‘’«»", " "))
"""Quotes and brackets, which are not part of a product token."""
_FLAGS: Final = re.compile(r"\s\[[A-Z0-9,=]+\]$")
"""Flags of a server's rewrite rule that were copied with the name (`HTTrack [NC,OR]`)."""
_AROUND: Final = " \t-*$._\\#!"
"""Characters that are stripped from both ends of a name."""
ALL_ROBOTS: Final = frozenset({"all", "any", "everyone", "everybody", "all robots", "all bots", "any robot", "any bot"})
"""Values that authors write instead of `*`."""
_VERSION: Final = re.compile(r"/[\w.]*$", re.ASCII)
_NUMBER: Final = re.compile(r"v?\d[\w.]*", re.ASCII | re.IGNORECASE)
"""A version after a space (`GPTBot 1.1`)."""
_ROBOT: Final = re.compile(r"\w[\w.\-]{0,32}(?:bot|spider|crawler)", re.ASCII | re.IGNORECASE)

NAMES_SHOWN: Final = 8


def joined_names(names: Sequence[str]) -> str:
    """Returns `A, B and C`, or with more than `NAMES_SHOWN` names `A, B, … and 3 more`."""
    few, more = list(names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    if more > 0:
        few.append(f"{more} more")
    return " and ".join(filter(None, (", ".join(few[:-1]), few[-1])))


@lru_cache(maxsize=4096)
def token_of(value: str) -> str:
    """Returns the part of a User-agent value that RFC 9309 compares with a robot's token, in lower case: `*` for all
    robots, empty if it matches no robot."""
    return first_name(value).lower()


def looks_like_robot(name: str) -> bool:
    """Returns whether a known robot has this name, or the name ends as names of robots do."""
    return _ROBOT.fullmatch(name) is not None or _is_known(name)


@lru_cache(maxsize=4096)
def split_names(value: str) -> tuple[str, ...]:
    """Splits a value with several names of robots into these names, without versions and quotes; returns nothing for a
    single name, even if it contains spaces (`Sogou web spider`).

    Names are separated by commas or semicolons. Spaces, `|`, `&`, `+`, `:`, `=`, `and`, `or`, a second `User-agent:`,
    and `/` before a known robot separate them too, if each word looks like a robot's name or two are known. Linear.
    """
    if _is_known(value):
        return ()
    parts = [text for part in _COMMAS.split(_FLAGS.sub("", value).translate(_QUOTES)) if (text := _bare(part))]
    names = [name for part in parts for name in _names(part, alone=len(parts) == 1)]
    if "(" in value and sum(map(_is_known, names)) < 2:  # a whole User-Agent value with a comment
        return ()
    is_one_of_several = len(names) == 1 < len(parts) and "//" not in value and token_of(names[0]) != token_of(value)
    return tuple(names) if len(names) > 1 or is_one_of_several else ()


def _bare(text: str) -> str:
    """Strips the characters that a name cannot begin or end with; `*` alone stays."""
    return EVERYONE if text.strip() == EVERYONE else text.strip(_AROUND)


def _names(text: str, *, alone: bool) -> list[str]:
    """Returns the names of robots in one part of a value, or in the whole value (`alone`)."""
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
    if not alone and (joined := spelling_of("".join(words))):
        return [joined]
    parts = [
        _bare(part)
        for word in _SEPARATOR.split(text)
        if word.lower() not in _CONJUNCTIONS
        for part in _around_slash(word)
    ]
    words = [part for part in parts if part and not _NUMBER.fullmatch(part)]
    robots = list(filter(looks_like_robot, words))
    is_list = not alone or len(robots) == len(words) or sum(map(_is_known, robots)) > 1
    return robots if is_list else []


def _around_slash(word: str) -> list[str]:
    """Returns two names if a known robot follows the slash, else one name without its version."""
    first, _, second = word.partition("/")
    return [first, second] if _is_known(second) else [_VERSION.sub("", word)]


def spelling_of(name: str) -> str | None:
    """Returns the name as the registry spells it; None if no robot has it."""
    robot = registry.find_token(name)
    if robot is None:
        return None
    names = (each for each in (robot.token, *robot.aliases, robot.name) if each)
    return next((each for each in names if each.lower() == name.strip().lower()), name)


def _is_known(name: str) -> bool:
    robot = registry.find_token(name)
    return robot is not None and robot.recorded
