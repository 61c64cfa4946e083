"""Judges what an address did: points for and against a robot, each with its evidence.

The points are our own choice, tried on a labelled log (tests/watch/judging). No rule alone makes a robot
certain except repeated probing. Taking a person for a robot is the worst error, so there are points against a robot
too.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from goodbot.watch.judging.client import Client
from goodbot.watch.judging.rules import FEW_PAGES, RULES, Site

Verdict = Literal["certain", "likely", "possible", "no evidence"]

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


def strength(verdict: Verdict) -> int:
    """Returns a number for comparing verdicts: 0 for the strongest."""
    return VERDICTS.index(verdict)


LEAST_POINTS: Final[dict[Verdict, int]] = {"certain": 85, "likely": 60, "possible": 30}


@dataclass(frozen=True, slots=True)
class Judgement:
    """How much an address behaved like a robot, 0 to 100, and why. `no evidence` does not mean that it is a person."""

    points: int
    verdict: Verdict
    evidence: tuple[str, ...]


def judge(client: Client, asset_share: float = 1.0, referrer_share: float = 1.0) -> Judgement:
    """Judges an address. `asset_share` and `referrer_share` say what is usual on the site: see `site_asset_share` and
    `site_referrer_share`."""
    site = Site(asset_share, referrer_share)
    found = [(rule, sentence) for rule in RULES if (sentence := rule.says(client, site))]
    points = min(max(sum(rule.points for rule, _ in found), 0), 100)
    verdict: Verdict = next((verdict for verdict, least in LEAST_POINTS.items() if points >= least), "no evidence")
    names = {rule.name for rule, _ in found if rule.points > 0}
    if "many probes" not in names:
        if verdict == "certain" and len(names) < 2:
            verdict = "likely"
        if verdict in ("certain", "likely") and client.pages < FEW_PAGES and "rapid probes" not in names:
            verdict = "possible"
    evidence = tuple(f"{sentence} ({rule.points:+d})" for rule, sentence in found)
    return Judgement(points, verdict, evidence if verdict != "no evidence" else ())
