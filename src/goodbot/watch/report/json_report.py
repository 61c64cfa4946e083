"""The report as JSON: see docs/how-to/watch-robots.md for every key."""

from typing import Any

from goodbot.watch.counting.request_kinds import RequestKind
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.counting.timeline import Timeline
from goodbot.watch.obedience.shares import Share
from goodbot.watch.report.obedience_report import (
    BrokenRuleReport,
    LimitReport,
    ObedienceReport,
    RulesReport,
    VersionReport,
    VisitReport,
)
from goodbot.watch.report.signature_report import SignaturesReport
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
        "disobedient": [_undeclared(one) for one in report.disobedient],
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
        "robots_txt": _rules(report.rules) if report.rules else None,
        "other_hosts": [{"host": host, "requests": count} for host, count in report.elsewhere],
        "signatures": _signatures(report.signatures),
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
        "disallowed": robot.obedience.disallowed if robot.obedience and robot.obedience.judged else None,
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
        "timeline": {"span_s": robot.timeline.span_s, "requests": _spans(robot.timeline)},
        "obedience": _obedience(robot.obedience, robot.robots_txt_fetches) if robot.obedience else None,
        "signatures": _signed(robot.signatures),
    }


def _signatures(report: SignaturesReport) -> dict[str, Any]:
    return {
        **_signed(report.total),
        "others": [{"directory": name or None, **_signed(counts)} for name, counts in report.others],
        "directories": [
            {"name": one.name, "origin": one.origin, "robots": sorted(one.robots), "keys": sorted(one.keys)}
            for one in report.directories
        ],
    }


def _signed(counts: SignatureCounts) -> dict[str, Any]:
    return {
        "signed": counts.signed,
        "verified": counts.verified,
        "replayed": counts.replayed,
        "failed": dict(sorted(counts.failed.items())),
    }


def _obedience(one: ObedienceReport, fetches: int) -> dict[str, Any]:
    return {
        "obeyed": one.obeyed,
        "agent": one.reading.names[0] if one.reading else None,
        "dialect": one.reading.dialect if one.reading else None,
        "user_triggered": one.user_triggered,
        "judged": one.judged,
        "not_known": one.not_known,
        "not_judged": one.not_judged,
        "grace": one.in_grace,
        "bytes": one.bytes,
        "share": _share(one.share),
        "rules": [_rule(rule) for rule in one.rules],
        "rules_left_out": one.left_out,
        **_limits(one.limits),
        "visit_time": _visits(one.visits),
        "robots_txt": {"fetches": fetches, "first": _time(one.robots_txt_at), "before": one.before},
        "nofollow": {"followed": one.followed, "log_lines": [*one.followed_lines]},
        "versions": [_version(version) for version in one.versions],
    }


def _spans(timeline: Timeline) -> list[dict[str, float]]:
    return [{"from": float(start), "requests": count} for start, count in timeline.in_spans(timeline.span_s).items()]


def _share(share: Share | None) -> dict[str, float] | None:
    return {name: round(value, 6) for name, value in share._asdict().items()} if share else None


def _rule(rule: BrokenRuleReport) -> dict[str, Any]:
    return {
        "line": rule.line,
        "rule": rule.rule,
        "group": [*rule.group],
        "copy_at": rule.since,
        "requests": rule.requests,
        "bytes": rule.bytes,
        "first": float(rule.first_at),
        "last": float(rule.last_at),
        "log_lines": [*rule.log_lines],
    }


def _limits(limits: tuple[LimitReport, ...]) -> dict[str, Any]:
    delays, rates = [], []
    for one in limits:
        share = _share(one.share)
        if one.limit.documents == 1:
            delays.append({"asked_s": one.limit.seconds, "gaps": one.judged, "short": one.broken, "share": share})
        else:
            asked = {"documents": one.limit.documents, "seconds": one.limit.seconds}
            rates.append({**asked, "windows": one.judged, "exceeded": one.broken, "share": share})
    return {"crawl_delay": delays, "request_rate": rates}


def _visits(visits: VisitReport | None) -> dict[str, Any] | None:
    if visits is None:
        return None
    return {
        "requests": visits.requests,
        "outside": visits.outside,
        "share": _share(visits.share),
        "log_lines": [*visits.log_lines],
    }


def _version(version: VersionReport) -> dict[str, Any]:
    return {
        "copy_at": version.since,
        "judged": version.judged,
        "disallowed": version.disallowed,
        "grace": version.in_grace,
        "share": _share(version.share),
        **_limits(version.limits),
        "visit_time": _visits(version.visits),
    }


def _rules(rules: RulesReport) -> dict[str, Any]:
    return {"source": rules.source, "versions": rules.versions, "since": rules.since, "notes": [*rules.notes]}


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
        "disallowed": one.disallowed.requests if one.disallowed else None,
        "disallowed_at_most": one.disallowed.at_most if one.disallowed else None,
        "disallowed_requests": [
            {"log_line": found.log_line, "rule": found.rule, "line": found.line, "copy_at": found.since}
            for found in (one.disallowed.examples if one.disallowed else ())
        ],
    }


def _time(at: int | None) -> float | None:
    return None if at is None else float(at)


def _by_status(statuses: dict[int, int]) -> dict[str, int]:
    return {str(status): count for status, count in sorted(statuses.items())}


def _kinds(kinds: list[int]) -> dict[str, int]:
    return {name: kinds[kind] for kind, name in KIND_NAMES.items()}


def _paths(paths: tuple[PathReport, ...]) -> list[dict[str, Any]]:
    return [{"path": one.path, "requests": one.requests, "at_most": one.at_most} for one in paths]
