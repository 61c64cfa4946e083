"""The JSON has the keys that docs/how-to/watch-robots.md lists, and no others."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from goodbot.watch.reader.opening import Damage
from goodbot.watch.report import report_json
from programs import ROOT
from watch.counting.signed_lines import Signed, directory
from watch.labelled_log import make_log
from watch.report.made_reports import GPTBOT, line, report_of, timed_line

PAGES = [ROOT / "docs" / "how-to" / name for name in ("watch-robots.md", "judge-obedience.md")]

VERSIONS = "robots[].obedience.versions[]"

RULES = b"""\
User-agent: *
Disallow: /
Crawl-delay: 5
Request-rate: 2/60
Visit-time: 0000-0001
"""

BY_NAME = (
    "statuses",
    "robots_txt_answers",
    "formats",
    "skipped_by_reason",
    "verdicts",
    "requests_by_verdict",
    "failed",
)
"""Objects whose keys are statuses, formats and other names."""


def paths_of(value: Any, path: str = "") -> Iterator[str]:
    """Yields the keys of JSON as the page writes them: `robots[].name`."""
    name = path.rpartition(".")[2]
    if isinstance(value, dict) and name not in BY_NAME:
        for key, inner in value.items():
            yield from paths_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and name != "hours":
        yield f"{path}[]"
        for inner in value:
            yield from paths_of(inner, f"{path}[]")
    else:
        yield path


def documented() -> set[str]:
    """Returns the keys in the first column of the last table of each page."""
    tables = [page.read_text(encoding="utf-8").partition("| key | meaning |")[2] for page in PAGES]
    cells = [row.split("|")[1] for table in tables for row in table.splitlines() if row.startswith("| `")]
    return {key for cell in cells for key in re.findall("`([^`]+)`", cell)}


def test_every_key_is_documented() -> None:
    damage = [Damage("access.log.1.gz", 100, "the gzip data ends early")]
    log = make_log().text() + b"garbage\n" + timed_line(1, 2.5).encode() + Signed("Firefox").line() + b"\n"
    log += b"other.example:443 " + line(2).encode()
    report = report_of(log, rules=RULES, host="www.example.org", damage=damage, directories=[directory("GPTBot")])
    found = {key for key in paths_of(report_json(report)) if not key.startswith((VERSIONS, "disobedient[]"))}
    of_objects = {key for key in found if any(other.startswith(f"{key}.") for other in found)}
    assert documented() == found - of_objects | {"robots[]", "undeclared[]", "disobedient[]", VERSIONS}


CONTRACT = {
    "": ["lines", "skipped", "requests", "period", "robots", "undeclared"],
    "robots": ["name", "tier", "purpose", "requests", "bytes", "robots_txt_fetches", "disallowed", "peak_rps"],
    "undeclared": ["address", "points", "verdict", "evidence"],
}


@pytest.mark.parametrize("place", CONTRACT, ids=lambda place: place or "report")
def test_the_keys_that_programs_rely_on_come_first(place: str) -> None:
    found = report_json(report_of(make_log().text()))
    value = found[place][0] if place else found
    assert list(value)[: len(CONTRACT[place])] == CONTRACT[place]


VALUES: list[tuple[str, Any]] = [
    ("lines", 5),
    ("skipped", 2),
    ("skipped_by_reason", {"empty": 1, "unknown format": 1}),
    ("requests", 3),
    ("period", {"first": 1789466400.0, "last": 1789466402.0}),
    ("formats", {"combined": 3}),
    ("statuses", {"0": 1, "200": 2}),
    ("kinds", {"pages": 2, "assets": 0, "robots_txt": 1, "probes": 0, "invalid": 0}),
    ("visitors", {"count": 2, "exact": True}),
    ("robots_txt_answers", {"200": 1}),
    ("answer_time_s", None),
    ("logs", ["access.log"]),
    ("outside", 0),
]


@pytest.mark.parametrize(("key", "value"), VALUES, ids=[key for key, _ in VALUES])
def test_values(key: str, value: Any) -> None:
    lines = [line(0, "/robots.txt"), line(1, status="-"), "garbage\n", "\n", line(2, "/", "Firefox", "8.8.8.8")]
    assert report_json(report_of(lines))[key] == value


@pytest.mark.parametrize(
    ("key", "timed", "untimed"),
    [("parallel", 1, None), ("answer_time_s", 2.5, None), ("slow_answers", 1, None), ("share_of_answer_time", 1, None)],
)
def test_what_needs_durations_is_null_without_them(key: str, timed: Any, untimed: Any) -> None:
    with_durations, without = (report_json(report_of([text]))["robots"][0] for text in (timed_line(1, 2.5), line(1)))
    assert (with_durations[key], without[key]) == (timed, untimed)


def test_one_robot_only() -> None:
    found = report_json(report_of(make_log().text(), robot="GPTBot"))
    assert {robot["name"] for robot in found["robots"]} == {"GPTBot"}
    assert (found["undeclared"], found["verdicts"], found["requests_by_verdict"]) == ([], {}, {})


def test_bytes_of_any_kind() -> None:
    report = report_of([line(0, "/\xff\xc3\xa4\x1b<b>", GPTBOT + "\xff")])
    found = json.loads(json.dumps(report_json(report)))
    assert found["paths"][0]["path"] == "/\ufffdä\x1b<b>"
    assert found["robots"][0]["user_agents"][0]["user_agent"] == GPTBOT + "\ufffd"
