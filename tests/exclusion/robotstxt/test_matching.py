"""RFC 9309 §2.2.2 and §2.2.3: what a pattern matches, and which rule counts."""

import pytest

from goodbot.exclusion import RobotsTxt

SITE = "https://www.example.com"

MATCHES = [
    # pattern, path, matches
    # figure 4, each row both ways
    ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
    ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
    ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", True),
    ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", True),
    ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
    ("/foo/bar/%E3%83%84", "/foo/bar/ツ", True),
    ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", True),
    ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
    ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
    # figure 6: the special signs meant literally
    ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
    ("/path/file-with-a-%2A.html", "/path/file-with-a-x.html", False),
    ("/path/foo-%24", "/path/foo-$", True),
    ("/path/foo-%24", "/path/foo-%24", True),
    ("/path/foo-%24", "/path/foo-$x", True),
    ("/path/foo-%24", "/path/foo-", False),
    # from the first octet, as far as the pattern goes, case-sensitive
    ("/fish", "/fish", True),
    ("/fish", "/fish.html", True),
    ("/fish", "/fishheads/yummy.html", True),
    ("/fish", "/Fish.asp", False),
    ("/fish", "/catfish", False),
    ("/fish/", "/fish", False),
    ("/fish/", "/fish/?id=anything", True),
    ("/", "/anything", True),
    ("/?", "/?x", True),
    ("/?", "/x?", False),
    # `*` any run, also none
    ("*", "/", True),
    ("/*", "/", True),
    ("/fish*", "/fish", True),
    ("/*.php", "/index.php", True),
    ("/*.php", "/folder/any.php.file.html", True),
    ("/*.php", "/windows.PHP", False),
    ("/fish*.php", "/fishheads/catfish.php?parameters", True),
    ("/fish*.php", "/Fish.PHP", False),
    ("*.gif", "/a/b.gif", True),
    ("/a**b", "/ab", True),
    ("/a*b*c", "/a.c.b.c", True),
    ("/a*b*c", "/a.c.b.", False),
    ("/a*aa", "/aa", False),
    ("/a*aa", "/aaa", True),
    # `$` the end, at the end only
    ("/*.php$", "/filename.php", True),
    ("/*.php$", "/filename.php?parameters", False),
    ("/*.php$", "/filename.php/", False),
    ("/*.php$", "/a.php.php", True),
    ("/$", "/", True),
    ("/$", "/x", False),
    ("/x$", "/x", True),
    ("/x$", "/x/", False),
    ("/x*$", "/xyz", True),
    ("/a*ba$", "/aba", True),
    ("/ab*ba$", "/aba", False),
    ("/a$b", "/a$b", True),
    ("/a$b", "/a%24bc", True),
    ("/a$b", "/a", False),
    ("/a$*", "/a$x", True),
    ("*$", "/x", True),
    # what stays encoded
    ("/a%2Fb", "/a/b", False),
    ("/a/b", "/a%2Fb", False),
    ("/a%2fb", "/a%2Fb", True),
    ("/a%20b", "/a b", True),
    ("/a b", "/a%20b", True),
    ("/%7Ejoe", "/~joe", True),
    ("/a%3fb", "/a?b", False),
    ("/a%", "/a%", True),
    ("/a%zz", "/a%zz", True),
    ("/a%2", "/a%25", True),
    ("/%2541", "/%41", False),
    ('/a"<>\\^`{|}', "/a%22%3C%3E%5C%5E%60%7B%7C%7D", True),
    # delimiters of the query keep their role; inside a value they are encoded
    ("/?a=1&b=2", "/?a=1&b=2", True),
    ("/?a=1&b=2", "/?a=1%26b=2", False),
    ("/?a=b=c", "/?a=b%3Dc", True),
    ("/?a=b?c", "/?a=b%3Fc", True),
    ("/?a=(x)", "/?a=%28x%29", True),
    ("/a=b:c", "/a=b%3Ac", False),
    ("/?*u=http://", "/?x=y&u=http%3A%2F%2Fz", True),
    # patterns that begin neither with `/` nor with `*` match nothing
    ("fish", "/fish", False),
    ("%2Ffish", "/fish", False),
    ("https://www.example.com/fish", "/fish", False),
    ("$", "/", False),
    ("?x", "/?x", False),
]


