"""RFC 9309 2.2.3: `*` and `$` in every place of a pattern."""

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Final

from goodbot.vectors.case import AS_WRITTEN, DECODED, TODAY, Case, Kind, case, expect

_PATH: Final = "/ab/c.d"
_NOT_IN_PATH: Final = "Z"


def wildcard_cases() -> Iterator[Case]:
    """Yields all cases about the two special characters."""
    yield from _one_star()
    yield from _two_stars()
    yield from _runs_of_stars()
    yield from _ends()
    yield from _small_patterns()
    yield from _ordinary()


def _asked(pattern: str, path: str, matches: bool, note: str, kind: Kind = "must") -> Case:
    text = f"User-agent: *\nDisallow: {pattern}\n"
    today = expect("special", not matches, ("rfc9309",), kind) | expect("special", not matches, ("google",))
    return case("wildcard", text, path, today, note)


def _one_star() -> Iterator[Case]:
    """A pattern made from a path by a `*` in place of a part of it, even an empty part, matches the path."""
    for begin, end in combinations(range(1, len(_PATH) + 2), 2):
        part = _PATH[begin : end - 1]
        pattern = f"{_PATH[:begin]}*{_PATH[end - 1 :]}"
        note = f"`*` in place of {part!r}"
        yield _asked(pattern, _PATH, True, note)
        yield _asked(pattern, f"{_PATH}{_NOT_IN_PATH}", True, f"{note}, a longer path")
        yield _asked(f"{pattern}$", _PATH, True, f"{note}, and `$`")
        yield _asked(f"{pattern}$", _PATH + _NOT_IN_PATH, end > len(_PATH), f"{note}, `$`, and a longer path")
        yield _asked(f"{_PATH[:begin]}*{_NOT_IN_PATH}{_PATH[end - 1 :]}", _PATH, False, f"{note}, and a missing octet")


def _two_stars() -> Iterator[Case]:
    for first, second, third, fourth in combinations(range(1, len(_PATH) + 1), 4):
        pattern = f"{_PATH[:first]}*{_PATH[second:third]}*{_PATH[fourth:]}"
        yield _asked(pattern, _PATH, True, "two `*`")
        yield _asked(f"{pattern}{_NOT_IN_PATH}", _PATH, False, "two `*`, and a missing octet at the end")


def _runs_of_stars() -> Iterator[Case]:
    for stars in range(2, 6):
        run = "*" * stars
        for place in range(1, len(_PATH) + 1):
            yield _asked(_PATH[:place] + run + _PATH[place:], _PATH, True, f"a run of {stars} `*`")
        yield _asked(f"/{run}{_NOT_IN_PATH}", _PATH, False, f"a run of {stars} `*`, and a missing octet")
    for pattern in ("*", "*/c", "*.d$", "*ab*d"):
        yield _asked(pattern, _PATH, True, "`*` at the beginning (erratum 7995)", "reading")


def _ends() -> Iterator[Case]:
    """`$` after each beginning of a path matches exactly this beginning."""
    for length in range(1, len(_PATH) + 1):
        for other in range(1, len(_PATH) + 1):
            yield _asked(f"{_PATH[:length]}$", _PATH[:other], length == other, "`$` at the end")
        yield _asked(f"{_PATH[:length]}$", f"{_PATH[:length]}?q", False, "`$` before a query")
    for pattern, path, matches in (
        ("/a$", "/a#b", True),
        ("/a?q$", "/a?q", True),
        ("/a?q$", "/a?qr", False),
        ("/*?$", "/a?", True),
    ):
        yield _asked(pattern, path, matches, "`$` with query and fragment")


def _small_patterns() -> Iterator[Case]:
    """All patterns of up to three characters with a `*`, and all paths of up to three octets, compared by definition:
    a `*` is any run of octets."""
    bodies = ["".join(each) for length in (1, 2, 3) for each in product("ab*", repeat=length)]
    paths = ["".join(each) for length in range(4) for each in product("ab", repeat=length)]
    for body, end in product((body for body in bodies if "*" in body), ("", "$")):
        meaning = re.compile(body.replace("*", ".*") + ("" if end else ".*"))
        for path in paths:
            matches = meaning.fullmatch(path) is not None
            yield _asked(f"/{body}{end}", f"/{path}", matches, "a small pattern")


def _ordinary() -> Iterator[Case]:
    """The texts of the 1990s have no special characters."""
    for pattern, path in (("/*x", "/ax"), ("/a*b", "/acb"), ("/x$", "/x"), ("/*", "/a"), ("/*.gif$", "/a.gif")):
        text = f"User-agent: *\nDisallow: {pattern}\n"
        expected = expect("special", False, TODAY) | expect("special", True, (*DECODED, *AS_WRITTEN))
        yield case("wildcard", text, path, expected, "special characters, today and in the 1990s")
        expected = expect("special", False, (*DECODED, *AS_WRITTEN), "reading")
        yield case("wildcard", text, f"{pattern}y", expected, "special characters are ordinary")
