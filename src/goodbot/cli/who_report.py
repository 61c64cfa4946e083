"""What `goodbot who` prints about robots: as text and as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from goodbot.cli.printing import Line, joined, say, styled, width, wrapped
from goodbot.exclusion.text.product_token import product_token
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.registry import OBEYS, PURPOSES, KnownRobot, ListName, Registry, VerifiedIdentity, robot_facts

USER_AGENT_SHOWN: Final = 300
"""Characters shown of a User-Agent when several were given."""

MIN_TABLE: Final = 70
"""Columns that a table of robots needs."""

TIER_COLOURS: Final = {"verified": "green", "declared": "cyan", "impostor": "red", "unknown": "yellow"}

Found = tuple[str, VerifiedIdentity]
"""A User-Agent, and the robot identified by it."""

# ---- one robot ------------------------------------------------------------------------------------------------------


def print_identities(found: list[Found], registry: Registry) -> None:
    """Prints each identity; if there are several, below its User-Agent."""
    for number, (user_agent, identity) in enumerate(found):
        if number:
            say()
        if len(found) > 1:
            for line in wrapped(shown(user_agent, USER_AGENT_SHOWN), "", "  ", bold=True):
                say(*line)
        for line in _report_lines(user_agent, identity, registry):
            say(*line)


def identity_json(user_agent: str, address: str | None, identity: VerifiedIdentity, registry: Registry) -> object:
    """Returns the JSON of one identity."""
    head = {"user_agent": user_agent, "address": address, "tier": identity.tier, "evidence": [*identity.evidence]}
    if identity.robot is None:
        similar = _similar(user_agent, registry)
        return {"name": None, "operator": None, "purpose": None, **head, "similar": similar}
    return _name_of(identity.robot) | head | _facts(identity.robot, registry.lists)


def _similar(user_agent: str, registry: Registry) -> list[str]:
    """Returns robots with a similar name, for a name that a person typed. A whole User-Agent comes from a program,
    which does not misspell names."""
    return registry.similar_tokens(user_agent) if user_agent == product_token(user_agent) else []


def _name_of(robot: KnownRobot) -> dict[str, object]:
    return {"name": robot.name, "operator": robot.operator, "purpose": robot.purpose}


def _facts(robot: KnownRobot, lists: Mapping[str, ListName]) -> dict[str, object]:
    return {**robot_facts(robot, lists), "recorded": robot.recorded, "from": robot.own_file or "bundled"}


def _report_lines(user_agent: str, identity: VerifiedIdentity, registry: Registry) -> Iterator[Line]:
    tier = styled(identity.tier, fg=TIER_COLOURS[identity.tier], bold=True)
    robot = identity.robot
    head = joined(f"{robot.name}: ", tier, ", ") if robot else joined(tier, ": ")
    yield from wrapped(identity.meaning, head, "  ")
    if robot is not None:
        yield from _about(robot)
    yield from _row("evidence", f"- {identity.evidence[0]}")
    for said in identity.evidence[1:]:
        yield from _row("", f"- {said}")
    if robot is None and (similar := _similar(user_agent, registry)):
        yield from _row("", f"did you mean {' or '.join(similar)}?")


def _about(robot: KnownRobot) -> Iterator[Line]:
    meaning = PURPOSES[robot.purpose]
    yield from _row("operator", robot.operator or "not recorded")
    yield from _row("purpose", f"{robot.purpose}: {meaning[0].lower()}{meaning[1:]}")
    yield from _row("robots.txt", f"User-agent: {robot.token}" if robot.token else "no name there is recorded")
    if not robot.control:
        yield from _row("", OBEYS[robot.obeys])
    if robot.contact:
        yield from _row("contact", robot.contact)
    links = dict.fromkeys(url for url in (robot.documentation, robot.obeys_source, robot.source) if url)
    for number, url in enumerate(url for url in links if url != robot.own_file):
        yield from _row("" if number else "more", url)


def _row(name: str, text: str) -> Iterator[Line]:
    hanging = " " * 16 if text.startswith("- ") else " " * 14
    yield from wrapped(text, f"  {name:<12}", hanging)


# ---- all of them ----------------------------------------------------------------------------------------------------


def robots_json(robots: Iterable[KnownRobot], registry: Registry) -> list[object]:
    """Returns the JSON of a list of robots."""
    return [_name_of(robot) | _facts(robot, registry.lists) for robot in robots]


def print_robots(robots: list[KnownRobot]) -> None:
    """Prints a list of robots by purpose."""
    for purpose, meaning in PURPOSES.items():
        of_purpose = [robot for robot in robots if robot.purpose == purpose]
        if of_purpose:
            for line in wrapped(meaning, joined(styled(purpose, bold=True), ": "), "  "):
                say(*line)
            for robot in of_purpose:
                for line in _listed(robot):
                    say(*line)
    for line in wrapped(f"{counted(len(robots), 'robot')}; goodbot who NAME says more about one", "", ""):
        say(*line)


def _listed(robot: KnownRobot) -> Iterator[Line]:
    if width() < MIN_TABLE:
        said = (robot.operator or "operator not recorded", _note(robot))
        return wrapped(", ".join(filter(None, said)), f"  {robot.name}: ", " " * 6)
    return wrapped(f"{robot.operator or '':<28} {_note(robot)}", f"  {robot.name:<28} ", " " * 8)


def _note(robot: KnownRobot) -> str:
    notes = {
        "retired": robot.retired,
        "robots.txt control token": robot.control,
        "does not obey": robot.obeys == "no",
        "not bound by *": robot.obeys == "named",
        "can be checked": bool(robot.address_lists or robot.reverse_dns or robot.signatures),
        f"from {robot.own_file}": robot.own_file is not None,
    }
    return ", ".join(text for text, holds in notes.items() if holds)
