"""A URL without what does not name the page: who sent the visitor, and who the visitor is. Pure.

Nothing is put in another order and nothing is added: what is left is the URL as its author wrote it.
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
"""Parameters that only tell where a visitor comes from, as those who add them document: Google (Analytics, Ads,
Merchant), Meta, Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest, Reddit, Snap; Mailchimp, Marketo, HubSpot, Vero,
Omeda, Dotdigital, Wicked Reports; Adobe, Impact, CJ, Branch, Oracle Eloqua, Yahoo, Matomo. Names that also mean other
things elsewhere (ref, source, cid, s) are not among them."""

_SESSIONS: Final = "phpsessid jsessionid sessid oscsid zenid"
"""Of PHP, Java servlets, osCommerce and its children: nobody else uses these names."""

_ALWAYS: Final = frozenset(f"{_TRACKING} {_SESSIONS}".split())
_BEGINNINGS: Final = ("utm_", "mtm_", "hsa_", "aspsessionid")
"""utm_: Google Analytics, mtm_: Matomo, hsa_: HubSpot Ads; ASPSESSIONID has eight letters of the server behind it."""

_PERHAPS: Final = frozenset({"sid", "session", "sessionid", "session_id", "sessionkey", "sess", "s_id", "psid"})
_LOOKS_LIKE_SESSION: Final = re.compile(
    r"[0-9a-f]{16,}|[0-9A-F]{16,}|(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{20,}"
)
"""What a session is called by a library: 64 random bits or more. A number that counts is none."""

_COLD_FUSION: Final = frozenset({"cfid", "cftoken"})
_IN_PATH: Final = re.compile(r";jsessionid=[^/;?]*+|/\(S\([a-z0-9]{24}\)\)(?=/)", re.IGNORECASE)
"""Java servlets (7.1.3), and ASP.NET without cookies."""

CleanParams = Sequence[tuple[tuple[str, ...], str]]
"""Clean-param records as `RobotsTxt.clean_params` has them."""

Drops = Callable[[str, str], bool]
"""Name and path → whether the parameter does not name the page."""


def clean(url: Url, drops: Drops | None = None) -> Url:
    """The URL without what is known to be tracking or a session, and without what `drops` says. The same object if
    nothing goes. 0.1 µs where there is no `?` and no `;`, about 2 where there is; linear.
    """
    text = url.text
    cleaned = text
    if (";" in text or "(" in text) and _IN_PATH.search(text):
        cleaned = _without_session(text)
    if "?" in cleaned:
        cleaned = _without_parameters(cleaned, drops)
    return url if cleaned == text else Url(cleaned)


def is_plain(text: str) -> bool:
    """Whether there is nothing `clean` could take out of such a URL."""
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
    """What the Clean-param records of a robots.txt say of URLs of that origin; None if there is none.

    Names are compared as written, paths from their beginning, `*` any run of characters (Yandex). 1,000 are heeded.
    """
    tables = [(frozenset(names), _paths(path)) for names, path in records[:1000]]
    if not tables:
        return None
    return lambda name, path: any(name in names and heeds(path) for names, heeds in tables)


def _paths(path: str) -> Callable[[str], bool]:
    if not path.strip("*"):
        return lambda _: True
    table = PatternTable([Cut(tuple(path.rstrip("*").split("*")), anchored=False)])
    return lambda text: table.best(text) == 0


def without(text: str, name: str) -> str:
    """A URL without the parameters of that name."""
    address, mark, query = text.partition("?")
    if not mark:
        return text
    start = f"{name}="
    kept = [part for part in query.split("&") if part != name and not part.startswith(start)]
    return f"{address}?{'&'.join(kept)}" if kept else address


def parameters(text: str, most: int) -> Iterable[tuple[str, str]]:
    """Names and values of the first parameters of a URL, as written."""
    query = text.partition("?")[2]
    return ((name, value) for name, _, value in (part.partition("=") for part in query.split("&", most)[:most]) if name)
