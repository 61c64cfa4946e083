"""The table of rules: what gives points, how many, and whether every crawler is expected to do it."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["manners", "skill"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the exam. An `extra` gives points and never fails a site: no crawler has to do it by default."""

    code: str
    kind: Kind
    points: int
    requirement: str
    source: str
    extra: bool = False


RULES: Final[dict[str, Rule]] = {
    rule.code: rule
    for rule in (
        Rule("robots-first", "manners", 3, "fetches robots.txt before anything else from an origin", "RFC 9309 2.3"),
        Rule("disallowed", "manners", 3, "fetches no URL that robots.txt disallows", "RFC 9309 2.2.2"),
        Rule("closed", "manners", 3, "leaves a site alone while its robots.txt is unreachable", "RFC 9309 2.3.1.4"),
        Rule("directives", "manners", 2, "does not follow links where the page says so", "robots META tag, 1996"),
        Rule("gap", "manners", 2, "waits between requests as long as the site asks", "Crawl-delay; RFC 9309 2.2.4"),
        Rule("retry-after", "manners", 2, "waits as long as Retry-After says", "RFC 9110 10.2.3"),
        Rule("connections", "manners", 1, "sends few requests at once to one host", "robots FAQ; RFC 9112 9.4"),
        Rule(
            "identity",
            "manners",
            2,
            "names itself and a contact in User-Agent",
            "RFC 9309 2.2.1; RFC 9110 10.1.5",
        ),
        Rule(
            "wall",
            "manners",
            3,
            "leaves challenge pages unanswered, and does not fetch them again and again",
            "RFC 9110 15.5.4, 15.6.4; RFC 6585 4",
        ),
        Rule("burst", "manners", 2, "sends no burst of requests to one host", "robots FAQ; RFC 9110 15.6.4"),
        Rule("found", "skill", 2, "fetches all pages that can be found and are allowed", "the site"),
        Rule("trap", "skill", 2, "sends few requests that find nothing new", "the site"),
        Rule("bounded", "skill", 2, "gives up on endless and oversized responses", "the site"),
        Rule("framing", "skill", 2, "does not take bytes after a response for another response", "RFC 9112 6.3"),
        Rule("private", "skill", 3, "follows no link or redirect to a private address", "CWE-918"),
        Rule("secure", "skill", 2, "fetches nothing from a server with an invalid certificate", "RFC 9110 4.3.4"),
        Rule("finished", "skill", 3, "ends by itself, in time", "the drive"),
        Rule("memory", "skill", 3, "uses less than 1 GiB of memory over the whole drive", "the drive"),
        Rule(
            "per-address",
            "manners",
            1,
            "sends few requests at once to one address, however many names it has",
            "BUbiNG, 2014",
            extra=True,
        ),
        Rule(
            "robots-busy",
            "manners",
            1,
            "takes 429 for robots.txt as unreachable, not as an open site",
            "Google, robots.txt, status codes; RFC 9309 2.3.1.3 leaves it open",
            extra=True,
        ),
        Rule(
            "robots-refused",
            "manners",
            1,
            "treats a site as all open or all closed after 401 or 403 for robots.txt",
            "RFC 9309 2.3.1.3 (MAY); draft-koster-robots-00 3.1",
            extra=True,
        ),
        Rule(
            "wall-robots",
            "manners",
            1,
            "does not take a challenge in place of robots.txt as an open site",
            "RFC 9309 2.3.1.3 allows it for 403, and says nothing about 202; a challenge is not the file",
            extra=True,
        ),
        Rule(
            "wall-slow",
            "manners",
            1,
            "slows down on a host that sends challenge pages",
            "RFC 9110 15.6.4 and RFC 6585 4 require it for 503 and 429 only",
            extra=True,
        ),
        Rule(
            "wall-cookie",
            "manners",
            1,
            "does not send the cookie of a wall back",
            "RFC 6265 5.4 allows it; a robot needs no cookie to read a site",
            extra=True,
        ),
        Rule(
            "robots-fresh",
            "manners",
            1,
            "fetches robots.txt again when the lifetime in its headers ends",
            "RFC 9309 2.4; RFC 9111 4.2",
            extra=True,
        ),
        Rule("visit-time", "manners", 1, "obeys Visit-time", "Conner 1996", extra=True),
        Rule("request-rate", "manners", 1, "obeys Request-rate", "Conner 1996", extra=True),
        Rule(
            "revalidates",
            "skill",
            1,
            "sends If-None-Match or If-Modified-Since on the second visit",
            "RFC 9110 13",
            extra=True,
        ),
        Rule("duplicates", "skill", 1, "does not fetch every copy of a page", "the site", extra=True),
        Rule(
            "asks-again",
            "skill",
            1,
            "retries a page after a temporary error",
            "RFC 9110 15.5.9, 15.5.20; RFC 8470 5.2",
            extra=True,
        ),
        Rule("own-host", "skill", 1, "accepts only URLs of its own host from a sitemap", "sitemaps.org", extra=True),
        Rule("other-links", "skill", 1, "finds links in frames, META refresh and LINK too", "HTML", extra=True),
        Rule("sitemap", "skill", 1, "finds pages that only the sitemap names", "sitemaps.org", extra=True),
    )
}
