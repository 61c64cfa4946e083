"""The report as JSON: see docs/how-to/watch-robots.md for every key."""

from typing import Any

from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.report.watch_report import PathReport, RobotReport, UndeclaredReport, WatchReport

KIND_NAMES = {
    RequestKind.PAGE: "pages",
    RequestKind.ASSET: "assets",
    RequestKind.ROBOTS_TXT: "robots_txt",
    RequestKind.PROBE: "probes",
    RequestKind.NONE: "invalid",
}


def report_json(report: WatchReport) -> dict[str, Any]:
    """Returns the report as values that JSON has. Times are Unix seconds."""
    counts = report.counts
    return {
        "lines": report.lines,
        "skipped": sum(report.skipped.values()),
        "requests": counts.requests,
        "period": {"first": _time(counts.first_at), "last": _time(counts.last_at)},
        "robots": [_robot(robot) for robot in report.robots],
        "undeclared": [_undeclared(one) for one in report.undeclared],
        "undeclared_left_out": sum(report.left_out.values()),
        "verdicts": report.verdicts,
        "requests_by_verdict": report.requests_by_verdict,
        "logs": [*report.logs],
        "damage": [{"log": one.source, "at_byte": one.at_byte, "reason": one.reason} for one in report.damage],
        "formats": report.formats,
        "skipped_by_reason": report.skipped,
        "outside": report.outside,
        "bytes": counts.bytes,
        "statuses": _by_status(counts.statuses),
        "kinds": _kinds(counts.kinds),
        "hours": counts.hours,
        "visitors": {"count": report.visitors, "exact": report.visitors_are_exact},
        "local_requests": report.local_requests,
        "proxies": report.proxies,
        "robots_txt_answers": _by_status(report.robots_txt),
        "answer_time_s": round(report.durations.total_s, 3) if report.durations.timed else None,
        "paths": _paths(report.paths),
        "pooled": {
            "kept": report.pooled.kept,
            "exact": report.pooled.exact,
            "rows": report.pooled.rows,
            "requests": report.pooled.requests,
            "bytes": report.pooled.bytes,
        },
    }


def _robot(robot: RobotReport) -> dict[str, Any]:
    record, counts, durations = robot.robot, robot.counts, robot.durations
    return {
        "name": robot.name,
        "tier": robot.tier,
        "purpose": record.purpose if record else None,
        "requests": counts.requests,
        "bytes": counts.bytes,
        "robots_txt_fetches": robot.robots_txt_fetches,
        "disallowed": None,
        "peak_rps": robot.rates.peak_second,
        "operator": record.operator if record else None,
        "token": record.token if record else None,
        "obeys_robots_txt": record.obeys if record else "unknown",
        "share_of_requests": round(robot.share_of_requests, 6),
        "share_of_bytes": round(robot.share_of_bytes, 6),
        "share_of_answer_time": None if robot.share_of_time is None else round(robot.share_of_time, 6),
        "kinds": _kinds(counts.kinds),
        "statuses": _by_status(counts.statuses),
        "robots_txt_answers": _by_status(robot.robots_txt),
        "mean_rps": round(robot.mean_rps, 4),
        "peak_per_minute": robot.rates.peak_minute,
        "active_minutes": robot.rates.active_minutes,
        "bursts": robot.rates.bursts,
        "parallel": robot.rates.parallel if durations.timed else None,
        "answer_time_s": round(durations.total_s, 3) if durations.timed else None,
        "slow_answers": durations.slow if durations.timed else None,
        "hours": counts.hours,
        "period": {"first": _time(counts.first_at), "last": _time(counts.last_at)},
        "addresses": {"count": robot.addresses, "exact": robot.addresses_are_exact},
        "busiest_addresses": [{"address": address, "requests": count} for address, count in robot.busiest],
        "user_agents": [{"user_agent": agent, "requests": count} for agent, count in robot.agents],
        "paths": _paths(robot.paths),
        "evidence": [*robot.evidence],
    }


def _undeclared(one: UndeclaredReport) -> dict[str, Any]:
    return {
        "address": one.address,
        "points": one.points,
        "verdict": one.verdict,
        "evidence": [*one.evidence],
        "members": [*one.members],
        "addresses": one.addresses,
        "also_alone": one.also_alone,
        "together": one.together,
        "user_agent": one.agent,
        "user_agents": one.agents,
        "requests": one.requests,
        "bytes": one.bytes,
        "pages": one.pages,
        "robots_txt_fetches": one.robots_txt_fetches,
        "sessions": one.sessions,
        "period": {"first": _time(one.first_at), "last": _time(one.last_at)},
        "missing_at_most": one.missing,
    }


def _time(at: int | None) -> float | None:
    return None if at is None else float(at)


def _by_status(statuses: dict[int, int]) -> dict[str, int]:
    return {str(status): count for status, count in sorted(statuses.items())}


def _kinds(kinds: list[int]) -> dict[str, int]:
    return {name: kinds[kind] for kind, name in KIND_NAMES.items()}


def _paths(paths: tuple[PathReport, ...]) -> list[dict[str, Any]]:
    return [{"path": one.path, "requests": one.requests, "at_most": one.at_most} for one in paths]
