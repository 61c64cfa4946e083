"""The report as Prometheus metrics, read back by prometheus_client."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from goodbot.registry import Registry, parse_records
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.report import WatchReport, make_report, report_prometheus
from programs import ROOT
from watch.labelled_log import make_log
from watch.report.made_reports import line, report_of

ROBOT = {"robot": "GPTBot", "tier": "impostor", "purpose": "ai-training"}

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples_of(report: WatchReport) -> Samples:
    """Reads the metrics by name and labels."""
    families = text_string_to_metric_families(report_prometheus(report))
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.fixture(scope="module")
def samples() -> Samples:
    lines = [line(0, "/robots.txt", status=404), line(1), line(1, "/x", status=503), "garbage\n", "\n"]
    return samples_of(report_of([*lines, line(2, "/", "Firefox", "8.8.8.8")], rules=b"User-agent: *\nDisallow: /x"))


VALUES: list[tuple[str, dict[str, str], float]] = [
    ("lines", {}, 6),
    ("requests", {}, 4),
    ("bytes", {}, 400),
    ("visitors", {}, 2),
    ("pooled_requests", {}, 0),
    ("skipped_lines", {"reason": "unknown format"}, 1),
    ("skipped_lines", {"reason": "empty"}, 1),
    ("undeclared_addresses", {"verdict": "certain"}, 0),
    ("undeclared_addresses", {"verdict": "no evidence"}, 1),
    ("robot_requests", ROBOT, 3),
    ("robot_bytes", ROBOT, 300),
    ("robot_robots_txt_fetches", ROBOT, 1),
    ("robot_errors", ROBOT, 2),
    ("robot_peak_requests_per_second", ROBOT, 2),
    ("robot_judged_requests", ROBOT, 2),
    ("robot_disallowed_requests", ROBOT, 1),
]


@pytest.mark.parametrize(("name", "labels", "value"), VALUES, ids=[" ".join([v[0], *v[1].values()]) for v in VALUES])
def test_values(name: str, labels: dict[str, str], value: float, samples: Samples) -> None:
    assert samples[f"goodbot_watch_{name}", frozenset(labels.items())] == value


def test_every_robot_and_tier_has_its_sample() -> None:
    report = report_of(make_log().text())
    found = samples_of(report)
    assert sum(value for (name, _), value in found.items() if name == "goodbot_watch_robot_requests") == sum(
        robot.counts.requests for robot in report.robots
    )


def test_obedience_needs_a_robots_txt() -> None:
    assert not [name for name, _ in samples_of(report_of([line(0)])) if "disallowed" in name or "judged" in name]


def test_every_metric_is_documented(samples: Samples) -> None:
    page = (ROOT / "docs" / "how-to" / "watch-robots.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(goodbot_watch_\w+)` \|(.*?)\|", page, re.MULTILINE)
    documented = {name: {*re.findall("`([^`]+)`", labels)} for name, labels in rows}
    assert documented == {name: {label for label, _ in labels} for name, labels in samples}


def test_one_robot_only_says_nothing_of_the_others() -> None:
    found = samples_of(report_of(make_log().text(), robot="GPTBot"))
    assert not [name for name, _ in found if name == "goodbot_watch_undeclared_addresses"]


def test_a_name_with_quotes_is_escaped() -> None:
    name = 'My "own" \\ bot'
    record = f"operator = 'x'\n[[robot]]\nname = '{name}'\npurpose = 'monitoring'\npatterns = ['MyOwn']\n"
    own = parse_records(record.encode(), "mine.toml", 2026)
    registry = Registry(own)
    identities = Identities(registry.find)
    tally = Tally()
    tally.add(LineCounter(identities, CountingOptions()).count(Block(line(0, "/", "MyOwn/1").encode(), "x")))
    found = samples_of(make_report(tally, identities, registry))
    assert {dict(labels).get("robot") for _, labels in found} == {None, name}
