"""Lists the addresses of robots, for firewalls and load balancers."""

from collections.abc import Iterable
from typing import Final

from goodbot.errors import InputError
from goodbot.registry import KnownRobot
from goodbot.watch.remedies.comments import MADE_BY, comment, listed, sources
from goodbot.watch.remedies.sentences import Sentence
from goodbot.watch.remedies.shared_addresses import shared_addresses
from goodbot.watch.remedies.targets import Part, Remedy, Targets, joined

_WITHOUT_LIST: Final = Sentence("no address list is on record for {}", "no address lists are on record for {}")
_FIREWALL: Final = "addresses that your firewall blocks cannot read robots.txt either"


def cidr_remedy(targets: Targets, known: Iterable[KnownRobot]) -> Remedy:
    """Returns one network per line: the ranges that the robots' operators publish, and the addresses given. Ranges that
    touch are joined. `known`: all known robots, to warn of those that use the same addresses.

    Raises InputError if there is no address at all.
    """
    without = [target.name for target in targets.robots if not target.lists]
    left_out = [_WITHOUT_LIST.about(without)] if without else []
    notes = []
    if targets.impostors:
        names = listed(target.name for target in targets.impostors)
        notes.append(f"impostors of {names} can have any address: only those that were seen are listed")
    networks = joined((*targets.networks, *(network for target in targets.robots for network in target.networks)))
    if not networks:
        raise InputError(f"there are no addresses to list: {'; '.join((*left_out, *notes))}")
    notes += [_FIREWALL, *shared_addresses(targets.robots, known)]
    with_list = [target for target in targets.robots if target.lists]
    published = [f"all published addresses of {listed(target.name for target in with_list)}"] if with_list else []
    given = ["addresses that were given or reported"] if targets.networks else []
    text = comment(
        f"{MADE_BY} Networks to block or to limit, one per line: {' and '.join((*published, *given))}.",
        *sources(with_list),
        *(f"Note: {note}." for note in notes),
        "Operators change their addresses: renew this list regularly. Test: goodbot who NAME --ip ADDRESS",
    )
    lines = "".join(f"{network}\n" for network in networks)
    return Remedy("cidr", (Part("", text + lines),), (*left_out, *notes))
