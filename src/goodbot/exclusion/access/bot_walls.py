"""Recognizes bot walls, which send robots a challenge page or a demand for money instead of the requested page.

There is one record for each wall, with the source, a text or a public recording, that shows how to recognize it. A mark
is markup of the challenge page itself (an id, the path of a script). Words alone are never enough, since an article
about walls uses the same words: a title counts only together with markup. A refusal without a challenge is not counted
as a wall, except a demand for payment.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

LOOKED_AT_BYTES: Final = 4096
"""How much of a body is examined: challenge pages have their marks near the beginning."""

_SPACES: Final = b" \t\r\n\f"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MAX_VALUE_CHARS: Final = 64


def _squeezed(markup: bytes) -> bytes:
    """Returns markup in lower case and without white space, so that the layout of a page does not matter."""
    return markup.lower().translate(None, _SPACES)


def _marks(*pages: Sequence[str]) -> tuple[tuple[bytes, ...], ...]:
    return tuple(tuple(_squeezed(mark.encode()) for mark in page) for page in pages)


@dataclass(frozen=True, slots=True)
class Wall:
    """One kind of wall. An answer comes from it if it has one of these `headers` (name and value in lower case; an
    empty value means any), or a page with all marks in one row of `marks`; and, if `statuses` is not empty, one of
    these statuses. `source` says where this is documented or recorded."""

    name: str
    source: str
    headers: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[bytes, ...], ...] = ()
    statuses: frozenset[int] = frozenset()


WALLS: Final = (
    Wall(
        "Cloudflare",
        "https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/",
        headers=(("cf-mitigated", "challenge"),),
        marks=_marks(
            ("<title>Just a moment...</title>", "window._cf_chl_opt"),
            ("<title>Just a moment...</title>", 'id="challenge-form"'),  # until 2022: Anorov/cloudflare-scrape
        ),
    ),
    Wall(
        "Cloudflare pay per crawl",
        "https://developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl/use-pay-per-crawl-as-ai-owner/crawl-pages/",
        headers=(("crawler-price", ""),),
        statuses=frozenset({402}),
    ),
    Wall(
        "AWS WAF",
        "https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html",
        headers=(("x-amzn-waf-action", "challenge"), ("x-amzn-waf-action", "captcha")),
    ),
    Wall(
        "Vercel",
        "https://www.urlcheckr.app/docs/troubleshooting/vercel-firewall-challenge",
        headers=(("x-vercel-mitigated", "challenge"),),
    ),
    Wall(
        "SiteGround",
        "https://github.com/harlan-zw/unlighthouse/issues/291; public notes of status 202 and a META refresh",
        headers=(("sg-captcha", "challenge"),),
        marks=_marks(('<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/',)),
    ),
    Wall(
        "DataDome",
        "https://docs.datadome.co/reference/validate-request; its page: docs.rs/crate/zendriver-datadome, detect.js",
        headers=(("x-dd-b", ""),),
        marks=_marks(
            ("<script>var dd={'rt':'", "captcha-delivery.com"),
            ("<script data-cfasync=\"false\">var dd={'rt':'", "captcha-delivery.com"),
        ),
    ),
    Wall(
        "HUMAN",
        "https://github.com/PerimeterX/perimeterx-node-core, lib/templates/block_template.mustache",
        marks=_marks(('<meta name="description" content="px-captcha">', "window._pxAppId")),
    ),
    Wall(
        "Imperva",
        "https://github.com/apify/crawlee/pull/2111; Imperva's block page in an iframe",
        marks=_marks(('<iframe id="main-iframe" src="/_Incapsula_Resource?',)),
    ),
    Wall(
        "Akamai",
        "https://blog.crawlex.net/blog/akamai-bmsz-pixel-challenge; as www.kohls.com sent it with status 200",
        marks=_marks(('<div id="sec-if-cpt-container"',)),
    ),
    Wall(
        "Sucuri",
        "https://github.com/Anorov/cloudflare-scrape/issues/277",
        marks=_marks(("<title>You are being redirected...</title>", "sucuri_cloudproxy_js=")),
    ),
    Wall(
        "DDoS-Guard",
        "https://github.com/mikf/gallery-dl/pull/3569",
        marks=_marks(
            ("<title>DDoS-Guard</title>", 'src="/.well-known/ddos-guard/js-challenge/'),
            ("<title>DDoS-Guard</title>", 'src="/.well-known/ddos-guard/ddg-captcha-page/'),
        ),
    ),
    Wall(
        "Kasada",
        "https://blog.crawlex.net/blog/kasada-kpsdk-token-vm",
        marks=_marks(("<script>window.KPSDK={};KPSDK.now=",)),
        statuses=frozenset({403, 429}),  # pages behind this wall contain the script too
    ),
    Wall(
        "Fastly",
        "https://github.com/pypa/packaging.python.org/pull/1662, as pypi.org sends it",
        marks=_marks(("<title>Client Challenge</title>", '="/_fs-ch-')),
    ),
    Wall(
        "Anubis",
        "https://github.com/TecharoHQ/anubis, web/index.templ",
        marks=_marks(('<script id="anubis_version"',), ('<script id="anubis_challenge"',)),
    ),
    Wall(
        "go-away",
        "https://git.gammaspectra.live/git/go-away, the template `anubis`",
        marks=_marks(('<link rel="stylesheet" href="/.well-known/.git.gammaspectra.live/git/go-away/',)),
    ),
)

_BY_HEADER: Final = {(name, value): wall for wall in WALLS for name, value in wall.headers}
_HEADERS: Final = frozenset(name for name, _ in _BY_HEADER)
_BY_MARKS: Final = tuple((marks, wall) for wall in WALLS for marks in wall.marks)
_FIRST_MARK: Final = re.compile(b"|".join(re.escape(marks[0]) for marks, _ in _BY_MARKS))
"""Searched for first: most pages contain none of them."""


def wall_of(status: int, headers: Iterable[tuple[str, str]], body: bytes) -> Wall | None:
    """Returns the wall that gave this answer, or None if it comes from no known wall.

    `body` is without content coding; its first `LOOKED_AT_BYTES` are enough. Never raises; linear in the number of
    headers.
    """
    media_type: str | None = None
    for name, value in headers:
        lowered = name.lower()
        if lowered in _HEADERS and (wall := _by_header(lowered, value)) and _status_fits(wall, status):
            return wall
        if lowered == "content-type" and media_type is None:
            media_type = value.lower()
    if not body or (media_type and "html" not in media_type):
        return None
    page = _squeezed(bytes(body[:LOOKED_AT_BYTES])).removeprefix(_BYTE_ORDER_MARK)
    if not page.startswith(b"<") or _FIRST_MARK.search(page) is None:
        return None
    return next(
        (wall for marks, wall in _BY_MARKS if _status_fits(wall, status) and all(mark in page for mark in marks)), None
    )


def _status_fits(wall: Wall, status: int) -> bool:
    return not wall.statuses or status in wall.statuses


def _by_header(name: str, value: str) -> Wall | None:
    shortened = value[:_MAX_VALUE_CHARS].strip().lower()
    return _BY_HEADER.get((name, shortened)) or _BY_HEADER.get((name, ""))
