"""The rules of one site's robots.txt, for each robot that comes."""

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import Final, NamedTuple

from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.exclusion.text.product_token import product_token
from goodbot.gate.clients import Client
from goodbot.lru import LruCache
from goodbot.watch.robot_reading import (
    RobotReading,
    RulesForRobot,
    named_agents,
    reading_of,
    reading_of_agent,
)

RFC_9309: Final = "rfc9309"

MOST_ROBOTS: Final = 1000
"""Robots whose rules are kept compiled."""

MOST_AGENTS: Final = 10_000
"""User-Agents without a record of which the rules are remembered; most have those for `*`."""


class RobotRules(NamedTuple):
    """The rules of one site for one robot."""

    rules: RulesForRobot
    timing: Timing | None
    """None if the site asks it for no delay and no hours."""

    def disallows(self, targets: tuple[str, ...]) -> Verdict | None:
        """Returns the verdict for the first target that the robot may not fetch."""
        for target in targets:
            if (verdict := self.rules.disallows(target)) is not None:
                return verdict
        return None


class SiteRules:
    """The robots.txt of one site, read as RFC 9309 says, as `goodbot allowed` does.

    A robot obeys the group with its product token or, without one, with another name that its operator documents; feed
    readers, and robots whose operator says so, obey no group for `*`. A Crawl-delay for `*` does not apply to robots
    that are known not to read it: Google's, which a refusal would only drive away.
    """

    def __init__(self, access: Access) -> None:
        self.access: Final = access
        self._named = named_agents(access)
        self._rules: LruCache[Hashable, RobotRules] = LruCache(MOST_ROBOTS)
        self._by_agent: LruCache[tuple[str, bool], RobotRules] = LruCache(MOST_AGENTS)

    def of(self, client: Client, user_agent: str, *, named_only: bool) -> RobotRules:
        """Returns the rules for a client. `named_only`: groups for `*` do not apply. Takes 2 µs, or up to some
        milliseconds when a robot comes for the first time."""
        if client.robot is not None:
            key = (client.robot.name, named_only)
            found = self._rules.get(key)
            if found is None:
                reading = reading_of(client.robot)
                only = named_only or reading.named_only or client.robot.purpose == "feed"
                found = self._read(
                    replace(reading, dialect=RFC_9309, named_only=only), reads_delay=_reads_delay(reading)
                )
                self._rules.put(key, found)
            return found
        agent = client.name or user_agent
        found = self._by_agent.get((agent, named_only))
        if found is None:
            reading = replace(reading_of_agent(agent, self._named), named_only=named_only)
            found = self._rules.get_or(reading, lambda: self._read(reading, reads_delay=True))
            self._by_agent.put((agent, named_only), found)
        return found

    def _read(self, reading: RobotReading, *, reads_delay: bool) -> RobotRules:
        rules = RulesForRobot(self.access, reading)
        is_named = product_token(rules.name).lower() in self._named
        timing = rules.timing if reads_delay or is_named else Timing()
        asks = timing.delay_s or timing.rates or timing.windows
        return RobotRules(rules, timing if asks else None)


def access_of_file(body: bytes) -> Access:
    """Returns the rules of a file that the administrator named. All of it counts, as with `goodbot allowed`, though
    robots may read its first 500 KiB only (RFC 9309 §2.5)."""
    return Access("successful", RFC_9309, 0.0, math.inf, 200, body=body, good_at=0.0)


def _reads_delay(reading: RobotReading) -> bool:
    return reading.dialect == RFC_9309
