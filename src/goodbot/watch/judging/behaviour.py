"""Judges what an address did: points for and against a robot, each with its evidence.

The points are our own choice, tried on a labelled log (tests/watch/judging). No rule alone makes a robot
certain except repeated probing. A person who is taken for a robot is the worst error, so points against weigh as much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from goodbot.human import counted
from goodbot.watch.judging.client import Client

Verdict = Literal["certain", "likely", "possible", "no evidence"]

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

_LEAST_POINTS: Final[dict[Verdict, int]] = {"certain": 85, "likely": 60, "possible": 30}

FEW_PAGES: Final = 5
"""With fewer pages a robot is `possible` at most."""

ASSETS_EXPECTED: Final = 0.2
"""If assets are a smaller share of the site's requests, missing assets are no evidence."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How much an address behaved like a robot, 0 to 100, and why. `no evidence` does not mean that it is a person."""

    points: int
    verdict: Verdict
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of evidence. `says` returns a sentence with the figures, or None if the rule does not apply."""

    name: str
    points: int
    says: Callable[[Client, float], str | None]


def judge(client: Client, asset_share: float = 1.0) -> Judgement:
    """Judges an address. `asset_share`: see `site_asset_share`."""
    found = [(rule, sentence) for rule in RULES if (sentence := rule.says(client, asset_share))]
    points = min(max(sum(rule.points for rule, _ in found), 0), 100)
    verdict: Verdict = next((verdict for verdict, least in _LEAST_POINTS.items() if points >= least), "no evidence")
    names = {rule.name for rule, _ in found if rule.points > 0}
    if verdict == "certain" and len(names) < 2 and "many probes" not in names:
        verdict = "likely"
    if verdict in ("certain", "likely") and client.pages < FEW_PAGES and not names & _ENOUGH:
        verdict = "possible"
    evidence = tuple(f"{sentence} ({rule.points:+d})" for rule, sentence in found)
    return Judgement(points, verdict, evidence if verdict != "no evidence" else ())


_ENOUGH: Final = frozenset({"many probes", "probes"})


# ---- evidence for a robot -------------------------------------------------------------------------------------------


def _reads_robots_txt(client: Client, _: float) -> str | None:
    return f"read robots.txt {_times(client.robots_txt)}" if client.robots_txt else None


def _loads_no_assets(client: Client, asset_share: float) -> str | None:
    if client.assets or not client.pages >= 10 or asset_share < ASSETS_EXPECTED or _pages(client) < FEW_PAGES:
        return None
    if _pages(client) >= 40:
        return None
    return _without_assets(client)


def _loads_no_assets_of_many(client: Client, asset_share: float) -> str | None:
    if client.assets or asset_share < ASSETS_EXPECTED or _pages(client) < 40:
        return None
    return _without_assets(client)


def _loads_few_assets(client: Client, asset_share: float) -> str | None:
    if not client.assets or client.assets * 20 > client.pages or asset_share < ASSETS_EXPECTED:
        return None
    few = counted(client.assets, "image, style or script").replace("scripts", "scripts in all")
    return f"requested {client.pages:,} pages, and {few}" if _pages(client) >= 20 else None


def _sends_no_referrer(client: Client, _: float) -> str | None:
    if client.referred or client.unreferred < 10:
        return None
    return f"sent no Referer with {client.unreferred:,} pages"


def _keeps_regular_gaps(client: Client, _: float) -> str | None:
    return _regular(client) if client.gap_variation < 0.25 else None


def _keeps_rather_regular_gaps(client: Client, _: float) -> str | None:
    return _regular(client) if 0.25 <= client.gap_variation < 0.45 else None


def _is_fast(client: Client, _: float) -> str | None:
    rate = client.pages_per_minute
    if client.pages < 30 or rate < 60 or client.assets > client.pages:
        return None
    return f"requested {rate:,.0f} pages a minute during its visits"


def _is_rather_fast(client: Client, _: float) -> str | None:
    rate = client.pages_per_minute
    if client.pages < 30 or not 15 <= rate < 60 or client.assets > client.pages:
        return None
    return f"requested {rate:,.0f} pages a minute during its visits"


def _comes_in_bursts(client: Client, _: float) -> str | None:
    if client.peak_run < 10 or client.assets or _pages(client) < FEW_PAGES:
        return None
    return f"sent {client.peak_run:,} requests within one second"


def _goes_broad(client: Client, _: float) -> str | None:
    pages = _pages(client)
    if pages < 30 or (pages < 0.7 * client.pages and not client.has_many_pages):
        return None
    least = "at least " if client.has_many_pages else "about "
    return f"requested {least}{pages:,} different pages, hardly any of them twice"


def _probes_a_little(client: Client, _: float) -> str | None:
    if not 1 <= client.probes < 5:
        return None
    return f"requested {counted(client.probes, 'path')} that only programs looking for vulnerabilities request"


def _probes_a_lot(client: Client, _: float) -> str | None:
    if client.probes < 5:
        return None
    return f"requested {client.probes:,} paths that only programs looking for vulnerabilities request"


def _sends_head(client: Client, _: float) -> str | None:
    return f"sent {client.heads:,} HEAD requests, which browsers do not" if client.heads >= 3 else None


def _has_no_name(client: Client, _: float) -> str | None:
    if client.unnamed < max(3, client.requests // 2):
        return None
    return f"sent no User-Agent with {client.unnamed:,} of {counted(client.requests, 'request')}"


def _never_sleeps(client: Client, _: float) -> str | None:
    if client.hours < 20 or client.days < 1.5 or client.agents > 3:
        return None
    return f"came in {client.hours} of the 24 hours of the day"


def _changes_its_name(client: Client, _: float) -> str | None:
    if client.agents < 8 or client.assets * 10 > client.pages or client.pages > 3 * client.agents:
        return None
    return f"used about {client.agents} User-Agents for {client.pages:,} pages"


def _meets_errors(client: Client, _: float) -> str | None:
    if client.client_errors < 20 or 2 * client.client_errors < client.requests:
        return None
    return f"got {client.client_errors:,} errors (400 to 499) to {counted(client.requests, 'request')}"


# ---- evidence against -----------------------------------------------------------------------------------------------


def _loads_assets(client: Client, _: float) -> str | None:
    if client.assets < 5 or client.assets < client.pages:
        return None
    return f"loaded {client.assets:,} images, styles and scripts for {counted(client.pages, 'page')}, as a browser does"


def _loads_some_assets(client: Client, _: float) -> str | None:
    if client.assets < 5 or not client.pages / 4 <= client.assets < client.pages:
        return None
    return f"loaded {client.assets:,} images, styles and scripts for {counted(client.pages, 'page')}"


def _comes_by_links(client: Client, _: float) -> str | None:
    known = client.referred + client.unreferred
    if client.referred < 3 or client.referred < 0.6 * known:
        return None
    return f"sent a Referer with {client.referred:,} of {counted(known, 'page')}"


def _is_several(client: Client, _: float) -> str | None:
    if client.agents < 4 or client.assets < client.pages:
        return None
    return f"used about {client.agents} User-Agents with their own images, as people behind one address do"


RULES: Final = (
    Rule("robots.txt", 40, _reads_robots_txt),
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
    Rule("many probes", 85, _probes_a_lot),
    Rule("HEAD", 10, _sends_head),
    Rule("no name", 25, _has_no_name),
    Rule("round the clock", 15, _never_sleeps),
    Rule("many names", 20, _changes_its_name),
    Rule("errors", 10, _meets_errors),
    Rule("assets", -40, _loads_assets),
    Rule("some assets", -20, _loads_some_assets),
    Rule("referrers", -5, _comes_by_links),
    Rule("several people", -20, _is_several),
)
"""All rules. Of two that speak about one thing, at most one applies."""


# ---- figures --------------------------------------------------------------------------------------------------------


def _pages(client: Client) -> int:
    return client.different_pages


def _without_assets(client: Client) -> str:
    return f"requested {counted(client.pages, 'page')} and none of the images, styles and scripts that belong to them"


def _regular(client: Client) -> str | None:
    if client.gaps < 20 or client.mean_gap_s < 1 or _pages(client) < FEW_PAGES or client.assets > client.pages:
        return None
    return f"waited {client.mean_gap_s:,.0f} s between requests, give or take {100 * client.gap_variation:.0f} %"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
