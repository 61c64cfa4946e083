"""The impact as JSON: see docs/how-to/see-the-impact-of-a-rule.md for every key."""

from typing import Any

from goodbot.watch.impact.impact import Impact, PathImpact, RobotImpact


def impact_json(impact: Impact) -> dict[str, Any]:
    """Returns the impact as values that JSON has."""
    return {
        "judged": impact.judged,
        "requests": impact.requests,
        "changed": impact.changed,
        "share": round(impact.changed / impact.requests, 6) if impact.requests else None,
        "opened": impact.opened,
        "closed": impact.closed,
        "bytes": impact.bytes,
        "paths_changed": {"count": impact.paths_changed, "exact": impact.paths_are_exact},
        "by_robot": [_robot(one) for one in impact.robots],
        "paths": [_path(one) for one in impact.paths],
        "paths_left_out": impact.paths_left_out,
        "not_judged": impact.not_judged,
    }


def _robot(one: RobotImpact) -> dict[str, Any]:
    return {
        "name": one.label.name,
        "tier": one.label.tier,
        "user_triggered": one.user_triggered,
        "requests": one.requests,
        "changed": one.changed,
        "opened": one.opened,
        "closed": one.closed,
        "bytes": one.bytes,
        "allowed_before": one.allowed_before,
        "allowed_after": one.allowed_after,
    }


def _path(one: PathImpact) -> dict[str, Any]:
    return {
        "path": one.path,
        "robots": [{"name": label.name, "tier": label.tier, "requests": count} for label, count in one.robots],
        "opened": 0 if one.closes else one.requests,
        "closed": one.requests if one.closes else 0,
        "requests": one.requests,
        "at_most": one.at_most,
        "bytes": one.bytes,
        "rule": one.rule,
        "line": one.line,
        "file": "new" if one.closes else "old",
    }
