"""Regular expressions for the User-Agent: names of robots, names in groups, and what `registry.agent_kind` looks for.

Each is to be searched for without regard to the case of letters. None has lookaround but those of `name_regex`, so
PCRE and RE2 read the others alike.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from goodbot.gate.export.notation import Notation
from goodbot.registry.agent_kind import names_a_robot
from goodbot.registry.agent_words import words_of

MOST_NAMES_OCTETS: Final = 2400
"""The names in one expression; with what surrounds them it stays below what nginx reads."""

_PROBE: Final = "zzzz"
"""A name that has nothing in common with the expression around it."""

HAS_ROBOT_WORD: Final = (
    r"(?:\b(?:[abd-z0-9][a-z0-9]|c[a-tv-z0-9]|[a-z0-9]?|[a-z0-9][a-z0-9][a-z0-9]+)bots?[0-9]*\b"
    r"|(?:crawler|spider|scraper)s?[0-9]*\b)"
)
"""A word in the names of robots. The words before `bot` are all but `cu`: Cubot makes telephones."""

HAS_CONTACT: Final = r"(?:\+https?://|[a-z0-9_]@[a-z0-9_])"

LOOKS_LIKE_A_ROBOT: Final = f"(?:{HAS_CONTACT}|{HAS_ROBOT_WORD})"
"""What `names_a_robot` finds, but for telephones."""

HAS_FEED_WORD: Final = r"(?:feed|podcast|podder|\bnews\b|\brss|rss\b)"
"""A word in the names of feed readers: if none of `HAS_ROBOT_WORD` is there, they are not robots."""

LOOKS_LIKE_A_TELEPHONE: Final = (
    r"^Mozilla/5\.0\s\(Linux\x3b\s(?:U\x3b\s)?Android\s[0-9.]+\x3b(?:\s[a-z][a-z]-[a-z][a-z]\x3b)?[^()+@:\x3b]*"
    r"(?:\x3b\swv)?\)(?:[\s/.,()0-9]|AppleWebKit|KHTML|like|Gecko|Version|Chrome|Mobile|Safari|SamsungBrowser|Firefox"
    r"|EdgA|OPR)*$"
)
"""A browser on Android whose words are those of browsers, but for the model of the telephone, which may be called
`Spider X1`. RE2 cannot express all that `names_a_robot` knows about telephones."""

LOOKS_LIKE_A_BROWSER: Final = (
    r"(?:(?-i:^(?:Mozilla|Opera)/|CFNetwork/|^Dalvik/|^Dart/|Cronet/)"
    r"|firefox|chrome|safari|msie|opera|midori|lynx|links|w3m|konqueror|browser|up\.link)"
)
"""What `begins_as_browser`, `names_a_browser` and `names_an_app` find."""

FEED_READER: Final = f"(?:{HAS_FEED_WORD}.*{HAS_CONTACT}|{HAS_CONTACT}.*{HAS_FEED_WORD})"
"""A feed reader that says how its operator can be reached; those that do not never look like robots."""

_BEFORE_TOKEN: Final = r"(?:^|[^a-z0-9_.\-])[0-9_.\-]*"
_AFTER_TOKEN: Final = r"(?:$|[^a-z0-9_.\-]|\.+(?:$|[^a-z0-9_.\-]))"


def names_regexes(patterns: Iterable[str], notation: Notation) -> list[str]:
    """Returns expressions that find any of these names (see `KnownRobot.patterns`): as few as the longest parameter
    that servers read permits. What surrounds the names is written once."""
    before, _, after = notation.name_regex(_PROBE).partition(_PROBE)
    within: list[str] = []
    alone: list[str] = []
    for pattern in patterns:
        regex = notation.name_regex(pattern)
        if regex.startswith(before) and regex.endswith(after):
            within.append(regex[len(before) : len(regex) - len(after)])
        elif regex:
            alone.append(regex)
    return [f"{before}{one}{after}" for one in _choices(within)] + alone


def words_regexes(patterns: Iterable[str], notation: Notation) -> list[str]:
    """Returns short expressions that find the first word of each name anywhere, and octets beyond ASCII. A User-Agent
    in which they find nothing has none of the names: to find that out takes a fraction of the time."""
    words = dict.fromkeys(words_of(pattern.removeprefix("^"))[0][0] for pattern in patterns)
    plain = [re.escape(word) for word in words if word.isascii()]
    before, after = f"{notation.ignoring_case}(?:^|[^a-z0-9])", "(?:[^a-z0-9]|$)"
    return [*(f"{before}{choice}{after}" for choice in _choices(plain)), r"[^\x00-\x7f]"]


def tokens_regexes(tokens: Sequence[str], notation: Notation, *, robots_only: bool) -> list[str]:
    """Returns expressions that find any of these product tokens as a word. `robots_only`: only in a User-Agent that
    looks like a robot's, which a token itself may make it."""
    found = []
    for sure in (True, False) if robots_only else (True,):
        some = [token for token in tokens if not robots_only or names_a_robot(token) == sure]
        for choice in _choices([re.escape(token.lower()) for token in some]):
            regex = f"{_BEFORE_TOKEN}{choice}{_AFTER_TOKEN}"
            if not sure:
                regex = f"(?:{LOOKS_LIKE_A_ROBOT}.*{regex}|{regex}.*{LOOKS_LIKE_A_ROBOT})"
            found.append(notation.ignoring_case + regex)
    return found


def _choices(regexes: Sequence[str]) -> Iterator[str]:
    """Yields expressions for any of some expressions, each at most `MOST_NAMES_OCTETS` long if they are shorter."""
    some: list[str] = []
    for regex in regexes:
        if some and sum(map(len, some)) + len(some) + len(regex) > MOST_NAMES_OCTETS // 2:
            yield _choice(some)
            some = []
        some.append(regex)
    if some:
        yield _choice(some)


def _choice(regexes: Sequence[str]) -> str:
    return regexes[0] if len(regexes) == 1 else f"(?:{'|'.join(regexes)})"
