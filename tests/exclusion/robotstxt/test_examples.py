"""The examples the texts themselves print, exact in their own dialect, and what the other dialects answer beside it.

The rule lines are those of the pages, restored to lines where a copy lost them: the FAQ's empty Disallow after
webcrawler, and the blank lines between records that one translation does not print are left out where it does not
(Alikberov). What their comments say is left out; where they stand is kept.
"""

import pytest

from goodbot.exclusion import DIALECTS, RobotsTxt

COLUMNS = ("rfc9309", "google", "1996", "book", "1994", "kollar", "conner")
"""The signs of each row below: `+` allowed, `-` disallowed."""

Rows = list[tuple[str, str, str]]


# The robots FAQ: webcrawler and lycra
FAQ = """\
# a comment
# a comment

User-agent: webcrawler
Disallow:

User-agent: lycra
Disallow: /

User-agent: *
Disallow: /tmp
Disallow: /logs
"""

FAQ_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("webcrawler", "/", "+++-+++"),
    ("WebCrawler/3.0", "/tmp/x", "+++-+++"),
    ("webcrawler", "/logs", "+++-+++"),
    ("lycra", "/", "-------"),
    ("lycra", "/a.html", "-------"),
    ("other", "/tmp", "-------"),
    ("other", "/logs/1", "-------"),
    ("other", "/log", "+++++++"),
    ("other", "/", "+++++++"),
]

# A Web page of 1997: webcrawler and infoseek
INFOSEEK = """\
User-agent: webcrawler
User-agent: infoseek
Allow: /tmp/ok.html
Disallow: /tmp
"""

INFOSEEK_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("webcrawler", "/tmp/ok.html", "++++--+"),
    ("infoseek", "/tmp/ok.html", "++++--+"),
    ("webcrawler", "/tmp/", "-------"),
    ("infoseek", "/tmp", "-------"),
    ("infoseek", "/a", "+++++++"),
    ("other", "/tmp/", "+++++++"),
]

# The same page: cgi-bin
CGI_BIN = """\
User-agent: *
Disallow: /cgi-bin/
Disallow: /Ads/banner.cgi
"""

CGI_BIN_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("other", "/cgi-bin/x", "-------"),
    ("other", "/Ads/banner.cgi?1", "-------"),
    ("other", "/Ads/", "+++++++"),
    ("other", "/ads/banner.cgi", "+++++++"),
]

# Alikberov, example 1: printed without blank lines
ALIKBEROV_1 = """\
User-Agent: *
Disallow: /
User-Agent: Lycos
Disallow: /cgi-bin/ /tmp/
"""

ALIKBEROV_1_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/", "---+++-"),
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/cgi-bin/x", "---++--"),
    ("Lycos_Spider_(Rex)/1.0 libwww/3.1", "/tmp/x", "---++--"),
    ("Lycos", "/index.html", "+++++++"),
    ("Lycos", "/tmp/", "+++++-+"),
    ("other", "/", "-------"),
]

# Alikberov, example 2
ALIKBEROV_2 = """\
User-Agent: Copernicus Fred
Disallow:
User-Agent: * Rex
Disallow: /t
"""

ALIKBEROV_2_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("Copernicus", "/tmp/", "+++++++"),
    ("Fred", "/tmp/", "+-+++++"),
    ("Lycos_Spider_(Rex)/1.0", "/tmp/", "+-+++-+"),
    ("Rex", "/tea-time/", "+--++--"),
    ("Rex", "/", "+++++++"),
    ("other", "/top-cat.txt", "+-+++-+"),
    ("other", "/traverse.this", "+-+++-+"),
    ("other", "/a", "+++++++"),
]

# Alikberov, example 3
ALIKBEROV_3 = """\
# a comment
User-Agent: *
# a comment
Disallow: /spiders/not/here/ # a comment
Disallow: # a comment
Disallow: # a comment
# a comment
"""

ALIKBEROV_3_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("any", "/spiders/not/here/", "-------"),
    ("any", "/spiders/not/here/really/", "-------"),
    ("any", "/spiders/not/here/yes/even/me.html", "-------"),
    ("any", "/spiders/not/", "+++-+++"),
    ("any", "/spiders/not/her", "+++-+++"),
]

# A Standard for Robot Exclusion, example 1
STANDARD_1 = """\
# a comment

User-Agent: *
Disallow: /cyberworld/map/ # a comment
Disallow: /tmp/ # a comment
"""

STANDARD_1_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("any", "/cyberworld/map/x", "-------"),
    ("any", "/tmp/", "-------"),
    ("any", "/tmp", "+++++++"),
    ("any", "/", "+++++++"),
]

