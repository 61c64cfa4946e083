"""Lists the addresses of robots to which the whole site is closed, for firewalls."""

from collections.abc import Iterator
from typing import Final

from goodbot.errors import InputError
from goodbot.gate.export.notes import MADE_BY
from goodbot.gate.export.rule_lists import closes_everything
from goodbot.gate.export.site import ExportedSite
from goodbot.gate.export.visitors import NO_RULES, SiteVisitors
from goodbot.registry import AddressList
from goodbot.watch.remedies.comments import comment, listed, sources
from goodbot.watch.remedies.targets import Part, Remedy, TargetRobot, joined

_FIREWALL: Final = (
    "this list stops only robots that publish their addresses: rules for single paths, impostors and limits need a Web "
    "server or goodbot gate"
)

_ROBOTS_TXT: Final = "addresses that a firewall blocks cannot read robots.txt either"


def cidr_export(site: ExportedSite) -> Remedy:
    """Returns one network per line: the published addresses of robots to which robots.txt or the policy closes the
    whole site. A list that another robot uses too, to which the site is not closed, is left out.

    Raises InputError if there is no address.
    """
    found = site.visitors(paces=False)
    closed = [*_closed(site, found)]
    names = {target.name for target in closed}
    lists = {known.name: known for target in closed for known in target.lists}
    shared = {name: users for name in lists if (users := [*_other_users(site, name, names)])}
    used = [known for name, known in lists.items() if name not in shared]
    left_out = [*_left_out(closed, shared)]
    warnings = (_FIREWALL, _ROBOTS_TXT, *left_out)
    networks = joined(network for known in used for network in known.networks)
    if not networks:
        raise InputError(
            f"there are no addresses to list: {'; '.join(left_out) or 'no robot is refused on the whole site'}"
        )
    text = comment(
        f"{MADE_BY} Networks to block, one per line: all published addresses of the robots to which {site.source} or "
        f"the policy closes the whole site: {listed(target.name for target in closed if _uses(target, used))}.",
        *sources([TargetRobot(target.robot, tuple(used)) for target in closed[:1]]),
        *(f"Note: {one}." for one in warnings),
        f"The lists are those that goodbot had on {site.records.today.isoformat()}. Operators change their addresses, "
        "and you change robots.txt: run goodbot who update and this export again every week. Test: goodbot who NAME "
        "--ip ADDRESS",
    )
    return Remedy("cidr", (Part("", text + "".join(f"{network}\n" for network in networks)),), warnings)


def _closed(site: ExportedSite, found: SiteVisitors) -> Iterator[TargetRobot]:
    robots = {robot.name: robot for robot in site.records.registry.robots}
    for entry in found.entries:
        visitor = found.visitors[entry.visitor]
        rules = () if visitor.rules == NO_RULES else found.rule_lists[visitor.rules]
        if visitor.refused or (closes_everything(rules) and not visitor.free_inside):
            yield from (
                site.records.target(robots[name])
                for name in entry.names
                if name in robots and robots[name].purpose != "tool" and not robots[name].control
            )


def _other_users(site: ExportedSite, list_name: str, closed: set[str]) -> Iterator[str]:
    """Yields the robots that use an address list, and to which the site is not closed."""
    return (
        robot.name
        for robot in site.records.registry.robots
        if list_name in robot.address_lists and robot.name not in closed and not robot.retired and not robot.control
    )


def _uses(target: TargetRobot, lists: list[AddressList]) -> bool:
    return any(known in lists for known in target.lists)


def _left_out(closed: list[TargetRobot], shared: dict[str, list[str]]) -> Iterator[str]:
    if without := [target.name for target in closed if not target.lists]:
        yield f"no addresses are on record for {listed(without)}"
    for name, users in shared.items():
        yield f"the list {name} is left out, because {listed(users)}, to which the site is open, may use it too"
