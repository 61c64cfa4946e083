"""RFC 9309 §2.2.2 and §2.2.3: what a pattern matches, and which rule counts."""

import pytest

from goodbot.exclusion import RobotsTxt
from goodbot.vectors.case import SITE, Kind
from goodbot.vectors.tables.patterns import ABSOLUTE_URLS, MATCHES, PRECEDENCE

ROWS = [row for block in MATCHES for row in block.rows]


@pytest.mark.parametrize(("pattern", "path", "matches"), ROWS)
def test_pattern(pattern: str, path: str, matches: bool) -> None:
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}")
    assert robots.allows(SITE + path, "me") is not matches
    assert robots.allows(path, "me") is not matches


@pytest.mark.parametrize("path", ["/r?u=https://x", "/r?a=1&u=https://x/y"])
def test_deviation_a_star_may_reach_into_a_query_value(path: str) -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: /*https://\nDisallow: /*/y")
    assert not robots.allows(path, "me")


@pytest.mark.parametrize(("name", "kind", "rules", "path", "allowed"), PRECEDENCE, ids=[case[0] for case in PRECEDENCE])
def test_which_rule_counts(name: str, kind: Kind, rules: tuple[str, ...], path: str, allowed: bool) -> None:
    """RFC 9309 §2.2.2."""
    robots = RobotsTxt.parse("\n".join(["User-agent: *", *rules]))
    assert robots.allows(path, "me") is allowed
    assert robots.verdict(SITE + path, "me").allowed is allowed


TARGETS = [
    *ABSOLUTE_URLS,
    ("/x?u=http://h/y", "/x?u=http://h/y"),
    ("//x", "//x"),
    ("", "/"),
    ("#f", "/"),
    ("x", "/x"),
    ("?q", "/?q"),
    ("/x\ny", "/x%0Ay"),
]


@pytest.mark.parametrize(("url", "target"), TARGETS)
def test_the_compared_part_of_a_url(url: str, target: str) -> None:
    """RFC 9309 §2.2.2: the path with its query; without fragment; never less than `/`."""
    exact = RobotsTxt.parse(f"User-agent: *\nDisallow: {target}$")
    assert not exact.allows(url, "me")
