"""What the change of a robots.txt means for pages."""

import pytest
from hypothesis import given

from goodbot.exclusion import RobotsTxt
from goodbot.registry import bundled_registry
from goodbot.watch.impact import Impact, PageImpact, RobotLabel, impact_json
from watch.impact.impacts import changes
from watch.impact.test_request_impact import FILES, PATHS

PAGES = ["/", "/shop/1", "/shop/2?sort=up", "https://example.org/help"]


def impact_of(old: bytes, new: bytes, *agents: str) -> Impact:
    judge = PageImpact(changes(old, new), bundled_registry(), agents)
    for page in PAGES:
        judge.add(page)
    return judge.impact()


CASES = [
    ("none-named", b"", b"User-agent: *\nDisallow: /shop\n", (), {"*": (0, 2, 4, 2)}),
    ("named", b"", b"User-agent: gptbot\nDisallow: /\n", (), {"GPTBot": (0, 4, 4, 0), "*": (0, 0, 4, 4)}),
    ("agent", b"User-agent: *\nDisallow: /help\n", b"", ("A/1",), {"A": (1, 0, 3, 4), "*": (1, 0, 3, 4)}),
    (
        "in-the-old-file-only",
        b"User-agent: a\nDisallow: /shop\n",
        b"User-agent: *\nDisallow: /*?sort=\n",
        (),
        {"a": (1, 0, 2, 3), "*": (0, 1, 4, 3)},
    ),
    (
        "one-robot-of-two-names",
        b"",
        b"User-agent: Googlebot\nUser-agent: GOOGLEBOT\nDisallow: /shop/\n",
        ("googlebot",),
        {"Googlebot": (0, 2, 4, 2), "*": (0, 0, 4, 4)},
    ),
    (
        "unknown-robot-of-two-names",
        b"",
        b"User-agent: FOOBOT\nDisallow: /shop/\n",
        ("FooBot", "foobot"),
        {"FooBot": (0, 2, 4, 2), "*": (0, 0, 4, 4)},
    ),
    ("not-of-those-it-obeys", b"", b"User-agent: *\nDisallow: /\n", ("AdsBot-Google",), {"*": (0, 4, 4, 0)}),
]


@pytest.mark.parametrize(
    ("old", "new", "agents", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_pages_by_robot(
    old: bytes, new: bytes, agents: tuple[str, ...], expected: dict[str, tuple[int, int, int, int]]
) -> None:
    """Expected by robot: opened, closed, allowed before, allowed after."""
    impact = impact_of(old, new, *agents)
    found = {one.label.name: (one.opened, one.closed, one.allowed_before, one.allowed_after) for one in impact.robots}
    assert {**found, **expected} == found
    assert len(found) == len(expected) + ("AdsBot-Google" in agents)


def test_a_robot_that_obeys_only_its_name() -> None:
    impact = impact_of(b"", b"User-agent: *\nDisallow: /\n", "AdsBot-Google")
    assert {one.label.name: one.closed for one in impact.robots} == {"*": 4, "AdsBot-Google": 0}


def test_a_page_that_changes_for_two_robots_is_one_page() -> None:
    impact = impact_of(b"User-agent: a\nDisallow: /shop/1\n", b"User-agent: *\nUser-agent: a\nDisallow: /shop/1\n")
    assert (impact.changed, impact.opened, impact.closed, impact.paths_changed) == (1, 0, 1, 1)
    impact = impact_of(
        b"User-agent: a\nDisallow: /shop/1\n", b"User-agent: *\nDisallow: /shop/1\n\nUser-agent: a\nDisallow:\n"
    )
    assert (impact.changed, impact.opened, impact.closed, impact.paths_changed) == (1, 1, 1, 1)
    assert {(one.closes, one.rule, one.line, one.robots) for one in impact.paths} == {
        (True, "Disallow: /shop/1", 2, ((RobotLabel("*"), 1),)),
        (False, "Disallow: /shop/1", 2, ((RobotLabel("a"), 1),)),
    }


def test_user_triggered_robots_are_marked() -> None:
    impact = impact_of(b"", b"User-agent: GPTBot\nUser-agent: ChatGPT-User\nDisallow: /\n")
    assert {one["name"]: one["user_triggered"] for one in impact_json(impact)["by_robot"]} == {
        "ChatGPT-User": True,
        "GPTBot": False,
        "*": False,
    }


def test_robots_are_bounded() -> None:
    many = b"".join(b"User-agent: r%d\n" % number for number in range(600)) + b"Disallow: /\n"
    judge = PageImpact(changes(b"", many), bundled_registry(), ("own",))
    judge.add("/")
    names = [one.label.name for one in judge.impact().robots]
    assert (len(names), judge.robots_left_out) == (500, 102)
    assert {"own", "*"} <= set(names)


def test_json_has_the_keys_of_the_contract() -> None:
    value = impact_json(impact_of(b"", b"User-agent: *\nDisallow: /shop\n"))
    assert {"requests", "changed", "by_robot", "paths"} <= set(value)
    assert {"name", "opened", "closed", "bytes"} <= set(value["by_robot"][0])
    assert {"path", "robots", "opened", "closed", "requests", "bytes", "rule", "line"} <= set(value["paths"][0])


@given(PATHS, FILES, FILES)
def test_any_page_and_any_files(page: str, old: bytes, new: bytes) -> None:
    judge = PageImpact(changes(old, new), bundled_registry(), ("MyBot",))
    judge.add(page)
    (mine,) = [one for one in judge.impact().robots if one.label.name == "MyBot"]
    before, after = (RobotsTxt.parse(body).verdict(page, "MyBot").allowed for body in (old, new))
    assert (mine.allowed_before, mine.allowed_after) == (before, after)
