"""Compares goodbot, Scrapy, spider-rs, wget and wget2 on the same pages of several sites, over plain HTTP.

    make bench-crawl LOCALWEB=http://127.0.0.10:8800/ SITES="127.0.0.11 127.0.0.16"

LOCALWEB is a portal on loopback that links to sites. The benchmark copies the HTML pages of SITES (by default, of all
sites), serves the copies itself, and lets each program crawl all of them to the end. Every program gets the root URLs
of the sites, obeys robots.txt and does not wait between requests; see `crawl_programs`. The server counts the pages, so
all programs are measured by the same pages. Site addresses are chosen so that goodbot's two workers get about the
same work. CPU and memory are those of all processes of a program; the server runs on the same cores. BEFORE, the
Python interpreter of another installed goodbot, adds that version to the table. Needs nginx and wget; Scrapy,
spider-rs (of npm) and wget2 are compared if they are installed.
"""

from crawl_comparison import SETTINGS, compare
from settings import start

if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, SETTINGS, lambda: compare("crawl", ["plain"])))
