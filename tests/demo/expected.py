"""What a robot called goodbot finds on the sample web: seeds the three home pages, scope `host`, no sitemaps read.

Every URL is listed once, with what becomes of it. `Found.line` is the line of the robots.txt that decides, if one does;
`Found.why_not` is what the page asks for, or that it is a redirect.
"""

from typing import Literal, NamedTuple

SiteName = Literal["hardware", "antiques", "handbook"]


class Found(NamedTuple):
    """One URL the robot comes to know, and the state it ends in."""

    site: SiteName
    target: str
    state: Literal["visited", "disallowed", "gone"] = "visited"
    status: int | None = 200
    line: int | None = None
    why_not: Literal["", "noindex", "nofollow", "noarchive", "redirect"] = ""


_CHAPTERS = """
    what-is-a-robot good-or-bad finding-pages search-index archives history get-visited write-for-robots
    server-log is-it-genuine when-a-robot-harms robots-txt groups longest-match without-the-root
    what-robots-txt-cannot-do dialects common-mistakes meta-robots ai-preferences write-a-robot user-agent
    politeness traps test-and-run read-on
"""

_VISITED: dict[SiteName, str] = {
    "hardware": """
        / /departments /hours /tools/ /tools/claw-hammer /tools/claw-hammer?from=offers /tools/screwdriver-set
        /tools/cordless-drill /tools/adjustable-spanner /fasteners/ /fasteners/wood-screws /fasteners/wall-plugs
        /fasteners/nails /torches/ /torches/acetylene /torches/propane /torches/pocket-lamp /guides/
        /guides/choose-a-drill /guides/choose-a-torch /guides/hang-a-shelf /guides/sharpen-a-chisel /robots.txt
    """,
    "antiques": """
        / /about /furniture/ /furniture/windsor-chair /furniture/writing-desk /furniture/chest-of-drawers /clocks/
        /clocks/longcase-clock /clocks/mantel-clock /clocks/care /restoration/ /restoration/french-polish
        /restoration/woodworm /visitors /robots.txt
    """,
    "handbook": " ".join(f"/{name} /ru/{name}" for name in ("", *_CHAPTERS.split())),
}

EXPECTED: tuple[Found, ...] = (
    *(Found(site, target) for site, targets in _VISITED.items() for target in targets.split()),
    Found("hardware", "/price-list", why_not="noarchive"),
    Found("hardware", "/newsletter-thanks", why_not="noindex"),
    Found("hardware", "/staff-picks", why_not="nofollow"),
    Found("hardware", "/specials/acetylene-torches", status=301, why_not="redirect"),
    Found("hardware", "/tools/bench-vice", "gone", 404),
    Found("hardware", "/cart", "disallowed", None, 5),
    Found("hardware", "/cart?add=cordless-drill", "disallowed", None, 5),
    Found("hardware", "/internal/stock", "disallowed", None, 6),
    Found("hardware", "/internal/rota", "disallowed", None, 6),
    Found("antiques", "/dynamic/search", "disallowed", None, 20),
    Found("antiques", "/dynamic/check-inventory", "disallowed", None, 20),
    Found("antiques", "/dynamic/check-inventory?item=windsor-chair", "disallowed", None, 20),
    Found("antiques", "/dynamic/check-inventory?item=writing-desk", "disallowed", None, 20),
    Found("antiques", "/dynamic/check-inventory?item=longcase-clock", "disallowed", None, 20),
    Found("antiques", "/private", "disallowed", None, 21),
    Found("handbook", "/drafts/glossary", line=7),
    Found("handbook", "/drafts/", "disallowed", None, 6),
    Found("handbook", "/samples/access.log", "disallowed", None, 8),
)

OUT_OF_SCOPE: tuple[str, ...] = (
    *(f"https://www.rfc-editor.org/rfc/rfc{number}" for number in (1945, 3986, 6585, 6596, 9110, 9111, 9309, 9421)),
    "http://www.mit.edu/people/mkgray/net/background.html",
    "https://url.spec.whatwg.org/",
    "https://www.indexnow.org/",
    "https://www.sitemaps.org/protocol.html",
)
"""Linked by the handbook; never asked for."""

HIDDEN: tuple[tuple[SiteName, str], ...] = (
    ("hardware", "/guides/workshop-diary"),  # linked by a nofollow page only
    ("antiques", "/visitors/letter-box"),  # linked with rel=nofollow only
    ("antiques", "/dynamic"),  # linked by nobody
    ("antiques", "/private/suzy-stuff"),  # linked from inside /private only
)
"""They exist, and a robot that obeys never hears of them."""
