"""The facts of a record as JSON, for commands and pages alike."""

from collections.abc import Mapping

from goodbot.registry.robot import KnownRobot
from goodbot.registry.robot_records import ListName


def robot_facts(robot: KnownRobot, lists: Mapping[str, ListName]) -> dict[str, object]:
    """Returns the facts of a robot but for its name, operator and purpose. `lists`: the address lists on record."""
    return {
        "token": robot.token,
        "obeys_robots_txt": robot.obeys,
        "obeys_source": robot.obeys_source,
        "documentation": robot.documentation,
        "contact": robot.contact,
        "address_lists": [lists[name].url for name in robot.address_lists],
        "reverse_dns": [*robot.reverse_dns],
        "web_bot_auth": robot.signatures,
        "control_token": robot.control,
        "retired": robot.retired,
        "retired_since": robot.retired_since,
        "looked_up": robot.looked_up,
        "source": robot.source,
    }
