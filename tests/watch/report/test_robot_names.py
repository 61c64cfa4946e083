"""`--robot` finds every robot on record, by name and token, whether it came or not."""

from collections.abc import Callable

import pytest

from goodbot.errors import InputError
from goodbot.registry import KnownRobot
from watch.report.made_reports import BROWSER, REGISTRY, line, report_of

CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "lower case": str.lower,
    "upper case": str.upper,
    "spaces around it": " {} ".format,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_name_on_record(change: Callable[[str], str]) -> None:
    found = {robot.name: report_of([], robot=change(robot.name)).only for robot in REGISTRY.robots}
    assert {name: only for name, only in found.items() if only != name} == {}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_token_on_record(change: Callable[[str], str]) -> None:
    tokens = {robot.token for robot in REGISTRY.robots if robot.token}
    found = {token: report_of([], robot=change(token)).only for token in tokens}
    wrong = {token: only for token, only in found.items() if not _goes_by(only, token)}
    assert wrong == {}


def _goes_by(name: str | None, token: str) -> bool:
    """Whether the robot of this name has this token, or this very name."""
    robot: KnownRobot | None = next((robot for robot in REGISTRY.robots if robot.name == name), None)
    return robot is not None and token.lower() in {robot.name.lower(), (robot.token or "").lower()}


CAME = line(0, "/", "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)")


@pytest.mark.parametrize("text", ["ChatGPT-User", "chatgpt-user", "CHATGPT-USER"])
def test_a_robot_that_came(text: str) -> None:
    report = report_of([CAME, line(1, "/", BROWSER)], robot=text)
    assert [(robot.name, robot.counts.requests) for robot in report.robots] == [("ChatGPT-User", 1)]


def test_a_name_without_end_is_cut() -> None:
    with pytest.raises(InputError) as error:
        report_of([CAME], robot="no-such-robot " * 1000)
    assert len(str(error.value)) < 300