@pytest.mark.parametrize(("pattern", "path", "matches"), MATCHES)
def test_pattern(pattern: str, path: str, matches: bool) -> None:
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}")
    assert robots.allows(SITE + path, "me") is not matches
    assert robots.allows(path, "me") is not matches


@pytest.mark.parametrize("path", ["/r?u=https://x", "/r?a=1&u=https://x/y"])
def test_deviation_a_star_may_reach_into_a_query_value(path: str) -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: /*https://\nDisallow: /*/y")
    assert not robots.allows(path, "me")


PRECEDENCE = [
    ("the longer", ["Allow: /", "Disallow: /x"], "/x", False),
    ("the longer, order", ["Disallow: /x", "Allow: /"], "/x", False),
    ("equal: Allow", ["Disallow: /x", "Allow: /x"], "/x", True),
    ("equal length, not equal text: Allow", ["Disallow: /x*", "Allow: /xy"], "/xy", True),
    ("a star counts as an octet", ["Allow: /xy", "Disallow: /x**"], "/xy", False),
    ("`$` counts as an octet", ["Allow: /x", "Disallow: /x$"], "/x", False),
    ("`$` does not hold elsewhere", ["Allow: /x", "Disallow: /x$"], "/xy", True),
    ("a wildcard may be longer", ["Allow: /page", "Disallow: /*.html"], "/page.html", False),
    ("a literal may be longer", ["Allow: /page.h", "Disallow: /*.htm"], "/page.htm", True),
    ("a literal as long as a wildcard", ["Disallow: /*.htm", "Allow: /page."], "/page.htm", True),
    ("octets, not characters", ["Disallow: /ab", "Allow: /é"], "/é", True),
    ("equal though written apart", ["Allow: /ツ", "Disallow: /%E3%83%84"], "/ツ", True),
    ("equal though encoded", ["Allow: /a", "Disallow: /%61"], "/a", True),
    ("nested prefixes", ["Disallow: /a/", "Allow: /a/b/", "Disallow: /a/b/c/"], "/a/b/c/d", False),
    ("nested prefixes, inner neighbour", ["Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c"], "/a/c", False),
    ("a long star run around a prefix", ["Disallow: /a*****", "Allow: /ab"], "/abc", False),
    ("no rule matches", ["Disallow: /x"], "/y", True),
    ("empty Disallow", ["Disallow:"], "/x", True),
    ("empty Disallow closes no other rule", ["Disallow:", "Disallow: /x"], "/x", False),
    ("empty Allow opens nothing", ["Allow:", "Disallow: /"], "/x", False),
    ("robots.txt itself", ["Disallow: /", "Disallow: /robots.txt"], "/robots.txt", True),
    ("robots.txt itself, encoded", ["Disallow: /"], "/robots%2Etxt", True),
    ("robots.txt elsewhere", ["Disallow: /"], "/a/robots.txt", False),
    ("robots.txt with a query", ["Disallow: /"], "/robots.txt?x", False),
]


@pytest.mark.parametrize(("name", "rules", "path", "allowed"), PRECEDENCE, ids=[case[0] for case in PRECEDENCE])
def test_which_rule_counts(name: str, rules: list[str], path: str, allowed: bool) -> None:
    """RFC 9309 §2.2.2."""
    robots = RobotsTxt.parse("\n".join(["User-agent: *", *rules]))
    assert robots.allows(path, "me") is allowed
    assert robots.verdict(SITE + path, "me").allowed is allowed


TARGETS = [
    ("https://h", "/"),
    ("https://h/", "/"),
    ("https://h?q", "/?q"),
    ("https://h#f", "/"),
    ("https://h/x#f?g", "/x"),
    ("https://h/x?q#f", "/x?q"),
    ("https://u:p@h:1/x", "/x"),
    ("HTTPS://h/x", "/x"),
    ("gopher+x://h/x", "/x"),
    ("/x?u=http://h/y", "/x?u=http://h/y"),
    ("//x", "//x"),
    ("", "/"),
    ("#f", "/"),
    ("x", "/x"),
    ("?q", "/?q"),
    ("/x\ny", "/x%0Ay"),
]


@pytest.mark.parametrize(("url", "target"), TARGETS)
def test_the_compared_part_of_a_url(url: str, target: str) -> None:
    """RFC 9309 §2.2.2: the path with its query; without fragment; never less than `/`."""
    exact = RobotsTxt.parse(f"User-agent: *\nDisallow: {target}$")
    assert not exact.allows(url, "me")
