"""The robots.txt files that the texts print.

The rule lines are those of the pages, restored to lines where a copy lost them: the FAQ's empty Disallow after
webcrawler. The blank lines between records that one translation does not print are left out (Alikberov). The words of
comments are replaced; comments stay where they were.
"""

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

# A Web page of 1997: webcrawler and infoseek
INFOSEEK = """\
User-agent: webcrawler
User-agent: infoseek
Allow: /tmp/ok.html
Disallow: /tmp
"""

# The same page: cgi-bin
CGI_BIN = """\
User-agent: *
Disallow: /cgi-bin/
Disallow: /Ads/banner.cgi
"""

# Alikberov, example 1: printed without blank lines
ALIKBEROV_1 = """\
User-Agent: *
Disallow: /
User-Agent: Lycos
Disallow: /cgi-bin/ /tmp/
"""

# Alikberov, example 2
ALIKBEROV_2 = """\
User-Agent: Copernicus Fred
Disallow:
User-Agent: * Rex
Disallow: /t
"""

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

# A Standard for Robot Exclusion, example 1
STANDARD_1 = """\
# a comment

User-Agent: *
Disallow: /cyberworld/map/ # a comment
Disallow: /tmp/ # a comment
"""

# Example 2
STANDARD_2 = """\
# a comment

User-Agent: *
Disallow: /cyberworld/map/ # a comment

# a comment
User-Agent: cybermapper
Disallow:
"""

# Example 3
STANDARD_3 = """\
# a comment

User-Agent: *
Disallow: /
"""

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

# The same: the four URLs of /tmp
TMP = """\
User-Agent: *
Disallow: /tmp
"""

# The same: the five names that `bot` hits
BOT = """\
User-Agent: bot
Disallow: /
"""

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

# RFC 9309 5.2, erratum 7124
LONGEST = """\
User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""

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
