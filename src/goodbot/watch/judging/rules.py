"""The rules by which an address is judged: each says what it found, and how much that counts.

A rule speaks only about what the log has. Behaviour that people's programs share (page scripts that poll, apps,
download managers, feed readers, tabs that are restored) gives no points: the comments name them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.human import counted
from goodbot.registry.agent_kind import begins_as_browser, names_a_browser, names_a_robot, names_an_app
from goodbot.watch.judging.client import Client

FEW_PAGES: Final = 5
"""With fewer pages a robot is `possible` at most."""

ASSETS_EXPECTED: Final = 0.3
"""If assets are a smaller share of the site's requests, missing assets are no evidence."""

REFERRERS_EXPECTED: Final = 0.2
"""If browsers send a Referer with a smaller share of their pages, missing ones are no evidence."""

MANY_PAGES: Final = 80
"""More pages than a person reads without loading a single image."""

ASSETS: Final = "images, style sheets, scripts and the like"

SMALL_ANSWER, LARGE_ANSWER = 1000, 250_000
"""Mean bytes of responses that may be pages: scripts poll for smaller ones, larger ones are files to download."""


class Site(NamedTuple):
    """What is usual on a site."""

    asset_share: float
    referrer_share: float


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of evidence. `says` returns a sentence with the figures, or None if the rule does not apply."""

    name: str
    points: int
    says: Callable[[Client, Site], str | None]


# ---- evidence for a robot -------------------------------------------------------------------------------------------


def _reads_robots_txt(client: Client, _: Site) -> str | None:
    return f"requested robots.txt {_times(client.robots_txt)}" if client.robots_txt else None


def _calls_itself_a_robot(client: Client, _: Site) -> str | None:
    if not names_a_robot(client.agent) or client.agent_bits.bit_count() > 1:
        return None
    return "its User-Agent looks like a robot's, but goodbot does not know this robot"


def _loads_no_assets(client: Client, site: Site) -> str | None:
    if client.assets or client.pages < 10 or not FEW_PAGES <= client.different_pages < 40:
        return None
    return _without_assets(client) if _needs_assets(client, site) and not _names_itself(client) else None


def _loads_no_assets_of_many(client: Client, site: Site) -> str | None:
    if client.assets or client.different_pages < 40:
        return None
    return _without_assets(client) if _needs_assets(client, site) else None


def _loads_few_assets(client: Client, site: Site) -> str | None:
    if not client.assets or client.assets * 20 > client.pages or client.different_pages < 20:
        return None
    few = f"requested {client.pages:,} pages, but only {client.assets:,} {ASSETS}"
    return few if _needs_assets(client, site) else None


def _sends_no_referrer(client: Client, site: Site) -> str | None:
    if client.referred or client.unreferred < 10 or client.different_pages < FEW_PAGES:
        return None
    if site.referrer_share < REFERRERS_EXPECTED or _is_app(client) or _is_incomplete(client):
        return None
    return f"sent no Referer in {client.unreferred:,} requests for pages"


def _keeps_regular_gaps(client: Client, _: Site) -> str | None:
    return _regular(client) if client.gap_variation < 0.25 else None


def _keeps_rather_regular_gaps(client: Client, _: Site) -> str | None:
    return _regular(client) if 0.25 <= client.gap_variation < 0.45 else None


def _is_fast(client: Client, _: Site) -> str | None:
    return _rate(client) if client.pages_per_minute >= 60 and client.different_pages >= 30 else None


def _is_rather_fast(client: Client, _: Site) -> str | None:
    return _rate(client) if 15 <= client.pages_per_minute < 60 and client.different_pages >= 40 else None


def _comes_in_bursts(client: Client, _: Site) -> str | None:
    if client.peak_run < 10 or client.assets or client.different_pages < FEW_PAGES or _comes_by_links(client):
        return None
    return f"sent {client.peak_run:,} requests within one second"


def _goes_broad(client: Client, _: Site) -> str | None:
    pages = client.different_pages
    if pages < 30 or (pages < 0.7 * client.pages and not client.has_many_pages):
        return None
    return f"requested at least {client.least_pages:,} different pages in {counted(client.pages, 'request')}"


def _probes_a_little(client: Client, _: Site) -> str | None:
    few_failed = 1 <= client.probes < 5 and client.client_errors > 0
    answered = client.probes >= 5 and not _probes_fail(client) and not client.assets and not _probes_rapidly(client)
    return _probed(client) if few_failed or answered else None


def _probes_a_lot(client: Client, _: Site) -> str | None:
    return _probed(client) if client.probes >= 5 and _probes_fail(client) else None


def _tries_again_and_again(client: Client, _: Site) -> str | None:
    if _probes_fail(client) or client.assets or not _probes_rapidly(client):
        return None
    return f"{_probed(client)}, in {counted(client.sessions, 'session')}"


def _sends_head(client: Client, _: Site) -> str | None:
    return f"sent {client.heads:,} HEAD requests, which browsers do not" if client.heads >= 3 else None


def _has_no_name(client: Client, _: Site) -> str | None:
    if client.unnamed < max(3, client.requests // 2):
        return None
    return f"sent no User-Agent with {client.unnamed:,} of {counted(client.requests, 'request')}"


def _never_sleeps(client: Client, _: Site) -> str | None:
    if client.hours < 20 or client.days < 2 or client.agents > 3 or _comes_by_links(client):
        return None
    return f"came in {client.hours} of the 24 hours of the day"


def _changes_its_name(client: Client, _: Site) -> str | None:
    if client.agents < 8 or client.assets * 10 > client.pages or client.pages > 3 * client.agents:
        return None
    if _comes_by_links(client):  # people behind a proxy that has the images
        return None
    return f"used at least {client.least_agents} User-Agents for {counted(client.pages, 'page')}"


def _meets_errors(client: Client, _: Site) -> str | None:
    if client.client_errors < 20 or 2 * client.client_errors < client.requests:
        return None
    return f"got {client.client_errors:,} errors (400 to 499) to {counted(client.requests, 'request')}"


# ---- evidence against -----------------------------------------------------------------------------------------------


def _loads_assets(client: Client, _: Site) -> str | None:
    if client.assets < 5 or client.assets < client.pages:
        return None
    return f"loaded {client.assets:,} {ASSETS} for {counted(client.pages, 'page')}, as a browser does"


def _loads_some_assets(client: Client, _: Site) -> str | None:
    if client.assets < 5 or not client.pages / 4 <= client.assets < client.pages:
        return None
    return f"loaded {client.assets:,} {ASSETS} for {counted(client.pages, 'page')}"


def _follows_links(client: Client, _: Site) -> str | None:
    return _referred(client) if _comes_by_links(client) and client.different_pages < MANY_PAGES else None


def _seems_to_follow_links(client: Client, _: Site) -> str | None:
    """Of so many pages without an image the Referer is more often made up."""
    return _referred(client) if _comes_by_links(client) and client.different_pages >= MANY_PAGES else None


def _is_several(client: Client, _: Site) -> str | None:
    if client.agents < 4 or client.assets < max(client.pages, 1):
        return None
    return f"used at least {client.least_agents} User-Agents with their own images, as people behind one address do"


def _visits(client: Client, _: Site) -> str | None:
    if client.addresses > 1 or client.sessions < 5 or client.days < 2 or client.hours > 14:
        return None
    if client.pages > 10 * client.sessions:
        return None
    pages = round(client.pages / client.sessions)
    return (
        f"came in {client.sessions:,} sessions of about {counted(pages, 'page')} each, in {client.hours} different "
        "hours of the day, as people do"
    )


def _keeps_irregular_gaps(client: Client, _: Site) -> str | None:
    if client.gaps < 20 or client.mean_gap_s < 10 or not 0.9 <= client.gap_variation < 100:
        return None
    return f"paused irregularly, {client.mean_gap_s:,.0f} s on average"


RULES: Final = (
    Rule("robots.txt", 40, _reads_robots_txt),
    Rule("robot's name", 30, _calls_itself_a_robot),
    Rule("no assets", 30, _loads_no_assets),
    Rule("no assets for many pages", 45, _loads_no_assets_of_many),
    Rule("few assets", 15, _loads_few_assets),
    Rule("no referrer", 15, _sends_no_referrer),
    Rule("regular gaps", 25, _keeps_regular_gaps),
    Rule("rather regular gaps", 10, _keeps_rather_regular_gaps),
    Rule("fast", 25, _is_fast),
    Rule("rather fast", 10, _is_rather_fast),
    Rule("bursts", 10, _comes_in_bursts),
    Rule("breadth", 10, _goes_broad),
    Rule("probes", 30, _probes_a_little),
    Rule("rapid probes", 60, _tries_again_and_again),
    Rule("many probes", 85, _probes_a_lot),
    Rule("HEAD", 10, _sends_head),
    Rule("no name", 25, _has_no_name),
    Rule("round the clock", 15, _never_sleeps),
    Rule("many names", 20, _changes_its_name),
    Rule("errors", 10, _meets_errors),
    Rule("assets", -40, _loads_assets),
    Rule("some assets", -20, _loads_some_assets),
    Rule("referrers", -25, _follows_links),
    Rule("referrers of many pages", -5, _seems_to_follow_links),
    Rule("several people", -20, _is_several),
    Rule("visits", -15, _visits),
    Rule("irregular gaps", -5, _keeps_irregular_gaps),
)
"""All rules. Of several about the same behaviour, at most one applies."""


# ---- what kind of program it is -------------------------------------------------------------------------------------


def _is_app(client: Client) -> bool:
    """Whether an app of a telephone sent the requests: apps load no assets and send no Referer."""
    return client.agent_bits.bit_count() <= 1 and names_an_app(client.agent)


def _names_itself(client: Client) -> bool:
    """Whether the program does not call itself a browser: feed readers and the like load no assets either."""
    return bool(client.agent) and not begins_as_browser(client.agent)


def is_named_program(client: Client) -> bool:
    """Whether the User-Agent names a program, neither a browser nor an app of a telephone: so perhaps no person
    chose the pages."""
    is_browser = names_a_browser(client.agent)
    return _names_itself(client) and not is_browser and not _is_app(client) and client.agents == 1


def _comes_by_links(client: Client) -> bool:
    known = client.referred + client.unreferred
    return client.referred >= 3 and client.referred >= 0.6 * known


# ---- figures --------------------------------------------------------------------------------------------------------


def _is_incomplete(client: Client) -> bool:
    """Whether what is not in the row may be in the pool."""
    return 4 * client.missing > client.pages


def _needs_assets(client: Client, site: Site) -> bool:
    """Whether a browser would have loaded assets. Errors, the small answers to scripts that poll, and files to download
    need none. 0 bytes: the log does not say."""
    if site.asset_share < ASSETS_EXPECTED or _is_app(client) or _is_incomplete(client):
        return False
    may_be_pages = not client.bytes or SMALL_ANSWER <= _mean_bytes(client) <= LARGE_ANSWER
    return may_be_pages and 2 * client.client_errors <= client.requests


def _mean_bytes(client: Client) -> float:
    return client.bytes / max(client.requests, 1)


def _without_assets(client: Client) -> str:
    return f"requested {counted(client.pages, 'page')}, but no image, style sheet or script"


def _regular(client: Client) -> str | None:
    """Scripts of an open page poll regularly too: with a Referer, or few URLs, or small answers."""
    if client.gaps < 20 or client.mean_gap_s < 1 or client.different_pages < FEW_PAGES:
        return None
    if client.assets > client.pages or _comes_by_links(client) or 0 < _mean_bytes(client) < SMALL_ANSWER:
        return None
    return f"waited {client.mean_gap_s:,.0f} s between requests, give or take {100 * client.gap_variation:.0f} %"


def _rate(client: Client) -> str | None:
    """Tabs that are restored and pages that are prefetched come in bursts, and with the Referer of a page."""
    if client.pages < 30 or 4 * client.assets > client.pages or (client.peak_run >= 5 and _comes_by_links(client)):
        return None
    return f"requested {client.pages_per_minute:,.0f} pages a minute during its sessions"


def _referred(client: Client) -> str:
    return (
        f"sent a Referer in {client.referred:,} of {counted(client.referred + client.unreferred, 'request')} for pages"
    )


def _probed(client: Client) -> str:
    return f"sent {counted(client.probes, 'request')} for paths that vulnerability scanners typically try"


def _probes_fail(client: Client) -> bool:
    """Whether most probes may have failed. Those that do not fail may be the site's own: `wp-login.php`, `config.json`,
    `autodiscover`."""
    return 2 * (client.client_errors + client.server_errors) >= client.probes


def _probes_rapidly(client: Client) -> bool:
    return client.probes >= 20 * max(client.sessions, 1)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
