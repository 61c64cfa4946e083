"""The examples that the texts print, with the results they print, and the results of all other dialects."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from goodbot.vectors.case import ALL, SECTIONS, About, Case, Expectations, Expected, Kind, case, is_token
from goodbot.vectors.tables.example_files import (
    ALIKBEROV_1,
    ALIKBEROV_2,
    ALIKBEROV_3,
    BLACKHOLE,
    BOT,
    CGI_BIN,
    FAQ,
    FICT,
    INFOSEEK,
    LONGEST,
    MARY,
    SIMPLE,
    SLURP,
    STANDARD_1,
    STANDARD_2,
    STANDARD_3,
    TMP,
)

Rows = tuple[tuple[str, str, str], ...]
"""Robot; URL; for each dialect of ALL, `+` if it allows the URL and `-` if not."""

FAQ_ROWS: Rows = (
    ("webcrawler", "/", "+++-+++"),
    ("WebCrawler/3.0", "/tmp/x", "+++-+++"),
    ("webcrawler", "/logs", "+++-+++"),
    ("lycra", "/", "-------"),
    ("lycra", "/a.html", "-------"),
    ("other", "/tmp", "-------"),
    ("other", "/logs/1", "-------"),
    ("other", "/log", "+++++++"),
    ("other", "/", "+++++++"),
)

INFOSEEK_ROWS: Rows = (
    ("webcrawler", "/tmp/ok.html", "++++--+"),
    ("infoseek", "/tmp/ok.html", "++++--+"),
    ("webcrawler", "/tmp/", "-------"),
    ("infoseek", "/tmp", "-------"),
    ("infoseek", "/a", "+++++++"),
    ("other", "/tmp/", "+++++++"),
)

CGI_BIN_ROWS: Rows = (
    ("other", "/cgi-bin/x", "-------"),
    ("other", "/Ads/banner.cgi?1", "-------"),
    ("other", "/Ads/", "+++++++"),
    ("other", "/ads/banner.cgi", "+++++++"),
)

ALIKBEROV_1_ROWS: Rows = (
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/", "---+++-"),
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/cgi-bin/x", "---++--"),
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/tmp/x", "---++--"),
    ("Lycos", "/index.html", "+++++++"),
    ("Lycos", "/tmp/", "+++++-+"),
    ("other", "/", "-------"),
)

ALIKBEROV_2_ROWS: Rows = (
    ("Copernicus", "/tmp/", "+++++++"),
    ("Fred", "/tmp/", "+-+++++"),
    ("Lycos_Spider_(Rex)/1.0", "/tmp/", "+-+++-+"),
    ("Rex", "/tea-time/", "+--++--"),
    ("Rex", "/", "+++++++"),
    ("other", "/top-cat.txt", "+-+++-+"),
    ("other", "/traverse.this", "+-+++-+"),
    ("other", "/a", "+++++++"),
)

ALIKBEROV_3_ROWS: Rows = (
    ("any", "/spiders/not/here/", "-------"),
    ("any", "/spiders/not/here/really/", "-------"),
    ("any", "/spiders/not/here/yes/even/me.html", "-------"),
    ("any", "/spiders/not/", "+++-+++"),
    ("any", "/spiders/not/her", "+++-+++"),
)

STANDARD_1_ROWS: Rows = (
    ("any", "/cyberworld/map/x", "-------"),
    ("any", "/tmp/", "-------"),
    ("any", "/tmp", "+++++++"),
    ("any", "/", "+++++++"),
)

STANDARD_2_ROWS: Rows = (
    ("any", "/cyberworld/map/", "-------"),
    ("any", "/cyberworld/", "+++++++"),
    ("cybermapper", "/cyberworld/map/", "+++-+++"),
    ("CyberMapper/2.1", "/cyberworld/map/x", "+++-+++"),
)

STANDARD_3_ROWS: Rows = (
    ("any", "/", "-------"),
    ("any", "/a/b.html", "-------"),
)

SLURP_ROWS: Rows = (
    ("Slurp/2.0", "/", "+++++++"),
    ("Slurp/2.0", "/private/x", "-------"),
    ("Webcrawler", "/a", "+++++++"),
    ("Webcrawler", "/private", "-------"),
    ("other", "/", "+++-+++"),
    ("other", "/private/x", "+++-+++"),
)

TMP_ROWS: Rows = (
    ("any", "http://www.joes-hardware.com/tmp", "-------"),
    ("any", "http://www.joes-hardware.com/tmp/", "-------"),
    ("any", "http://www.joes-hardware.com/tmp/pliers.html", "-------"),
    ("any", "http://www.joes-hardware.com/tmpspc/stuff.txt", "-------"),
)

BOT_ROWS: Rows = (
    ("Bot", "/", "-------"),
    ("Robot", "/", "+++---+"),
    ("Bottom-Feeder", "/", "+++---+"),
    ("Spambot", "/", "+++---+"),
    ("Dont-Bother-Me", "/", "+++---+"),
    ("Spider", "/", "+++++++"),
)

MARY_ROWS: Rows = (
    ("Suzy-Spider", "http://www.marys-antiques.com/", "+++++++"),
    ("Furniture-Finder", "http://www.marys-antiques.com/", "+++++++"),
    ("NosyBot", "http://www.marys-antiques.com/", "+++++++"),
    ("Suzy-Spider", "http://www.marys-antiques.com/index.html", "+++++++"),
    ("Furniture-Finder", "http://www.marys-antiques.com/index.html", "+++++++"),
    ("NosyBot", "http://www.marys-antiques.com/index.html", "+++++++"),
    ("Suzy-Spider", "http://www.marys-antiques.com/private/payroll.xls", "-------"),
    ("Furniture-Finder", "http://www.marys-antiques.com/private/payroll.xls", "-------"),
    ("NosyBot", "http://www.marys-antiques.com/private/payroll.xls", "-------"),
    ("Suzy-Spider", "http://www.marys-antiques.com/private/suzy-stuff/taxes.txt", "++++--+"),
    ("Furniture-Finder", "http://www.marys-antiques.com/private/suzy-stuff/taxes.txt", "-------"),
    ("NosyBot", "http://www.marys-antiques.com/private/suzy-stuff/taxes.txt", "-------"),
    ("Suzy-Spider", "http://www.marys-antiques.com/dynamic/buy-stuff?id=3546", "-------"),
    ("Furniture-Finder", "http://www.marys-antiques.com/dynamic/buy-stuff?id=3546", "-------"),
    ("NosyBot", "http://www.marys-antiques.com/dynamic/buy-stuff?id=3546", "-------"),
    ("Suzy-Spider", "http://www.marys-antiques.com/dynamic/check-inventory?kitchen", "-------"),
    ("Furniture-Finder", "http://www.marys-antiques.com/dynamic/check-inventory?kitchen", "++++--+"),
    ("NosyBot", "http://www.marys-antiques.com/dynamic/check-inventory?kitchen", "-------"),
)

FICT_ROWS: Rows = (
    ("unhipbot", "http://www.fict.org/", "-------"),
    ("webcrawler", "http://www.fict.org/", "+++-+++"),
    ("excite", "http://www.fict.org/", "+++-+++"),
    ("other", "http://www.fict.org/", "-------"),
    ("unhipbot", "http://www.fict.org/index.html", "-------"),
    ("webcrawler", "http://www.fict.org/index.html", "+++-+++"),
    ("excite", "http://www.fict.org/index.html", "+++-+++"),
    ("other", "http://www.fict.org/index.html", "-------"),
    ("unhipbot", "http://www.fict.org/robots.txt", "+-+++++"),
    ("webcrawler", "http://www.fict.org/robots.txt", "+++++++"),
    ("excite", "http://www.fict.org/robots.txt", "+++++++"),
    ("other", "http://www.fict.org/robots.txt", "+-+++++"),
    ("unhipbot", "http://www.fict.org/server.html", "-------"),
    ("webcrawler", "http://www.fict.org/server.html", "+++-+++"),
    ("excite", "http://www.fict.org/server.html", "+++-+++"),
    ("other", "http://www.fict.org/server.html", "++++--+"),
    ("unhipbot", "http://www.fict.org/services/fast.html", "-------"),
    ("webcrawler", "http://www.fict.org/services/fast.html", "+++-+++"),
    ("excite", "http://www.fict.org/services/fast.html", "+++-+++"),
    ("other", "http://www.fict.org/services/fast.html", "++++--+"),
    ("unhipbot", "http://www.fict.org/services/slow.html", "-------"),
    ("webcrawler", "http://www.fict.org/services/slow.html", "+++-+++"),
    ("excite", "http://www.fict.org/services/slow.html", "+++-+++"),
    ("other", "http://www.fict.org/services/slow.html", "++++--+"),
    ("unhipbot", "http://www.fict.org/orgo.gif", "-------"),
    ("webcrawler", "http://www.fict.org/orgo.gif", "+++-+++"),
    ("excite", "http://www.fict.org/orgo.gif", "+++-+++"),
    ("other", "http://www.fict.org/orgo.gif", "-------"),
    ("unhipbot", "http://www.fict.org/org/about.html", "-------"),
    ("webcrawler", "http://www.fict.org/org/about.html", "+++-+++"),
    ("excite", "http://www.fict.org/org/about.html", "+++-+++"),
    ("other", "http://www.fict.org/org/about.html", "++++--+"),
    ("unhipbot", "http://www.fict.org/org/plans.html", "-------"),
    ("webcrawler", "http://www.fict.org/org/plans.html", "+++-+++"),
    ("excite", "http://www.fict.org/org/plans.html", "+++-+++"),
    ("other", "http://www.fict.org/org/plans.html", "-------"),
    ("unhipbot", "http://www.fict.org/%7Ejim/jim.html", "-------"),
    ("webcrawler", "http://www.fict.org/%7Ejim/jim.html", "+++-+++"),
    ("excite", "http://www.fict.org/%7Ejim/jim.html", "+++-+++"),
    ("other", "http://www.fict.org/%7Ejim/jim.html", "-------"),
    ("unhipbot", "http://www.fict.org/%7Emak/mak.html", "-------"),
    ("webcrawler", "http://www.fict.org/%7Emak/mak.html", "+++-+++"),
    ("excite", "http://www.fict.org/%7Emak/mak.html", "+++-+++"),
    ("other", "http://www.fict.org/%7Emak/mak.html", "+-++---"),
)

SIMPLE_ROWS: Rows = (
    ("foobot", "/example/page.html", "++-----"),
    ("foobot", "/example/allowed.gif", "++-----"),
    ("foobot", "/", "-------"),
    ("foobot", "/publications/", "-------"),
    ("barbot", "/example/page.html", "-------"),
    ("bazbot", "/example/page.html", "-------"),
    ("barbot", "/a.gif", "+++++++"),
    ("quxbot", "/example/page.html", "++-----"),
    ("quxbot", "/a.gif", "+++++++"),
    ("other", "/a.gif", "--+++++"),
    ("other", "/example/", "-------"),
    ("other", "/publications/a.gif", "+++++++"),
    ("other", "/elsewhere", "+++++++"),
)

LONGEST_ROWS: Rows = (
    ("foobot", "/example/page/", "+++++++"),
    ("foobot", "/example/page/disallowed.gif", "--++--+"),
    ("foobot", "/example/page/disallow.gif", "+++++++"),
    ("other", "/example/page/disallowed.gif", "+++++++"),
)

BLACKHOLE_ROWS: Rows = (
    ("alfred", "/index.html", "+++++++"),
    ("newchives", "/a/index.html", "+++++++"),
    ("oscarbot", "/images/index.html", "+++++++"),
    ("alfred", "/images/a.html", "--++++-"),
    ("alfred", "/blackhole/index.html", "+++++++"),
    ("alfred", "/blackhole/info1.html", "+++++++"),
    ("alfred", "/blackhole/info99.html", "--++++-"),
    ("alfred", "/blackhole/info8.html", "-------"),
    ("alfred", "/a.shtml", "--++++-"),
    ("alfred", "/a.cgi", "--++++-"),
    ("alfred", "/a.gif", "--++++-"),
    ("alfred", "/a.jpg", "--++++-"),
    ("alfred", "/other.html", "--++++-"),
    ("other", "/other.html", "+++++++"),
)


class Example(NamedTuple):
    """A file that a text prints. `home` is the dialect of the text; `plain`: RFC 9309 leaves no doubt about the file
    either."""

    name: str
    home: str
    plain: bool
    text: str
    rows: Rows
    about: About = "rules"


EXAMPLES: Final = (
    Example("the robots FAQ: webcrawler and lycra", "1994", True, FAQ, FAQ_ROWS),
    Example("a Web page of 1997: webcrawler and infoseek", "1996", True, INFOSEEK, INFOSEEK_ROWS),
    Example("the same page: cgi-bin", "1996", True, CGI_BIN, CGI_BIN_ROWS),
    Example("Alikberov, example 1: printed without blank lines", "kollar", False, ALIKBEROV_1, ALIKBEROV_1_ROWS),
    Example("Alikberov, example 2", "kollar", False, ALIKBEROV_2, ALIKBEROV_2_ROWS, "names"),
    Example("Alikberov, example 3", "kollar", True, ALIKBEROV_3, ALIKBEROV_3_ROWS),
    Example("A Standard for Robot Exclusion, example 1", "1994", True, STANDARD_1, STANDARD_1_ROWS),
    Example("A Standard for Robot Exclusion, example 2", "1994", True, STANDARD_2, STANDARD_2_ROWS),
    Example("A Standard for Robot Exclusion, example 3", "1994", True, STANDARD_3, STANDARD_3_ROWS),
    Example("HTTP: The Definitive Guide, 9.4: only two robots", "book", True, SLURP, SLURP_ROWS),
    Example("HTTP: The Definitive Guide, 9.4: the four URLs of /tmp", "book", True, TMP, TMP_ROWS),
    Example("HTTP: The Definitive Guide, 9.4: the five names that `bot` matches", "book", True, BOT, BOT_ROWS, "names"),
    Example("HTTP: The Definitive Guide, table 9-4: Mary's Antiques", "book", True, MARY, MARY_ROWS),
    Example("draft-koster-robots-00 4: fict.org, three robots, eleven URLs", "1996", True, FICT, FICT_ROWS),
    Example("RFC 9309 5.1", "rfc9309", True, SIMPLE, SIMPLE_ROWS),
    Example("RFC 9309 5.2, erratum 7124", "rfc9309", True, LONGEST, LONGEST_ROWS),
    Example("Conner's extended standard: the black hole", "conner", False, BLACKHOLE, BLACKHOLE_ROWS),
)


class PathTable(NamedTuple):
    """A table of patterns and URL paths that a text prints. In each row, for each dialect of ALL: `=` if the pattern
    matches and `.` if not."""

    name: str
    home: str
    rows: Rows
    about: About = "rules"


PATH_TABLES: Final = (
    PathTable(
        "HTTP: The Definitive Guide, table 9-3",  # two of its URL paths are printed without the slash
        "book",
        (
            ("/tmp", "/tmp", "======="),
            ("/tmp", "/tmpfile.html", "======="),
            ("/tmp", "/tmp/a.html", "======="),
            ("/tmp/", "/tmp", "......."),
            ("", "/README.TXT", "...=..."),
            ("/~fred/hi.html", "/%7Efred/hi.html", "=.==..."),
            ("/%7Efred/hi.html", "/~fred/hi.html", "=.==..."),
            ("/%7efred/hi.html", "/%7Efred/hi.html", "====..."),
            ("/~fred/hi.html", "/~fred%2Fhi.html", "......."),
        ),
    ),
    PathTable(
        "draft-koster-robots-00 3.2.2",
        "1996",
        (
            ("/tmp", "/tmp", "======="),
            ("/tmp", "/tmp.html", "======="),
            ("/tmp", "/tmp/a.html", "======="),
            ("/tmp/", "/tmp", "......."),
            ("/tmp/", "/tmp/", "======="),
            ("/tmp/", "/tmp/a.html", "======="),
            ("/a%3cd.html", "/a%3cd.html", "=.====="),
            ("/a%3Cd.html", "/a%3cd.html", "=.==..."),
            ("/a%3cd.html", "/a%3Cd.html", "====..."),
            ("/a%3Cd.html", "/a%3Cd.html", "======="),
            ("/a%2fb.html", "/a%2fb.html", "=.====="),
            ("/a%2fb.html", "/a/b.html", "......."),
            ("/a/b.html", "/a%2fb.html", "......."),
            ("/a/b.html", "/a/b.html", "======="),
            ("/%7ejoe/index.html", "/~joe/index.html", "=.==..."),
            ("/~joe/index.html", "/%7Ejoe/index.html", "=.==..."),
        ),
    ),
    PathTable(
        "RFC 9309, figure 4",
        "rfc9309",
        (
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", "======="),
            ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "=......"),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84", "====..."),
            ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", "======="),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", "=.==..."),
        ),
    ),
    PathTable(
        "RFC 9309, figure 6: special characters meant literally",
        "rfc9309",
        (
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", "=.==..."),
            ("/path/foo-%24", "/path/foo-$", "=.==..."),
        ),
        "special",
    ),
)


def example_cases() -> Iterator[Case]:
    """Yields all rows of the examples and of the path tables."""
    for example in EXAMPLES:
        certain = (example.home, *(("rfc9309",) if example.plain else ()))
        for agent, url, signs in example.rows:
            results = _expected([sign == "+" for sign in signs], certain, agent, example.about)
            yield case("example", example.text, url, results, example.name, agent=agent)
    for table in PATH_TABLES:
        for pattern, path, signs in table.rows:
            text = f"User-agent: *\nDisallow: {pattern}\n"
            results = _expected([sign != "=" for sign in signs], (table.home,), "any", table.about)
            yield case("example", text, path, results, table.name, agent="any")


def _expected(allowed: list[bool], certain: tuple[str, ...], agent: str, about: About = "rules") -> Expectations:
    """Returns the results in all dialects. Those that no text prints are our reading, and so are those of RFC 9309 for
    a robot that is not named by its token."""
    results: dict[str, Expected] = {}
    for dialect, result in zip(ALL, allowed, strict=True):
        named = is_token(agent) or dialect != "rfc9309"
        kind: Kind = "must" if dialect in certain and named else "reading"
        results[dialect] = Expected(result, kind, SECTIONS[dialect][about])
    return results
