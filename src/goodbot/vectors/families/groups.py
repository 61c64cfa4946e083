"""Which groups apply to a robot: names and near misses, groups in every order, groups with several names, other records
between the lines."""

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from goodbot.vectors.case import ALL, HISTORIC, TODAY, About, Case, case, expect

_TOKENS: Final = ("Googlebot", "my-bot", "my_bot", "bingbot", "A", "Ex-Am_Ple", "crawler", "x-", "_x")
"""Tokens of letters, `_` and `-`, as RFC 9309 2.2.1 defines them."""

_OTHER_RECORDS: Final = (
    "Sitemap: https://example.org/sitemap.xml",
    "Crawl-delay: 10",
    "Host: example.org",
    "Clean-param: ref /x",
    "Request-rate: 1/5",
    "Visit-time: 0600-0845",
    "Noindex: /z",
    "Comment: hello",
    "Unknown-field: value",
    "X: *",
)
_EMPTY_LINES: Final = ("# a comment", "", "   ")
"""Lines that RFC 9309's grammar calls empty."""
_ORDERED: Final = (("alpha", "/a"), ("beta", "/b"), ("*", "/c"), ("alpha", "/d"))


def group_cases() -> Iterator[Case]:
    """Yields all cases about groups and names."""
    for token in _TOKENS:
        yield from _near_misses(token)
        yield from _cases_of_tokens(token)
        yield from _names_cut(token)
    yield from _orders()
    yield from _several_names()
    yield from _other_records()
    yield from _without_rules()
    yield from _user_agents()


def _file(*groups: tuple[str, str]) -> str:
    return "\n".join(f"User-agent: {name}\nDisallow: {path}\n" for name, path in groups)


# ---- names ----------------------------------------------------------------------------------------------------------


def _near_misses(token: str) -> Iterator[Case]:
    """A group whose name only begins like the robot's, ends like it or contains it does not apply."""
    yield case("token", _file((token, "/x")), "/x", expect("names", False, ALL), "the whole token", agent=token)
    for name in (f"{token}x", f"x{token}", f"{token}-news", token[:-1], token[1:], f"{token}_"):
        if name:
            expected = expect("names", True, TODAY)
            text = _file((name, "/x"))
            yield case("token", text, "/x", expected, f"a group for {name} only", agent=token)
            text = _file((name, "/x"), ("*", "/y"))
            for path, allowed in (("/x", True), ("/y", False)):
                expected = expect("names", allowed, TODAY)
                yield case("token", text, path, expected, f"a group for {name}, and one for *", agent=token)


def _cases_of_tokens(token: str) -> Iterator[Case]:
    forms = dict.fromkeys((token, token.lower(), token.upper(), token.swapcase()))
    for written in forms:
        for agent in forms:
            text = _file((written, "/x"), ("*", "/y"))
            for path, allowed in (("/x", False), ("/y", True)):
                expected = expect("names", allowed, ALL)
                yield case("token-case", text, path, expected, f"{written} in the file, {agent}", agent=agent)


def _names_cut(token: str) -> Iterator[Case]:
    """A name ends at the first character that cannot be part of a token."""
    for rest in ("/1.0", "/1.0 (+https://example.org/)", " and others", "*", ";", "(x)", "\u00e9"):
        text = _file((token + rest, "/x"))
        expected = expect("names", False, ("rfc9309",), "reading") | expect("names", False, ("google",))
        yield case("token-cut", text, "/x", expected, f"{rest!r} after the token in the file", agent=token)


def _user_agents() -> Iterator[Case]:
    """A caller gives a whole User-Agent. RFC 9309 2.2.1 shows one beside the line that names its robot; it does not say
    how to find the token in it."""
    for agent in (
        "examplebot/1.0",
        "examplebot/1.0 (+https://example.org/bot)",
        "Mozilla/5.0 (compatible; examplebot/2.1; +https://example.org/bot.html)",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; examplebot/1.2; +https://example.org/)",
        "ExampleBot; +https://example.org/",
    ):
        text = _file(("examplebot", "/x"), ("*", "/y"))
        for path, allowed in (("/x", False), ("/y", True)):
            expected = expect("names", allowed, ("rfc9309",), "reading")
            yield case("user-agent", text, path, expected, "a whole User-Agent", agent=agent)


# ---- groups ---------------------------------------------------------------------------------------------------------


