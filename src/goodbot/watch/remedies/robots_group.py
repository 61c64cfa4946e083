"""Writes a group of robots.txt, the remedy for robots that obey."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt
from goodbot.registry import KnownRobot
from goodbot.watch.remedies.comments import MADE_BY, comment, listed
from goodbot.watch.remedies.sentences import Sentence
from goodbot.watch.remedies.targets import Part, Rate, Remedy, TargetRobot, Targets
from goodbot.watch.robot_reading import DIALECTS

_DISOBEDIENT: Final = Sentence("{} does not obey robots.txt", "{} do not obey robots.txt")
_NAMELESS: Final = Sentence("{} has no name in robots.txt on record", "{} have no names in robots.txt on record")
_NAMED_ONLY: Final = Sentence("{} obeys only rules that name it, as here", "{} obey only rules that name them, as here")
_NO_DELAY: Final = Sentence("{} ignores Crawl-delay", "{} ignore Crawl-delay")
_SHARING: Final = Sentence(
    "the group also applies to {}, which has no group of its own",
    "the group also applies to {}, which have no groups of their own",
)


def robots_remedy(targets: Targets, rate: Rate | None, known: Iterable[KnownRobot]) -> Remedy:
    """Returns a group that closes the site to the robots, or sets a Crawl-delay. `known`: all known
    robots, to check that no robot outside the group is affected.

    Raises InputError if a group would help against none of them.
    """
    helped = [target for target in targets.robots if _obeys(target.robot, rate)]
    warnings = [*_not_helped(targets, rate)]
    if not helped:
        raise InputError(f"a group in robots.txt does not help: {'; '.join(warnings)}; use nginx, apache or caddy")
    tokens = list(dict.fromkeys(target.robot.token or "" for target in helped))
    rules = ["Disallow:", f"Crawl-delay: {rate.delay_s}"] if rate else ["Disallow: /"]
    group = "\n".join([*(f"User-agent: {token}" for token in tokens), *rules]) + "\n"
    if rate:
        warnings.append(
            "a robot with a group of its own ignores the group for *: copy the rules for * into this group, in place "
            "of `Disallow:`, or it may fetch what they close"
        )
        warnings.append("Crawl-delay is no standard, and some robots ignore it")
    warnings += _also_closed(group, tokens, known, rate)
    if named_only := [target.name for target in helped if _named_only(target)]:
        warnings.append(_NAMED_ONLY.about(named_only))
    names = listed(target.name for target in helped)
    what = f"Asks {names} to wait {rate.delay_s} s between two requests" if rate else f"Closes the site to {names}"
    head = comment(
        f"{MADE_BY} {what}. Put it into your robots.txt, in place of other groups for the same names.",
        *(f"Note: {warning}." for warning in warnings),
        f"Test: goodbot allowed https://YOUR-SITE/robots.txt --agent {tokens[0]} /",
    )
    return Remedy("robots", (Part("", head + group),), tuple(warnings))


def _obeys(robot: KnownRobot, rate: Rate | None) -> bool:
    return bool(robot.token) and robot.obeys != "no" and not (rate and _ignores_delay(robot))


def _ignores_delay(robot: KnownRobot) -> bool:
    """Whether it reads robots.txt in Google's dialect, which has no Crawl-delay."""
    return DIALECTS.get(robot.operator or "") == "google"


def _named_only(target: TargetRobot) -> bool:
    return target.robot.obeys == "named"


def _not_helped(targets: Targets, rate: Rate | None) -> Iterator[str]:
    """Says for which targets a group is no remedy."""
    obedient = [one for one in targets.robots if one.robot.obeys != "no" and one.robot.token]
    if rate and (heedless := [one.name for one in obedient if _ignores_delay(one.robot)]):
        yield _NO_DELAY.about(heedless)
    if disobedient := [target.name for target in targets.robots if target.robot.obeys == "no"]:
        yield _DISOBEDIENT.about(disobedient)
    if nameless := [one.name for one in targets.robots if one.robot.obeys != "no" and not one.robot.token]:
        yield _NAMELESS.about(nameless)
    if targets.impostors:
        names = listed(target.name for target in targets.impostors)
        yield f"impostors of {names} cannot be closed out without closing out the genuine robot"
    if targets.networks:
        yield "robots.txt does not know addresses"


def _also_closed(group: str, tokens: Sequence[str], known: Iterable[KnownRobot], rate: Rate | None) -> Iterator[str]:
    """Checks what the group does: it applies to each robot, and to no other robot but those that share its name."""
    rules = RobotsTxt.parse(group)
    for token in tokens:
        applies = rules.crawl_delay(token) is not None if rate else not rules.allows("/", token)
        if not applies:
            raise InputError(f"no group of robots.txt can have the name {token!r}")
    wanted = {token.lower() for token in tokens}
    sharing = [robot for robot in known if robot.token and robot.token.lower() not in wanted]
    also = [robot.name for robot in sharing if any(alias.lower() in wanted for alias in robot.aliases)]
    if also:
        yield _SHARING.about(also)
    if not rate and any(not rules.allows("/", robot.token or "") for robot in sharing):
        raise InputError("this group would close the site to other robots on record too")