# Example 2
STANDARD_2 = """\
# a comment

User-Agent: *
Disallow: /cyberworld/map/ # a comment

# a comment
User-Agent: cybermapper
Disallow:
"""

STANDARD_2_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("any", "/cyberworld/map/", "-------"),
    ("any", "/cyberworld/", "+++++++"),
    ("cybermapper", "/cyberworld/map/", "+++-+++"),
    ("CyberMapper/2.1", "/cyberworld/map/x", "+++-+++"),
]

# Example 3
STANDARD_3 = """\
# a comment

User-Agent: *
Disallow: /
"""

STANDARD_3_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("any", "/", "-------"),
    ("any", "/a/b.html", "-------"),
]

# HTTP: The Definitive Guide, 9.4: only two robots
SLURP = """\
# a comment
# a comment
\x20
User-Agent: slurp
User-Agent: webcrawler
Disallow: /private
\x20
User-Agent: *
Disallow:
"""

SLURP_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("Slurp/2.0", "/", "+++++++"),
    ("Slurp/2.0", "/private/x", "-------"),
    ("Webcrawler", "/a", "+++++++"),
    ("Webcrawler", "/private", "-------"),
    ("other", "/", "+++-+++"),
    ("other", "/private/x", "+++-+++"),
]

# The same: the four URLs of /tmp
TMP = """\
User-Agent: *
Disallow: /tmp
"""

TMP_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("any", "http://www.joes-hardware.com/tmp", "-------"),
    ("any", "http://www.joes-hardware.com/tmp/", "-------"),
    ("any", "http://www.joes-hardware.com/tmp/pliers.html", "-------"),
    ("any", "http://www.joes-hardware.com/tmpspc/stuff.txt", "-------"),
]

# The same: the five names that `bot` hits
BOT = """\
User-Agent: bot
Disallow: /
"""

BOT_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("Bot", "/", "-------"),
    ("Robot", "/", "+++---+"),
    ("Bottom-Feeder", "/", "+++---+"),
    ("Spambot", "/", "+++---+"),
    ("Dont-Bother-Me", "/", "+++---+"),
    ("Spider", "/", "+++++++"),
]

# The same: table 9-4, Mary's Antiques
MARY = """\
#####################################################################
# a comment
#####################################################################
\x20
User-Agent: Suzy-Spider
Disallow: /dynamic
Allow: /private/suzy-stuff
Disallow: /private
\x20
User-Agent: Furniture-Finder
Allow: /dynamic/check-inventory
Disallow: /dynamic
Disallow: /private
\x20
User-Agent: *
Disallow: /dynamic
Disallow: /private
"""

MARY_ROWS: Rows = [
    # robot, URL, allowed in each dialect
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
]

# Draft-koster-robots-00 4: fict.org, three robots, eleven URLs
FICT = """\
# a comment
# a comment

User-agent: unhipbot
Disallow: /

User-agent: webcrawler
User-agent: excite
Disallow:

User-agent: *
Disallow: /org/plans.html
Allow: /org/
Allow: /serv
Allow: /~mak
Disallow: /
"""

FICT_ROWS: Rows = [
    # robot, URL, allowed in each dialect
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
]

# RFC 9309 5.1
SIMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""

SIMPLE_ROWS: Rows = [
    # robot, URL, allowed in each dialect
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
]

