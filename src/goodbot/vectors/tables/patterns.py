"""RFC 9309 2.2.2 and 2.2.3: what a pattern matches, which of several rules decides, what is compared of a URL."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from goodbot.vectors.case import About, Case, Kind, case, expect


class Matches(NamedTuple):
    """Patterns, URL paths, and whether the pattern matches."""

    note: str
    about: About
    kind: Kind
    rows: tuple[tuple[str, str, bool], ...]


MATCHES: Final = (
    Matches(
        "figure 4, each row in both directions",
        "rules",
        "must",
        (
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
            ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
            ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", True),
            ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", True),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
            ("/foo/bar/%E3%83%84", "/foo/bar/ツ", True),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
            ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        ),
    ),
    Matches(
        "figure 6: the special characters meant literally",
        "special",
        "must",
        (
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-x.html", False),
            ("/path/foo-%24", "/path/foo-$", True),
            ("/path/foo-%24", "/path/foo-%24", True),
            ("/path/foo-%24", "/path/foo-$x", True),
            ("/path/foo-%24", "/path/foo-", False),
        ),
    ),
    Matches(
        "from the first octet to the end of the pattern; case matters",
        "rules",
        "must",
        (
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
        ),
    ),
    Matches(
        "a pattern that begins with `*` (erratum 7995)",
        "special",
        "reading",
        (("*", "/", True), ("*.gif", "/a/b.gif", True), ("*$", "/x", True)),
    ),
    Matches(
        "`*` matches any run of octets, also none",
        "special",
        "must",
        (
            ("/*", "/", True),
            ("/fish*", "/fish", True),
            ("/*.php", "/index.php", True),
            ("/*.php", "/folder/any.php.file.html", True),
            ("/*.php", "/windows.PHP", False),
            ("/fish*.php", "/fishheads/catfish.php?parameters", True),
            ("/fish*.php", "/Fish.PHP", False),
            ("/a**b", "/ab", True),
            ("/a*b*c", "/a.c.b.c", True),
            ("/a*b*c", "/a.c.b.", False),
            ("/a*aa", "/aa", False),
            ("/a*aa", "/aaa", True),
        ),
    ),
    Matches(
        "`$` at the end of a pattern matches the end of the URL",
        "special",
        "must",
        (
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
        ),
    ),
    Matches(
        "`$` elsewhere is an ordinary character",
        "special",
        "reading",
        (("/a$b", "/a$b", True), ("/a$b", "/a%24bc", True), ("/a$b", "/a", False), ("/a$*", "/a$x", True)),
    ),
    Matches(
        "reserved characters differ from their encoding in a path",
        "rules",
        "reading",
        (("/a%2Fb", "/a/b", False), ("/a/b", "/a%2Fb", False), ("/a%3fb", "/a?b", False)),
    ),
    Matches("unreserved characters equal their encoding", "rules", "must", (("/%7Ejoe", "/~joe", True),)),
    Matches("hexadecimal digits have any case", "rules", "reading", (("/a%2fb", "/a%2Fb", True),)),
    Matches(
        "octets that a URI cannot contain",
        "rules",
        "choice",
        (
            ("/a%20b", "/a b", True),
            ("/a b", "/a%20b", True),
            ("/a%", "/a%", True),
            ("/a%zz", "/a%zz", True),
            ("/a%2", "/a%25", True),
            ('/a"<>\\^`{|}', "/a%22%3C%3E%5C%5E%60%7B%7C%7D", True),
        ),
    ),
    Matches("what was decoded is not decoded again", "rules", "must", (("/%2541", "/%41", False),)),
    Matches(
        "delimiters of the query keep their role; in the value of a parameter they are encoded",
        "rules",
        "reading",
        (
            ("/?a=1&b=2", "/?a=1&b=2", True),
            ("/?a=1&b=2", "/?a=1%26b=2", False),
            ("/?a=b=c", "/?a=b%3Dc", True),
            ("/?a=b?c", "/?a=b%3Fc", True),
            ("/?a=(x)", "/?a=%28x%29", True),
            ("/a=b:c", "/a=b%3Ac", False),
            ("/?*u=http://", "/?x=y&u=http%3A%2F%2Fz", True),
            ("/*https://", "/r?u=https://x", True),
            ("/*https://", "/r?a=1&u=https://x/y", True),
            ("/*/y", "/r?a=1&u=https://x/y", True),
        ),
    ),
    Matches(
        "a pattern that begins neither with `/` nor with `*` matches nothing",
        "rules",
        "choice",
        (
            ("fish", "/fish", False),
            ("%2Ffish", "/fish", False),
            ("https://example.org/fish", "/fish", False),
            ("$", "/", False),
            ("?x", "/?x", False),
        ),
    ),
)

PRECEDENCE: Final[tuple[tuple[str, Kind, tuple[str, ...], str, bool], ...]] = (
    # name, kind, rules, path, allowed
    ("the longer rule", "must", ("Allow: /", "Disallow: /x"), "/x", False),
    ("the longer rule, whatever the order", "must", ("Disallow: /x", "Allow: /"), "/x", False),
    ("equal: Allow", "must", ("Disallow: /x", "Allow: /x"), "/x", True),
    ("equal length, not equal text: Allow", "reading", ("Disallow: /x*", "Allow: /xy"), "/xy", True),
    ("`*` counts as an octet", "reading", ("Allow: /xy", "Disallow: /x**"), "/xy", False),
    ("`$` counts as an octet", "reading", ("Allow: /x", "Disallow: /x$"), "/x", False),
    ("`$` does not match elsewhere", "must", ("Allow: /x", "Disallow: /x$"), "/xy", True),
    ("a pattern with a wildcard may be longer", "must", ("Allow: /page", "Disallow: /*.html"), "/page.html", False),
    ("a literal pattern may be longer", "must", ("Allow: /page.h", "Disallow: /*.htm"), "/page.htm", True),
    ("a literal as long as a wildcard", "reading", ("Disallow: /*.htm", "Allow: /page."), "/page.htm", True),
    ("octets, not characters", "reading", ("Disallow: /ab", "Allow: /é"), "/é", True),
    ("equal though written differently", "reading", ("Allow: /ツ", "Disallow: /%E3%83%84"), "/ツ", True),
    ("equal though encoded", "reading", ("Allow: /a", "Disallow: /%61"), "/a", True),
    ("nested prefixes", "must", ("Disallow: /a/", "Allow: /a/b/", "Disallow: /a/b/c/"), "/a/b/c/d", False),
    ("nested prefixes, the outer one", "must", ("Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c"), "/a/c", False),
    ("a run of stars after a prefix", "reading", ("Disallow: /a*****", "Allow: /ab"), "/abc", False),
    ("no rule matches", "must", ("Disallow: /x",), "/y", True),
    ("an empty Disallow", "choice", ("Disallow:",), "/x", True),
    ("an empty Disallow closes no other rule", "choice", ("Disallow:", "Disallow: /x"), "/x", False),
    ("an empty Allow opens nothing", "choice", ("Allow:", "Disallow: /"), "/x", False),
    ("robots.txt itself", "must", ("Disallow: /", "Disallow: /robots.txt"), "/robots.txt", True),
    ("robots.txt itself, encoded", "reading", ("Disallow: /",), "/robots%2Etxt", True),
    ("robots.txt in another folder", "must", ("Disallow: /",), "/a/robots.txt", False),
    ("robots.txt with a query", "reading", ("Disallow: /",), "/robots.txt?x", False),
)

ABSOLUTE_URLS: Final[tuple[tuple[str, str], ...]] = (
    # URL, its path and query as they are compared
    ("https://h", "/"),
    ("https://h/", "/"),
    ("https://h?q", "/?q"),
    ("https://h#f", "/"),
    ("https://h/x#f?g", "/x"),
    ("https://h/x?q#f", "/x?q"),
    ("https://u:p@h:1/x", "/x"),
    ("HTTPS://h/x", "/x"),
    ("gopher+x://h/x", "/x"),
    ("https://h/x?u=http://h/y", "/x?u=http://h/y"),
    ("https://h//x", "//x"),
    ("https://[2001:db8::1]/x", "/x"),
)


def pattern_cases() -> Iterator[Case]:
    """Yields the rows of all three tables for RFC 9309."""
    for note, about, kind, rows in MATCHES:
        for pattern, path, matches in rows:
            text = f"User-agent: *\nDisallow: {pattern}\n"
            yield case("pattern", text, path, expect(about, not matches, ("rfc9309",), kind), note)
    for name, kind, rules, path, allowed in PRECEDENCE:
        text = "\n".join(("User-agent: *", *rules, ""))
        yield case("precedence", text, path, expect("rules", allowed, ("rfc9309",), kind), name)
    for url, target in ABSOLUTE_URLS:
        text = f"User-agent: *\nDisallow: {target}$\n"
        yield case("url", text, url, expect("rules", False, ("rfc9309",), "reading"), "what is compared of a URL")
