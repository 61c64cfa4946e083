"""Regular expressions that find a robot's name in a User-Agent, for servers: those of `registry.agent_words`, as near
as one expression can come.

Only letters, digits, dots and hyphens of a pattern's words get into the expression, and the rest of it has no quotation
mark, space, backquote, brace or percent sign. So every configuration language takes it between double quotes as it
stands. What follows a quantifier never begins with what that one matches, so matching takes linear time.

The expressions differ from `registry.agent_words` in rare User-Agents: they know ASCII letters only as parts of words;
whatever comes before `://` begins a URL; and a robot after `like` counts as compared only if a space, quotation mark,
parenthesis, comma or semicolon is between the two and no URL.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from goodbot.registry.agent_words import words_of

_JOINED: Final = r"a-z0-9.\-"
"""The characters of words, for a set."""

_NOT_AFTER: Final = r"(?![a-z0-9@])(?![.\-]+[a-z0-9])"
"""A word may not be the beginning of a longer one, nor the name of a mailbox."""

_NOT_AFTER_RE2: Final = r"(?:$|[^a-z0-9.\-@]|[.\-]+(?:$|[^a-z0-9.\-]))"

_COMPARED: Final = ("like", "following")
"""A robot that says it is like another one is not that one."""

Letter = Callable[[str], str]
"""Writes a letter that is not ASCII as an expression that matches it."""


# ---- what comes before a name ---------------------------------------------------------------------------------------


_ENDS: Final = r"\s\x27(),\x3b\x3c\x3e"
"""The characters that end a URL, as `agent_words` has them, for a set; without the quotation mark."""


@dataclass(frozen=True, slots=True)
class _Text:
    """Expressions for the characters of a User-Agent, as one notation writes them. `begin` is its first place,
    `anything` any beginning of it, `other_word` the last character of a word that compares nothing, `end` a character
    that ends a URL. `special` are the characters for a set, besides `_ENDS`, that end a URL or begin an escape.
    `escape` is any other character that is written as an escape."""

    begin: str
    anything: str
    other_word: str
    end: str = rf"[{_ENDS}\x22]"
    special: str = r"\x22"
    escape: str = ""

    def none_of(self, characters: str) -> str:
        """A character that is not one of these, nor one that ends a URL."""
        plain = f"[^{characters}{_ENDS}{self.special}]"
        return f"(?:{plain}|{self.escape})" if self.escape else plain

    @property
    def gap(self) -> str:
        """A character that belongs to no word."""
        return f"(?:{self.none_of('a-z0-9')}|{self.end})" if self.escape else "[^a-z0-9]"

    @property
    def between(self) -> str:
        """Between two words of a name: a character that does not join them, and more that belong to no word."""
        apart = f"(?:{self.none_of(_JOINED)}|{self.end})" if self.escape else f"[^{_JOINED}]"
        return f"{apart}{self.gap}*"

    @property
    def before_a_name(self) -> str:
        """Before a name: nothing but gaps; or a word that compares nothing, and a gap with an end; or, after the last
        end, a word and a gap without `://`, so that the name is not in a URL."""
        gaps = f"{self.none_of('a-z0-9')}*"
        no_url = f"(?:{self.none_of(':')}|:+/?{self.none_of(':/')})*"
        return (
            f"(?:{self.begin}{self.gap}*"
            f"|{self.anything}{self.other_word}{self.gap}*{self.end}{gaps}"
            f"|(?:{self.begin}|{self.anything}{self.end}){gaps}[a-z0-9]{no_url}"
            rf"(?:{self.none_of(f'{_JOINED}:')}|:+/?{self.none_of(f'{_JOINED}:/')}?)[.\-]*)"
        )


def _other_word(not_joined: str = "") -> str:
    """Returns an expression for the end of a word that compares nothing: it ends otherwise, or is longer. `not_joined`
    is what may come before a word, and looks as if it belonged to it."""
    longer = (
        rf"(?:(?<!{word})|(?<=[a-z0-9]{word}){f'(?<!{not_joined}{word})' if not_joined else ''}"
        rf"|(?<=[a-z0-9][.\-]{word}))"
        for word in _COMPARED
    )
    return f"[a-z0-9]{''.join(longer)}"


def _other_word_re2() -> str:
    """Returns `_other_word` without lookbehind. Its set has no last letter of a word in `_COMPARED`."""
    return f"(?:[a-dfh-z0-9]|{'|'.join(map(_unlike, _COMPARED))})"


def _unlike(word: str) -> str:
    """Returns an expression for the end of a word that has the last letter of this one and is another."""
    found = r"[a-z0-9][.\-]*"
    for letter in word[:-1]:
        found = f"(?:^|[^{letter}]|{found}{letter})"
    return f"{found}{word[-1]}"


_SENT: Final = _Text("^", "", _other_word())
_SENT_RE2: Final = _Text("^", "", _other_word_re2())
_LOGGED: Final = _Text(
    "",
    r"(?:[^\x22\\]|\\x[0-9a-f][0-9a-f]|\\[^x])*",
    _other_word(r"\\x[0-9a-f][0-9a-f]"),
    rf"(?:[{_ENDS}]|\\x09|\\x22|\\[t\x22])",
    r"\x22\\",
    r"\\x(?!09|22)[0-9a-f][0-9a-f]|\\[^tx\x22]",
)
r"""As nginx and Apache log it: a tab, a quotation mark, a backslash and bytes that are not ASCII are escaped."""


# ---- the name -------------------------------------------------------------------------------------------------------


def plain_letter(letter: str) -> str:
    """Writes a letter in both cases: servers compare bytes, and ignore the case of ASCII letters only."""
    forms = dict.fromkeys((letter, letter.upper()))
    return f"(?:{'|'.join(forms)})"


def logged_letter(letter: str) -> str:
    r"""Writes a letter as servers log it: `\xD0\xB9`, in both cases."""
    forms = dict.fromkeys((letter, letter.upper()))
    return f"(?:{'|'.join(map(_as_logged, forms))})"


def has_words(pattern: str) -> bool:
    """Whether a pattern has a word, so that there is an expression for it."""
    return bool(words_of(pattern.removeprefix("^")))


def name_regex(pattern: str) -> str:
    """Returns an expression for the words of a pattern, to be searched for without regard to the case of letters, for
    programs with lookbehind (PCRE, Python): whole words only, not within a URL, and not after `like` or `following`.
    That of a pattern with `^` matches at the start only. Empty if the pattern has no word."""
    return _bordered(pattern, plain_letter, _SENT, _NOT_AFTER)


def logged_name_regex(pattern: str) -> str:
    """Like `name_regex`, but for a User-Agent as servers log it, and it begins where the User-Agent does."""
    return _bordered(pattern, logged_letter, _LOGGED, _NOT_AFTER)


def re2_name_regex(pattern: str) -> str:
    """Like `name_regex`, but for RE2 (Caddy), which has no lookaround: the borders are part of the match."""
    found = _bordered(pattern, plain_letter, _SENT_RE2, _NOT_AFTER_RE2)
    return f"(?i){found}" if found else ""


def _bordered(pattern: str, letter: Letter, text: _Text, after: str) -> str:
    words = ["".join(_character(one, letter) for one in word) for word, _ in words_of(pattern.removeprefix("^"))]
    if not words:
        return ""
    before = text.begin if pattern.startswith("^") else text.before_a_name
    return f"{before}{text.between.join(words)}{after}"


def _character(one: str, letter: Letter) -> str:
    if one.isascii():
        return rf"\{one}" if one in ".-" else one
    return letter(one)


def _as_logged(text: str) -> str:
    return "".join(one if one.isascii() else rf"\\x{byte:02x}" for one in text for byte in one.encode())
