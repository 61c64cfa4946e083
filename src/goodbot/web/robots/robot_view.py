"""Prepares the page about one robot: how robots.txt addresses it, how a visit is verified, and its addresses. Pure,
except that it reads address lists."""

import logging
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final
from urllib.parse import quote

from goodbot.errors import RunError
from goodbot.registry import AddressBook, KnownRobot, ListName, robot_facts
from goodbot.web.server.request_log import LOGGER

EXAMPLE_ADDRESS: Final = "192.0.2.1"
"""An address for documentation (RFC 5737)."""
_LOG: Final = logging.getLogger(LOGGER)


@dataclass(frozen=True, slots=True)
class RangesView:
    """An address list: where it is published, and the ranges of the copy that this server has. `as_of` is the date of
    the copy, empty if there is none; a list that `is_stale` is too old to show who is an impostor; one that
    `is_imported` was not fetched from `url`."""

    name: str
    url: str
    as_of: str = ""
    ranges: tuple[str, ...] = ()
    is_stale: bool = False
    is_imported: bool = False


@dataclass(frozen=True, slots=True)
class RobotView:
    """A robot ready to be shown. `closing` are the lines of robots.txt that close a site to it, and those that close
    one folder; empty without a token. `command` verifies a visit, and is empty if no command can. `contact_url` is
    empty without a contact."""

    robot: KnownRobot
    closing: tuple[str, ...]
    command: str
    contact_url: str
    ranges: tuple[RangesView, ...]


def view_robot(robot: KnownRobot, book: AddressBook, today: date) -> RobotView:
    """Prepares a robot."""
    return RobotView(
        robot,
        tuple(f"User-agent: {robot.token}\nDisallow: {path}" for path in ("/", "/private/")) if robot.token else (),
        _command(robot),
        _contact_url(robot.contact or ""),
        tuple(_ranges(book, name, today) for name in robot.address_lists),
    )


def robot_path(robot: KnownRobot) -> str:
    """Returns the path of the page about a robot."""
    return f"/robots/{quote(robot.name, safe='')}"


def robot_json(robot: KnownRobot, lists: Mapping[str, ListName]) -> dict[str, object]:
    """Returns the facts as JSON, under the names that `goodbot who --list --json` uses."""
    names = {"name": robot.name, "operator": robot.operator, "purpose": robot.purpose}
    return {**names, "aliases": [*robot.aliases], "patterns": [*robot.patterns], **robot_facts(robot, lists)}


def _command(robot: KnownRobot) -> str:
    if robot.control or not (robot.address_lists or robot.reverse_dns):
        return ""
    dns = " --reverse-dns" if robot.reverse_dns else ""
    return f"goodbot who {shlex.quote(robot.name)} --ip {EXAMPLE_ADDRESS}{dns}"


def _contact_url(contact: str) -> str:
    return contact if not contact or "://" in contact else f"mailto:{quote(contact, safe='@')}"


def _ranges(book: AddressBook, name: str, today: date) -> RangesView:
    """Returns a list. A copy that cannot be read counts as none: the log says why."""
    try:
        known = book.get(name)
    except RunError as error:
        _LOG.error("an address list cannot be read: %s", error)
        known = None
    url = book.names[name].url
    if known is None:
        return RangesView(name, url)
    ranges = tuple(map(str, known.networks))
    return RangesView(name, url, known.as_of, ranges, known.is_stale(today), bool(known.imported_from))
