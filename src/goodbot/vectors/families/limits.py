"""Large files and hard patterns: RFC 9309 2.5 lets no parser stop before 500 KiB."""

from collections.abc import Iterator
from typing import Final

from goodbot.vectors.case import TODAY, Case, case, expect

LIMIT_OCTETS: Final = 500 * 1024

_LAST: Final = "Disallow: /x\n"


def limit_cases() -> Iterator[Case]:
    """Yields all cases about size."""
    yield from _whole_limit()
    yield from _many()
    yield from _many_stars()


def _whole_limit() -> Iterator[Case]:
    """Files of exactly 500 KiB whose last line is a rule."""
    begin = "User-agent: *\n"
    for filler, note in (("# " + "-" * 77 + "\n", "comments"), ("Allow: /open/page.html\n", "rules")):
        room = LIMIT_OCTETS - len(begin) - len(_LAST)
        text = begin + filler * (room // len(filler)) + "#" * (room % len(filler) - 1) + "\n" + _LAST
        for path, allowed in (("/x", False), ("/y", True)):
            expected = expect("limits", allowed, TODAY)
            yield case("limit", text, path, expected, f"500 KiB, mostly {note}; the last line is a rule")


def _many() -> Iterator[Case]:
    rules = "User-agent: *\n" + "".join(f"Disallow: /{number}/\n" for number in range(2_000)) + _LAST
    groups = "".join(f"User-agent: bot-{_letters(number)}\nDisallow: /\n\n" for number in range(1_000))
    names = "".join(f"User-agent: bot-{_letters(number)}\n" for number in range(1_000))
    for text, note in (
        (rules, "2,000 rules before"),
        (groups + "User-agent: *\n" + _LAST, "1,000 groups before"),
        (names + "User-agent: *\n" + _LAST, "1,000 names of one group"),
        (f"User-agent: *\nDisallow: /{'y' * 8_000}\n{_LAST}", "a rule of 8,000 octets before"),
        (f"User-agent: *\n# {'y' * 20_000}\n{_LAST}", "a comment of 20,000 octets before"),
        ("\n" * 20_000 + "User-agent: *\n" + _LAST, "20,000 blank lines before"),
    ):
        for path, allowed in (("/x", False), ("/z", True)):
            yield case("many", text, path, expect("limits", allowed, TODAY), note)


def _letters(number: int) -> str:
    """Spells a number in letters, since a token has no digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _many_stars() -> Iterator[Case]:
    """Patterns that take a backtracking matcher longer than the age of the Web."""
    path = "/" + "a" * 60
    for pattern, url, matches in (
        ("/" + "*a" * 30, path, True),
        ("/" + "*a" * 30 + "*b", path, False),
        ("/" + "*a" * 30 + "*b", path + "b", True),
        ("/" + "*a" * 30 + "$", path, True),
        ("/" + "*a" * 30 + "$", path + "b", False),
        ("/" + "*" * 200 + "b", path, False),
        ("/*" + "a*" * 40 + "c$", path, False),
    ):
        text = f"User-agent: *\nDisallow: {pattern}\n"
        yield case("many-stars", text, url, expect("special", not matches, TODAY), "a pattern with many `*`")
