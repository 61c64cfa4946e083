"""Removes tracking parameters and session ids from URLs, because they do not identify the page. Pure.

Nothing is reordered or added: the rest of the URL stays as its author wrote it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from goodbot.exclusion.text.patterns import Cut, PatternTable
from goodbot.url import Url

_TRACKING: Final = """
    gclid gclsrc gbraid wbraid dclid gad_source gad_campaignid srsltid _ga _gl
    fbclid fb_action_ids fb_action_types fb_source fb_ref igshid igsh
    msclkid
    yclid ymclid ysclid _openstat
    twclid ttclid li_fat_id epik rdt_cid sccid
    mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking
    vero_id vero_conv oly_anon_id oly_enc_id dm_i wickedid rb_clickid
    ef_id s_kwcid irclickid cjevent _branch_match_id elqtrack elqtrackid
    guccounter guce_referrer guce_referrer_sig
    pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid
    piwik_campaign piwik_kwd piwik_keyword matomo_campaign matomo_kwd matomo_keyword
"""
"""Parameters that say only where a visitor comes from, according to the documentation of those who add them: Google
(Analytics, Ads, Merchant), Meta, Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest, Reddit, Snap; Mailchimp, Marketo,
HubSpot, Vero, Omeda, Dotdigital, Wicked Reports; Adobe, Impact, CJ, Branch, Oracle Eloqua, Yahoo, Matomo. Names that
have other meanings on some sites (ref, source, cid, s) are not among them."""

_SESSIONS: Final = "phpsessid jsessionid sessid oscsid zenid"
"""Session ids of PHP, Java servlets, osCommerce and its forks, whose names have no other use."""

_ALWAYS: Final = frozenset(f"{_TRACKING} {_SESSIONS}".split())
_BEGINNINGS: Final = ("utm_", "mtm_", "hsa_", "aspsessionid")
"""utm_: Google Analytics, mtm_: Matomo, hsa_: HubSpot Ads; aspsessionid: ASP, which appends eight letters."""

_PERHAPS: Final = frozenset({"sid", "session", "sessionid", "session_id", "sessionkey", "sess", "s_id", "psid"})
_LOOKS_LIKE_SESSION: Final = re.compile(
    r"[0-9a-f]{16,}|[0-9A-F]{16,}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{20,}"
)
"""A session id as libraries make it: 64 random bits or more. A running number is not one."""

_COLD_FUSION: Final = frozenset({"cfid", "cftoken"})
_IN_PATH: Final = re.compile(r";jsessionid=[^/;?]*+|/\(S\([a-z0-9]{24}\)\)(?=/)", re.IGNORECASE)
"""Session ids in the path: of Java servlets (7.1.3), and of ASP.NET without cookies."""

CleanParams = Sequence[tuple[tuple[str, ...], str]]
"""Clean-param records, in the form of `RobotsTxt.clean_params`."""

Drops = Callable[[str, str], bool]
"""Takes a name and a path; returns whether the parameter does not identify the page."""


def clean(url: Url, drops: Drops | None = None) -> Url:
    """Returns the URL without known tracking parameters and session ids, and without those that `drops` names; the
    same object if nothing is removed. 0.1 µs without `?` and `;`, about 2 with one; linear.
    """
    text = url.text
    cleaned = text
    if (";" in text or "(" in text) and _IN_PATH.search(text):
        cleaned = _without_session(text)
    if "?" in cleaned:
        cleaned = _without_parameters(cleaned, drops)
    return url if cleaned == text else Url(cleaned)


def is_plain(text: str) -> bool:
    """Returns whether `clean` could remove nothing from such a URL."""
    return "?" not in text and ";" not in text and "(" not in text


def _without_session(text: str) -> str:
    address, mark, query = text.partition("?")
    return _IN_PATH.sub("", address) + mark + query


def _without_parameters(text: str, drops: Drops | None) -> str:
    address, _, query = text.partition("?")
    parts = query.split("&")
    names = [part.partition("=")[0].lower().removeprefix("amp;") for part in parts]
    cold_fusion = _COLD_FUSION.issubset(names)
    path = address[address.index("/", address.index("//") + 2) :] if drops else ""
    kept = [
        part
        for name, part in zip(names, parts, strict=True)
        if not (
            name in _ALWAYS
            or name.startswith(_BEGINNINGS)
            or (name in _PERHAPS and _LOOKS_LIKE_SESSION.fullmatch(part.partition("=")[2]))
            or (cold_fusion and name in _COLD_FUSION)
            or (drops is not None and drops(part.partition("=")[0], path))
        )
    ]
    if len(kept) == len(parts):
        return text
    return f"{address}?{'&'.join(kept)}" if kept else address


def drops_of(records: CleanParams) -> Drops | None:
    """Returns a function that applies the Clean-param records of an origin's robots.txt; None if there are none.

    Names are compared as written, paths from their beginning, and `*` matches any characters (Yandex). The first 1,000
    records apply.
    """
    tables = [(frozenset(names), _paths(path)) for names, path in records[:1000]]
    if not tables:
        return None
    return lambda name, path: any(name in names and applies(path) for names, applies in tables)


def _paths(path: str) -> Callable[[str], bool]:
    if not path.strip("*"):
        return lambda _: True
    table = PatternTable([Cut(tuple(path.rstrip("*").split("*")), anchored=False)])
    return lambda text: table.best(text) == 0


def without(text: str, name: str) -> str:
    """Returns a URL without the parameters of that name."""
    address, mark, query = text.partition("?")
    if not mark:
        return text
    start = f"{name}="
    kept = [part for part in query.split("&") if part != name and not part.startswith(start)]
    return f"{address}?{'&'.join(kept)}" if kept else address


def parameters(text: str, most: int) -> Iterable[tuple[str, str]]:
    """Returns names and values of the first `most` parameters of a URL, as written."""
    query = text.partition("?")[2]
    return ((name, value) for name, _, value in (part.partition("=") for part in query.split("&", most)[:most]) if name)
