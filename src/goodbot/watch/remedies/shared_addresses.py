"""Warns about robots that use the addresses of others: what stops those addresses stops all of them."""

from collections.abc import Iterable, Iterator, Sequence

from goodbot.registry import KnownRobot
from goodbot.watch.remedies.comments import listed
from goodbot.watch.remedies.targets import TargetRobot


def shared_addresses(targets: Sequence[TargetRobot], known: Iterable[KnownRobot]) -> Iterator[str]:
    """Yields a warning about the known robots that share an address list with a target and are none."""
    lists = {one.name for target in targets for one in target.lists}
    chosen = {target.name for target in targets}
    others = [
        robot.name
        for robot in known
        if robot.name not in chosen and not robot.retired and lists & {*robot.address_lists}
    ]
    if others:
        from_lists = listed(target.name for target in targets if target.lists)
        yield f"{listed(others)} may use the same addresses as {from_lists}, and are stopped with them"