def _orders() -> Iterator[Case]:
    """Groups in every order: all groups of a name count together, and `*` only applies to robots without a group."""
    own = {"alpha": {"/a", "/d"}, "beta": {"/b"}, "gamma": {"/c"}}
    for order in permutations(_ORDERED):
        text = _file(*order)
        first = next(path for name, path in order if name == "alpha")
        for agent, closed in own.items():
            for path in ("/a", "/b", "/c", "/d"):
                expected = expect("names", path not in closed, TODAY)
                if agent == "alpha":
                    expected |= expect("names", path != first, HISTORIC, "reading")
                else:
                    expected |= expect("names", path not in closed, HISTORIC)
                yield case("group-order", text, path, expected, "four groups, two of one name", agent=agent)


def _several_names() -> Iterator[Case]:
    """Every name of a group has its rules, wherever it is listed."""
    names = ("alpha", "beta", "gamma")
    for order in permutations(names):
        lines = "\n".join(f"User-agent: {name}" for name in order)
        text = f"{lines}\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n"
        for agent in (*names, "delta"):
            for path in ("/x", "/y"):
                closed = path == ("/y" if agent == "delta" else "/x")
                expected = expect("groups", not closed, ALL)
                yield case("group-names", text, path, expected, "three names of one group", agent=agent)
    text = "User-agent: alpha\nUser-agent: *\nDisallow: /x\n\nUser-agent: alpha\nDisallow: /y\n"
    for agent, paths in (("alpha", ("/x", "/y")), ("beta", ("/x",))):
        for path in ("/x", "/y"):
            expected = expect("groups", path not in paths, TODAY)
            yield case("group-names", text, path, expected, "a name and * in one group", agent=agent)


def _other_records() -> Iterator[Case]:
    """RFC 9309 2.2.4: other records do not interfere with groups and rules. Nor do empty lines: by its grammar (2.2)
    they may be anywhere, and only a User-agent line or the end of the file ends a group (2.1)."""
    for record in (*_OTHER_RECORDS, *_EMPTY_LINES):
        for place, lines in (
            ("before the group", (record, "User-agent: alpha", "User-agent: beta", "Disallow: /x", "Disallow: /y")),
            ("between the names", ("User-agent: alpha", record, "User-agent: beta", "Disallow: /x", "Disallow: /y")),
            ("after the names", ("User-agent: alpha", "User-agent: beta", record, "Disallow: /x", "Disallow: /y")),
            ("between the rules", ("User-agent: alpha", "User-agent: beta", "Disallow: /x", record, "Disallow: /y")),
        ):
            text = "\n".join((*lines, "User-agent: gamma", "Disallow: /z", ""))
            for agent, paths in (("alpha", ("/x", "/y")), ("beta", ("/x", "/y")), ("gamma", ("/z",))):
                for path in ("/x", "/y", "/z"):
                    expected = expect(_about(record, place), path not in paths, TODAY)
                    note = f"{record.partition(':')[0]!r} {place}"
                    yield case("other-record", text, path, expected, note, agent=agent)


def _about(line: str, place: str) -> About:
    if line not in _EMPTY_LINES:
        return "other"
    return "lines" if place == "before the group" else "groups"


def _without_rules() -> Iterator[Case]:
    """A group without rules applies to its robot all the same, so the group of * does not."""
    for text, note in (
        ("User-agent: *\nDisallow: /\n\nUser-agent: alpha\n", "a last group without rules"),
        ("User-agent: *\nDisallow: /\n\nUser-agent: alpha", "a last group without rules and line end"),
        ("User-agent: *\nDisallow: /\n\nUser-agent: alpha\nCrawl-delay: 1\n", "a last group with a delay only"),
    ):
        yield case("group-empty", text, "/x", expect("names", True, TODAY), note, agent="alpha")
        yield case("group-empty", text, "/x", expect("names", False, ALL), note, agent="beta")
    for text, note in (("", "an empty file"), ("\n\n", "only line ends"), ("# nothing\n", "only a comment")):
        yield case("group-empty", text, "/x", expect("names", True, ALL), note)
    for text, note in (
        ("Disallow: /x\n", "a rule without a group"),
        ("Disallow: /x\nUser-agent: *\nDisallow: /y\n", "a rule before the first group"),
        ("Allow: /\nDisallow: /x\n\n\nUser-agent: beta\nDisallow: /x\n", "two rules before the first group"),
    ):
        yield case("group-empty", text, "/x", expect("groups", True, TODAY, "reading"), note)
