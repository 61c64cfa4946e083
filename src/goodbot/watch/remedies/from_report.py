"""Chooses the robots and addresses of a remedy from a report of `goodbot watch`."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.registry import KnownRobot, Registry
from goodbot.watch.addresses import is_local_address
from goodbot.watch.remedies.choosing import Chosen, Records, find_robot
from goodbot.watch.remedies.saved_report import SavedReport, SavedRobot, SavedUndeclared
from goodbot.watch.remedies.sentences import Sentence
from goodbot.watch.remedies.targets import parse_address_or_range

SURE: Final = ("certain", "likely")
"""Verdicts on which a remedy may act."""

_USER_TRIGGERED: Final = Sentence(
    "{} is left out: it is a user-triggered fetcher, which need not obey robots.txt",
    "{} are left out: they are user-triggered fetchers, which need not obey robots.txt",
)
_SEARCH: Final = Sentence(
    "{} is a robot of a search engine: blocking it may remove your pages from its results",
    "{} are robots of search engines: blocking them may remove your pages from their results",
)
_NOT_VERIFIED: Final = Sentence(
    "{} was not verified: others may have sent its requests, and the remedy affects the genuine robot too",
    "{} were not verified: others may have sent their requests, and the remedy affects the genuine robots too",
)
_NO_ADDRESS: Final = Sentence("{} is left out: it is not an address", "{} are left out: they are not addresses")
_SHORTENED: Final = Sentence(
    "{} is left out: it was shortened (goodbot watch --anonymise)",
    "{} are left out: they were shortened (goodbot watch --anonymise)",
)
_LOCAL: Final = Sentence(
    "{} is left out: a local address is that of a proxy or a program of your own",
    "{} are left out: local addresses are those of proxies or programs of your own",
)
_LISTED: Final = Sentence(
    "{} is left out: an operator lists it, so it may be a genuine robot's",
    "{} are left out: operators list them, so they may be those of genuine robots",
)


def choose_reported(
    report: SavedReport,
    names: Sequence[str],
    undeclared: bool,
    records: Records,
    *,
    by_name: bool = True,
    too_fast: bool = False,
) -> Chosen:
    """Chooses robots with disallowed requests, impostors by their addresses, and with `undeclared` the addresses that
    behaved like robots. `names`: only these robots, and their impostors; empty for all. `too_fast`: the remedy is a
    rate, so robots that only broke a Crawl-delay or Request-rate are chosen too.

    User-triggered fetchers, which need not obey, and addresses of a genuine robot or of a proxy are never chosen.
    """
    chosen = Chosen(by_name)
    wanted = {find_robot(name, records.registry).name for name in names}
    disobedient = []
    for robot in report.robots:
        if wanted and robot.name not in wanted:
            continue
        if robot.tier == "impostor":
            _choose_impostor(robot, records, chosen)
        elif robot.disallowed or (too_fast and _was_too_fast(robot)):
            disobedient.append(robot)
    _choose_disobedient(disobedient, records, chosen, blocks=not too_fast)
    if undeclared:
        for one in report.undeclared:
            if one.verdict in SURE:
                _add_addresses(_addresses_of(one), records, chosen)
    return chosen


def _was_too_fast(robot: SavedRobot) -> bool:
    one = robot.obedience
    if one is None:
        return False
    return any(delay.is_broken for delay in one.crawl_delay) or any(rate.is_broken for rate in one.request_rate)


def _choose_disobedient(robots: Iterable[SavedRobot], records: Records, chosen: Chosen, *, blocks: bool) -> None:
    """Adds the robots, and warnings about search engines that the remedy blocks and about robots without a verified
    request among those that broke a rule."""
    tiers: dict[str, set[str]] = defaultdict(set)
    for robot in robots:
        if robot.obedience is not None and robot.obedience.user_triggered:
            chosen.warn(_USER_TRIGGERED, robot.name)
            continue
        target = records.target(_on_record(robot.name, records.registry))
        chosen.add_robot(target)
        tiers[target.name].add(robot.tier)
    for name, target in chosen.robots.items():
        if blocks and target.robot.purpose == "search":
            chosen.warn(_SEARCH, name)
        if "verified" not in tiers[name]:
            chosen.warn(_NOT_VERIFIED, name)


def _choose_impostor(robot: SavedRobot, records: Records, chosen: Chosen) -> None:
    """Chooses the addresses that were seen; and also the name, if the addresses of the genuine robot are known."""
    _add_addresses((each.address for each in robot.busiest_addresses), records, chosen)
    record = _on_record(robot.name, records.registry)
    target = records.target(record)
    if record.recorded and records.has_all_lists(target) and not records.stale(target):
        chosen.add_impostors(target)


def _on_record(name: str, registry: Registry) -> KnownRobot:
    """Returns the record of a robot in a report; one with the name only if it is not on record any more."""
    return registry.find_named(name) or KnownRobot(
        name=shown(name, 60), operator=None, purpose="other", looked_up=0, source="", recorded=False
    )


def _addresses_of(one: SavedUndeclared) -> list[str]:
    return one.members or [one.address]


def _add_addresses(addresses: Iterable[str], records: Records, chosen: Chosen) -> None:
    for text in addresses:
        try:
            network = parse_address_or_range(text)
        except ValueError:
            chosen.warn(_NO_ADDRESS, text)
            continue
        if "/" in text:
            chosen.warn(_SHORTENED, text)
        elif is_local_address(text):
            chosen.warn(_LOCAL, text)
        elif owner := records.owner_of(text):
            chosen.warn(_LISTED, f"{text} ({owner})")
        else:
            chosen.networks[network] = None