# RFC 9309 5.2, erratum 7124
LONGEST = """\
User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""

LONGEST_ROWS: Rows = [
    # robot, URL, allowed in each dialect
    ("foobot", "/example/page/", "+++++++"),
    ("foobot", "/example/page/disallowed.gif", "--++--+"),
    ("foobot", "/example/page/disallow.gif", "+++++++"),
    ("other", "/example/page/disallowed.gif", "+++++++"),
]

# Conner's extended standard: the black hole
BLACKHOLE = """\
User-agent: alfred
User-agent: newchives
User-agent: oscarbot
Robot-version: 2.0    # a comment
Allow: *index.html      # a comment
Allow: /images/index.html   # a comment
Allow: /blackhole/index.html    # a comment
Allow: /blackhole/info*     # a comment
Disallow: *         # a comment
Disallow: *.shtml       # a comment
Disallow: *.cgi         # a comment
Disallow: *.gif         # a comment
Disallow: *.jpg
Disallow: /images*      # a comment
Disallow: /blackhole/info99*    # a comment
Disallow: /blackhole/info8.html # a comment
"""

BLACKHOLE_ROWS: Rows = [
    # robot, URL, allowed in each dialect
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
]

EXAMPLES = [
    # name, its own dialect, text, rows
    ("the robots FAQ: webcrawler and lycra", "1994", FAQ, FAQ_ROWS),
    ("a Web page of 1997: webcrawler and infoseek", "1996", INFOSEEK, INFOSEEK_ROWS),
    ("the same page: cgi-bin", "1996", CGI_BIN, CGI_BIN_ROWS),
    ("Alikberov, example 1: printed without blank lines", "kollar", ALIKBEROV_1, ALIKBEROV_1_ROWS),
    ("Alikberov, example 2", "kollar", ALIKBEROV_2, ALIKBEROV_2_ROWS),
    ("Alikberov, example 3", "kollar", ALIKBEROV_3, ALIKBEROV_3_ROWS),
    ("A Standard for Robot Exclusion, example 1", "1994", STANDARD_1, STANDARD_1_ROWS),
    ("example 2", "1994", STANDARD_2, STANDARD_2_ROWS),
    ("example 3", "1994", STANDARD_3, STANDARD_3_ROWS),
    ("HTTP: The Definitive Guide, 9.4: only two robots", "book", SLURP, SLURP_ROWS),
    ("the same: the four URLs of /tmp", "book", TMP, TMP_ROWS),
    ("the same: the five names that `bot` hits", "book", BOT, BOT_ROWS),
    ("the same: table 9-4, Mary's Antiques", "book", MARY, MARY_ROWS),
    ("draft-koster-robots-00 4: fict.org, three robots, eleven URLs", "1996", FICT, FICT_ROWS),
    ("RFC 9309 5.1", "rfc9309", SIMPLE, SIMPLE_ROWS),
    ("RFC 9309 5.2, erratum 7124", "rfc9309", LONGEST, LONGEST_ROWS),
    ("Conner's extended standard: the black hole", "conner", BLACKHOLE, BLACKHOLE_ROWS),
]


@pytest.mark.parametrize(("name", "home", "text", "rows"), EXAMPLES, ids=[case[0] for case in EXAMPLES])
def test_examples(name: str, home: str, text: str, rows: Rows) -> None:
    own = RobotsTxt.parse(text, home)
    for agent, url, signs in rows:
        assert own.allows(url, agent) is (signs[COLUMNS.index(home)] == "+"), (agent, url)
        verdicts = own.compare(url, agent)
        assert "".join("+" if verdicts[dialect].allowed else "-" for dialect in COLUMNS) == signs, (agent, url)
        assert all(
            RobotsTxt.parse(text, dialect).allows(url, agent) is verdicts[dialect].allowed for dialect in COLUMNS
        )


def test_every_dialect_has_a_column() -> None:
    assert tuple(DIALECTS) == COLUMNS


PathRows = list[tuple[str, str, str]]

# HTTP: The Definitive Guide, table 9-3; two of its URL paths are printed without the slash
TABLE_9_3: PathRows = [
    # pattern, URL path, does it match in each dialect: `=` yes, `.` no
    ("/tmp", "/tmp", "======="),
    ("/tmp", "/tmpfile.html", "======="),
    ("/tmp", "/tmp/a.html", "======="),
    ("/tmp/", "/tmp", "......."),
    ("", "README.TXT", "...=..."),
    ("/~fred/hi.html", "/%7Efred/hi.html", "=.==..."),
    ("/%7Efred/hi.html", "/~fred/hi.html", "=.==..."),
    ("/%7efred/hi.html", "/%7Efred/hi.html", "====..."),
    ("/~fred/hi.html", "/~fred%2Fhi.html", "......."),
]

# draft-koster-robots-00 3.2.2: sixteen rows
DRAFT_TABLE: PathRows = [
    # pattern, URL path, does it match in each dialect: `=` yes, `.` no
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
]

# RFC 9309, figure 4
FIGURE_4: PathRows = [
    # pattern, URL path, does it match in each dialect: `=` yes, `.` no
    ("/foo/bar?baz=quz", "/foo/bar?baz=quz", "======="),
    ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "=......"),
    ("/foo/bar/ツ", "/foo/bar/%E3%83%84", "====..."),
    ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", "======="),
    ("/foo/bar/%62%61%7A", "/foo/bar/baz", "=.==..."),
]

# RFC 9309, figure 6: signs meant literally
FIGURE_6: PathRows = [
    # pattern, URL path, does it match in each dialect: `=` yes, `.` no
    ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", "=.==..."),
    ("/path/foo-%24", "/path/foo-$", "=.==..."),
]


@pytest.mark.parametrize("rows", [TABLE_9_3, DRAFT_TABLE, FIGURE_4, FIGURE_6], ids=["9-3", "3.2.2", "4", "6"])
def test_path_tables(rows: PathRows) -> None:
    for pattern, path, signs in rows:
        robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n")
        verdicts = robots.compare(path, "any")
        assert "".join("." if verdicts[dialect].allowed else "=" for dialect in COLUMNS) == signs, (pattern, path)
