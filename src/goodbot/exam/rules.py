"""The one table of rules: what gives points, how many, and whether it can be expected of every crawler."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["manners", "skill"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`extra`: no crawler need do it by default; it gives points and never fails a site."""

    code: str
    kind: Kind
    points: int
    says: str
    source: str
    extra: bool = False


RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in (
        Rule("robots-first", "manners", 3, "robots.txt is asked for before anything else of an origin", "RFC 9309 2.3"),
        Rule("disallowed", "manners", 3, "no URL is asked for that robots.txt closes", "RFC 9309 2.2.2"),
        Rule("closed", "manners", 3, "a site whose robots.txt cannot be had for now is left alone", "RFC 9309 2.3.1.4"),
        Rule("directives", "manners", 2, "links are not followed where the page says so", "robots META tag, 1996"),
        Rule("gap", "manners", 2, "the pause that is asked for is kept", "Crawl-delay; RFC 9309 2.2.4"),
        Rule("retry-after", "manners", 2, "Retry-After is waited out", "RFC 9110 10.2.3"),
        Rule("connections", "manners", 1, "few requests at once to one host", "robots FAQ; RFC 9112 9.4"),
        Rule(
            "identity",
            "manners",
            2,
            "the User-Agent says who it is and whom to write to",
            "RFC 9309 2.2.1; RFC 9110 10.1.5",
        ),
        Rule(
            "wall",
            "manners",
            3,
            "a challenge page is not answered, and not asked for again and again",
            "RFC 9110 15.5.4, 15.6.4; RFC 6585 4",
        ),
        Rule("burst", "manners", 2, "no burst of requests to one host", "robots FAQ; RFC 9110 15.6.4"),
        Rule("found", "skill", 2, "what can be found and may be fetched is fetched", "the site"),
        Rule("trap", "skill", 2, "no more is asked for than the site is worth", "the site"),
        Rule("bounded", "skill", 2, "an answer without end or measure is given up", "the site"),
        Rule("framing", "skill", 2, "what follows an answer is not taken for another one", "RFC 9112 6.3"),
        Rule("private", "skill", 3, "no other private address is asked because a page or redirect says so", "CWE-918"),
        Rule("secure", "skill", 2, "no page is taken from a server that cannot prove its name", "RFC 9110 4.3.4"),
        Rule("finished", "skill", 3, "the crawler ends by itself, in time", "the drive"),
        Rule("memory", "skill", 3, "memory stays under 1 GiB over the whole drive", "the drive"),
        Rule(
            "per-address",
            "manners",
            1,
            "few requests at once to one address, however many names it has",
            "BUbiNG, 2014",
            extra=True,
        ),
        Rule(
            "robots-busy",
            "manners",
            1,
            "429 for robots.txt is taken for trouble, and not for an open site",
            "Google, robots.txt, status codes; RFC 9309 2.3.1.3 leaves it open",
            extra=True,
        ),
        Rule(
            "robots-refused",
            "manners",
            1,
            "after 401 or 403 for robots.txt the crawler consistently treats the site as open, or as closed",
            "RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1",
            extra=True,
        ),
        Rule(
            "wall-robots",
            "manners",
            1,
            "a challenge in the place of robots.txt is not taken for an open site",
            "RFC 9309 2.3.1.3 allows it for 403, and says nothing about 202; a challenge is not the file",
            extra=True,
        ),
        Rule(
            "wall-slow",
            "manners",
            1,
            "a host that answers with challenge pages is asked more slowly",
            "RFC 9110 15.6.4 and RFC 6585 4 ask for it with 503 and 429 alone",
            extra=True,
        ),
        Rule(
            "wall-cookie",
            "manners",
            1,
            "the cookie of a wall is not sent back",
            "RFC 6265 5.4 allows it; a robot needs no cookie to read a site",
            extra=True,
        ),
        Rule(
            "robots-fresh",
            "manners",
            1,
            "robots.txt is read again when its own lifetime is over",
            "RFC 9309 2.4; RFC 9111 4.2",
            extra=True,
        ),
        Rule("visit-time", "manners", 1, "Visit-time is kept", "Conner 1996", extra=True),
        Rule("request-rate", "manners", 1, "Request-rate is kept", "Conner 1996", extra=True),
        Rule(
            "revalidates",
            "skill",
            1,
            "the second visit asks with If-None-Match or If-Modified-Since",
            "RFC 9110 13",
            extra=True,
        ),
        Rule("duplicates", "skill", 1, "copies of one page are not all fetched", "the site", extra=True),
        Rule(
            "asks-again",
            "skill",
            1,
            "a page is asked for again after a fault that may pass",
            "RFC 9110 15.5.9, 15.5.20; RFC 8470 5.2",
            extra=True,
        ),
        Rule("own-host", "skill", 1, "a sitemap speaks for its own host only", "sitemaps.org", extra=True),
        Rule("other-links", "skill", 1, "links in frames, META refresh and LINK are found too", "HTML", extra=True),
        Rule("sitemap", "skill", 1, "pages that only the sitemap names are found", "sitemaps.org", extra=True),
    )
}
