"""Which of several rules decides: the longest in RFC 9309 2.2.2, the first in the draft of 1996, any Disallow in
1994."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Final

from goodbot.vectors.case import DECODED, TODAY, Case, Expected, case, expect

_PREFIXES: Final = ("/", "/a", "/ab", "/abc/", "/abc/d", "/abc/d?e")
_URL: Final = "/abc/d?e=f"

Rule = tuple[bool, str]
"""Whether it is an Allow; its path."""


def precedence_cases() -> Iterator[Case]:
    """Yields all cases about several rules."""
    yield from _pairs()
    yield from _triples()
    yield from _equal_rules()
    yield from _with_wildcards()
    yield from _empty_rules()
    yield from _robots_txt_itself()


def _text(rules: Sequence[Rule], name: str = "*") -> str:
    lines = (f"{'Allow' if allow else 'Disallow'}: {path}" for allow, path in rules)
    return "\n".join((f"User-agent: {name}", *lines, ""))


def _by_prefix(rules: Sequence[Rule], url: str) -> dict[str, Expected]:
    """The results for rules that are different plain prefixes, all non-empty."""
    matching = [rule for rule in rules if url.startswith(rule[1])]
    longest = max(matching, key=lambda rule: len(rule[1]), default=(True, ""))
    first = next(iter(matching), (True, ""))
    return {
        **expect("rules", longest[0], TODAY),
        **expect("rules", first[0], DECODED),
        **expect("rules", all(allow for allow, _ in matching), ("1994", "kollar")),
        **expect("rules", first[0], ("conner",), "reading"),
    }


def _pairs() -> Iterator[Case]:
    for paths in combinations(_PREFIXES, 2):
        for allows in ((True, False), (False, True)):
            for rules in permutations(tuple(zip(allows, paths, strict=True))):
                expected = _without_only_allow(_by_prefix(rules, _URL), rules)
                yield case("longest", _text(rules), _URL, expected, "two rules that match")


def _triples() -> Iterator[Case]:
    paths = ("/a", "/a/b", "/a/b/c")
    urls = ("/a/x", "/a/b/x", "/a/b/c/x", "/x")
    for allows in product((True, False), repeat=3):
        for rules in permutations(tuple(zip(allows, paths, strict=True))):
            for url in urls:
                expected = _without_only_allow(_by_prefix(rules, url), rules)
                yield case("longest", _text(rules), url, expected, "three nested rules")


def _without_only_allow(expected: dict[str, Expected], rules: Sequence[Rule]) -> dict[str, Expected]:
    """Without a Disallow line there is no record in 1994 and in Kollar's grammar: nothing to test."""
    if any(not allow for allow, _ in rules):
        return expected
    return {dialect: result for dialect, result in expected.items() if dialect not in ("1994", "kollar")}


def _equal_rules() -> Iterator[Case]:
    """If an Allow and a Disallow are equivalent, Allow wins."""
    for path in _PREFIXES:
        for allows in ((True, False), (False, True)):
            rules = tuple((allow, path) for allow in allows)
            expected = expect("rules", True, TODAY) | expect("rules", allows[0], DECODED)
            expected |= expect("rules", False, ("1994", "kollar"))
            yield case(
                "equal", _text(rules), _URL, expected, f"equal rules, {'Allow' if allows[0] else 'Disallow'} first"
            )
    for allowed, closed, url in (
        ("/%61", "/a", "/a"),
        ("/a", "/%61", "/a"),
        ("/%E3%83%84", "/ツ", "/%E3%83%84"),
        ("/ツ", "/%E3%83%84", "/%E3%83%84"),
        ("/%7Ejoe", "/~joe", "/~joe"),
        ("/~joe", "/%7Ejoe", "/~joe"),
    ):
        for both in permutations(((True, allowed), (False, closed))):
            expected = expect("rules", True, ("rfc9309",), "reading")
            yield case("equal", _text(both), url, expected, "equal rules, written differently")


def _with_wildcards() -> Iterator[Case]:
    """A pattern with wildcards that has more octets decides, and so does a longer plain one."""
    rows: tuple[tuple[Rule, Rule, str, bool], ...] = (
        ((True, "/page"), (False, "/*.html"), "/page.html", False),
        ((True, "/page.h"), (False, "/*.htm"), "/page.htm", True),
        ((False, "/shop/"), (True, "/shop/*/open"), "/shop/1/open", True),
        ((False, "/shop/*/cart"), (True, "/shop/"), "/shop/1/cart", False),
        ((False, "/*?"), (True, "/search?q="), "/search?q=x", True),
        ((True, "/"), (False, "/*.pdf$"), "/a.pdf", False),
        ((True, "/"), (False, "/*.pdf$"), "/a.pdf?x", True),
        ((False, "/"), (True, "/$"), "/", True),
        ((False, "/"), (True, "/$"), "/a", False),
        ((True, "/images/*.png"), (False, "/images/"), "/images/a.png", True),
        ((True, "/images/*.png"), (False, "/images/"), "/images/a.jpg", False),
        ((False, "/*/private/*/index"), (True, "/a/private/b/"), "/a/private/b/index", False),
    )
    for first, second, url, allowed in rows:
        for rules in permutations((first, second)):
            yield case("longest", _text(rules), url, expect("rules", allowed, TODAY), "wildcards count as octets")


def _empty_rules() -> Iterator[Case]:
    """An empty rule neither closes nor opens anything."""
    others: tuple[Rule, ...] = ((False, "/x"), (True, "/x/y"))
    for empty in ((False, ""), (True, "")):
        for place in range(3):
            rules = (*others[:place], empty, *others[place:])
            for url, allowed in (("/x", False), ("/x/y", True), ("/z", True)):
                expected = expect("rules", allowed, ("rfc9309",), "choice") | expect("rules", allowed, ("google",))
                yield case("empty-rule", _text(rules), url, expected, "an empty rule among others")
    expected = expect("rules", True, ("rfc9309",), "choice")
    expected |= expect("rules", True, ("google", "1994", "kollar", "1996"))
    yield case("empty-rule", _text([(False, "")]), "/x", expected, "an empty Disallow alone")
    text = f"{_text([(False, '/')])}\n{_text([(False, '')], 'examplebot')}"
    yield case("empty-rule", text, "/x", expected, "an empty Disallow for one robot")


def _robots_txt_itself() -> Iterator[Case]:
    """RFC 9309 2.2.2: /robots.txt is implicitly allowed. Google's parser has no such exception."""
    for pattern in ("/", "/robots.txt", "/robots", "/r"):
        expected = expect("rules", True, ("rfc9309", "1996")) | expect("rules", False, ("google",))
        yield case("robots-txt", _text([(False, pattern)]), "/robots.txt", expected, f"{pattern} is disallowed")
    expected = expect("rules", False, ("rfc9309", "google", "1996"))
    for url in ("/a/robots.txt", "/Robots.txt", "/robots.txt.bak", "/robots"):
        yield case("robots-txt", _text([(False, "/")]), url, expected, "another URL than /robots.txt")
